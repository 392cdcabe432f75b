"""The seam to what is written down of a turn while it runs, so that a crash loses none of it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from jarvis_desktop.core.result import TaskResult
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import tr, trn


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
