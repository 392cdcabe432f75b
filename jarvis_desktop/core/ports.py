"""Ports: what the assistant needs from the outside world. Each has a real implementation and a
fake."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeAlias

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.code import CodeRequest, Verdict
from jarvis_desktop.core.events import Event
from jarvis_desktop.core.expert import Candidate, Experience, Expert, TaskResult
from jarvis_desktop.core.goal import Outline
from jarvis_desktop.core.i18n import tr, trn
from jarvis_desktop.core.llm import LLM
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Call, Report, TaskType
from jarvis_desktop.core.turn import Conversation, Turn


@dataclass(frozen=True, slots=True)
class Resource:
    """Something in the conversation that can be referred to: "the second picture"."""

    name: str
    """A unique name for prompts, such as "image 2"; "" if not yet named."""
    artifact: Artifact
    given: bool
    """Whether the user gave it; otherwise it is a result."""
    task: str = ""
    """The name of the task type that made it; "" if the user gave it."""


def _no_trace(text: str) -> None:
    """Discard a trace message."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a planner and the answer writer may know besides the request."""

    attachments: tuple[Artifact, ...] = ()
    conversation: Conversation | None = None
    folder: Path | None = None
    """Where results with a name chosen by the user are saved."""
    resources: tuple[Resource, ...] = ()
    """All attachments and results of earlier turns, oldest first."""
    summary: str = ""
    """A summary of turns older than those of `conversation`."""
    facts: tuple[str, ...] = ()
    """What the user wants remembered: "always answer in German"."""
    trace: Callable[[str], None] = _no_trace
    """Receives details for the trace: the prompt, what was left out."""


@dataclass(frozen=True, slots=True)
class PlanRejected:
    """The reason why a planner made no plan, shown to the user."""

    reason: str
    final: bool = False
    """Whether no other planner could do better: a missing file stays missing."""


@dataclass(frozen=True, slots=True)
class AnswerDirectly:
    """No expert is needed, or no plan was made: the LLM answers itself."""

    within: float | None = field(default=None, compare=False)
    """Seconds until its first word, in which a turn without a plan must come to an end."""


@dataclass(frozen=True, slots=True)
class NeedsAgent:
    """One plan of experts is not enough: it is a goal for agent mode."""


Planned: TypeAlias = Plan | AnswerDirectly | PlanRejected | NeedsAgent
"""The result of planning."""


class Planner(Protocol):
    """Turns a request into a plan."""

    async def plan(self, text: str, inventory: Sequence[TaskType], context: Context) -> Planned:
        """Return a plan over the task types of `inventory`, or the reason why there is none."""

    async def replan(
        self,
        text: str,
        inventory: Sequence[TaskType],
        context: Context,
        *,
        plan: Plan,
        results: Mapping[int, TaskResult],
    ) -> Plan | PlanRejected:
        """Return another plan after tasks of `plan` failed on all their candidates.

        A finished task keeps its id and arguments, so that its result is reused.
        """

    async def revise(
        self, words: str, inventory: Sequence[TaskType], context: Context, *, plan: Plan
    ) -> Plan | PlanRejected:
        """Return the plan changed as the user asks, or what was not understood.

        Tasks that stay the same keep their id and arguments.
        """


class Backend(Protocol):
    """A place where experts run."""

    name: str
    lane: str
    """Calls of one lane share its width: local, cpu, llm, network, machines, or
    instant; the last two have no limit."""

    def question(self, call: Call) -> str:
        """Return what the user must confirm before this call runs; "" for nothing."""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """Return the results of the call. Raises JarvisError; cancelling stops the work itself.

        A text may be passed to `current_draft` piece by piece while it is written.
        """


class Catalogue(Protocol):
    """The experts for each task, best first."""

    def candidates(self, task: str) -> Sequence[Candidate]:
        """Return those that can run on this computer now."""

    def by_llm(self, task: str, llm: LLM) -> Candidate | None:
        """Return the LLM itself as an expert of the task, if there is a good prompt for it."""

    def obtainable(self, task: str, request: str = "") -> Sequence[Expert]:
        """Return those that must be downloaded first, smallest first."""

    def out_of_reach(self, task: str) -> Sequence[Expert]:
        """Return those that this version cannot run, smallest first: named, but never offered."""


class TrackRecord(Protocol):
    """How experts did on this computer. Best effort: neither method ever raises."""

    def note(
        self, expert_id: str, task: str, *, seconds: float, worked: bool, size: int = 0
    ) -> None:
        """Record one run of an expert, and the `size` of the call.

        `seconds` does not include waiting in the queue.
        """

    def of(self, task: str) -> Mapping[str, Experience]:
        """Return what is known about the experts of a task, by their ids."""


class Fetcher(Protocol):
    """Downloads the weights of experts."""

    async def fetch(self, expert: Expert, report: Report, *, spared: Collection[str] = ()) -> Path:
        """Download an expert and return its folder. Cancelling stops it.

        Raises UnavailableError with the reason, or GivenUpError if the user stopped it. No expert
        in `spared` is deleted to make room.
        """

    def missing(self, expert: Expert) -> Sequence[Expert]:
        """Return what must be downloaded for it: the expert and its base, if missing."""

    def displaced(self, expert: Expert, *, spared: Collection[str] = ()) -> Sequence[str]:
        """Return the experts that would be deleted to make room. Raises UnavailableError."""


class ArtifactStore(Protocol):
    """Content-addressed files: attachments and results."""

    def take_in(self, path: Path) -> Artifact:
        """Check a user's file and copy it in. Raises InputError that names the file."""

    def keep(self, artifact: Artifact) -> Artifact:
        """Move an expert's file in and return the artifact with its new path."""

    def holds(self, path: Path) -> bool:
        """Whether this is the path of a stored file."""

    def lend(self, artifact: Artifact) -> Path:
        """Return the file for another program, whose changes do not reach the store. Blocks."""

    def workdir(self) -> Path:
        """Create an empty folder for one call."""

    def discard(self, workdir: Path) -> None:
        """Remove such a folder with everything left in it."""


@dataclass(frozen=True, slots=True)
class Recap:
    """A summary of a conversation's turns, up to the one with the id `through`."""

    text: str
    through: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact to remember, in the user's own words. Numbers are never reused."""

    number: int
    text: str


class History(Protocol):
    """What was asked and answered."""

    def open_conversation(self, conversation_id: str | None = None) -> Conversation:
        """Return the conversation of that id with its recent turns, or a new one."""

    def save(self, conversation_id: str, turn: Turn) -> None:
        """Save a finished turn durably."""

    def amend(self, conversation_id: str, turn: Turn) -> bool:
        """Update a saved turn. Return False if it no longer exists."""

    def since(self, conversation_id: str, turn_id: str) -> Sequence[Turn]:
        """Return the turns after that one, oldest first; all if there is no such turn."""

    def resources(self, conversation_id: str) -> Sequence[Resource]:
        """Return attachments and results of its turns, oldest first, without names."""

    def recap(self, conversation_id: str) -> Recap | None:
        """Return the saved summary of older turns; None once one of its turns was deleted."""

    def keep_recap(self, conversation_id: str, recap: Recap) -> None:
        """Replace the saved summary; nothing happens if its turn no longer exists."""


class Facts(Protocol):
    """What the user wants remembered in every conversation."""

    def list(self) -> Sequence[Fact]:
        """Return all facts, oldest first."""

    def add(self, text: str) -> Fact:
        """Save a fact as the newest; it replaces one that says the same.

        Raises InputError if it is empty, too long, or one too many.
        """

    def remove(self, number: int) -> None:
        """Delete a fact. Raises InputError for an unknown number."""

    def clear(self) -> int:
        """Delete all facts and return their number."""


class Lists(Protocol):
    """Lists of the user, such as shopping and to-dos, by name."""

    def names(self) -> Sequence[str]:
        """Return the lists that have entries."""

    def items(self, name: str) -> Sequence[str]:
        """Return the entries of a list, oldest first; none if there is no such list."""

    def add(self, name: str, items: Sequence[str]) -> Sequence[str]:
        """Add entries and return those that were not there yet.

        Raises InputError if there is none, one is too long, or there are too many.
        """

    def remove(self, name: str, items: Sequence[str]) -> Sequence[str]:
        """Delete entries and return those that were there."""

    def clear(self, name: str) -> int:
        """Delete all entries of a list and return their number."""


@dataclass(frozen=True, slots=True)
class Timer:
    """A running timer."""

    id: str
    label: str
    due: datetime


class Timers(Protocol):
    """Timers that ring."""

    def set(self, seconds: float, label: str) -> Timer:
        """Start a timer."""

    def pending(self) -> Sequence[Timer]:
        """Return the pending timers, the next one first. Thread-safe."""

    def cancel_all(self) -> int:
        """Cancel all timers and return their number."""


class TimerRecords(Protocol):
    """Timers on the disk, so that they survive a restart."""

    def add(self, timer: Timer) -> None:
        """Save a timer."""

    def remove(self, timer_id: str) -> None:
        """Delete a timer, if it exists."""

    def pending(self) -> Sequence[Timer]:
        """Return all saved timers."""


class Desktop(Protocol):
    """The user's desktop environment."""

    def open(self, path: Path, name: str = "") -> None:
        """Open a file or folder with its default program; `name` is the user's name for it.

        Raises UnavailableError.
        """


@dataclass(frozen=True, slots=True)
class Review:
    """The user's answer to the plan of a goal: accepted as it is here, or to be revised."""

    outline: Outline
    """The plan as shown, or as edited by the user."""
    comment: str = ""
    """What should change, in words; if not empty, the plan is rewritten."""


class Frontend(Protocol):
    """Where the user sees and answers."""

    def show(self, event: Event) -> None:
        """Show that something happened. Must return at once."""

    async def review(self, plan: Plan) -> Plan | None:
        """Let the user change the plan. Return None if they refuse it."""

    async def confirm(self, question: str, *, yes: str = "") -> bool:
        """Ask a yes-or-no question; anything but a clear yes is False. `yes` names what a Yes does,
        for a button."""

    async def ask(self, question: str) -> str:
        """Ask an open question; "" if there is no answer."""

    async def review_outline(self, outline: Outline, why: str) -> Review | None:
        """Let the user accept, edit or comment on the plan of a goal.

        Return None if they refuse it or nobody is there. `why` says what changed since they last
        saw it.
        """

    async def review_code(self, code: CodeRequest) -> Verdict:
        """Let the user read, edit, allow or refuse code; refused if nobody is there.

        Without a sandbox a red warning is shown above it, and GOAL is not offered.
        """


class Web(Protocol):
    """Downloads a file whose address the user gave."""

    async def fetch(self, url: str, folder: Path) -> Path:
        """Download the file at `url` into `folder`, under a suitable name.

        Raises InputError if the address is not allowed or the file is too large, UnavailableError
        if nothing can be downloaded, and StorageError if it cannot be written.
        """


@dataclass(frozen=True, slots=True)
class Scores:
    """What a request asks of the n tasks of an inventory, as probabilities."""

    tasks: tuple[float, ...]
    """For each task, that it is requested."""
    links: tuple[tuple[float, ...], ...]
    """links[i][j]: if both are requested, that j uses the result of i. Like `order`, 0 for a task
    that is far from being requested."""
    order: tuple[tuple[float, ...], ...]
    """order[i][j]: if both are requested, that i runs before j."""
    where: tuple[int, ...]
    """For each task, the character of the request that mentions it."""


NO_TASK = "none"
"""Under this name `TaskScorer.everyday` says that a request asks for nothing of ours."""
LIVE_DATA = "live data"
"""The answer for a question that only live data answer: the weather, news, prices of today."""


class TaskScorer(Protocol):
    """Compares a request with the descriptions of tasks."""

    def score(self, text: str, inventory: Sequence[TaskType]) -> Scores:
        """Return the scores, within milliseconds, in a thread that may block.

        Raises UnavailableError if it cannot be loaded.
        """

    def everyday(self, texts: Sequence[str]) -> Sequence[Mapping[str, float]]:
        """Return for each text how likely it asks for each everyday task ("clock"), what it chooses
        of it ("clock what=date"), how likely it asks for nothing of ours (NO_TASK), and for what
        changes from day to day (LIVE_DATA). Like `score`, it may block, and raises
        UnavailableError."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An unfinished turn with what is needed to resume it.

    Its results are those of finished tasks. Its plan is None if it had none, or if current task
    types no longer fit the saved one: then it can only be dropped.
    """

    conversation: str
    turn: Turn
    speak: bool = False
    """Whether the answer is to be spoken."""
    folder: Path | None = None
    """Where results with a name chosen by the user are saved."""
    goal: bool = False
    """Whether it runs in agent mode: its state is in the memory of goals."""
    perhaps: frozenset[int] = frozenset()
    """Tasks with effects outside the store that were running: they may have been done."""
    fixed: bool = False
    """Whether the user made or changed the plan: then it is never replanned."""
    unplanned: bool = False
    """Whether it had neither a plan nor a goal yet: it is answered from the beginning."""

    @property
    def begun(self) -> bool:
        """Whether anything was, or may have been, done; otherwise the plan may not be accepted
        yet."""
        return self.goal or bool(self.turn.results or self.perhaps)

    @property
    def progress(self) -> str:
        """The progress in words: "2 of 6 steps are done"."""
        if self.goal:
            return tr("a goal of agent mode")
        if self.unplanned:
            return tr("not answered yet")
        done, plan = len(self.turn.results), self.turn.plan
        if plan is None:
            return trn("{count} step is done", "{count} steps are done", done)
        if done == 1:
            return trn("1 of {count} step is done", "1 of {count} steps is done", len(plan))
        return trn(
            "{done} of {count} step is done",
            "{done} of {count} steps are done",
            len(plan),
            done=done,
        )


class Journal(Protocol):
    """Durable progress of each running turn, until the turn is in the history.

    A turn belongs to the process that started it, while that process runs. Updates of an unknown or
    ended turn are ignored. Every method may raise StorageError.
    """

    def begin(self, unfinished: Unfinished) -> None:
        """Record a turn with its plan, if it has one yet, and its results so far; replaces an
        earlier record."""

    def starting(self, turn_id: str, task_id: int) -> None:
        """Record a task with effects outside the store, before it starts."""

    def finished(self, turn_id: str, result: TaskResult) -> None:
        """Record a finished task with its artifacts, before anything uses them.

        A task that was not finished counts as never started.
        """

    def end(self, turn_id: str) -> None:
        """Forget a turn: it is in the history, or the user stopped it."""

    def unfinished(self) -> Sequence[Unfinished]:
        """Return interrupted turns whose process no longer runs, oldest first."""

    def elsewhere(self) -> Collection[str]:
        """Return the ids of turns that another process is working on."""

    def take_over(self, turn_id: str) -> Unfinished | None:
        """Make such a turn this process's own and return its current state. Repeatable.

        Return None if it is over, or if another process has taken it over: only one ever does.
        """
