"""What became of a task. A failed task is a value, not an exception."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import Fault
from jarvis_desktop.core.expert import Candidate


class Status(StrEnum):
    """How a task or a turn ended."""

    DONE = "done"
    PARTLY = "partly"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Spent:
    """What was asked of services behind an API, and what they said of its price."""

    calls: int = 0
    tokens: int = 0
    """Of questions and answers; 0 where none were told."""
    dollars: float | None = None
    """None where nobody told a price."""

    def __add__(self, other: Spent) -> Spent:
        told = [each for each in (self.dollars, other.dollars) if each is not None]
        return Spent(
            self.calls + other.calls,
            self.tokens + other.tokens,
            sum(told) if told else None,
        )


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of one candidate. `error` is empty where it worked."""

    candidate: Candidate
    seconds: float
    error: str = ""
    kind: str = ""
    """The `kind` of the error; "" where it worked, for a slip of ours, and in the history."""
    retryable: bool = False
    """Whether the same may work when it is tried once more."""
    fault: Fault = Fault.OTHER
    spent: Spent = Spent()


@dataclass(frozen=True, slots=True)
class TaskResult:
    """The end of a task: its artifacts, or the reason why there are none."""

    task_id: int
    status: Status
    artifacts: tuple[Artifact, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    reason: str = ""

    def of_kind(self, kinds: tuple[Kind, ...]) -> tuple[Artifact, ...]:
        """Its artifacts of one kind: the first kind it gave that is among `kinds`."""
        found = next((item.kind for item in self.artifacts if item.kind in kinds), None)
        return tuple(item for item in self.artifacts if item.kind is found)
