"""A memory of goals that forgets all when the test ends."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import ControllerFrame, Goal, LogEntry


@dataclass
class Kept:
    """What is known of one goal."""

    goal: Goal
    frames: tuple[ControllerFrame, ...]
    log: dict[int, LogEntry] = field(default_factory=dict)


@dataclass
class FakeGoalMemory:
    """Keeps goals in memory. `wrong` is raised by whatever writes; `on_write` is called after each
    write with what it was, and may raise, as a kill at that moment would."""

    kept: dict[str, Kept] = field(default_factory=dict)
    wrong: JarvisError | None = None
    on_write: Callable[[str], None] = lambda what: None

    def begin(self, goal: Goal, frames: Sequence[ControllerFrame]) -> None:
        self._check()
        self.kept.pop(goal.id, None)
        self.kept[goal.id] = Kept(goal, tuple(frames))
        self.on_write("begin")

    def goal(self, goal_id: str) -> Goal | None:
        return self.kept[goal_id].goal if goal_id in self.kept else None

    def frames(self, goal_id: str) -> Sequence[ControllerFrame]:
        return self.kept[goal_id].frames if goal_id in self.kept else ()

    def keep(
        self, goal_id: str, frames: Sequence[ControllerFrame], entries: Sequence[LogEntry] = ()
    ) -> None:
        self._check()
        if goal_id in self.kept:
            kept = self.kept[goal_id]
            kept.frames = tuple(frames)
            kept.log |= {entry.number: entry for entry in entries}
        self.on_write("keep")

    def log(self, goal_id: str, *, path: str = "") -> Sequence[LogEntry]:
        entries = self.kept[goal_id].log.values() if goal_id in self.kept else ()
        chosen = [item for item in entries if path in ("", item.path)]
        return tuple(sorted(chosen, key=lambda item: item.number))

    def end(self, goal_id: str, status: Status, answer: str) -> None:
        self._check()
        if goal_id in self.kept:
            kept = self.kept[goal_id]
            kept.goal = replace(kept.goal, status=status, answer=answer)
        self.on_write("end")

    def list(self, most: int = 50) -> Sequence[Goal]:
        return tuple(item.goal for item in list(self.kept.values())[::-1][:most])

    def like(self, words: str, most: int) -> Sequence[Goal]:
        wanted = _words(words)
        reached = [goal for goal in self.list(1000) if goal.status in (Status.DONE, Status.PARTLY)]
        near = [goal for goal in reached if wanted & _words(goal.text)]
        return tuple(sorted(near, key=lambda goal: -len(wanted & _words(goal.text)))[:most])

    def remove(self, goal_id: str) -> None:
        self._check()
        if goal_id not in self.kept:
            raise InputError(f"There is no goal {goal_id}.")
        del self.kept[goal_id]
        self.on_write("remove")

    def _check(self) -> None:
        if self.wrong:
            raise self.wrong


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))
