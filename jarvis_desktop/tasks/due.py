"""When something is due: "tomorrow at nine", "on Friday at half past seven", "at noon"."""

from __future__ import annotations

import re
from datetime import datetime, time, timedelta
from typing import NamedTuple

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.days import MONTH, WEEKDAY, Day, day_named

_HALF = r"\s*([ap])\.?m\b\.?"

_QUARTER = re.compile(r"\b(?:an?\s+)?quarter\s+(?=(?:past|after|to|before)\b)")
_TWELVE = re.compile(r"\b(?:(?:at|for|until|till|by)\s+)?(?:(noon|midday)|midnight)\b")
_MINUTES = re.compile(
    r"(?:\b(?:at|for|until|till|by)\s+(\d{1,2})(?:\s+minutes?)?|\b(15|30))"
    r"\s+(past|after|to|before)\s+(\d{1,2})(?![\d:.]|\s*(?:s|m|h|d|w)[a-z]*\b)"
)
_AT = re.compile(
    r"\b(?:(at|until|till|by)|for)\s+(\d{1,2})(?!\d)(?:[:.\s](\d{2})(?!\d))?"
    rf"(?:\s*o'?clock\b|{_HALF}|(?(1)|(?!\s*[^\W\d]))|"
    r"(?=\s+(?:in|on|today|tonight|tomorrow|this|next|every|each|daily|and|to|sharp|with|the|"
    r"called|named)\b))"
)
_ALONE = re.compile(rf"(?<![\d:.])(\d{{1,2}})(?::(\d{{2}})(?:{_HALF})?|{_HALF})(?![\d:])")
"""What can be nothing but a time of day: "7 am", "6:45"."""
_LEAD = re.compile(rf"^.*?\bremind(?:er)?\b.*?(?=\b(?:to|that|about|of(?!\s+{MONTH}))\s+(?!\d))")
_REPEATED = re.compile(rf"\b(?:every|each)\s+\w|\bdaily\b|\b(?:{WEEKDAY}|weekday|weekend)s\b")


class _Time(NamedTuple):
    hour: int
    minute: int
    half: str
    """ "a", "p", or "" where nobody says which half of the day."""


def times_spelt(said: str) -> str:
    """The words with "noon" and "quarter" as numbers; to be done before numbers are read."""
    said = _QUARTER.sub("15 ", said)
    said = re.sub(r"\bhalf\s+(?=past\b)", "30 ", said)
    return _TWELVE.sub(lambda found: f"at 12 {'pm' if found[1] else 'am'}", said)


def before_what_for(said: str) -> str:
    """ "remind me at nine" of "remind me at nine to call Ann on Friday"; "" where nothing such."""
    return found[0] if (found := _LEAD.search(said)) else ""


def names_time(said: str) -> bool:
    """Whether a time of day is named."""
    return bool(_time(_in_digits(said)))


def repeats(said: str) -> bool:
    """Whether it is wanted again and again: "every day", "on Mondays"."""
    return bool(_REPEATED.search(said))


def due_at(said: str, now: datetime) -> datetime | None:
    """The moment named by casefolded words with their numbers as digits; None where none is.

    What comes before the purpose counts first: "remind me at nine to call Ann on Friday" is due at
    nine. Raises InputError for a time that is none or is over, and for a day without a time.
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
    """The moment in the time zone of `now`; by the summer time of this computer, where that is
    its zone."""
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
    """Raises InputError for a time of day that is none."""
    if found := _AT.search(said):
        hour, minute, half = found[2], found[3], found[4]
    elif found := _ALONE.search(said):
        hour, minute, half = found[1], found[2], found[3] or found[4]
    else:
        return None
    at = _Time(int(hour), int(minute or 0), half or _half(said, int(hour)))
    if at.hour > 23 or at.minute > 59:
        raise InputError(
            tr("{hour}:{minute:02} is no time of day.", hour=at.hour, minute=at.minute)
        )
    if at.half and at.hour <= 12:
        at = at._replace(hour=at.hour % 12 + (12 if at.half == "p" else 0))
    return at


def _half(said: str, hour: int) -> str:
    """Where the part of the day is named."""
    if "morning" in said:
        return "a"
    if re.search(r"\b(?:tonight|night)\b", said):
        return "a" if hour == 12 or hour < 5 else "p"
    return "p" if re.search(r"\b(?:afternoon|evening)\b", said) else ""


def _next(now: datetime, at: _Time, day: Day | None, said: str) -> datetime:
    if at.hour < 5 and re.search(r"\btonight\b", said):  # which is tomorrow by the calendar
        day = None
    # Whoever names the weekday of today for a time that is over means the next week.
    either_half = not at.half and at.hour <= 12 and not (day and day.weekly)
    due = _here(datetime.combine(day.date if day else now.date(), time(at.hour, at.minute)), now)
    if day is None or day.date == now.date():
        # "At seven" without am or pm means the next seven there is.
        if due <= now and either_half:
            due = _later(due, now, timedelta(hours=12))
        if due <= now and (day is None or day.weekly):
            due = _later(due, now, timedelta(days=7 if day else 1))
        if day and not day.weekly and (due <= now or due.date() != day.date):
            raise InputError(tr("That time of today is over already."))
    return due


def _later(due: datetime, now: datetime, by: timedelta) -> datetime:
    return _here(due.replace(tzinfo=None) + by, now)


def _here(moment: datetime, now: datetime) -> datetime:
    """What the clock of `now` shows then; see by_the_clock_of."""
    if now.astimezone().utcoffset() == now.utcoffset():
        return moment.astimezone()
    return moment.replace(tzinfo=now.tzinfo)
