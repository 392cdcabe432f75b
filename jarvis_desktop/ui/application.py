"""What the window needs of the application that compose.py builds; a fake serves the tests."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.ports import Fetcher, Timers
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.voice import Hotkey, Microphone, Player, Recogniser, Voice
from jarvis_desktop.paths import Paths
from jarvis_desktop.ui.ports import Api, Assistant, History, Speaker, Store

if TYPE_CHECKING:
    from jarvis_desktop.assistant.listening.talk import Talk
    from jarvis_desktop.compose_shelf import Shelf
    from jarvis_desktop.instance import Handle
    from jarvis_desktop.llm.choice import LLMChoice
    from jarvis_desktop.settings import Settings
    from jarvis_desktop.speech.devices import Device


class App(Protocol):
    """The application, which lives on the engine thread."""

    @property
    def assistant(self) -> Assistant:
        """Answers requests."""
        ...

    @property
    def history(self) -> History:
        """Knows earlier conversations."""
        ...

    @property
    def talk(self) -> Talk:
        """Hears what is said with the talk key."""
        ...

    @property
    def microphone(self) -> Microphone:
        """Hears."""
        ...

    @property
    def recogniser(self) -> Recogniser:
        """Writes down what is said."""
        ...

    @property
    def voice(self) -> Voice:
        """Speaks."""
        ...

    @property
    def player(self) -> Player:
        """Plays sounds."""
        ...

    @property
    def hotkey(self) -> Hotkey:
        """The talk key of the whole desktop."""
        ...

    @property
    def quick_key(self) -> Hotkey:
        """The key of the whole desktop that opens the quick box."""
        ...

    @property
    def timers(self) -> Timers:
        """Timers that ring."""
        ...

    def wake(self) -> None:
        """Fetch back what left for want of work: somebody begins to type or to speak."""
        ...

    async def devices(self) -> Sequence[Device]:
        """The sound devices of this computer now. Raises UnavailableError."""
        ...

    async def adopt(self, settings: Settings) -> Collection[str]:
        """Take up changed settings; the names of those that wait for a restart."""
        ...

    @property
    def speaker(self) -> Speaker:
        """Reads aloud."""
        ...

    @property
    def store(self) -> Store:
        """Takes files in."""
        ...

    @property
    def settings(self) -> Settings:
        """As they are in use now."""
        ...

    @property
    def mode(self) -> Mode:
        """How far a request may travel."""
        ...

    @property
    def policy(self) -> Policy:
        """What the mode allows."""
        ...

    @property
    def llms(self) -> LLMChoice:
        """Knows which LLM is used."""
        ...

    @property
    def shelf(self) -> Shelf:
        """Experts and LLMs as a person keeps them."""
        ...

    @property
    def api(self) -> Api:
        """Asks experts of other computers."""
        ...

    @property
    def weights(self) -> Fetcher:
        """Fetches experts."""
        ...

    @property
    def experts(self) -> Sequence[Expert]:
        """The catalogue."""
        ...

    @property
    def inventory(self) -> Mapping[str, TaskType]:
        """The kinds of tasks, by their names."""
        ...

    @property
    def paths(self) -> Paths:
        """The person's folders."""
        ...

    async def start(self) -> None:
        """Get ready."""
        ...

    def be_reached(self, commands: Mapping[str, Handle]) -> None:
        """Let the talk key of the desktop and other processes reach this one; `commands` are those
        that it knows besides "talk"."""
        ...

    async def close(self) -> None:
        """End every child process and close every file."""
        ...
