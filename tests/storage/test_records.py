"""How experts did: what is kept, what is told, and what happens when that fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jarvis_desktop.core.expert import Experience
from jarvis_desktop.storage.database import connect
from jarvis_desktop.storage.records import FAILURE_PERIOD, MAX_RUNS, TrackRecords

TASK = "translation"


class Clock:
    def __init__(self) -> None:
        self.time = datetime(2026, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def records(tmp_path: Path, clock: Clock) -> Iterator[TrackRecords]:
    db, _ = connect(tmp_path / "history.db")
    yield TrackRecords(db, now=clock)
    db.close()


def test_of_what_never_ran_nothing_is_known(records: TrackRecords) -> None:
    assert records.of(TASK) == {}


def test_runs_are_counted_for_each_expert_and_task(records: TrackRecords) -> None:
    for seconds in (30.0, 1.0, 3.0):  # the first one loaded the weights
        records.note("opus", TASK, seconds=seconds, worked=True)
    records.note("nllb", TASK, seconds=9.0, worked=True)
    records.note("opus", "summarization", seconds=9.0, worked=False)
    assert records.of(TASK) == {
        "opus": Experience(runs=3, worked=3, seconds=3.0, slowest=30.0),
        "nllb": Experience(runs=1, worked=1, seconds=9.0, slowest=9.0),
    }


def test_a_failure_is_held_against_an_expert_until_it_works_or_time_has_passed(
    records: TrackRecords, clock: Clock
) -> None:
    records.note("opus", TASK, seconds=1.0, worked=False)
    assert records.of(TASK) == {"opus": Experience(1, 0, None, failed=True)}
    clock.time += FAILURE_PERIOD
    assert records.of(TASK) == {"opus": Experience(1, 0, None)}
    records.note("opus", TASK, seconds=1.0, worked=False)
    records.note("opus", TASK, seconds=2.0, worked=True)
    assert records.of(TASK) == {"opus": Experience(3, 1, 2.0, slowest=2.0)}


def test_the_largest_work_that_succeeded_is_known(records: TrackRecords) -> None:
    records.note("opus", TASK, seconds=4.0, worked=True, size=2000)
    records.note("opus", TASK, seconds=1.0, worked=True, size=50)
    records.note("opus", TASK, seconds=9.0, worked=False, size=9000)
    known = records.of(TASK)["opus"]
    assert (known.slowest, known.largest) == (4.0, 2000)


@pytest.mark.parametrize(
    ("runs", "failed"),
    [("y", False), ("n", True), ("yn", False), ("yyyn", False), ("yynn", True), ("nny", False)],
)
def test_one_failure_among_successes_is_forgiven(
    records: TrackRecords, runs: str, failed: bool
) -> None:
    for each in runs:
        records.note("opus", TASK, seconds=1.0, worked=each == "y")
    assert records.of(TASK)["opus"].failed is failed


def test_only_the_newest_runs_are_kept(records: TrackRecords) -> None:
    records.note("nllb", TASK, seconds=1.0, worked=True)
    for number in range(3 * MAX_RUNS):
        records.note("opus", TASK, seconds=float(number), worked=number >= 2 * MAX_RUNS)
    known = records.of(TASK)
    assert known["opus"] == Experience(
        MAX_RUNS, MAX_RUNS, seconds=2.5 * MAX_RUNS - 0.5, slowest=3.0 * MAX_RUNS - 1
    )
    assert known["nllb"].runs == 1


def test_they_outlive_the_application(tmp_path: Path, clock: Clock) -> None:
    for _ in range(2):
        db, _ = connect(tmp_path / "history.db")
        TrackRecords(db, now=clock).note("opus", TASK, seconds=1.0, worked=True)
        known = TrackRecords(db, now=clock).of(TASK)
        db.close()
    assert known["opus"].runs == 2


def test_a_clock_that_was_set_back_harms_nothing(records: TrackRecords, clock: Clock) -> None:
    records.note("opus", TASK, seconds=1.0, worked=False)
    clock.time -= timedelta(days=400)
    assert records.of(TASK)["opus"].runs == 1


def test_what_cannot_be_written_or_read_is_left_out(tmp_path: Path, clock: Clock) -> None:
    db, _ = connect(tmp_path / "history.db")
    db.execute("PRAGMA busy_timeout = 0")
    records = TrackRecords(db, now=clock)
    other = sqlite3.connect(tmp_path / "history.db")
    other.execute("BEGIN IMMEDIATE")
    records.note("opus", TASK, seconds=1.0, worked=True)
    other.close()
    assert records.of(TASK) == {}
    db.execute("DROP TABLE expert_runs")
    records.note("opus", TASK, seconds=1.0, worked=True)
    assert records.of(TASK) == {}
    db.close()
