"""The seam to what is written down of a turn while it runs, so that a crash loses none of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.result import TaskResult
from jarvis_desktop.core.turn import Turn


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A turn that was cut off: its plan, and the results of the tasks that were done by then."""

    conversation: str
    turn: Turn


class Journal(Protocol):
    """Keeps what is done of each running turn, durably, until the turn is in the history."""

    def begin(self, conversation_id: str, turn: Turn, plan: Plan) -> None:
        """Write down a turn and the plan about to run; a new plan takes the place of the old."""
        ...

    def finished(self, turn_id: str, result: TaskResult) -> None:
        """Write down a task that is done, with its artifacts, before anything builds on it."""
        ...

    def end(self, turn_id: str) -> None:
        """Forget a turn: it is in the history, or the person gave it up."""
        ...

    def unfinished(self) -> Sequence[Unfinished]:
        """The turns that were cut off and belong to no process that still runs, oldest first."""
        ...
