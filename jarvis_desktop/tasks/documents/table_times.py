"""The times that a question puts on rows: days, weeks, months, quarters, years and hours.

A time without a year is that of every year: "in March" is each March. One that has a beginning or
an end only, as "since May", is of the last year of the table, and the answer says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.tasks.documents.table_database import TableDatabase
from jarvis_desktop.tasks.documents.table_words import (
    Filter,
    QuestionWord,
    ReadWords,
    TableField,
    strength,
)
from jarvis_desktop.text.dates import MONTH, MONTHS, WEEKDAYS

_day = r"(\d{1,2})(?:st|nd|rd|th|\.)?"
_year = r"((?:1[5-9]|20)\d\d)"
_of_year = rf"(?:,?\ (?:of\ |in\ )?{_year}\b)"
_until = r"\s?(?:and|to|until|till|through|-|–)\s?(?:the\ )?"
_when = rf"""
    (?P<iso>\b\d{{4}}-\d\d?-\d\d?\b)|(?P<isomonth>\b\d{{4}}-\d\d?\b)|
    (?P<dotted>\b\d{{1,2}}\.\d{{1,2}}\.\d{{4}}\b)|(?P<slashed>\b\d{{1,2}}/\d{{1,2}}/\d{{4}}\b)|
    (?P<days>\b(?:{_day}{_until}{_day}\ (?:of\ )?{MONTH}|{MONTH}\ {_day}{_until}{_day})\b
        {_of_year}?)|
    (?P<day>\b(?:{_day}\ (?:of\ )?{MONTH}|{MONTH}\ (?:the\ )?{_day})\b{_of_year}?)|
    (?P<week>\b(?:first|second|third|last|1st|2nd|3rd)\ week\ (?:of|in)\ {MONTH}{_of_year}?)|
    (?P<half>\b(?:first|second|last|1st|2nd)\ half\ (?:of|in)\ (?:{MONTH}{_of_year}?|the\ year\b|
        (?:the\ year\ )?{_year}\b))|
    (?P<month>\b{MONTH}{_of_year}?)|
    (?P<quarter>\b(?:q[1-4]|(?:first|second|third|fourth|last|1st|2nd|3rd|4th)\ quarter)
        (?:\ of\ the\ year)?{_of_year}?)|
    (?P<decade>\b(?:the\ )?(?:(?:1[5-9]|20)\d|['’]?\d)0s\b)|
    (?P<weekday>\bon\ (?:a\ |the\ )?(?:{"|".join(WEEKDAYS)})s?\b|
        \b(?:on\ |at\ )?(?:the\ )?weekends?\b|\b(?:on\ )?(?:week|working)\ ?days\b(?!\ of))|
    (?P<year>\b(?:the\ year\ )?{_year}\b(?!\s*(?:%|percent|€|\$|euro|dollar)))
"""
_dated = re.compile(_when, re.VERBOSE)
_before_date = re.compile(
    r"\b(since|from|starting|after|later than|before|earlier than|prior to|until|till|up to|"
    r"through|to|and|between|by|than|over|above|under|below|least|most|exceeding|exactly)"
    r"(?: (?:the|end of|start of|beginning of))*\s*$"
)
_edge = re.compile(r"\bat the (start|beginning|end) of (?:the )?$")
_clock = re.compile(
    r"\b(?:(after|from|since|before|until|till|by|later than|earlier than|at|around) )?(?:the )?"
    r"(\d{1,2})(?::(\d\d))? ?(am|pm|o['’]?clock|uhr)?\b(?![%€.,:]| [a-z]+s\b)"
)


class _Time(NamedTuple):
    """A time in a question, its first day and the first day after, of a leap year if it is of any
    year."""

    found: re.Match[str]
    kind: str
    first: date | None
    end: date | None
    yearly: bool
    """Whether it is of any year."""


_ways = {
    how: (told, sql)
    for hows, told, sql in (
        (("since", "from", "starting"), mark("{name} is since {time}"), "{at} >= {low}"),
        (("after", "later than"), mark("{name} is after {time}"), "{at} {beyond} {high}"),
        (("before", "earlier than", "prior to"), mark("{name} is before {time}"), "{at} < {low}"),
        (("until", "till", "up to", "through", "by"), mark("{name} is until {time}"),
         "{at} {upto} {high}"),
    )
    for how in hows
}  # fmt: skip
_not = frozenset(("not", "never", "no"))
_no_time = frozenset("than over above under below least most exceeding exactly".split())
_single = frozenset(("iso", "dotted", "slashed", "day", "weekday"))


def read_times(read: ReadWords, db: TableDatabase) -> None:
    """Find the times in a question, as conditions on its columns of dates or years."""
    times: list[_Time] = []
    for found in _dated.finditer(read.text):
        kind = found.lastgroup or next(k for k, v in found.groupdict().items() if v)
        before = read.text[: found.start()].rstrip()
        is_verb = found[0] == "may" and not re.search(
            r"\b(?:in|of|from|to|between|since|until|during|for|after|before|than)$", before
        )
        if not is_verb and (before or found[0] not in ("mar", "jan", "dec", "sep")):
            times.append(_time(found, kind))
    dates, years = read.relation.dates, [it for it in read.relation.fields if it.is_year]
    if not dates and not years:
        _read_clock(read)
        return
    other: _Time | None = None
    for at, time in enumerate(times):
        if time is other:
            continue
        found, other = time.found, None
        lead = _before_date.search(read.text[: found.start()])
        how = lead[1] if lead else ""
        if time.kind == "year" and (how in _no_time or _is_value_like(read, found)):
            continue
        if time.kind == "weekday" and not dates:
            continue
        which = _date_field(read, dates or years, found)
        if how in ("between", "from") and at + 1 < len(times):
            between = read.text[found.end() : times[at + 1].found.start()]
            if re.fullmatch(rf"\s*{_until.replace(chr(92) + ' ', ' ')}", between.strip() + " "):
                other = times[at + 1]
        if time.yearly and other and not other.yearly and other.first:
            time = _time(found, time.kind, other.first.year)
        elif time.yearly and not other and how in _ways and time.first and not which.is_year:
            time = _of_last_year(read, which, time, db)
        if which.column.yearless and not time.yearly:
            continue
        condition = _date_condition(which, how, time, other)
        if condition is None:
            continue
        told = mark("{name} is between {time} and {last}")
        if other is None:
            day = time.kind in _single
            plain = mark("{name} is on {time}") if day else mark("{name} is in {time}")
            told = _ways[how][0] if how in _ways and time.kind != "days" else plain
        words, last = (_written(it.found[0]) if it else "" for it in (time, other))
        if time.kind == "days":
            told = mark("{name} is between {time} and {last}")
            words, _, last = re.split(rf"({_until.replace(chr(92) + ' ', ' ')})", words, maxsplit=1)
        start = lead.start() if lead and how not in ("and", "to") else found.start()
        told = tr(told, name=which.name, time=words, last=last)
        close = [word for word in read.words if word.end <= start][-4:]
        denied = [word for word in close if word.text.endswith(("n't", "n’t")) or word.text in _not]
        if how in ("since", "after") and denied:
            condition = f"{which.sql} IS NULL OR NOT ({condition})"
            told = tr("not: {condition}", condition=told)
            read.use(denied[0].start, denied[0].end)
        edge = _edge.search(read.text[: found.start()]) if other is None else None
        if edge:
            pick, form = ("min", mark("{name} is the first in {time}"))
            if edge[1] == "end":
                pick, form = ("max", mark("{name} is the last in {time}"))
            inside = f"SELECT {pick}({which.sql}) FROM {read.relation.sql} WHERE {condition}"
            condition, start = f"{which.sql} = ({inside})", edge.start()
            told = tr(form, name=which.name, time=words)
        ends = [(_date_condition(which, "", it, None) or "", _written(it.found[0]))
                for it in (time, other) if it and other]  # fmt: skip
        period = "" if other or how in _ways or time.kind == "weekday" else words
        read.filters.append(Filter(condition, told, start, which, period=period, ends=tuple(ends)))
        read.use(start, (other or time).found.end())
    _read_clock(read)


def _read_clock(read: ReadWords) -> None:
    """Times of day: "at 8 am", "after 17:30", "in the afternoon"."""
    clocks = [(item, item.sql) for item in read.relation.clocks]
    clocks += [
        (it, f"strftime({it.sql}, '%H:%M')") for it in read.relation.dates if it.column.timed
    ]
    if not clocks:
        return
    which, at = clocks[0]
    if len(clocks) > 1:
        near = [(abs(word.start - found.start()), place) for found in _clock.finditer(read.text)
                for word in read.words for place, (item, _) in enumerate(clocks)
                if _names_date(word, item, but="time")]  # fmt: skip
        which, at = clocks[min(near)[1]] if near else clocks[0]
        if not near and (_clock.search(read.text) or _part_of_day.search(read.text)):
            read.doubt_time([item for item, _ in clocks])
    for found in _clock.finditer(read.text):
        if any(read.words[place].start in range(*found.span(2)) for place in read.used):
            continue
        how, exact = found[1] or "", bool(found[3] or found[4])
        if not exact and how not in _clock_ways:
            continue
        hour = int(found[2]) % 24
        if found[4] in ("am", "pm"):
            hour = hour % 12 + 12 * (found[4] == "pm")
        time = f"{hour:02}:{found[3] or '00'}"
        sign = _clock_ways.get(how, "=")
        sql = f"{at} {sign} '{time}'"
        if sign == "=" and not found[3]:
            sql = f"{at} BETWEEN '{time}' AND '{hour:02}:59'"
        told = f"{which.name} {sign} {time}"
        if sign == "=":
            told = tr("{name} is on {time}", name=which.name, time=time.removeprefix("0"))
        read.filters.append(Filter(sql, told, found.start(), which))
        read.use(*found.span())
    for found in _part_of_day.finditer(read.text):
        low, high = _parts_of_day[found[1]]
        sql = f"{at} >= '{low}' {'AND' if low < high else 'OR'} {at} < '{high}'"
        told = tr("{name} is between {time} and {last}", name=which.name, time=low, last=high)
        read.filters.append(Filter(sql, told, found.start(), which))
        read.use(*found.span())


_clock_ways = {
    "after": ">", "from": ">=", "since": ">=", "before": "<", "until": "<=", "till": "<=",
    "by": "<=", "later than": ">", "earlier than": "<", "at": "=", "around": "=",
}  # fmt: skip
_parts_of_day = {
    "morning": ("05:00", "12:00"), "afternoon": ("12:00", "18:00"), "evening": ("18:00", "24:00"),
    "night": ("22:00", "05:00"), "noon": ("12:00", "13:00"), "midday": ("12:00", "13:00"),
}  # fmt: skip
_part_of_day = re.compile(
    r"\b(?:in the |during the |of the |at |around |this )"
    r"(morning|afternoon|evening|night|noon|midday)s?\b"
)


def _written(words: str) -> str:
    """The words of a time with the capitals that they have."""
    plain = re.sub(r"^(?:on|at) (?=\w+ ?\w+$)", "", words)
    names = rf"\b(?:{'|'.join(WEEKDAYS)})s?\b|\b{MONTH}"
    return re.sub(names, lambda it: it[0].capitalize(), plain)


def _is_value_like(read: ReadWords, found: re.Match[str]) -> bool:
    """Whether a number that looks like a year belongs to a measure: "2000 votes"."""
    behind = next((at for at, word in enumerate(read.words) if word.start >= found.end()), None)
    named = read.mention_at(behind) if behind is not None else None
    return bool(named and named.field.is_measure and named.score > 1.5)


_ANY_YEAR = 2000  # with a 29th of February


def _time(found: re.Match[str], kind: str, year: int = 0) -> _Time:
    own = [int(number) for number in re.findall(r"\d{4}", found[0])]
    given = year or (own[-1] if own else 0)
    try:
        first, end = _span(kind, found[0], given or _ANY_YEAR)
    except ValueError:
        first, end = None, None
    return _Time(found, kind, first, end, not given and kind != "decade")


def _span(kind: str, words: str, year: int) -> tuple[date | None, date | None]:
    """The first day, and the first day after. Raises ValueError for a date that there is not."""
    numbers = [int(item) for item in re.findall(r"\d+", words)]
    month = next((n for n, name in enumerate(MONTHS, 1) if re.search(rf"\b{name[:3]}", words)), 0)
    next_day = timedelta(days=1)
    if kind in ("iso", "dotted", "slashed"):
        if kind == "slashed" and numbers[0] <= 12:  # the month first
            numbers = [numbers[2], *numbers[:2]]
        elif kind != "iso":
            numbers.reverse()
        return date(*numbers), date(*numbers) + next_day
    if kind == "isomonth":
        return _months(numbers[0], numbers[1], 1)
    if kind == "days":
        return date(year, month, numbers[0]), date(year, month, numbers[1]) + next_day
    if kind == "day":
        return date(year, month, numbers[0]), date(year, month, numbers[0]) + next_day
    if kind in ("week", "half") and month:
        first, end = _months(year, month, 1)
        if kind == "half":
            middle = first.replace(day=16)
            return (first, middle) if _ordinal(words) == 1 else (middle, end)
        place = _ordinal(words)
        if place == 4:
            return end - timedelta(days=7), end
        return first + timedelta(days=7 * (place - 1)), first + timedelta(days=7 * place)
    if kind == "half":
        return _months(year, 1 if _ordinal(words) == 1 else 7, 6)
    if kind == "month":
        return _months(year, month, 1)
    if kind == "quarter":
        return _months(year, 3 * _ordinal(words) - 2, 3)
    if kind == "decade":
        decade = (
            numbers[0] if numbers[0] > 100 else numbers[0] + (1900 if numbers[0] > 20 else 2000)
        )
        return date(decade, 1, 1), date(decade + 10, 1, 1)
    if kind == "year":
        return date(year, 1, 1), date(year + 1, 1, 1)
    return None, None


def _months(year: int, month: int, count: int) -> tuple[date, date]:
    after = 12 * year + month - 1 + count
    return date(year, month, 1), date(after // 12, after % 12 + 1, 1)


def _ordinal(words: str) -> int:
    """Which of the weeks, halves or quarters is meant; 4 for the last."""
    if found := re.search(r"\bq([1-4])|\b([1-4])(?:st|nd|rd|th)", words):
        return int(found[1] or found[2])
    ordinals = ("first", "second", "third", "fourth")
    return next((n for n, name in enumerate(ordinals, 1) if name in words), 4)


def _of_last_year(read: ReadWords, which: TableField, time: _Time, db: TableDatabase) -> _Time:
    """ "Since May": of the last year of the table."""
    sql = f"SELECT min(year({which.sql})), max(year({which.sql})) FROM {read.relation.sql}"
    first, last = db.rows(sql, 1)[1][0]
    if last is None:
        return time
    if first != last:
        words = _written(time.found[0])
        read.doubt(tr("“{word}” is read as that of {year}.", word=words, year=last))
    return _time(time.found, time.kind, last)


def _date_field(read: ReadWords, pool: Sequence[TableField], found: re.Match[str]) -> TableField:
    """The column of dates or years that is named, the nearest to the time."""
    named = [
        (abs(word.start - found.start()), pool.index(item))
        for word in read.words
        for item in pool
        if _names_date(word, item, but="date")
    ]
    if len(pool) > 1 and not named:
        read.doubt_time(pool)
        return pool[0]
    chosen = pool[min(named)[1]] if len(pool) > 1 else pool[0]
    for at, word in enumerate(read.words):
        if _names_date(word, chosen):
            read.used.add(at)
            if at + 1 < len(read.words) and read.words[at + 1].text in "".join(chosen.parts):
                read.used.add(at + 1)
    return chosen


def _names_date(word: QuestionWord, item: TableField, but: str = "") -> bool:
    begins = len(word.text) >= 4 and word.text[:4] == "".join(item.parts)[:4]
    return begins or any(strength(word, part) >= 0.6 for part in item.parts if part != but)


def _date_condition(which: TableField, how: str, time: _Time, other: _Time | None) -> str | None:
    at, first = which.sql, time.first
    last = other.end if other else time.end
    if first is None or last is None:
        return None if which.is_year else _weekly(at, time)
    if which.is_year:
        if time.kind not in ("year", "decade"):
            return None
        low, high, upto, beyond = str(first.year), str(last.year - 1), "<=", ">"
    elif time.yearly:
        return _any_year(at, time, first, last)
    else:
        low, high, upto, beyond = f"DATE '{first}'", f"DATE '{last}'", "<", ">="
    form = "{at} >= {low} AND {at} {upto} {high}"
    if not other and how in _ways and time.kind != "days":
        form = _ways[how][1]
    return form.format(at=at, low=low, high=high, upto=upto, beyond=beyond)


def _any_year(at: str, time: _Time, first: date, end: date) -> str:
    """The days from one to before the other, in each year."""
    last = end - timedelta(days=1)
    if time.kind == "quarter":
        return f"quarter({at}) = {(first.month + 2) // 3}"
    if first.day == 1 and end.day == 1:
        return f"month({at}) BETWEEN {first.month} AND {last.month}"
    low, high = (100 * day.month + day.day for day in (first, last))
    return f"100 * month({at}) + day({at}) BETWEEN {low} AND {high}"


def _weekly(at: str, time: _Time) -> str | None:
    words = time.found[0]
    if time.kind != "weekday":
        return None
    if "weekend" in words:
        return f"isodow({at}) >= 6"
    day = next((n for n, name in enumerate(WEEKDAYS, 1) if name in words), None)
    return f"isodow({at}) = {day}" if day else f"isodow({at}) <= 5"
