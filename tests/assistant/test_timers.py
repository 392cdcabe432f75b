"""Timers ring once, survive a restart, and can be cancelled."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from jarvis_desktop.assistant.timers import RingingTimers
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.ports import Timer


def now() -> datetime:
    return datetime.now(UTC)


class Records:
    """Timers in memory."""

    def __init__(self, *timers: Timer) -> None:
        self.kept = {timer.id: timer for timer in timers}

    def add(self, timer: Timer) -> None:
        self.kept[timer.id] = timer

    def remove(self, timer_id: str) -> None:
        self.kept.pop(timer_id, None)

    def pending(self) -> list[Timer]:
        return list(self.kept.values())


@pytest.fixture
def rung() -> list[Timer]:
    return []


async def test_a_timer_rings_once_and_is_forgotten(rung: list[Timer]) -> None:
    records = Records()
    timers = RingingTimers(records, ring=rung.append, now=now)
    timer = timers.set(0.01, "tea")
    assert timer.due <= now() + timedelta(seconds=0.01)
    assert timers.pending() == [timer] == records.pending()
    await timers.all_rung()
    assert rung == [timer]
    assert not records.kept
    await timers.all_rung()


async def test_the_next_one_comes_first(rung: list[Timer]) -> None:
    timers = RingingTimers(Records(), ring=rung.append, now=now)
    late, soon = timers.set(200, "late"), timers.set(100, "soon")
    assert timers.pending() == [soon, late]
    assert timers.cancel_all() == 2
    await timers.all_rung()
    assert rung == []


async def test_two_timers_are_both_waited_for(rung: list[Timer]) -> None:
    timers = RingingTimers(Records(), ring=rung.append, now=now)
    timers.set(0.02, "b")
    timers.set(0.01, "a")
    await timers.all_rung()
    assert [timer.label for timer in rung] == ["a", "b"]


async def test_a_restart_takes_them_up_and_rings_what_is_overdue(rung: list[Timer]) -> None:
    overdue = Timer("1", "missed", now() - timedelta(hours=1))
    later = Timer("2", "later", now() + timedelta(hours=1))
    records = Records(overdue, later)
    timers = RingingTimers(records, ring=rung.append, now=now)
    timers.restore()
    timers.restore()
    while not rung:
        await asyncio.sleep(0)
    assert rung == [overdue]
    timers.close()
    assert timers.pending() == []
    assert list(records.kept) == ["2"]


async def test_a_computer_that_slept_rings_by_the_wall_clock(
    rung: list[Timer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.assistant.timers.MAX_WAIT_S", 0.001)
    asleep = timedelta()
    timers = RingingTimers(Records(), ring=rung.append, now=lambda: now() + asleep)
    timer = timers.set(3600, "tea")
    await asyncio.sleep(0.005)
    assert rung == []
    asleep = timedelta(hours=1)
    await timers.all_rung()
    assert rung == [timer]


async def test_a_record_that_cannot_be_removed_does_not_silence_the_bell(
    rung: list[Timer],
) -> None:
    class Stuck(Records):
        def remove(self, timer_id: str) -> None:
            raise StorageError("The database is locked.")

    timers = RingingTimers(Stuck(), ring=rung.append, now=now)
    timers.set(0, "tea")
    await timers.all_rung()
    assert len(rung) == 1


async def test_one_of_them_is_cancelled_and_each_change_is_reported(rung: list[Timer]) -> None:
    records, seen = Records(), list[list[str]]()
    timers = RingingTimers(records, ring=rung.append, now=now)
    timers.on_change = lambda: seen.append([timer.label for timer in timers.pending()])
    tea, eggs = timers.set(100, "tea"), timers.set(200, "eggs")
    timers.cancel(tea.id)
    timers.cancel(tea.id)
    assert records.pending() == [eggs]
    timers.cancel(eggs.id)
    timers.restore()
    await timers.all_rung()
    timers.set(0, "now")
    await timers.all_rung()
    assert seen == [["tea"], ["tea", "eggs"], ["eggs"], [], [], ["now"], []]
    assert [timer.label for timer in rung] == ["now"]
