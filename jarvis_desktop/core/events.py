"""What happens during a turn, in order; passed to `Frontend.show`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.expert import Attempt, Candidate, Selection, Status, TaskResult
from jarvis_desktop.core.goal import Outline
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A request came in; its files are not yet checked."""

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
    """Something the user should know that stops nothing, such as a weaker recogniser."""

    text: str


@dataclass(frozen=True, slots=True)
class Traced:
    """A detail for the trace: the prompt that was used, what did not fit into it."""

    text: str


class WaitReason(StrEnum):
    """What a turn waits for before it goes on."""

    NOTHING = ""
    REQUEST = "request"
    """The answer to the request before it, in the same conversation."""
    LLM = "llm"
    """The language model, which writes for another turn."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The turn waits for something, or for NOTHING any more."""

    reason: WaitReason


@dataclass(frozen=True, slots=True)
class PlanProposed:
    """The planner made a plan; the user may still change it."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class PlanAccepted:
    """The plan as it will run."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class Replanned:
    """A new plan replaces one that could not be finished."""

    plan: Plan
    reason: str


@dataclass(frozen=True, slots=True)
class PlanChanged:
    """The user changed the plan while it runs.

    Unchanged tasks continue or stay done; changed ones are reset and start again.
    """

    plan: Plan
    afresh: frozenset[int] = frozenset()
    """Tasks that start again although unchanged, with all that depend on them."""


@dataclass(frozen=True, slots=True)
class ExpertsSelected:
    """Each task has its candidates."""

    selections: tuple[Selection, ...]


@dataclass(frozen=True, slots=True)
class TaskStarted:
    """A candidate is tried: the inputs are ready, or an earlier candidate failed."""

    task_id: int
    candidate: Candidate


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """The progress of a task: `fraction` from 0 to 1, or None if unknown."""

    task_id: int
    fraction: float | None
    message: str = ""


@dataclass(frozen=True, slots=True)
class TaskChunk:
    """The next piece of a text that a task is writing. Only its finished result counts."""

    task_id: int
    text: str


@dataclass(frozen=True, slots=True)
class AttemptFailed:
    """One candidate failed; it is retried or the next one is tried, if that may help."""

    task_id: int
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class Retrying:
    """A failed candidate is retried after some seconds."""

    task_id: int
    candidate: Candidate
    seconds: float
    reason: str
    """What went wrong, in a sentence."""

    @property
    def words(self) -> str:
        """The text for the user: when, and why."""
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
    """The plan of the goal changed. Plans of inner controllers have their own path."""

    outline: Outline
    path: str = "assistant"
    accepted: bool = True
    """False while it is only proposed."""
    why: str = ""
    """Who changed what, in sentences; "" for the first plan."""


@dataclass(frozen=True, slots=True)
class RoundStarted:
    """A controller chose a branch."""

    number: int
    path: str
    """Whose round it is: "assistant", "assistant/coder"."""
    branch: str
    what: str
    """What the branch is to do, in a line."""
    code: str = ""
    """The script that runs."""


@dataclass(frozen=True, slots=True)
class RoundProgress:
    """Output of a round's script, or its progress."""

    number: int
    text: str


@dataclass(frozen=True, slots=True)
class RoundEnded:
    """The result of a round."""

    number: int
    status: Status
    observation: str
    """The output, traceback or answer, shortened for people."""
    artifacts: tuple[Artifact, ...] = ()
    code: str = ""
    """The script that ran, as it ran."""
    seconds: float = 0.0
    """Its duration without waiting for the user; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class ReplyChunk:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Speaking:
    """This sentence is being spoken now; "" when speech has ended."""

    text: str


@dataclass(frozen=True, slots=True)
class Kept:
    """The answered turn is in the history; its answer may still be spoken for minutes."""


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is over; no event follows."""

    status: Status
    at: datetime
    waited: float = 0.0
    """Seconds of it that it waited for the user or for the requests before it."""


Event = (
    TurnStarted
    | Attached
    | Transcribed
    | Noted
    | Traced
    | Waiting
    | PlanProposed
    | PlanAccepted
    | Replanned
    | PlanChanged
    | ExpertsSelected
    | TaskStarted
    | TaskProgress
    | TaskChunk
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
