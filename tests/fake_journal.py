"""A journal in memory, with several processes that share one disk."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.ports import Unfinished


@dataclass
class FakeJournal:
    """Keeps running turns in memory; those who share `kept` are processes with one disk.

    `wrong` is raised by whatever writes.
    """

    kept: dict[str, tuple[FakeJournal, Unfinished]] = field(default_factory=dict)
    wrong: JarvisError | None = None
    has_ended: bool = False
    written: list[str] = field(default_factory=list)
    """What was written, in order: "begin t", "starting t 1", "finished t 1", "end t"."""

    def begin(self, unfinished: Unfinished) -> None:
        self._note("begin", unfinished.turn.id)
        done = {
            number: item
            for number, item in unfinished.turn.results.items()
            if item.status is Status.DONE
        }
        turn = replace(unfinished.turn, results=done)
        perhaps = unfinished.perhaps - done.keys()
        self.kept[turn.id] = self, replace(unfinished, turn=turn, perhaps=perhaps)

    def starting(self, turn_id: str, task_id: int) -> None:
        self._note("starting", turn_id, task_id)
        if turn_id in self.kept:
            _, old = self.kept[turn_id]
            self.kept[turn_id] = self, replace(old, perhaps=old.perhaps | {task_id})

    def finished(self, turn_id: str, result: TaskResult) -> None:
        self._note("finished", turn_id, result.task_id)
        if turn_id in self.kept:
            _, old = self.kept[turn_id]
            rest = {
                number: item
                for number, item in old.turn.results.items()
                if number != result.task_id
            }
            done = {result.task_id: result} if result.status is Status.DONE else {}
            turn = replace(old.turn, results={**rest, **done})
            perhaps = old.perhaps - {result.task_id}
            self.kept[turn_id] = self, replace(old, turn=turn, perhaps=perhaps)

    def end(self, turn_id: str) -> None:
        self._note("end", turn_id)
        self.kept.pop(turn_id, None)

    def unfinished(self) -> Sequence[Unfinished]:
        left = [item for owner, item in self.kept.values() if owner.has_ended]
        return tuple(sorted(left, key=lambda item: item.turn.started))

    def elsewhere(self) -> Collection[str]:
        others = self.kept.items()
        return {name for name, (it, _) in others if not (it is self or it.has_ended)}

    def take_over(self, turn_id: str) -> Unfinished | None:
        owner, left = self.kept.get(turn_id, (self, None))
        if left is None or not (owner is self or owner.has_ended):
            return None
        self.kept[turn_id] = self, left
        return left

    def close(self) -> None:
        """Its process ends."""
        self.has_ended = True

    def _note(self, *what: object) -> None:
        if self.wrong:
            raise self.wrong
        self.written.append(" ".join(map(str, what)))
