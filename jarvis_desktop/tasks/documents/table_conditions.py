"""The conditions that a question puts on rows: dates, comparisons, entries, yes or no.

What a condition is made of counts as read (`table_words.py`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.tasks.documents.table_database import (
    MAX_VALUES,
    ColumnType,
    TableDatabase,
    literal,
)
from jarvis_desktop.tasks.documents.table_german import in_english
from jarvis_desktop.tasks.documents.table_words import (
    ADJECTIVES,
    ASKING,
    CONVERSIONS,
    DOWN,
    MAX_MATCHED,
    RESERVED,
    UNIT_NAMES,
    UP,
    VERBS,
    Filter,
    QuestionWord,
    ReadWords,
    Relation,
    TableField,
    folded,
    hinted_fields,
    mentions_of,
    name_words,
    strength,
    words_of,
)
from jarvis_desktop.text.dates import MONTH, MONTHS, WEEKDAYS
from jarvis_desktop.text.numbers import with_digits
from jarvis_desktop.text.tokens import FUNCTION_WORDS, stem


def read_words(question: str, relation: Relation, db: TableDatabase) -> ReadWords:
    """Find dates, comparisons, entries and columns, in this order."""
    names = {folded(word) for it in relation.fields for word in name_words(it.name)}
    text = in_english(folded(question), names)
    text = re.sub(r"\ban? (?=(?:hour|minute|second|kilomet|mile|day|kg)s?\b)", "1 ", text)
    text = with_digits(text)
    read = ReadWords(text, words_of(text), relation)
    read.mentions = list(mentions_of(read))
    _read_dates(read)
    _read_comparisons(read)
    _read_numbered(read)
    _read_values(read, db)
    _read_flags(read)
    _read_partial_values(read, db)
    return read


_day = r"(\d{1,2})(?:st|nd|rd|th)?"
_year = r"((?:1[5-9]|20)\d\d)"
_when = rf"""
    (?P<iso>\b\d{{4}}-\d\d?-\d\d?\b)|(?P<isomonth>\b\d{{4}}-\d\d?\b)|
    (?P<dotted>\b\d{{1,2}}\.\d{{1,2}}\.\d{{4}}\b)|(?P<slashed>\b\d{{1,2}}/\d{{1,2}}/\d{{4}}\b)|
    (?P<full>\b(?:{_day}\ (?:of\ )?{MONTH}|{MONTH}\ (?:the\ )?{_day}),?\ (?:of\ )?{_year}\b)|
    (?P<month>\b{MONTH}(?:,?\ (?:of\ )?{_year}\b)?)|
    (?P<quarter>\b(?:q[1-4]|(?:first|second|third|fourth|last|1st|2nd|3rd|4th)\ quarter)
        (?:\ (?:of\ )?{_year}\b)?)|
    (?P<decade>\b(?:the\ )?(?:(?:1[5-9]|20)\d|['’]?\d)0s\b)|
    (?P<weekday>\bon\ (?:a\ )?(?:{"|".join(WEEKDAYS)})s?\b|\bweekends?\b)|
    (?P<year>\b(?:the\ year\ )?{_year}\b(?!\s*(?:%|percent|€|\$|euro|dollar)))
"""
_dated = re.compile(_when, re.VERBOSE)
_before_date = re.compile(
    r"\b(since|from|starting|after|later than|before|earlier than|prior to|until|till|up to|"
    r"through|to|and|between|by|than|over|above|under|below|least|most|exceeding|exactly)"
    r"(?: (?:the|end of|start of|beginning of))*\s*$"
)


class _Time(NamedTuple):
    """A time in a question, and its first day and the first day after; None if of any year."""

    found: re.Match[str]
    kind: str
    first: date | None
    end: date | None


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
_no_time = frozenset("than over above under below least most exceeding exactly".split())


def _read_dates(read: ReadWords) -> None:
    times: list[_Time] = []
    for found in _dated.finditer(read.text):
        kind = found.lastgroup or next(k for k, v in found.groupdict().items() if v)
        before = read.text[: found.start()].rstrip()
        is_verb = found[0] == "may" and not re.search(
            r"\b(?:in|of|from|to|between|since|until|during|for|after|before)$", before
        )
        if not is_verb and (before or found[0] not in ("mar", "jan", "dec", "sep")):
            times.append(_Time(found, kind, *_span(kind, found[0])))
    dates, years = read.relation.dates, [it for it in read.relation.fields if it.is_year]
    if not dates and not years:
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
        which = _date_field(read, dates or years, found)
        if how in ("between", "from") and at + 1 < len(times):
            between = read.text[found.end() : times[at + 1].found.start()]
            if re.fullmatch(r"\s*(?:and|to|until|till|through|-|–)\s*(?:the )?", between):
                other = times[at + 1]
                if time.kind == "month" and other.first and not time.first:
                    first, _ = _span("month", f"{found[0]} {other.first.year}")
                    time = time._replace(first=first)
        condition = _date_condition(which, how, time, other)
        if condition is None:
            continue
        told = mark("{name} is between {time} and {last}")
        if other is None:
            told = _ways[how][0] if how in _ways else mark("{name} is in {time}")
        told = tr(told, name=which.name, time=found[0], last=other.found[0] if other else "")
        start = lead.start() if lead and how not in ("and", "to") else found.start()
        read.filters.append(Filter(condition, told, start, which))
        read.use(start, (other or time).found.end())


def _is_value_like(read: ReadWords, found: re.Match[str]) -> bool:
    """Whether a number that looks like a year belongs to a measure: "2000 votes"."""
    behind = next((at for at, word in enumerate(read.words) if word.start >= found.end()), None)
    named = read.mention_at(behind) if behind is not None else None
    return bool(named and named.field.is_measure and named.score > 1.5)


def _span(kind: str, words: str) -> tuple[date | None, date | None]:
    """The first day, and the first day after; None if it is of any year."""
    numbers = [int(item) for item in re.findall(r"\d+", words)]
    month = next((n for n, name in enumerate(MONTHS, 1) if re.search(rf"\b{name[:3]}", words)), 0)
    try:
        if kind in ("iso", "dotted", "slashed", "full"):
            if kind == "full":
                numbers = [numbers[1], month, numbers[0]]
            elif kind == "slashed" and numbers[0] <= 12:  # the month first
                numbers = [numbers[2], *numbers[:2]]
            elif kind != "iso":
                numbers.reverse()
            first = date(*numbers)
            return first, first + timedelta(days=1)
        if kind == "isomonth":
            return _months(numbers[0], numbers[1], 1)
        if kind == "month":
            return _months(numbers[0], month, 1) if numbers else (None, None)
        if kind == "quarter":
            year = next((number for number in numbers if number > 1000), 0)
            return _months(year, 3 * _quarter(words) - 2, 3) if year else (None, None)
        if kind == "decade":
            year = (
                numbers[0] if numbers[0] > 100 else 1900 + numbers[0] if numbers[0] > 20 else 2000
            )
            return date(year, 1, 1), date(year + 10, 1, 1)
        if kind == "year":
            return date(numbers[-1], 1, 1), date(numbers[-1] + 1, 1, 1)
    except ValueError:
        return None, None
    return None, None


def _months(year: int, month: int, count: int) -> tuple[date, date]:
    after = 12 * year + month - 1 + count
    return date(year, month, 1), date(after // 12, after % 12 + 1, 1)


def _quarter(words: str) -> int:
    if found := re.search(r"q([1-4])|([1-4])(?:st|nd|rd|th)", words):
        return int(found[1] or found[2])
    ordinals = ("first", "second", "third", "fourth")
    return next((n for n, name in enumerate(ordinals, 1) if name in words), 4)


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
    at, first, end = which.sql, time.first, other.end if other else time.end
    if first is None:
        return None if which.is_year else _any_year(at, time, other)
    last = end or time.end
    assert last is not None
    if which.is_year:
        if time.kind not in ("year", "decade"):
            return None
        low, high, upto, beyond = str(first.year), str(last.year - 1), "<=", ">"
    else:
        low, high, upto, beyond = f"DATE '{first}'", f"DATE '{last}'", "<", ">="
    form = "{at} >= {low} AND {at} {upto} {high}"
    if not other and how in _ways:
        form = _ways[how][1]
    return form.format(at=at, low=low, high=high, upto=upto, beyond=beyond)


def _any_year(at: str, time: _Time, other: _Time | None) -> str | None:
    words = time.found[0]
    if time.kind == "month":
        last = other if other and other.kind == "month" else time
        first, end = (
            next(n for n, name in enumerate(MONTHS, 1) if it.found[0].startswith(name[:3]))
            for it in (time, last)
        )
        return f"month({at}) BETWEEN {first} AND {end}"
    if time.kind == "quarter":
        return f"quarter({at}) = {_quarter(words)}"
    if "weekend" in words:
        return f"isodow({at}) >= 6"
    day = next((n for n, name in enumerate(WEEKDAYS, 1) if name in words), None)
    return f"isodow({at}) = {day}" if day else None


_amount = (
    r"(?P<sign>[$€£]\s?)?(?P<{n}>\d[\d,]*(?:\.\d+)?)\s?(?P<{k}>k|m|bn)?\b(?:\s?(?P<{p}>%|percent))?"
)
_other = _amount.format(n="second", k="scale2", p="percent2").replace("sign", "sign2")
_compared = re.compile(
    rf"""(?:(?P<adjective>\w+er)\ than|
    (?P<more>(?:(?:strictly\ )?(?:more|greater|higher|bigger)\ than|over|above|exceed(?:s|ing)?|
        beyond|>(?!=)))|
    (?P<less>(?:(?:less|fewer|lower|smaller)\ than|under|below|<(?!=)))|
    (?P<least>(?:at\ least|no\ less\ than|not\ less\ than|minimum\ of|>=|≥))|
    (?P<most>(?:at\ most|no\ more\ than|not\ more\ than|up\ to|maximum\ of|<=|≤))|
    (?P<between>between)|
    (?P<equal>(?:exactly|equal\ to|equals?|=|of\ exactly)))\s*
    {_amount.format(n="number", k="scale", p="percent")}
    (?:\s*(?:and|to|-)\s*{_other})?
    (?P<open>\s+or\s+(?:more|over|above|less|fewer|under|below))?""",
    re.VERBOSE,
)
_or_more = re.compile(
    r"\b(?P<number>\d[\d,]*(?:\.\d+)?)\s?(?P<scale>k|m|bn)?(?:\+|\s+or\s+(?P<way>more|over|above|older|"
    r"higher|longer|less|fewer|under|below|younger|lower))\b"
)


def _comparative(word: str) -> tuple[bool, str] | None:
    """Whether a comparative means more, and of which column: "older" is of age."""
    most = f"{word.removesuffix('er')}est"
    if most in UP or most in DOWN:
        return most in UP, ADJECTIVES.get(most, (True, ""))[1]
    return ADJECTIVES.get(most)


def _read_comparisons(read: ReadWords) -> None:
    for found in [*_compared.finditer(read.text), *_or_more.finditer(read.text)]:
        if any(read.words[at].start in range(*found.span("number")) for at in read.used):
            continue
        groups = found.groupdict()
        low = _value(found["number"], groups.get("scale"))
        adjective = groups.get("adjective") or ""
        if adjective and _comparative(adjective) is None:
            continue
        which, used = _compared_field(read, found, adjective)
        if which is None:
            continue
        factor, unit_end = _unit_factor(read, which, found)
        if factor is None:
            continue
        low *= factor
        at, number = which.sql, f"{low:.12g}"
        if groups.get("second") and groups.get("between"):
            high = _value(found["second"], groups.get("scale2")) * factor
            sql = f"{at} BETWEEN {number} AND {high:.12g}"
            told = tr("{low} to {high}", low=number, high=f"{high:.12g}")
        elif way := groups.get("way") or (groups.get("open") or "").strip().removeprefix("or "):
            sign = "<=" if way in ("less", "fewer", "under", "below", "younger", "lower") else ">="
            sql, told = f"{at} {sign} {number}", f"{sign} {number}"
        elif "way" in groups:
            sql, told = f"{at} >= {number}", f">= {number}"
        else:
            sign = _sign(groups, adjective, found.start(), read.text)
            sql, told = f"{at} {sign} {number}", f"{sign} {number}"
        end = (
            found.start("second") - 1
            if groups.get("second") and not groups.get("between")
            else found.end()
        )
        read.use(found.start(), max(end, unit_end))
        for span in used:
            read.use(*span)
        read.filters.append(Filter(sql, f"{which.name} {told}", found.start(), which))


def _read_numbered(read: ReadWords) -> None:
    """Numbers that name something: "ward 42", "order 10023"."""
    ids = [it for it in read.relation.fields if it.is_number and it.is_id and it.is_unique]
    for at, word in enumerate(read.words):
        if at == 0 or at in read.used or not word.text.isdigit():
            continue
        named = read.mention_at(at - 1)
        which = (
            named.field if named and named.field.is_number and not named.field.is_measure else None
        )
        if which is None and ids and read.words[at - 1].stem in read.relation.nouns:
            which = ids[0]
        if which is not None and read.words[at - 1].text not in ("top", "first", "last"):
            told = tr("{name} is {value}", name=which.name, value=word.text)
            start = read.words[at - 1].start
            read.filters.append(Filter(f"{which.sql} = {word.text}", told, start, which, word.text))
            read.use(start, word.end)


def _unit_factor(
    read: ReadWords, which: TableField, found: re.Match[str]
) -> tuple[float | None, int]:
    """The number of the column's units in the unit after the number, and where that ends; None if
    it is a unit of something else."""
    behind = next((word for word in read.words if word.start >= found.end()), None)
    if behind is None or read.text[found.end() : behind.start].strip():
        return 1.0, 0
    unit = UNIT_NAMES.get(behind.text, "")
    if not unit or (unit == "s" and behind.text == "s") or not which.units or unit in which.units:
        return 1.0, behind.end if unit and unit in which.units else 0
    ways = [CONVERSIONS[pair] for own in which.units if (pair := (unit, own)) in CONVERSIONS]
    return (ways[0], behind.end) if ways else (None, 0)


def _value(number: str, scale: str | None) -> float:
    factor = {"k": 1e3, "m": 1e6, "bn": 1e9}.get(scale or "", 1.0)
    return float(number.replace(",", "")) * factor


def _sign(groups: Mapping[str, str | None], adjective: str, start: int, text: str) -> str:
    if adjective:
        more = _comparative(adjective)
        sign = ">" if more and more[0] else "<"
        return {">": "<=", "<": ">="}[sign] if re.search(r"\b(?:no|not) $", text[:start]) else sign
    ways = {"more": ">", "less": "<", "least": ">=", "most": "<=", "equal": "="}
    return next((sign for way, sign in ways.items() if groups.get(way)), "=")


def _compared_field(
    read: ReadWords, found: re.Match[str], adjective: str
) -> tuple[TableField | None, list[tuple[int, int]]]:
    """The column that a number is compared with, and the words that say so."""
    numbers = [item for item in read.relation.fields if item.is_number and not item.is_id]
    end = found.end()
    following = [at for at, word in enumerate(read.words) if word.start >= end][:3]
    for at in following:
        named = read.mention_at(at)
        gap = read.text[end : read.words[at].start]
        if (
            named
            and named.field in numbers
            and not re.search(r"\b(?:in|by|per|of|for)\b|[,?]", gap)
        ):
            span = [(word.start, word.end) for word in read.words[following[0] : at + 1]]
            return named.field, span
        if named and not named.field.is_number:
            break
    more = _comparative(adjective)
    if more and (hinted := hinted_fields(numbers, more[1])):
        unit = [
            at for at in following[:1] if read.words[at].stem in ("year", "minut", "hour", "km")
        ]
        return hinted[0], [(read.words[at].start, read.words[at].end) for at in unit]
    before = [
        item for item in read.mentions
        if item.end <= found.start() and item.field in numbers
    ]  # fmt: skip
    if before:
        near = max(before, key=lambda item: (item.end, item.score))
        return near.field, [(near.start, near.end)]
    for at in range(len(read.words) - 1, -1, -1):
        word = read.words[at]
        if word.end <= found.start() and (hint := VERBS.get(word.text) or VERBS.get(word.stem)):
            if hinted := hinted_fields(numbers, hint):
                return hinted[0], [(word.start, word.end)]
    if following and (behind := read.words[following[0]]).stem in _UNIT_WORDS:
        if hinted := hinted_fields(numbers, _UNIT_WORDS[behind.stem]):
            return hinted[0], [(behind.start, behind.end)]
    measures = [item for item in numbers if item.is_measure]
    if len(measures) == 1:
        return measures[0], []
    money = [item for item in measures if item.column.unit and item.column.unit != "%"]
    if found.groupdict().get("sign") and len(money) == 1:
        return money[0], []
    return None, []


_UNIT_WORDS: Mapping[str, str] = {
    stem(word): hint
    for word, hint in {
        "euros": "price amount cost total revenue salary", "euro": "price amount cost total",
        "dollars": "price amount cost total revenue salary", "pounds": "price amount cost weight",
        "years": "age", "minutes": "minutes duration runtime delay length",
        "hours": "hours duration", "km": "distance", "kilometres": "distance",
        "kilometers": "distance", "kg": "weight mass", "mm": "rain precipitation length",
        "degrees": "temp temperature", "people": "population", "inhabitants": "population",
        "pieces": "units quantity", "points": "score points",
    }.items()
}  # fmt: skip


def _read_values(read: ReadWords, db: TableDatabase) -> None:
    """Entries that the question names, the longest first."""
    grams = {
        (start, end): " ".join(word.stem for word in read.words[start:end])
        for start in range(len(read.words))
        for end in range(start + 1, min(start + 7, len(read.words) + 1))
    }
    entries: dict[str, list[tuple[TableField, str]]] = defaultdict(list)
    for each in read.relation.fields:
        if each.column.type is ColumnType.TEXT:
            for value in entries_of(each, read, db, grams):
                entries[_key(value)].append((each, value))
    taken: set[int] = set()
    places: list[tuple[int, int, list[tuple[TableField, str]]]] = []
    for (start, end), key in sorted(grams.items(), key=lambda item: item[0][0] - item[0][1]):
        inside = set(range(start, end))
        if not key or inside & (taken | read.used) or key not in entries:
            continue
        only = read.words[start]
        if end - start == 1 and (
            only.text in FUNCTION_WORDS | {"number", "total", "average"}
            or _names_column(read, start)
        ):
            continue
        taken |= inside
        places.append((start, end, entries[key]))
    for start, end, listed in sorted(places, key=lambda item: item[0]):
        _filter_by(read, start, end, listed)


def entries_of(
    each: TableField, read: ReadWords, db: TableDatabase, grams: Mapping[tuple[int, int], str]
) -> list[str]:
    """The entries of a column that may be meant: all, or those written in the question if there
    are many."""
    table = each.sql.rpartition(".")[0] if "." in each.sql else ""
    table = table or read.relation.sql
    column = each.column.sql
    if each.column.distinct <= MAX_VALUES:
        sql = f"SELECT DISTINCT {column} FROM {table} WHERE {column} IS NOT NULL"
    else:
        written = {
            read.text[read.words[start].start : read.words[end - 1].end] for start, end in grams
        }
        listed = ", ".join(literal(words) for words in sorted(written) if len(words) > 2)
        plain = f"strip_accents(lower({column}))"
        sql = f"SELECT DISTINCT {column} FROM {table} WHERE {plain} IN ({listed})"
    return [str(row[0]) for row in db.rows(sql, 2 * MAX_VALUES)[1]]


@cache
def _key(value: str) -> str:
    return " ".join(word.stem for word in words_of(value)[:7])


def _names_column(read: ReadWords, at: int) -> bool:
    """Whether a word is the whole name of a column."""
    named = read.mention_at(at)
    return bool(
        named
        and len(named.field.parts) == 1
        and strength(read.words[at], named.field.parts[0]) == 1
    )


_not = frozenset(("not", "except", "excluding", "without", "other", "besides", "non", "no", "never",
                  "isn't", "aren't", "wasn't", "don't", "but"))  # fmt: skip
_from = frozenset(("from", "leaving", "departing"))
_to = frozenset(("to", "into", "towards", "for"))
_origins = frozenset("origin from source departure start sender home seller".split())
_ends = frozenset("destination to target arrival end receiver away buyer".split())


def _filter_by(
    read: ReadWords, start: int, end: int, listed: Sequence[tuple[TableField, str]]
) -> None:
    first, last = read.words[start], read.words[end - 1]
    columns = list(dict.fromkeys(item for item, _ in listed))
    chosen = columns[0]
    if len(columns) > 1:
        chosen = _which_column(read, start, columns)
    values = [value for item, value in listed if item is chosen]
    negative = any(word.text in _not for word in read.words[max(0, start - 3) : start]) and not any(
        word.text in ("and", "or") for word in read.words[max(0, start - 2) : start]
    )
    for at in range(max(0, start - 3), start):
        if read.words[at].text in _not and negative:
            read.used.add(at)
    earlier = next(
        (it for it in read.filters if it.field is chosen and it.value and not negative), None
    )
    told = (
        tr("{items} or {last}", items=", ".join(values[:-1]), last=values[-1])
        if (values[1:])
        else values[0]
    )
    read.use(first.start, last.end)
    if earlier:
        listed_values = [*earlier.value.split("\0"), *values]
        earlier.value = "\0".join(listed_values)
        earlier.sql = f"{chosen.sql} IN ({', '.join(map(literal, listed_values))})"
        earlier.told = tr("{items} or {last}", items=earlier.told, last=told)
        return
    choice = ", ".join(map(literal, values))
    sql = f"{chosen.sql} IN ({choice})" if len(values) > 1 else f"{chosen.sql} = {choice}"
    if negative:
        sql = f"({chosen.sql} IS NULL OR NOT {sql})"
    form = mark("{name} is not {value}") if negative else mark("{name} is {value}")
    told = tr(form, name=chosen.name, value=told)
    value = "" if negative else "\0".join(values)
    read.filters.append(Filter(sql, told, first.start, chosen, value))


def _which_column(read: ReadWords, start: int, columns: Sequence[TableField]) -> TableField:
    """Which of the columns with this entry is meant."""
    before = read.word_before(read.words[start].start)
    for words, names in ((_from, _origins), (_to, _ends)):
        fitting = [item for item in columns if set(item.parts) & names]
        if before in words and fitting:
            return fitting[0]
    near = [
        (abs(item.start - read.words[start].start), columns.index(item.field))
        for item in read.mentions
        if item.field in columns
    ]
    if near:
        return columns[min(near)[1]]
    read.doubt(
        tr(
            "“{word}” is read as {name}; it is in {names} as well.",
            word=read.words[start].text,
            name=columns[0].name,
            names=", ".join(item.name for item in columns[1:3]),
        )
    )
    return columns[0]


_opposites = {
    "failed": "unpassed", "fail": "unpassed", "fails": "unpassed",
    "owe": "unpaid", "owes": "unpaid",
    "outstanding": "unpaid", "overdue": "unpaid",
}  # fmt: skip


def _read_flags(read: ReadWords) -> None:
    """Columns of yes and no: "cancelled flights", "unpaid invoices", "who works remotely"."""
    flags = [item for item in read.relation.fields if item.column.type is ColumnType.FLAG]
    for each in flags:
        for at, word in enumerate(read.words):
            if at in read.used or read.word_before(word.start) in ("by", "per", "each", "which"):
                continue
            bare = re.sub(r"^(?:un|non|in|dis)(?=\w{4})", "", _opposites.get(word.text, word.text))
            plain = QuestionWord(bare, stem(bare), 0, 0)
            known = max(strength(word, part) for part in each.parts) >= 0.7
            reverse = not known and max(strength(plain, part) for part in each.parts) >= 0.7
            reverse &= bare != word.text
            remote = (
                len(each.parts[0]) >= 4
                and word.text.startswith(each.parts[0])
                and len(each.parts) == 1
            )
            if not (known or reverse or remote):
                continue
            denied = any(item.text in _not for item in read.words[max(0, at - 3) : at])
            wanted = denied == reverse
            read.used.add(at)
            read.used |= {
                other for other in range(max(0, at - 3), at) if read.words[other].text in _not
            }
            sql = each.sql if wanted else f"NOT {each.sql}"
            told = tr("{name} is {value}", name=each.name, value=tr("yes") if wanted else tr("no"))
            read.filters.append(Filter(sql, told, word.start, each))
            break


def _read_partial_values(read: ReadWords, db: TableDatabase) -> None:
    """Words that are left and stand in entries of several words: "Keller" in "Keller GmbH"."""
    left = [
        at for at, word in enumerate(read.words)
        if at not in read.used and word.text not in ASKING and not word.text.isdigit()
        and read.mention_at(at) is None and word.stem not in read.relation.nouns
        and word.text not in VERBS and len(word.text) > 2 and word.text not in RESERVED
    ]  # fmt: skip
    for at in left:
        word = read.words[at]
        for each in read.relation.fields:
            if each.column.type is not ColumnType.TEXT or each.column.distinct > MAX_VALUES:
                continue
            values = [
                value
                for value in entries_of(each, read, db, {})
                if word.stem in _key(value).split()
            ]
            if 0 < len(values) <= MAX_MATCHED:
                _filter_by(read, at, at + 1, [(each, value) for value in values])
                if len(values) > 1:
                    names = ", ".join(values[:4])
                    read.doubt(tr("“{word}” stands for {names}.", word=word.text, names=names))
                break
