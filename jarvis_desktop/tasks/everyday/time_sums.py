"""Sums with times and dates: a time elsewhere, later or earlier, how long it is between two, ages,
leap years, and how much of a year or month is left."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from jarvis_desktop.core.context import local_now
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Value
from jarvis_desktop.tasks.everyday.time_zones import zone_of
from jarvis_desktop.tasks.naming import join_words, quantity
from jarvis_desktop.text.dates import MONTH, MONTHS, day_asked, is_date
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import with_digits

if TYPE_CHECKING:
    from dateutil.relativedelta import relativedelta

_T = r"(noon|midday|midnight|\d{1,2}(?:[:.]\d{1,2})?(?: ?[ap]\.?m\b\.?)?(?: ?o'?clock| hours)?)"
_UNITS = r"(?:years?|months?|weeks?|days?|hours?|hrs?|minutes?|mins?|seconds?|secs?)"
_ONE = rf"(?:\d+(?:\.\d+)?|an?|half an?) ?{_UNITS}"
_LENGTH = rf"{_ONE}(?:(?:, | and |, and | ){_ONE})*"
_L = rf"({_LENGTH})"
_PART = lazy_re(rf"(\d+(?:\.\d+)?|half an?|an?) ?({_UNITS})")
_IS = r"(?:is|was|will be|would be|will it be|would it be|is it|was it)"
_HINT = lazy_re(
    r"^(?:what|which|when|how|add|subtract|take|is|was|will|convert|if)\b.*(?:\d|\b(?:noon|midday|"
    r"midnight|leap|born|left|remain|remaining|until|till|before|after|ago|quarter|days?|weekday|"
    r"date|an?)\b)|^(?:\d|an? |half |noon|mid).*"
    r"\b(?:plus|minus|before|after|from|past|in|to|into|as)\b"
)
"""One of these is in all that is read here. Patterns take milliseconds to be compiled, and most
requests need none of them."""
_ASKED = lazy_re(
    r"^(?:(?:hey |ok |okay )?jarvis[, ]+|please |(?:can|could) you (?:please )?|tell me |"
    r"do you know |i want to know |work out |calculate |and |so )+"
)


def answer(words: str, now: datetime) -> str | None:
    """Answer in a sentence, from lower-case words with numbers in digits; None if they ask for
    something else. Raises InputError for a day or place that does not exist."""
    said = _ASKED.sub("", " ".join(words.split()).strip(" ?.!,"))
    said = said.replace("what's", "what is").removesuffix(" please")
    if not _HINT.search(said):
        return None
    for form, told in _FORMS:
        if (found := form.fullmatch(said)) and (sentence := told(*found.groups(), now)):
            return sentence
    return None


def read(words: str) -> Mapping[str, Value] | None:
    """See `TaskType.reads`."""
    try:
        asked = answer(with_digits(words), local_now()) is not None
    except InputError:  # "what day was 31 February" is asked all the same
        asked = True
    return {} if asked else None


def _time(said: str) -> time | None:
    if said in ("noon", "midday", "midnight"):
        return time(0 if said == "midnight" else 12)
    found = re.match(r"(\d{1,2})(?:[:.](\d{1,2}))?(?: ?([ap]))?", said)
    if found is None:
        return None
    hour, minute = int(found[1]), int(found[2] or 0)
    if found[3] and 1 <= hour <= 12:
        hour = hour % 12 + (12 if found[3] == "p" else 0)
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _length(said: str) -> relativedelta:
    from dateutil.relativedelta import relativedelta

    whole = relativedelta()
    for figure, unit in _PART.findall(said):
        amount = 0.5 if figure.startswith("half") else 1.0 if figure[0] == "a" else float(figure)
        name = {"h": "hours", "s": "seconds", "d": "days", "w": "weeks", "y": "years"}.get(
            unit[0], "months" if unit.startswith("mo") else "minutes"
        )
        if name in ("years", "months"):
            months = round(amount * (12 if name == "years" else 1))
            whole += relativedelta(months=months)
        else:
            whole += relativedelta(**{name: amount})
    return whole


def _elsewhere(at: str, place: str, other: str, now: datetime) -> str | None:
    """What time it is in one place when it is `at` in another; "here" is this computer's."""
    moment = _time(at)
    try:
        zones = [None if name == "here" else zone_of(name) for name in (place, other)]
    except InputError:
        return None
    if moment is None:
        return None
    here = now.astimezone(zones[0]) if zones[0] else now
    there = datetime.combine(here.date(), moment, here.tzinfo)
    moved = there.astimezone(zones[1] or now.tzinfo)
    days = (moved.date() - there.date()).days
    day = {1: " on the next day", -1: " on the day before"}.get(days, "")
    return f"When it is {there:%H:%M}{_in(place)}, it is {moved:%H:%M}{day}{_in(other)}."


def _in(place: str) -> str:
    named = place.upper() if len(place) < 4 else place.title()
    return " here" if place == "here" else f" in {named}"


def _later(length: str, now: datetime, *, ago: bool) -> str:
    moment = now - _length(length) if ago else now + _length(length)
    day = "" if moment.date() == now.date() else f" on {_day(moment.date())}"
    return f"{'It was' if ago else 'It will be'} {moment:%H:%M}{day}."


def _sum(at: str, length: str, *, before: bool) -> str | None:
    moment = _time(at)
    if moment is None:
        return None
    start = datetime.combine(date(2026, 1, 15), moment)
    end = start - _length(length) if before else start + _length(length)
    days = (end.date() - start.date()).days
    over = {0: "", 1: " on the next day", -1: " on the day before"}
    ends = over.get(days, f", {quantity(abs(days), 'day')} {'before' if days < 0 else 'later'}")
    seconds = ":%S" if end.second else ""
    return (
        f"{length.capitalize()} {'before' if before else 'after'} {moment:%H:%M} is "
        f"{end:%H:%M{seconds}}{ends}."
    )


def _hours_and_minutes(minutes: int) -> str:
    hours, minutes = divmod(minutes, 60)
    parts = [quantity(hours, "hour")] if hours else []
    parts += [quantity(minutes, "minute")] if minutes or not hours else []
    return join_words(parts)


def _between(one: str, other: str) -> str | None:
    first, last = _time(one), _time(other)
    if first is None or last is None:
        return None
    minutes = (last.hour - first.hour) * 60 + last.minute - first.minute
    over = " on the next day" if minutes < 0 else ""
    length = _hours_and_minutes(minutes % 1440)
    return f"From {first:%H:%M} to {last:%H:%M}{over} it is {length}."


def _until(at: str, now: datetime) -> str | None:
    """How long it is until the next such time of the day."""
    moment = _time(at)
    if moment is None:
        return None
    due = now.replace(hour=moment.hour, minute=moment.minute, second=0, microsecond=0)
    due += timedelta(days=due <= now)
    length = _hours_and_minutes(round((due - now).total_seconds() / 60))
    day = " tomorrow" if due.date() != now.date() else ""
    return f"It is {length} until {due:%H:%M}{day}."


def _left(unit: str, of: str, now: datetime) -> str | None:
    """How many days or weeks are left of this week, month or year."""
    today = now.date()
    if of.isdigit() and int(of) != today.year:
        return None
    if of == "week":
        last = today + timedelta(days=6 - today.weekday())
    elif of == "month":
        last = date(today.year, today.month, calendar.monthrange(today.year, today.month)[1])
    else:
        last = date(today.year, 12, 31)
    days = (last - today).days
    length = quantity(days, "day")
    if unit == "week" and days >= 7:
        more = f" and {quantity(days % 7, 'day')}" if days % 7 else ""
        length = f"{quantity(days // 7, 'week')}{more}"
    verb = "is" if days == 1 else "are"
    return f"After today there {verb} {length} left {'in' if of.isdigit() else 'of this'} {of}."


def _leap(named: str, now: datetime) -> str:
    year = int(named) if named.isdigit() else now.year + (named == "next year")
    verb = "was" if year < now.year else "is" if year == now.year else "will be"
    if calendar.isleap(year):
        return f"Yes, {year} {verb} a leap year."
    return f"No, {year} {verb} not a leap year. The next one after it is {_leap_after(year)}."


def _leap_after(year: int) -> int:
    return next(each for each in range(year + 1, year + 9) if calendar.isleap(each))


def _age(born: str, now: datetime) -> str | None:
    from dateutil.relativedelta import relativedelta

    if re.fullmatch(r"\d{4}", born) and int(born) <= now.year:
        return f"Someone born in {born} turns {now.year - int(born)} this year."
    if not re.search(r"\b\d{4}\b", born) or not is_date(born):
        return None
    day = day_asked(f"when was {born}", now.date())
    if day is None or day > now.date():
        return None
    years = relativedelta(now.date(), day).years
    return f"Someone born on {_day(day)} is {quantity(years, 'year')} old."


def _days_of_month(named: str, of_year: str | None, now: datetime) -> str | None:
    year = int(of_year or now.year)
    if named in ("this year", "the year", "next year") or named.isdigit():
        year = int(named) if named.isdigit() else now.year + (named == "next year")
        return f"{year} has {365 + calendar.isleap(year)} days."
    if named in ("this month", "the month"):
        month = now.month
    else:
        month = next(at for at, name in enumerate(MONTHS, 1) if name[:3] == named[:3])
    if month == 2 and not of_year and named != "this month":
        return "February has 28 days, and 29 in a leap year."
    return f"{calendar.month_name[month]} {year} has {calendar.monthrange(year, month)[1]} days."


def _day_away(length: str, start: str, now: datetime, *, before: bool) -> str | None:
    """Which day is some days, weeks, months or years before or after a day."""
    day = now.date()
    if start not in ("now", "today"):
        if not is_date(start):
            return None
        day = day_asked(f"when is {start}", day) or day
    if not re.search(r"day|week|month|year", length):
        return None
    end = day - _length(length) if before else day + _length(length)
    if day == now.date():
        return f"{_day(end)} {'was' if before else 'is'} a {end:%A}."
    which = "before" if before else "after"
    return f"{length.capitalize()} {which} {_day(day)} is {end:%A}, {_day(end)}."


def _weekday(verb: str | None, named: str, now: datetime) -> str | None:
    if not is_date(named):
        return None
    past = verb in ("was", "was it", "did")
    day = day_asked(f"when {'was' if past else 'is'} {named}", now.date())
    if day is None:
        return None
    return f"{_day(day)} {'was' if day < now.date() else 'is'} a {day:%A}."


def _day(day: date) -> str:
    return f"{day.day} {day:%B %Y}"


_DAY = r"(?:day of the week|weekday|date|day)"
_WHICH_DAY = rf"(?:when {_IS} |(?:what|which) {_DAY} {_IS} |what {_IS} the {_DAY} )"

_Answer = Callable[..., str | None]
_FORMS: tuple[tuple[re.Pattern[str], _Answer], ...] = (
    (lazy_re(rf"(?:when|if) it(?: is|'s) {_T}(?: in)? (here|.+?),? (?:then )?what time "
             rf"{_IS}(?: it)?(?: in)? (here|.+)"),
     lambda at, place, other, now: _elsewhere(at, place, other, now)),
    (lazy_re(rf"what time {_IS}(?: it)?(?: in)? (here|.+?),? (?:when|if|at) (?:it(?: is|'s) )?{_T}"
             r"(?: in)? (here|.+)"),
     lambda other, at, place, now: _elsewhere(at, place, other, now)),
    (lazy_re(rf"(?:what|what time) {_IS} {_T} (?:in )?(.+?)(?: time)? in (.+?)(?: time)?"),
     lambda at, place, other, now: _elsewhere(at, place, other, now)),
    (lazy_re(rf"(?:convert )?{_T} (?:in )?(.+?)(?: time)? (?:to|into|in) (.+?)(?: time)?"),
     lambda at, place, other, now: _elsewhere(at, place, other, now)),
    (lazy_re(rf"what (?:is the )?time {_IS} (?:it )?in {_L}"),
     lambda length, now: _later(length, now, ago=False)),
    (lazy_re(rf"what (?:is the )?time {_IS} (?:it )?{_L} from now"),
     lambda length, now: _later(length, now, ago=False)),
    (lazy_re(rf"what (?:was the )?time {_IS} (?:it )?{_L} ago"),
     lambda length, now: _later(length, now, ago=True)),
    (lazy_re(rf"add {_L} to {_T}"), lambda length, at, now: _sum(at, length, before=False)),
    (lazy_re(rf"(?:what (?:time )?{_IS} )?{_T} (?:plus|\+) {_L}"),
     lambda at, length, now: _sum(at, length, before=False)),
    (lazy_re(rf"(?:what (?:time )?{_IS} )?{_T} (?:minus|-) {_L}"),
     lambda at, length, now: _sum(at, length, before=True)),
    (lazy_re(rf"(?:subtract|take) {_L} from {_T}"),
     lambda length, at, now: _sum(at, length, before=True)),
    (lazy_re(rf"(?:what (?:time )?{_IS} )?{_L} (?:after|from|past) {_T}"),
     lambda length, at, now: _sum(at, length, before=False)),
    (lazy_re(rf"(?:what (?:time )?{_IS} )?{_L} before {_T}"),
     lambda length, at, now: _sum(at, length, before=True)),
    (lazy_re(rf"how (?:long|much time|many hours|many minutes) (?:is it |are there |is there |is |"
             rf"are )?(?:between|from) {_T} (?:and|to|until|till) {_T}"),
     lambda one, other, now: _between(one, other)),
    (lazy_re(r"how many (day|week)s (?:(?:are |do (?:we|i) have |are there )?(?:left|remaining)|"
             r"remain)(?: (?:in|of|until the end of))? (?:this |the )?(year|month|week|\d{4})"),
     _left),
    (lazy_re(r"how many (day|week)s (?:are (?:there )?|is it |do (?:we|i) have )?"
             r"(?:(?:until|till|to|before) the end of |in the rest of )(?:this |the )?"
             r"(year|month|week|\d{4})"), _left),
    (lazy_re(r"how many (day|week)s (?:are |do (?:we|i) have )?(?:there )?in (?:this |the )?"
             r"(year|month|week) (?:left|remaining)"), _left),
    (lazy_re(rf"how (?:long|much time|many hours|many minutes)(?: is it| are there| is left| "
             rf"do (?:i|we) have)?(?: left)? (?:until|till|to|before) {_T}"), _until),
    (lazy_re(rf"(?:what is )?{_T} (?:in|as) (?:military|24[ -]hours?)(?: time| format)?"),
     lambda at, now: f"{at} is {moment:%H:%M}." if (moment := _time(at)) else None),
    (lazy_re(r"(?:what|which) quarter (?:is it|are we in|is this|is now)(?: now)?"),
     lambda now: f"It is quarter {(now.month + 2) // 3} of {now.year}."),
    (lazy_re(r"is (?:it|this) (?:a )?leap year"), lambda now: _leap("this year", now)),
    (lazy_re(r"(?:is|was|will) (\d{4}|this year|next year) (?:be )?a leap year"), _leap),
    (lazy_re(r"(?:when|what|which year) (?:is|will be) the next leap year"),
     lambda now: f"The next leap year is {_leap_after(now.year)}."),
    (lazy_re(r"(?:how old|what age) (?:is|am|are|would|will|was) .*?\bborn (?:on |in )?(.+?)"
             r"(?: now| today)?"), _age),
    (lazy_re(r"how many days (?:are there |are |is )?(?:in|does|has|did) "
             rf"(this month|the month|this year|next year|the year|\d{{4}}|{MONTH})"
             r"(?: (?:of )?(\d{4}))?(?: have| got| has)?"), _days_of_month),
    (lazy_re(rf"{_WHICH_DAY}{_L} before (.+)"),
     lambda length, start, now: _day_away(length, start, now, before=True)),
    (lazy_re(rf"{_WHICH_DAY}{_L} (?:after|from) (.+)"),
     lambda length, start, now: _day_away(length, start, now, before=False)),
    (lazy_re(rf"{_WHICH_DAY}{_L} ago"),
     lambda length, now: _day_away(length, "today", now, before=True)),
    (lazy_re(rf"{_WHICH_DAY}in {_L}"),
     lambda length, now: _day_away(length, "today", now, before=False)),
    (lazy_re(rf"(?:what {_IS} )?{_L} before (.+)"),
     lambda length, start, now: _day_away(length, start, now, before=True)),
    (lazy_re(rf"(?:what {_IS} )?{_L} (?:after|from) (.+)"),
     lambda length, start, now: _day_away(length, start, now, before=False)),
    (lazy_re(rf"(?:what|which) (?:day of the week|weekday|day) ({_IS}|does|did|will)? ?"
             r"(?:on )?(.+?)(?: fall on| fall| be| on)?"), _weekday),
)  # fmt: skip
"""What is asked, with the groups that its answer takes before `now`."""
