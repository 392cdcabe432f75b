"""What every Journal promises, asked of the fake and of the SQLite one alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import pytest

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import Fault
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Journal, Unfinished
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage.history import SqliteHistory
from tests.fake_journal import FakeJournal
from tests.storage.samples import INVENTORY, READ, SPEAK, START, SUM, stored_file


class Disk(Protocol):
    """One disk with several processes."""

    def process(self) -> Journal: ...

    def end(self, journal: Journal) -> None: ...


class Fakes:
    def __init__(self, root: Path) -> None:
        self._kept: dict[str, tuple[FakeJournal, Unfinished]] = {}

    def process(self) -> Journal:
        return FakeJournal(self._kept)

    def end(self, journal: Journal) -> None:
        assert isinstance(journal, FakeJournal)
        journal.close()


class Databases:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._open: dict[Journal, SqliteHistory] = {}

    def process(self) -> Journal:
        history = SqliteHistory(
            self._root / "history.db",
            store_root=self._root,
            inventory=INVENTORY,
            now=lambda: START,
        )
        self._open[history.journal] = history
        return history.journal

    def end(self, journal: Journal) -> None:
        self._open.pop(journal).close()

    def close(self) -> None:
        for journal in list(self._open):
            self.end(journal)


@pytest.fixture(params=["fake", "sqlite"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    if request.param == "fake":
        yield Fakes(tmp_path)
        return
    real = Databases(tmp_path)
    yield real
    real.close()


def running(turn_id: str, given: Artifact, *, minutes: int = 0) -> Unfinished:
    """A turn that is about to run its plan."""
    plan = Plan(
        (
            Task(1, READ, {"image": given}),
            Task(2, SUM, {"text": (Ref(1), "in short"), "count": 2}),
            Task(3, SPEAK, {"text": Ref(2)}, wanted=True, expert="piper"),
        )
    )
    turn = Turn(
        turn_id,
        START + timedelta(minutes=minutes),
        text="Read this scan",
        heard_by="fake",
        attachments=(given,),
        plan=plan,
        notes=("a note", "ünother\nnote"),
    )
    return Unfinished("c", turn, speak=True, folder=Path("/some/where"), fixed=True)


def done(task_id: int, *artifacts: Artifact) -> TaskResult:
    kind = {1: "read", 2: "sum-up", 3: "speak"}[task_id]
    candidate = Candidate(Expert(f"builtin/{kind}", kind, revision="a" * 40), "builtin")
    failed = Attempt(candidate, 0.5, "It is loading.", fault=Fault.LOADING)
    made = artifacts or (text_artifact("The quick brown fox", made_by=task_id),)
    return TaskResult(task_id, Status.DONE, made, (failed, Attempt(candidate, 0.25)))


def of(journal: Journal) -> list[tuple[str, list[int], set[int]]]:
    """Each turn that was cut off: its id, the tasks that are done, those that may be."""
    return [
        (item.turn.id, sorted(item.turn.results), set(item.perhaps))
        for item in journal.unfinished()
    ]


@pytest.fixture
def given(tmp_path: Path) -> Artifact:
    return stored_file(tmp_path, "abc.png")


def test_what_was_done_comes_back_whole_once_the_process_has_ended(
    disk: Disk, given: Artifact, tmp_path: Path
):
    first, second = disk.process(), disk.process()
    unfinished = running("t", given)
    made = done(3, stored_file(tmp_path, "cde.wav"))
    first.begin(unfinished)
    first.finished("t", done(1))
    first.finished("t", made)
    assert not second.unfinished()
    assert not first.unfinished()
    disk.end(first)
    (left,) = second.unfinished()
    turn = replace(unfinished.turn, results={1: done(1), 3: made})
    assert replace(left, turn=replace(left.turn, selections=())) == replace(unfinished, turn=turn)
    assert {item.task_id for item in left.turn.selections} <= {1, 3}
    assert second.take_over("t") == left


def test_a_turn_that_was_ended_is_forgotten(disk: Disk, given: Artifact):
    first, second = disk.process(), disk.process()
    for name in ("t", "u"):
        first.begin(running(name, given))
    first.finished("t", done(1))
    first.end("t")
    first.end("t")
    first.end("unknown")
    disk.end(first)
    assert of(second) == [("u", [], set())]


def test_the_oldest_come_first(disk: Disk, given: Artifact):
    first, second = disk.process(), disk.process()
    for name, minutes in (("b", 2), ("a", 3), ("c", 1)):
        first.begin(running(name, given, minutes=minutes))
    disk.end(first)
    assert [name for name, _, _ in of(second)] == ["c", "b", "a"]


def test_a_new_plan_takes_the_place_of_the_old_with_what_is_kept(disk: Disk, given: Artifact):
    first, second = disk.process(), disk.process()
    unfinished = running("t", given)
    first.begin(unfinished)
    first.starting("t", 3)
    for number in (1, 2):
        first.finished("t", done(number))
    assert unfinished.turn.plan
    other = Plan(unfinished.turn.plan.tasks[:2])
    failed = TaskResult(2, Status.FAILED, reason="It broke.")
    turn = replace(unfinished.turn, plan=other, results={1: done(1), 2: failed})
    first.begin(replace(unfinished, turn=turn, perhaps=frozenset({1, 2})))
    disk.end(first)
    assert of(second) == [("t", [1], {2})]
    assert second.unfinished()[0].turn.plan == other


def test_a_task_with_effects_outside_may_have_been_done_until_it_ends(disk: Disk, given: Artifact):
    first, second = disk.process(), disk.process()
    first.begin(running("t", given))
    for number in (1, 2, 3):
        first.starting("t", number)
    first.finished("t", done(1))
    first.finished("t", TaskResult(2, Status.FAILED, reason="It broke."))
    disk.end(first)
    assert of(second) == [("t", [1], {3})]


def test_what_is_told_of_a_turn_that_is_not_there_is_not_kept(disk: Disk, given: Artifact):
    first, second = disk.process(), disk.process()
    first.starting("t", 1)
    first.finished("t", done(1))
    first.begin(running("t", given))
    disk.end(first)
    assert of(second) == [("t", [], set())]
    assert second.take_over("other") is None


def test_only_one_process_goes_on_with_a_turn(disk: Disk, given: Artifact):
    first, second, third = disk.process(), disk.process(), disk.process()
    first.begin(running("t", given))
    assert second.take_over("t") is None
    disk.end(first)
    assert [len(item.unfinished()) for item in (second, third)] == [1, 1]
    assert second.take_over("t") is not None
    assert third.take_over("t") is None
    assert not third.unfinished()
    assert [set(item.elsewhere()) for item in (second, third)] == [set(), {"t"}]
    assert second.take_over("t") is not None
    second.finished("t", done(1))
    disk.end(second)
    left = third.take_over("t")
    assert left
    assert sorted(left.turn.results) == [1]


def test_a_goal_is_a_turn_without_a_plan_of_its_own(disk: Disk, given: Artifact):
    first, second = disk.process(), disk.process()
    turn = replace(running("t", given).turn, plan=None, agentic=True)
    goal = Unfinished("c", turn, folder=Path("/some/where"), goal=True)
    first.begin(goal)
    first.begin(replace(running("u", given, minutes=1), goal=True, turn=replace(turn, id="u")))
    disk.end(first)
    left, other = second.unfinished()
    assert left == goal
    assert other.goal
    assert second.take_over("t") == goal
    assert goal.progress == "a goal of agent mode"


def test_a_request_without_a_plan_is_kept_until_it_has_one(disk: Disk, given: Artifact):
    first, second = disk.process(), disk.process()
    planned = running("t", given)
    turn = replace(planned.turn, plan=None)
    asked = Unfinished("c", turn, speak=True, folder=Path("/some/where"), unplanned=True)
    first.begin(asked)
    first.begin(replace(asked, turn=replace(turn, id="u", started=turn.started + timedelta(1))))
    first.begin(replace(planned, turn=replace(planned.turn, id="u")))
    disk.end(first)
    left = {item.turn.id: item for item in second.unfinished()}
    assert left["t"] == asked
    assert not left["u"].unplanned
    assert second.take_over("t") == asked


def test_what_is_done_of_a_plan_within_a_goal_is_kept(disk: Disk, given: Artifact):
    first, second = disk.process(), disk.process()
    goal = replace(running("t", given), goal=True)
    goal = replace(goal, turn=replace(goal.turn, agentic=True))
    first.begin(goal)
    first.finished("t", done(1))
    first.starting("t", 3)
    disk.end(first)
    assert of(second) == [("t", [1], {3})]
    (left,) = second.unfinished()
    assert left.goal
    assert left.turn.plan == goal.turn.plan
