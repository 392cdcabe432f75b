"""What the window needs of the application that compose.py builds; a fake serves the tests.

What the window asks of the application's parts; fakes serve the tests."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.events import Event
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.ports import Fetcher, Frontend, Timers, Unfinished
from jarvis_desktop.core.speech import Hotkey, Microphone, Player, Recogniser, Voice
from jarvis_desktop.core.task import Task, TaskType
from jarvis_desktop.core.turn import Conversation, Request, Turn
from jarvis_desktop.paths import Paths
from jarvis_desktop.storage.search import EVERYTHING, TurnFilters

if TYPE_CHECKING:
    from jarvis_desktop.app.experts import ExpertManager
    from jarvis_desktop.app.single_instance import CommandHandler
    from jarvis_desktop.assistant.talk.talk import Talk
    from jarvis_desktop.llm.choice import LLMChoice
    from jarvis_desktop.settings import Settings
    from jarvis_desktop.speech.devices import Device
    from jarvis_desktop.storage.deletion import Trashed
    from jarvis_desktop.storage.export import Exported, Form, Media
    from jarvis_desktop.storage.import_ import Imported


class AssistantPort(Protocol):
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

    async def set_aside(self, request: Request, *, conversation: str) -> Turn:
        """Keep a request as stopped that was never begun with, and its files."""
        ...

    def give_up(self, unfinished: Unfinished) -> Turn:
        """Keep such a turn with what was done of it, and go on with it no more."""
        ...

    async def experts_for(self, task: Task) -> Sequence[Candidate]:
        """Who could do the task now, the best first; a pin on it changes nothing."""
        ...

    async def revise(self, plan: Plan, words: str, *, conversation: str | None) -> Plan:
        """The plan as the words want it. Raises InputError that says what was not understood."""
        ...

    async def change(
        self, plan: Plan, *, turn_id: str = "", afresh: frozenset[int] = frozenset()
    ) -> bool:
        """Let a turn that carries out a plan go on with this one; the last begun, if not named.

        What is unchanged goes on or stays done, but for the tasks `afresh` and what depends on
        them. False where no such turn runs any more. Raises
        InputError where a file of the plan cannot be used.
        """
        ...

    async def run_again(
        self,
        turn: Turn,
        plan: Plan,
        frontend: Frontend,
        *,
        conversation: str | None,
        afresh: frozenset[int] = frozenset(),
    ) -> Turn:
        """Carry out `plan` for the request of an earlier turn, as a new one; cancelling stops it.

        What that turn has done of it stays, but for the tasks `afresh` and what depends on them.
        """
        ...


class Listed(Protocol):
    """A conversation as the history lists it."""

    @property
    def id(self) -> str:
        """Opens it."""
        ...

    @property
    def title(self) -> str:
        """Its first words, or the name that the person gave it."""
        ...

    @property
    def last(self) -> datetime:
        """When its newest turn began."""
        ...

    @property
    def pinned(self) -> bool:
        """Whether it is listed before the others."""
        ...


class SearchHit(Protocol):
    """A turn that was searched for."""

    @property
    def turn_id(self) -> str:
        """The turn."""
        ...

    @property
    def conversation_id(self) -> str:
        """Where it belongs."""
        ...

    @property
    def title(self) -> str:
        """That of its conversation."""
        ...

    @property
    def started(self) -> datetime:
        """When it began."""
        ...

    @property
    def snippet(self) -> str:
        """The words around what was found, on one line."""
        ...

    @property
    def spots(self) -> Sequence[tuple[int, int]]:
        """Where in the snippet what was found begins and ends."""
        ...


class HistoryPort(Protocol):
    """What the window asks of the history, on the engine. Methods may raise StorageError, and
    InputError where something of that id is not there."""

    def open_conversation(self, conversation_id: str | None = None) -> Conversation:
        """The conversation of that id, or a new one."""
        ...

    def open_private(self) -> Conversation:
        """A new conversation that leaves nothing on the disk; its id tells `is_private`."""
        ...

    def forget_private(self, conversation_id: str) -> None:
        """Such a conversation is closed: nothing of it is left, in memory or on the disk."""
        ...

    def show(self, prefix: str) -> Conversation | Turn:
        """The conversation or turn of that id, whole."""
        ...

    def list(self, limit: int, before: str | None = None) -> Sequence[Listed]:
        """The conversations, pinned ones first, then by date; `before` continues after that id."""
        ...

    def search(
        self, words: str, limit: int, *, filters: TurnFilters = EVERYTHING, skip: int = 0
    ) -> Sequence[SearchHit]:
        """The turns with these words that pass the filters, the best first."""
        ...

    def experts(self) -> Sequence[str]:
        """The ids of the experts that did something, the most used first."""
        ...

    def size(self) -> tuple[int, int]:
        """How many conversations and how many turns there are."""
        ...

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        ...

    def pin(self, conversation_id: str, pinned: bool) -> None:
        """List a conversation before the others, or with them again."""
        ...

    def pin_turn(self, turn_id: str, pinned: bool) -> None:
        """Mark a turn, or unmark it: `Turn.pinned`."""
        ...

    def trash(
        self,
        ids: Sequence[str] | None = None,
        *,
        since: date | None = None,
        until: date | None = None,
    ) -> Trashed:
        """Delete conversations and turns, all or those of `ids`, or of conversations last talked in
        between two days: gone from everywhere, until `empty_trash` makes that final."""
        ...

    def delete_turn(self, turn_id: str) -> Trashed:
        """The same with one turn."""
        ...

    def restore(self, trashed: int) -> int:
        """Undo one such deletion, by its number; how many turns came back."""
        ...

    async def empty_trash(self, trashed: int | None = None) -> int:
        """Make one such deletion final, or all; their files go too. How many turns that were."""
        ...

    async def forget(self, days: int) -> int:
        """Delete for good the conversations without a turn for so many days, but for pinned ones
        and those with a pinned turn; how many turns. 0 days forget nothing."""
        ...

    async def export_to(
        self, path: Path, form: Form, ids: Sequence[str] | None = None, *, media: Media = "none"
    ) -> Exported:
        """Write conversations and turns to a file, all or those of `ids`."""
        ...

    async def import_from(self, path: Path) -> Imported:
        """Read conversations that were exported as JSON; those that are there already stay as they
        are. Raises InputError where the file is none of ours."""
        ...


class SpeakerPort(Protocol):
    """Says texts, one at a time."""

    async def say(self, text: str, show: Callable[[Event], None]) -> None:
        """Say a text; returns once it was heard or silenced. What keeps it from being heard is
        shown as a note. Cancelling silences it."""
        ...


class Store(Protocol):
    """What the window asks of the artifact store."""

    def look_at(self, path: Path) -> tuple[Kind, int]:
        """The kind and the bytes of a file that can be used. Raises InputError that names it."""
        ...

    def hand_out(self, artifact: Artifact) -> Path:
        """A copy that is there for a day, by the name that a person knows it by. Blocks."""
        ...

    def lend(self, artifact: Artifact) -> Path:
        """The file as another program may open it. Blocks."""
        ...

    def workdir(self) -> Path:
        """A new, empty folder."""
        ...

    def discard(self, workdir: Path) -> None:
        """Remove such a folder with all that is left in it."""
        ...


class AccountPort(Protocol):
    """Whose key it is."""

    @property
    def name(self) -> str:
        """Who they are."""
        ...

    @property
    def may_call(self) -> bool | None:
        """Whether it may make calls; None where that is not told."""
        ...


class Api(Protocol):
    """What the window asks of the experts behind the API."""

    async def account(self, key: str = "") -> AccountPort:
        """Whose key it is; without one, whose the kept one is. Raises JarvisError."""
        ...

    def forget_key(self) -> None:
        """The key is another one now, or gone."""
        ...


class AppPort(Protocol):
    """The application, which lives on the engine thread."""

    @property
    def assistant(self) -> AssistantPort:
        """Answers requests."""
        ...

    @property
    def history(self) -> HistoryPort:
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
    def speaker(self) -> SpeakerPort:
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
    def shelf(self) -> ExpertManager:
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

    def be_reached(self, commands: Mapping[str, CommandHandler]) -> None:
        """Let the talk key of the desktop and other processes reach this one; `commands` are those
        that it knows besides "talk"."""
        ...

    async def close(self) -> None:
        """End every child process and close every file."""
        ...
