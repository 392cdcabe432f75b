from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.everyday.clock import CLOCK, place_in, tell_time
from tests.tasks.calls import FakeServices, call_of, quiet, text_of


@pytest.mark.parametrize(
    ("what", "place", "expected"),
    [
        ("time", "", "It is 12:00."),
        ("date", "", "Today is Monday, 4 May 2026."),
        ("day", "", "Today is Monday."),
        ("time", "Tokyo", "It is 21:00 in Tokyo, on Monday."),
        ("time", "new york", "It is 08:00 in New York, on Monday."),
        ("time", "Beijing", "It is 20:00 in Beijing, on Monday."),
        ("time", "Germany", "It is 14:00 in Germany, on Monday."),
        ("time", "Kenya", "It is 15:00 in Kenya, on Monday."),
        ("date", "Auckland", "The date in Auckland is Tuesday, 5 May 2026."),
        ("time", "What time is it in Paris right now?", "It is 14:00 in Paris, on Monday."),
        ("time", "what time is it", "It is 12:00."),
        ("day", "what day is it tomorrow", "Tomorrow is Tuesday."),
        ("date", "what was the date yesterday", "Yesterday was Sunday, 3 May 2026."),
        ("day", "what day is december 24", "24 December 2026 is a Thursday."),
        ("day", "what day of the week was 3 March 1999", "3 March 1999 was a Wednesday."),
        ("day", "what day was may the fifth", "5 May 2025 was a Monday."),
        ("day", "what day was may the third", "3 May 2026 was a Sunday."),
        ("day", "what day was christmas", "25 December 2025 was a Thursday."),
        ("date", "what date is next Friday", "8 May 2026 is a Friday."),
        ("date", "what was the date last Monday", "27 April 2026 was a Monday."),
        ("date", "what was the date on sunday", "3 May 2026 was a Sunday."),
        ("date", "what date was it two weeks ago", "20 April 2026 was a Monday."),
        ("date", "what date is ten days from now", "14 May 2026 is a Thursday."),
        ("date", "the day after tomorrow", "6 May 2026 is a Wednesday."),
        ("date", "the day before yesterday", "2 May 2026 was a Saturday."),
        (
            "days until",
            "how many days until Christmas",
            "It is 235 days until Friday, 25 December 2026.",
        ),
        (
            "days until",
            "how many weeks until new year’s eve",
            "It is 34 weeks and 3 days until Thursday, 31 December 2026.",
        ),
        ("days until", "how many weeks until may 18", "It is 2 weeks until Monday, 18 May 2026."),
        ("days until", "how many days until tomorrow", "It is 1 day until Tuesday, 5 May 2026."),
        (
            "days until",
            "how many days since 3 march 1999",
            "Wednesday, 3 March 1999 was 9,924 days ago.",
        ),
        ("days until", "how many days until easter", "It is 328 days until Sunday, 28 March 2027."),
        (
            "days until",
            "when is christmas next year",
            "It is 600 days until Saturday, 25 December 2027.",
        ),
        ("time", "when is Whit Monday", "25 May 2026 is a Monday."),
        ("time", "when was Good Friday", "3 April 2026 was a Friday."),
        ("days until", "how many days until may 4", "Monday, 4 May 2026 is today."),
        ("week", "what week is it", "It is week 19 of 2026."),
        ("week", "which week of the year is it today", "It is week 19 of 2026."),
        (
            "week",
            "which calendar week is 24 december in",
            "24 December 2026 is in week 52 of 2026.",
        ),
        ("day", "what weekday was 3 May 1990", "3 May 1990 was a Thursday."),
        (
            "days until",
            "how many days are there between 3 June and 10 July?",
            "From 3 June 2026 to 10 July 2026 it is 37 days.",
        ),
        (
            "days until",
            "how many weeks from 24 december to 6 january",
            "From 24 December 2026 to 6 January 2027 it is 1 week and 6 days.",
        ),
        (
            "days until",
            "how many days are there between 3 May and 10 June?",
            "From 3 May 2027 to 10 June 2027 it is 38 days.",
        ),
        (
            "days until",
            "how many days from 1 June to today?",
            "From 4 May 2026 to 1 June 2026 it is 28 days.",
        ),
        (
            "day",
            "what weekday was the second one: how many days lie between 3 March and 20 June 2025",
            "20 June 2025 was a Friday.",
        ),
        (
            "day",
            "what weekday is the first: how many days are there between 3 June and 10 July",
            "3 June 2026 is a Wednesday.",
        ),
    ],
)
async def test_tells(tmp_path: Path, what: str, place: str, expected: str):
    call = call_of(CLOCK.type, tmp_path, what=what, place=place)
    assert text_of(await tell_time(call, quiet, FakeServices().services())) == expected


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("Atlantis", "not know"),
        ("USA", "several"),
        ("what day is ramadan", "which day"),
        ("how many days between 3 May and my holiday", "which day"),
    ],
)
async def test_places_without_one_time(tmp_path: Path, place: str, reason: str):
    with pytest.raises(InputError, match=reason):
        await tell_time(
            call_of(CLOCK.type, tmp_path, place=place), quiet, FakeServices().services()
        )


def test_no_place_where_none_is_named():
    assert place_in("what time is it in the morning") == ""
    assert place_in("tell me the date please") == ""
