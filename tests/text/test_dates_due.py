"""Moments are reckoned from NOON, which is on Monday, 4 May 2026."""

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.everyday.timer import TIMER, manage_timers, seconds_of
from jarvis_desktop.text.dates import by_the_clock_of, day_named, due_at, repeats, times_spelt
from jarvis_desktop.text.numbers import with_digits
from tests.tasks.calls import NOON, FakeServices, call_of, quiet, text_of


def when(said: str) -> str:
    due = due_at(with_digits(times_spelt(said)), NOON)
    return f"{due:%a %d %b %H:%M}" if due else ""


@pytest.mark.parametrize(
    ("said", "due"),
    [
        ("at half past seven", "Mon 04 May 19:30"),
        ("at half past seven in the morning", "Tue 05 May 07:30"),
        ("at 11:30", "Mon 04 May 23:30"),
        ("at quarter to eight", "Mon 04 May 19:45"),
        ("at a quarter past eight", "Mon 04 May 20:15"),
        ("at twenty to one", "Mon 04 May 12:40"),
        ("at ten minutes past six", "Mon 04 May 18:10"),
        ("at noon", "Tue 05 May 12:00"),
        ("for midnight", "Tue 05 May 00:00"),
        ("tomorrow noon", "Tue 05 May 12:00"),
        ("at 12 tonight", "Tue 05 May 00:00"),
        ("at 2 at night", "Tue 05 May 02:00"),
        ("at 9 tonight", "Mon 04 May 21:00"),
        ("7 am", "Tue 05 May 07:00"),
        ("alarm 6:45", "Mon 04 May 18:45"),
        ("alarm 6:45 a.m.", "Tue 05 May 06:45"),
        ("today at 5", "Mon 04 May 17:00"),
        ("the day after tomorrow at 9", "Wed 06 May 09:00"),
        ("in 3 days at 9", "Thu 07 May 09:00"),
        ("in two weeks at 9", "Mon 18 May 09:00"),
        ("on friday at 9", "Fri 08 May 09:00"),
        ("next friday at 9 pm", "Fri 08 May 21:00"),
        ("at 9 on fri", "Fri 08 May 09:00"),
        ("monday at 9", "Mon 11 May 09:00"),
        ("monday at 13:30", "Mon 04 May 13:30"),
        ("next monday at 13:30", "Mon 11 May 13:30"),
        ("on may 20 at 9", "Wed 20 May 09:00"),
        ("on the twenty first of may at 9", "Thu 21 May 09:00"),
        ("on december the third at 9", "Thu 03 Dec 09:00"),
        ("at 9 on 3rd of february", "Wed 03 Feb 09:00"),
        ("on the 31st at 9", "Sun 31 May 09:00"),
        ("on the third at 9", "Wed 03 Jun 09:00"),
        ("on 2026-05-20 at 9", "Wed 20 May 09:00"),
        ("on may 20, 2027 at 9", "Thu 20 May 09:00"),
        ("in ten minutes", ""),
    ],
)
def test_when(said: str, due: str):
    assert when(said) == due


@pytest.mark.parametrize(
    ("said", "due"),
    [
        ("remind me at 9 to call ann on friday", "Mon 04 May 21:00"),
        ("remind me on friday to call ann at 9", "Fri 08 May 09:00"),
        ("remind me to call ann on friday at 9", "Fri 08 May 09:00"),
        ("remind me on the 3rd of june at 9 to pay", "Wed 03 Jun 09:00"),
        ("remind me at 7 to see the morning sun", "Mon 04 May 19:00"),
    ],
)
def test_what_comes_before_the_purpose_counts_first(said: str, due: str):
    assert when(said) == due


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("remind me tomorrow to buy milk", "At what time"),
        ("on friday", "At what time"),
        ("tonight", "At what time"),
        ("today at 9 am", "is over already"),
        ("this is for today at 11:30 am", "is over already"),
        ("at 7:75", "not a time of day"),
        ("on february 30 at 9", "is not a date"),
        ("on 2026-13-01 at 9", "is not a date"),
        ("on the 45th at 9", "No month has a day 45"),
    ],
)
def test_says_why_not(said: str, reason: str):
    with pytest.raises(InputError, match=reason):
        due_at(said, NOON)


def test_a_date_of_the_past_is_one_of_the_next_year():
    assert day_named("may 3", NOON.date()) == (date(2027, 5, 3), False)
    assert day_named("may 4", NOON.date()) == (NOON.date(), False)
    assert day_named("nothing of the kind", NOON.date()) is None


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ("for 7 every day", True),
        ("at 9 on mondays", True),
        ("at 9 on weekdays", True),
        ("daily at 9", True),
        ("at 9 on monday", False),
        ("in an hour", False),
    ],
)
def test_what_is_wanted_again_and_again(said: str, again: bool):
    assert repeats(said) is again


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("berlin")
def test_nine_is_nine_after_the_clocks_were_changed():
    saturday = datetime(2026, 10, 24, 12, 0).astimezone()
    due = due_at("tomorrow at 9", saturday)
    assert due is not None
    assert (due - saturday).total_seconds() == 22 * 3600
    assert due.astimezone().hour == 9
    early = due_at("at 6 am", saturday)
    assert early is not None
    assert (early - saturday).total_seconds() == 19 * 3600
    assert by_the_clock_of(saturday, early.astimezone(UTC)).hour == 6


@pytest.mark.parametrize(
    ("said", "hours"),
    [
        ("remind me at 9 to take a 20 minute walk", 9),
        ("remind me in 2 hours to leave at 9", 2),
        ("in three days", 72),
        ("in three days at 9 am", 69),
    ],
)
def test_a_length_or_a_moment(said: str, hours: int):
    assert seconds_of(said, NOON) == hours * 3600


async def test_that_it_does_not_repeat_is_said(tmp_path: Path):
    services = FakeServices().services()
    call = call_of(TIMER.type, tmp_path, duration="set an alarm for 7 am every day")
    said = text_of(await manage_timers(call, quiet, services))
    assert said.endswith("It rings at 07:00 on Tuesday, 5 May, once: a timer does not repeat.")
