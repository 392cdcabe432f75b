"""Dates and times in a request: "next Friday", "two weeks ago", "on Friday at half past seven"."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.text.lazy_re import lazy_re

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
_DATE = lazy_re(
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
_AFTER_EASTER = {
    "good friday": -2, "easter monday": 1, "easter sunday": 0, "easter": 0,
    "ascension day": 39, "whit sunday": 49, "pentecost": 49, "whit monday": 50,
}  # fmt: skip
"""Days of those that move with Easter."""
_FEAST = lazy_re(rf"\b(?:{'|'.join((*_FEASTS, *_AFTER_EASTER))})\b")


class Day(NamedTuple):
    """A day, and whether it was given as a weekday, of which there is one each week."""

    date: date
    weekly: bool = False


def day_named(said: str, today: date) -> Day | None:
    """Return the next such day from today: "tomorrow", "in 3 days", "on Friday", "May 5th".

    Raises InputError for an invalid date.
    """
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
    """As day_named, but also for the past: "3 days ago", "last Friday", "when was May 5th"."""
    if re.search(r"\bnext year\b", said) and _FEAST.search(said):
        today = date(today.year + 1, 1, 1)
    for name, of_the_year in _FEASTS.items():
        said = re.sub(rf"\b{name}\b", of_the_year, said)
    past = re.search(r"\b(?:was|were|since)\b", said)
    for name, days in _AFTER_EASTER.items():
        if re.search(rf"\b{name}\b", said):
            return _after_easter(days, today, past=bool(past))
    if found := re.search(r"\b(day before )?yesterday\b", said):
        return today - timedelta(days=2 if found[1] else 1)
    if found := re.search(r"\b(\d{1,5})\s+(day|week)s?\s+(ago|from\s+(?:now|today))\b", said):
        days = int(found[1]) * (7 if found[2] == "week" else 1)
        return today + timedelta(days=-days if found[3] == "ago" else days)
    if found := re.search(rf"\blast\s+({WEEKDAY})\b", said):
        return today - timedelta(days=(today.weekday() - WEEKDAYS.index(found[1])) % 7 or 7)
    if past and (found := _DATE.search(said)):
        return _of_a_year(found, today, past=True)
    day = day_named(said, today)
    if past and day and day.weekly:
        return day.date - timedelta(days=7)
    return day.date if day else None


def is_date(said: str) -> bool:
    """Whether lower-case words are a day and nothing else: "the 4th of July 1976", "2027-03-01",
    "christmas", "next friday"."""
    said = said.strip().removeprefix("the ")
    if re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", said) or _DATE.fullmatch(said):
        return True
    feast = rf"(?:{'|'.join(_FEASTS)})(?:,? (?:this year|next year|in \d{{4}}|\d{{4}}))?"
    easter = rf"(?:{'|'.join(_AFTER_EASTER)})(?: (?:this|next) year)?"
    day = rf"(?:next |last |this )?{WEEKDAY}|tomorrow|today|yesterday"
    return re.fullmatch(rf"{feast}|{easter}|{day}", said) is not None


def _after_easter(days: int, today: date, *, past: bool) -> date:
    """Return the next day that is this many days after Easter, or the last one if `past`."""
    from dateutil.easter import easter

    days_found: list[date] = [easter(today.year + by) + timedelta(days) for by in (-1, 0, 1)]
    if past:
        return max(day for day in days_found if day <= today)
    return min(day for day in days_found if day >= today)


def _of_a_year(found: re.Match[str], today: date, *, past: bool = False) -> date:
    """Return the date; without a year, the next one, or the last one if `past`."""
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
    """Return the next such day that a month has."""
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
            tr(
                "{year}-{month:02}-{number:02} is not a date.",
                year=year,
                month=month,
                number=number,
            )
        ) from error


def _number(said: str) -> int:
    """Return the number of "3rd", "third" and "20 third"."""
    return sum(
        _ORDINAL.get(part, 0) or int(re.sub(r"\D", "", part) or 0)
        for part in re.split(r"[\s-]", said)
    )


_HALF = r"\s*([ap])\.?m\b\.?"

_QUARTER = lazy_re(r"\b(?:an?\s+)?quarter\s+(?=(?:past|after|to|before)\b)")
_TWELVE = lazy_re(r"\b(?:(?:at|for|until|till|by)\s+)?(?:(noon|midday)|midnight)\b")
_MINUTES = lazy_re(
    r"(?:\b(?:at|for|until|till|by)\s+(\d{1,2})(?:\s+minutes?)?|\b(15|30))"
    r"\s+(past|after|to|before)\s+(\d{1,2})(?![\d:.]|\s*(?:s|m|h|d|w)[a-z]*\b)"
)
_AT = lazy_re(
    r"\b(?:(at|until|till|by)|for)\s+(\d{1,2})(?!\d)(?:[:.\s](\d{2})(?!\d))?"
    rf"(?:\s*o'?clock\b|{_HALF}|(?(1)|(?!\s*[^\W\d]))|"
    r"(?=\s+(?:in|on|today|tonight|tomorrow|this|next|every|each|daily|and|to|sharp|with|the|"
    r"called|named)\b))"
)
_ALONE = lazy_re(rf"(?<![\d:.])(\d{{1,2}})(?::(\d{{2}})(?:{_HALF})?|{_HALF})(?![\d:])")
"""Unambiguous times of day: "7 am", "6:45"."""
_LEAD = lazy_re(rf"^.*?\bremind(?:er)?\b.*?(?=\b(?:to|that|about|of(?!\s+{MONTH}))\s+(?!\d))")
_REPEATED = lazy_re(rf"\b(?:every|each)\s+\w|\bdaily\b|\b(?:{WEEKDAY}|weekday|weekend)s\b")


class _Time(NamedTuple):
    hour: int
    minute: int
    half: str
    """ "a" for a.m., "p" for p.m., "" if it is not said."""


def times_spelt(said: str) -> str:
    """Return the words with "noon" and "quarter" as numbers, before numbers are read."""
    said = _QUARTER.sub("15 ", said)
    said = re.sub(r"\bhalf\s+(?=past\b)", "30 ", said)
    return _TWELVE.sub(lambda found: f"at 12 {'pm' if found[1] else 'am'}", said)


def before_what_for(said: str) -> str:
    """Return "remind me at nine" of "remind me at nine to call Ann on Friday", or ""."""
    return found[0] if (found := _LEAD.search(said)) else ""


def names_time(said: str) -> bool:
    """Whether a time of day is given."""
    return bool(_time(_in_digits(said)))


def repeats(said: str) -> bool:
    """Whether it is to be repeated: "every day", "on Mondays"."""
    return bool(_REPEATED.search(said))


def due_at(said: str, now: datetime) -> datetime | None:
    """Return the moment given by casefolded words with numbers as digits; None if there is none.

    Words before the purpose come first: "remind me at nine to call Ann on Friday" is due at nine.
    Raises InputError for an invalid or past time, and for a day without a time.
    """
    said = _in_digits(said)
    lead = before_what_for(said)
    at, where = _time(lead), lead
    if at is None:
        at, where = _time(said), said
    day = day_named(lead, now.date()) or day_named(where, now.date())
    if at is None:
        if day is None:
            return None
        raise InputError(
            tr("At what time is missing."), hint=tr("Say “remind me tomorrow at nine to call Ann”.")
        )
    return _next(now, at, day, where)


def by_the_clock_of(now: datetime, moment: datetime) -> datetime:
    """Return the moment in the time zone of `now`; with this computer's daylight saving time, if
    that is its zone."""
    if now.astimezone().utcoffset() == now.utcoffset():
        return moment.astimezone()
    return moment.astimezone(now.tzinfo)


def _in_digits(said: str) -> str:
    """ "20 to 8" as "7:40"."""

    def written(found: re.Match[str]) -> str:
        minute, hour = int(found[1] or found[2]), int(found[4])
        if found[3] in ("to", "before"):
            minute, hour = 60 - minute, (hour - 1) or 12
        return f"at {hour}:{minute:02}"

    return _MINUTES.sub(written, said)


def _time(said: str) -> _Time | None:
    """Raises InputError for an impossible time of day, such as 25:00."""
    if found := _AT.search(said):
        hour, minute, half = found[2], found[3], found[4]
    elif found := _ALONE.search(said):
        hour, minute, half = found[1], found[2], found[3] or found[4]
    else:
        return None
    at = _Time(int(hour), int(minute or 0), half or _half(said, int(hour)))
    if at.hour > 23 or at.minute > 59:
        raise InputError(
            tr("{hour}:{minute:02} is not a time of day.", hour=at.hour, minute=at.minute)
        )
    if at.half and at.hour <= 12:
        at = at._replace(hour=at.hour % 12 + (12 if at.half == "p" else 0))
    return at


def _half(said: str, hour: int) -> str:
    """Return "a" or "p" if the part of the day is given."""
    if "morning" in said:
        return "a"
    if re.search(r"\b(?:tonight|night)\b", said):
        return "a" if hour == 12 or hour < 5 else "p"
    return "p" if re.search(r"\b(?:afternoon|evening)\b", said) else ""


def _next(now: datetime, at: _Time, day: Day | None, said: str) -> datetime:
    if at.hour < 5 and re.search(r"\btonight\b", said):  # which is tomorrow by the calendar
        day = None
    # "On Monday at 7", said on a Monday at 8, means the Monday of next week.
    either_half = not at.half and at.hour <= 12 and not (day and day.weekly)
    due = _here(datetime.combine(day.date if day else now.date(), time(at.hour, at.minute)), now)
    if day is None or day.date == now.date():
        # "At seven" without am or pm means the next seven there is.
        if due <= now and either_half:
            due = _later(due, now, timedelta(hours=12))
        if due <= now and (day is None or day.weekly):
            half = timedelta(hours=12) if either_half else timedelta(days=1)
            due = _later(due, now, timedelta(days=7) if day else half)
        if day and not day.weekly and (due <= now or due.date() != day.date):
            raise InputError(tr("That time of today is over already."))
    return due


def _later(due: datetime, now: datetime, by: timedelta) -> datetime:
    return _here(due.replace(tzinfo=None) + by, now)


def _here(moment: datetime, now: datetime) -> datetime:
    """Return the moment by the clock of `now`; see by_the_clock_of."""
    if now.astimezone().utcoffset() == now.utcoffset():
        return moment.astimezone()
    return moment.replace(tzinfo=now.tzinfo)
