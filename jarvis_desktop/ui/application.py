"""What the window needs of the application that compose.py builds; a fake serves the tests."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.frontend import Frontend
from jarvis_desktop.core.journal import Unfinished
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.ports import Fetcher
from jarvis_desktop.core.turn import Conversation, Request, Turn
from jarvis_desktop.core.voice import Hotkey, Microphone, Player, Recogniser, Voice
from jarvis_desktop.paths import Paths

if TYPE_CHECKING:
    from jarvis_desktop.assistant.listening.talk import Talk
    from jarvis_desktop.llm.choice import LLMChoice
    from jarvis_desktop.settings import SpeechSettings
    from jarvis_desktop.speech.devices import Device


class Assistant(Protocol):
    """Answers requests."""

    async def handle(
        self, request: Request, frontend: Frontend, *, conversation: str | None = None
    ) -> Turn:
        """Answer one request as a turn of a conversation; cancelling stops it."""
        ...

    def interrupt(self) -> bool:
        """End what a goal's controller does now; the person is asked then what should be
        different. False where nothing is to be interrupted, or it was and they are still asked:
        then the turn itself is to be cancelled."""
        ...

    def silence(self) -> None:
        """Say no more of what runs, which goes on."""
        ...

    def unfinished(self) -> Sequence[Unfinished]:
        """The turns that a crash or a power cut ended, oldest first."""
        ...

    async def resume(self, unfinished: Unfinished, frontend: Frontend) -> Turn:
        """Go on with such a turn where it stopped; cancelling stops it."""
        ...

    def give_up(self, unfinished: Unfinished) -> Turn:
        """Keep such a turn with what was done of it, and go on with it no more."""
        ...


class Listed(Protocol):
    """A conversation as the history lists it."""

    @property
    def id(self) -> str:
        """Opens it."""
        ...

    @property
    def title(self) -> str:
        """Its first words."""
        ...

    @property
    def last(self) -> datetime:
        """When its newest turn began."""
        ...


class Found(Protocol):
    """A turn that was searched for."""

    @property
    def conversation_id(self) -> str:
        """Where it belongs."""
        ...

    @property
    def started(self) -> datetime:
        """When it began."""
        ...

    @property
    def snippet(self) -> str:
        """The words around what was found."""
        ...


class History(Protocol):
    """What the window asks of the history."""

    def open_conversation(self, conversation_id: str | None = None) -> Conversation:
        """The conversation of that id, or a new one."""
        ...

    def show(self, prefix: str) -> Conversation | Turn:
        """The conversation or turn of that id, whole."""
        ...

    def list(self, limit: int) -> Sequence[Listed]:
        """The conversations, the newest first."""
        ...

    def search(self, words: str, limit: int) -> Sequence[Found]:
        """The turns with these words, the newest first."""
        ...


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

    async def devices(self) -> Sequence[Device]:
        """The sound devices of this computer now. Raises UnavailableError."""
        ...

    async def adopt(self, speech: SpeechSettings) -> Collection[str]:
        """Take up changed settings of speech; the names of those that wait for a restart."""
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
    def weights(self) -> Fetcher:
        """Fetches experts."""
        ...

    @property
    def experts(self) -> Sequence[Expert]:
        """The catalogue."""
        ...

    @property
    def paths(self) -> Paths:
        """The person's folders."""
        ...

    async def start(self) -> None:
        """Get ready."""
        ...

    def be_reached(self) -> None:
        """Let the talk key of the desktop and `jarvis-desktop talk` reach this process."""
        ...

    async def close(self) -> None:
        """End every child process and close every file."""
        ...
