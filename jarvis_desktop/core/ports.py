"""The seams: what the assistant needs of the world; each has a real part and a fake.

The seam to the person: window, quick box or terminal.

The seam to files that lie on the network.

How likely each task of an inventory is asked for: what a trained reader of requests tells.

The seam to what is written down of a turn while it runs, so that a crash loses none of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

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
    """Something of the conversation that can be spoken of: "the second picture"."""

    name: str
    """A unique name for prompts, such as "image 2"; "" where none was given yet."""
    artifact: Artifact
    given: bool
    """Whether the person gave it; otherwise it is a result."""
    task: str = ""
    """The name of the task type that made it; "" where it was given."""


def _no_trace(text: str) -> None:
    """Nobody looks closer."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a planner, and whoever writes the answer, may know besides the words."""

    attachments: tuple[Artifact, ...] = ()
    conversation: Conversation | None = None
    folder: Path | None = None
    """Where results with a name of the person's choosing are saved."""
    resources: tuple[Resource, ...] = ()
    """All that earlier turns were given and made, oldest first."""
    summary: str = ""
    """What was said in turns older than those of `conversation`."""
    facts: tuple[str, ...] = ()
    """What the person wants remembered: "always answer in German"."""
    trace: Callable[[str], None] = _no_trace
    """Takes what those who look closer want to know: which prompt, what was left out."""


@dataclass(frozen=True, slots=True)
class PlanRejected:
    """A planner's reason for making no plan, said to the person."""

    reason: str


@dataclass(frozen=True, slots=True)
class AnswerDirectly:
    """No expert is needed: the LLM answers in its own words."""


@dataclass(frozen=True, slots=True)
class NeedsAgent:
    """One plan of experts will not do: it is a goal, for agent mode."""


class Planner(Protocol):
    """Turns words into a plan."""

    async def plan(
        self, text: str, inventory: Sequence[TaskType], context: Context
    ) -> Plan | AnswerDirectly | PlanRejected | NeedsAgent:
        """A plan over the task types of `inventory`, or the reason why there is none."""
        ...

    async def replan(
        self,
        text: str,
        inventory: Sequence[TaskType],
        context: Context,
        *,
        plan: Plan,
        results: Mapping[int, TaskResult],
    ) -> Plan | PlanRejected:
        """Another plan, after tasks of `plan` failed on all their candidates.

        A task that was done keeps its id and its arguments, so that its result is kept.
        """
        ...

    async def revise(
        self, words: str, inventory: Sequence[TaskType], context: Context, *, plan: Plan
    ) -> Plan | PlanRejected:
        """The plan as the person's words want it, or what of them was not understood.

        A task that they leave as it is keeps its id and its arguments.
        """
        ...


class Backend(Protocol):
    """A place where experts run."""

    name: str
    lane: str
    """Calls of one lane share its width: local, cpu, llm, network, or instant for no limit."""

    def question(self, call: Call) -> str:
        """What the person must agree to before this call runs; "" where nothing."""
        ...

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """The results of the call. Raises JarvisError; cancelling stops the work itself."""
        ...


class Catalogue(Protocol):
    """Which experts there are for a task, best first."""

    def candidates(self, task: str) -> Sequence[Candidate]:
        """Those that can run on this computer now."""
        ...

    def by_llm(self, task: str, llm: LLM) -> Candidate | None:
        """The LLM itself as an expert of the task, where there is a good prompt for it."""
        ...

    def obtainable(self, task: str, request: str = "") -> Sequence[Expert]:
        """Those that would have to be fetched first, smallest first."""
        ...

    def out_of_reach(self, task: str) -> Sequence[Expert]:
        """Those that this version cannot run, smallest first: they are named, never offered."""
        ...


class TrackRecord(Protocol):
    """How experts did on this computer. A help, not a duty: neither method ever raises."""

    def note(
        self, expert_id: str, task: str, *, seconds: float, worked: bool, size: int = 0
    ) -> None:
        """Remember one run of an expert; `seconds` without any waiting for its turn.

        `size` is that of the call.
        """
        ...

    def of(self, task: str) -> Mapping[str, Experience]:
        """What is known about the experts of a task, by their ids."""
        ...


class Fetcher(Protocol):
    """Brings the weights of experts onto this computer."""

    async def fetch(self, expert: Expert, report: Report, *, spared: Collection[str] = ()) -> Path:
        """Fetch one; its folder. Raises UnavailableError with the reason, which is GivenUpError
        where the person wants it no more. Cancelling stops it.

        To make room for it none of those `spared` is deleted.
        """
        ...

    def missing(self, expert: Expert) -> Sequence[Expert]:
        """What must be fetched for it: it and its base, as far as they are not here."""
        ...

    def displaced(self, expert: Expert, *, spared: Collection[str] = ()) -> Sequence[str]:
        """Which experts would be deleted to make room for it. Raises UnavailableError."""
        ...


class ArtifactStore(Protocol):
    """Files by content: what people gave and what experts made."""

    def take_in(self, path: Path) -> Artifact:
        """Check a person's file and copy it in. Raises InputError that names the file."""
        ...

    def keep(self, artifact: Artifact) -> Artifact:
        """Move an expert's file in and return the artifact with its new path."""
        ...

    def holds(self, path: Path) -> bool:
        """Whether this is the path of a file that was taken in or kept."""
        ...

    def lend(self, artifact: Artifact) -> Path:
        """The file as another program may open it; no change that is made to it gets into what is
        kept. Blocks."""
        ...

    def workdir(self) -> Path:
        """A new, empty folder for one call."""
        ...

    def discard(self, workdir: Path) -> None:
        """Remove such a folder with all that is left in it."""
        ...


@dataclass(frozen=True, slots=True)
class Recap:
    """What is kept in words of a conversation's turns, up to the one with the id `through`."""

    text: str
    through: str


@dataclass(frozen=True, slots=True)
class Fact:
    """Something the person wants remembered, in their own words; no number is given twice."""

    number: int
    text: str


class History(Protocol):
    """What was asked and answered."""

    def open_conversation(self, conversation_id: str | None = None) -> Conversation:
        """The conversation of that id with its recent turns, or a new one."""
        ...

    def save(self, conversation_id: str, turn: Turn) -> None:
        """Write a finished turn durably."""
        ...

    def amend(self, conversation_id: str, turn: Turn) -> bool:
        """Write a kept turn anew; False, and nothing happens, where it is gone."""
        ...

    def since(self, conversation_id: str, turn_id: str) -> Sequence[Turn]:
        """The turns after that one, oldest first; all of them where there is no such turn."""
        ...

    def resources(self, conversation_id: str) -> Sequence[Resource]:
        """What was given to its turns and what answered them, oldest first, without names."""
        ...

    def recap(self, conversation_id: str) -> Recap | None:
        """What was kept of its older turns; None once one of its turns was deleted."""
        ...

    def keep_recap(self, conversation_id: str, recap: Recap) -> None:
        """Keep it in the place of the last one; nothing happens where its turn is gone."""
        ...


class Facts(Protocol):
    """What the person wants remembered in every conversation."""

    def list(self) -> Sequence[Fact]:
        """All of them, oldest first."""
        ...

    def add(self, text: str) -> Fact:
        """Keep one as the newest, in the place of one that says the same.

        Raises InputError where it is empty, too long, or one too many.
        """
        ...

    def remove(self, number: int) -> None:
        """Forget one. Raises InputError where there is none of that number."""
        ...

    def clear(self) -> int:
        """Forget all; how many there were."""
        ...


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer that was set."""

    id: str
    label: str
    due: datetime


class Timers(Protocol):
    """Timers that ring."""

    def set(self, seconds: float, label: str) -> Timer:
        """Start one."""
        ...

    def pending(self) -> Sequence[Timer]:
        """Those that have not rung, the next one first; may be called from any thread."""
        ...

    def cancel_all(self) -> int:
        """Cancel all; how many there were."""
        ...


class TimerRecords(Protocol):
    """Timers on disk, so that they outlive the application."""

    def add(self, timer: Timer) -> None:
        """Keep one."""
        ...

    def remove(self, timer_id: str) -> None:
        """Forget one; nothing happens where it is not there."""
        ...

    def pending(self) -> Sequence[Timer]:
        """All that are kept."""
        ...


class Desktop(Protocol):
    """The person's desktop, outside this application."""

    def open(self, path: Path, name: str = "") -> None:
        """Open a file or folder with its usual program; `name` is what the person calls it.

        Raises UnavailableError."""
        ...


@dataclass(frozen=True, slots=True)
class Review:
    """What a person says to the plan of a goal: takes it as it stands here, or wants it revised."""

    outline: Outline
    """As it was shown, or as the person edited it."""
    comment: str = ""
    """What should be different, in words; where there is any, the plan is written anew."""


class Frontend(Protocol):
    """Where a person sees and answers."""

    def show(self, event: Event) -> None:
        """Show that something happened. Must return at once."""
        ...

    async def review(self, plan: Plan) -> Plan | None:
        """Let the person change the plan; None when they refuse it."""
        ...

    async def confirm(self, question: str) -> bool:
        """A yes-or-no question; anything but a clear yes is False."""
        ...

    async def ask(self, question: str) -> str:
        """An open question; "" where there is no answer."""
        ...

    async def review_outline(self, outline: Outline, why: str) -> Review | None:
        """Let the person accept, edit or comment on the plan of a goal; None when they want none,
        or nobody is there.

        `why` is what they should know about it: what changed since they saw it last.
        """
        ...

    async def review_code(self, code: CodeRequest) -> Verdict:
        """Let the person read, edit, allow or refuse code; a No where nobody is there.

        Where its protection is "none", that stands above it in red, and there is no GOAL.
        """
        ...


class Web(Protocol):
    """Fetches a file that the person named by its address."""

    async def fetch(self, url: str, folder: Path) -> Path:
        """The file at `url`, written into `folder` under a name that fits it.

        Raises InputError where this is no address to be fetched from or holds too much,
        UnavailableError where it gives nothing, and StorageError where it cannot be written.
        """
        ...


@dataclass(frozen=True, slots=True)
class Scores:
    """What a request asks of the n tasks of an inventory, as probabilities."""

    tasks: tuple[float, ...]
    """Of each task, that it is asked for."""
    links: tuple[tuple[float, ...], ...]
    """links[i][j]: if both are asked for, that j takes the result of i."""
    order: tuple[tuple[float, ...], ...]
    """order[i][j]: if both are asked for, that i is done before j."""
    where: tuple[int, ...]
    """Of each task, the character of the request at which it is spoken of."""


class TaskScorer(Protocol):
    """Reads a request against the descriptions of tasks."""

    def score(self, text: str, inventory: Sequence[TaskType]) -> Scores:
        """In milliseconds, on a thread that may wait. Raises UnavailableError where it cannot be
        loaded."""
        ...


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A turn that is not over, and what going on with it needs besides.

    The results of its turn are those of the tasks that were done. Its plan is None where today's
    tasks no longer fit the one that was written down: it can then be given up only.
    """

    conversation: str
    turn: Turn
    speak: bool = False
    """Whether the answer is to be spoken."""
    folder: Path | None = None
    """Where results with a name of the person's choosing are saved."""
    goal: bool = False
    """Whether it is worked on in agent mode: what is known of it is in the memory of goals."""
    perhaps: frozenset[int] = frozenset()
    """Tasks that act outside of the store and were under way: they may have been done."""
    fixed: bool = False
    """Whether the plan is the person's own, or was changed by them: no other one takes its place.
    """

    @property
    def begun(self) -> bool:
        """Whether anything was, or may have been, done; else perhaps nobody has agreed to its plan
        yet."""
        return self.goal or bool(self.turn.results or self.perhaps)

    @property
    def progress(self) -> str:
        """How far it is, in words: "2 of 6 steps are done"."""
        if self.goal:
            return tr("a goal of agent mode")
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
    """Keeps what is done of each running turn, durably, until the turn is in the history.

    A turn belongs to the process that began it, for as long as that one runs. What is told of a
    turn that was not begun, or was ended, is not kept. Every method may raise StorageError.
    """

    def begin(self, unfinished: Unfinished) -> None:
        """Write down a turn that has a plan now, and which results are there already.

        It takes the place of what was written down of this turn before.
        """
        ...

    def starting(self, turn_id: str, task_id: int) -> None:
        """Write down a task that acts outside of the store, before it does."""
        ...

    def finished(self, turn_id: str, result: TaskResult) -> None:
        """Write down a task that is done, with its artifacts, before anything builds on it.

        One that was not done counts as never started.
        """
        ...

    def end(self, turn_id: str) -> None:
        """Forget a turn: it is in the history, or the person stopped it."""
        ...

    def unfinished(self) -> Sequence[Unfinished]:
        """The turns that were cut off and belong to no process that still runs, oldest first."""
        ...

    def elsewhere(self) -> Collection[str]:
        """The ids of the turns that another process works on now."""
        ...

    def take_over(self, turn_id: str) -> Unfinished | None:
        """Make such a turn this process's own, as it is by now; one of its own may be taken again.

        None where it is over, or another process goes on with it: only one ever does.
        """
        ...
