"""What happens during a turn, in the order it happens; given to `Frontend.show`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.expert import Attempt, Candidate, Selection, Status, TaskResult
from jarvis_desktop.core.goal import Outline
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A request came in; its files are not yet looked at."""

    turn_id: str
    at: datetime
    text: str
    attachments: tuple[Artifact, ...] = ()


@dataclass(frozen=True, slots=True)
class Attached:
    """The files of the request were checked and copied into the artifact store."""

    attachments: tuple[Artifact, ...]


@dataclass(frozen=True, slots=True)
class Transcribed:
    """The spoken request became text."""

    text: str
    engine: str


@dataclass(frozen=True, slots=True)
class Noted:
    """Something the person should know that stops nothing, such as a weaker recogniser."""

    text: str


@dataclass(frozen=True, slots=True)
class Traced:
    """For those who look closer: which prompt was used, what did not fit into it."""

    text: str


@dataclass(frozen=True, slots=True)
class PlanProposed:
    """The planner made a plan; the person may still change it."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class PlanAccepted:
    """The plan as it will run."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class Replanned:
    """A new plan takes the place of one that could not be finished."""

    plan: Plan
    reason: str


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The person changed the plan while it is carried out. What is unchanged goes on or stays done;
    what is not is forgotten, and begins anew."""

    plan: Plan
    afresh: frozenset[int] = frozenset()
    """The tasks that begin anew although they are unchanged, with all that builds on them."""


@dataclass(frozen=True, slots=True)
class ExpertsSelected:
    """Each task has its list of candidates."""

    selections: tuple[Selection, ...]


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A candidate is tried: a task's inputs are there, or what was tried before it failed."""

    task_id: int
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """How far a task is: `fraction` from 0 to 1, None where it cannot tell."""

    task_id: int
    fraction: float | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """One candidate failed; it or the next one is tried, if that may help."""

    task_id: int
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Retrying:
    """A candidate that failed is tried once more, after some seconds."""

    task_id: int
    candidate: Candidate
    seconds: float
    reason: str
    """What went wrong, in a sentence."""

    @property
    def words(self) -> str:
        """What a person reads: when, and why."""
        if self.seconds < 0.5:
            return tr("Trying again: {reason}", reason=self.reason)
        seconds = round(self.seconds)
        return tr("Trying again in {seconds} s: {reason}", seconds=seconds, reason=self.reason)


@dataclass(frozen=True, slots=True)
class TaskFinished:
    """A task ended: done, failed, skipped or cancelled."""

    result: TaskResult


@dataclass(frozen=True, slots=True)
class GoalTaken:
    """The request is worked on in agent mode, round by round."""


@dataclass(frozen=True, slots=True)
class OutlineChanged:
    """The plan of the goal is this one now. The plans of inner controllers have their own path."""

    outline: Outline
    path: str = "assistant"
    accepted: bool = True
    """False while it is only proposed."""
    why: str = ""
    """Who changed what, in sentences; "" for the first one."""


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A controller took a branch."""

    number: int
    path: str
    """Whose round it is: "assistant", "assistant/coder"."""
    branch: str
    what: str
    """What it is to do, in a line."""
    code: str = ""
    """The script that runs."""


@dataclass(frozen=True, slots=True)
class RoundProgress:
    """What a round's script prints, or how far its work is."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """What came of it."""

    number: int
    status: Status
    observation: str
    """For people, shortened; what was printed, the traceback, the answer."""
    artifacts: tuple[Artifact, ...] = ()
    code: str = ""
    """The script that ran, as it ran."""
    seconds: float = 0.0
    """How long it took, without waiting for the person; 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class ReplyChunk:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Speaking:
    """This sentence is being spoken now; "" where none is any more."""

    text: str


@dataclass(frozen=True, slots=True)
class Kept:
    """The answered turn is in the history; its answer may be spoken for minutes yet."""


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is over; nothing follows."""

    status: Status
    at: datetime


Event = (
    TurnStarted
    | Attached
    | Transcribed
    | Noted
    | Traced
    | PlanProposed
    | PlanAccepted
    | Replanned
    | PlanChanged
    | ExpertsSelected
    | TaskStarted
    | TaskProgress
    | AttemptFailed
    | Retrying
    | TaskFinished
    | GoalTaken
    | OutlineChanged
    | RoundStarted
    | RoundProgress
    | RoundEnded
    | ReplyChunk
    | Speaking
    | Kept
    | TurnFinished
)
