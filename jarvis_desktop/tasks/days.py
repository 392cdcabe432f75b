"""Which day is meant: "tomorrow", "next Friday", "the third of May", "two weeks ago"."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import NamedTuple

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.wording import tr

WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
MONTHS = (
    "january february march april may june july august september october november december"
).split()
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_ORDINAL = {name: n for n, name in enumerate(_ORDINALS, 1)} | {"twentieth": 20, "thirtieth": 30}

WEEKDAY = rf"(?:{'|'.join(WEEKDAYS)})"
MONTH = rf"(?:{'|'.join(f'{name[:3]}(?:{name[3:]})?' for name in MONTHS)}|sept)\b"
_NUMBERED = rf"(\d{{1,2}}(?:st|nd|rd|th)?|(?:(?:20|30)[\s-])?(?:{'|'.join(_ORDINAL)}))\b"
_DATE = re.compile(
    rf"\b(?:{_NUMBERED}\s+(?:of\s+)?({MONTH})|({MONTH})\.?\s+(?:the\s+)?{_NUMBERED})"
    r"(?:,?\s+(\d{4})\b)?"
)

_FEASTS = {
    "christmas eve": "december 24", "christmas day": "december 25", "christmas": "december 25",
    "boxing day": "december 26", "new year's eve": "december 31", "new years eve": "december 31",
    "new year's day": "january 1", "new years day": "january 1", "new year's": "january 1",
    "new years": "january 1", "new year": "january 1", "valentine's day": "february 14",
    "valentines day": "february 14", "april fools' day": "april 1", "halloween": "october 31",
}  # fmt: skip
"""Those that have the same date each year."""


class Day(NamedTuple):
    """A day that was named, and whether by its name only: there is one of it each week."""

    date: date
    weekly: bool = False


def day_named(said: str, today: date) -> Day | None:
    """Of "tomorrow", "in 3 days", "on Friday", "on the 3rd", "May 5th" the next there is, from
    today on. Raises InputError for a date that is none."""
    if found := re.search(r"\b(?:(the\s+)?day after )?tomorrow\b|\b(?:today|tonight)\b", said):
        ahead = found[0].endswith("tomorrow") + ("after" in found[0])
        return Day(today + timedelta(days=ahead))
    if found := re.search(r"\bin\s+(\d{1,3})\s+(day|week)s?\b", said):
        return Day(today + timedelta(days=int(found[1]) * (7 if found[2] == "week" else 1)))
    if found := re.search(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b", said):
        return Day(_date(int(found[1]), int(found[2]), int(found[3])))
    if found := _DATE.search(said):
        return Day(_of_a_year(found, today))
    if found := re.search(rf"\bon\s+the\s+{_NUMBERED}", said):
        return Day(_of_month(_number(found[1]), today))
    if found := re.search(
        rf"\b(?:(next)\s+)?({WEEKDAY})s?\b|\b(?:on|(next)|this)\s+"
        r"(mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\b",
        said,
    ):
        wanted = [name[:3] for name in WEEKDAYS].index((found[2] or found[4])[:3])
        ahead = (wanted - today.weekday()) % 7
        if not ahead and (found[1] or found[3]):
            ahead = 7
        return Day(today + timedelta(days=ahead), weekly=True)
    return None


def day_asked(said: str, today: date) -> date | None:
    """As day_named, of the past too: "3 days ago", "last Friday", "when was May 5th"."""
    for name, of_the_year in _FEASTS.items():
        said = re.sub(rf"\b{name}\b", of_the_year, said)
    if found := re.search(r"\b(day before )?yesterday\b", said):
        return today - timedelta(days=2 if found[1] else 1)
    if found := re.search(r"\b(\d{1,5})\s+(day|week)s?\s+(ago|from\s+(?:now|today))\b", said):
        days = int(found[1]) * (7 if found[2] == "week" else 1)
        return today + timedelta(days=-days if found[3] == "ago" else days)
    if found := re.search(rf"\blast\s+({WEEKDAY})\b", said):
        return today - timedelta(days=(today.weekday() - WEEKDAYS.index(found[1])) % 7 or 7)
    past = re.search(r"\b(?:was|were|since)\b", said)
    if past and (found := _DATE.search(said)):
        return _of_a_year(found, today, past=True)
    day = day_named(said, today)
    if past and day and day.weekly:
        return day.date - timedelta(days=7)
    return day.date if day else None


def _of_a_year(found: re.Match[str], today: date, *, past: bool = False) -> date:
    """The date found; where no year is named, the next there is, or the last."""
    number = _number(found[1] or found[4])
    names = [name[:3] for name in MONTHS]
    month = names.index((found[2] or found[3])[:3]) + 1
    if found[5]:
        return _date(int(found[5]), month, number)
    this_year = _date(today.year, month, number)
    if past:
        return this_year if this_year <= today else _date(today.year - 1, month, number)
    return this_year if this_year >= today else _date(today.year + 1, month, number)


def _of_month(number: int, today: date) -> date:
    """The next such day that a month has."""
    if not 1 <= number <= 31:
        raise InputError(tr("No month has a day {number}.", number=number))
    year, month = today.year, today.month
    while True:
        try:
            found = date(year, month, number)
        except ValueError:
            pass
        else:
            if found >= today:
                return found
        year, month = year + month // 12, month % 12 + 1


def _date(year: int, month: int, number: int) -> date:
    try:
        return date(year, month, number)
    except ValueError as error:
        raise InputError(
            tr("{year}-{month:02}-{number:02} is no date.", year=year, month=month, number=number)
        ) from error


def _number(said: str) -> int:
    """Of "3rd", "third" and "20 third"."""
    return sum(
        _ORDINAL.get(part, 0) or int(re.sub(r"\D", "", part) or 0)
        for part in re.split(r"[\s-]", said)
    )
