"""Differences that a question asks for: between the largest and the smallest, or between two."""

from __future__ import annotations

import re

from jarvis_desktop.core.i18n import both, tr
from jarvis_desktop.tasks.documents.table_conditions import comparative_of, compared_columns
from jarvis_desktop.tasks.documents.table_database import (
    ColumnType,
    TableColumn,
    literal,
    quoted,
)
from jarvis_desktop.tasks.documents.table_parts import ROWS, QuestionParts, called
from jarvis_desktop.tasks.documents.table_query import Shape, TableQuery
from jarvis_desktop.tasks.documents.table_words import Filter, hinted

_EXTREMES = (
    r"(?:(?:high|larg|bigg|long|tall|old|low|small|short|young|cheap)est|most expensive|"
    r"(?:max|min)\w*|best|worst)"
)
_range = re.compile(
    rf"\b(?:difference|gap|spread|span|range) (?:between|from|of) (?:the )?{_EXTREMES}"
    rf" (?:\w+ ){{0,3}}?(?:and|to) (?:the )?{_EXTREMES}"
)
_two = re.compile(
    r"\bhow (?:much|many) (?:\w+ )?(?:more|less|fewer|better|worse)\b|"
    r"\bhow (?:much|many (?:years|months|days|hours|minutes|cm|m|km|kg|points)) (\w+er)\b|"
    r"\b(?:difference|gap) (?:in|of|between)\b|\bcompared (?:to|with)\b|"
    r"\bhow (?:much|many) .*\b(?:behind|ahead of)\b|"
    r"^\W*(?:did|do|does|was|were|is|are|has|have)\b.*\b(?:more|less|fewer|(\w+er))\b.*\bthan\b"
)
_less = re.compile(r"\b(?:less|fewer|worse)\b")
_yes_no = re.compile(r"\W*(?:did|do|does|was|were|is|are|has|have)\b")
_change = re.compile(
    r"\b(?:(?P<down>drop|fall|fell|decreas|declin|sank|sink|go down|went down|gone down)|"
    r"rise|rose|risen|grow|grew|increas|climb|chang|go up|went up|gone up)\w*"
)
_percent = re.compile(r"\b(?:by )?(?:what |how (?:many|much) )?percent(?:age)?\b")


def difference_of(parts: QuestionParts) -> TableQuery | None:
    """Return the query of a difference or a comparison; None if the question asks for none."""
    text = parts.read.text
    if found := _range.search(text):
        measure = parts.measure() or parts.only_measure()
        if measure is None:
            return None
        parts.told.append(measure)
        parts.read.use(*found.span())
        value = f"max({measure.sql}) - min({measure.sql})"
        told = tr("difference between the highest and the lowest {name}", name=measure.name)
        return _query(parts, value, told, measure.column)
    change = _change.search(text)
    sides = _ends(parts) if change else None
    found = change if sides else _two.search(text)
    if not found:
        return None
    if not (pair := sides or _alternatives(parts)):
        return _of_columns(parts)
    for at, word in enumerate(parts.words):
        said = word.start in range(*found.span()) and not parts.read.mention_at(at)
        if said or word.text == "than":
            parts.read.used.add(at)
    parts.read.filters = [item for item in parts.read.filters if item not in pair[0]]
    comparative = None if sides else found[1] or found[2]
    adjective = comparative_of(comparative) if comparative else None
    measures = [it for it in hinted(parts.read, adjective[1]) if it.is_measure] if adjective else []
    if measures[1:]:
        told = tr("“{word}” is read as {name}; it may be {names}.", word=comparative,
                  name=measures[0].name, names=measures[1].name)  # fmt: skip
        parts.read.doubt(told)
    measure = next(iter(measures), None) or parts.measure()
    if measure and comparative and not measures:
        parts.read.doubt(tr("“{word}” is read as {name}.", word=comparative, name=measure.name))
    rows = any(parts.is_row_noun(at) for at in range(len(parts.words)))
    if measure is None and "how many" not in found[0] and not rows:
        measure = parts.only_measure()
        if measure is None:
            return None
        if comparative:
            parts.read.doubt(tr("“{word}” is read as {name}.", word=comparative, name=measure.name))
    value, told, column = "count(*)", tr(ROWS), None
    if measure is not None:
        parts.told.append(measure)
        added = measure.adds_up or parts.by_unit
        function = parts.aggregate or ("sum" if added else "avg")
        value, column = f"{function}({measure.sql})", measure.column
        told = called(function, measure.name)
    elif parts.aggregate:
        return None
    (one, one_told), (other, other_told) = pair[1]
    first, second = (f"coalesce({value} FILTER ({sql}), 0)" for sql in (one, other))
    less = bool(_less.search(found[0])) or (adjective is not None and not adjective[0])
    if _yes_no.match(text) and not sides:
        parts.read.use(0, parts.words[1].start)
        sql = (
            f"SELECT {first} {'<' if less else '>'} {second} AS verdict, {first} AS "
            f"{quoted(one_told)}, {second} AS {quoted(other_told)} "
            f"FROM {parts.relation.sql}{parts.where}"
        )
        told += parts.where_told()
        return TableQuery(sql, Shape.COMPARED, told, (None, column, column))
    if less or (sides and found["down"]):
        first, second = second, first
    value = f"{first} - {second}"
    if "than" not in parts.texts and not sides:
        value = f"abs({value})"
    if sides and (percent := _percent.search(text)):
        parts.read.use(*percent.span())
        value = f"100.0 * ({value}) / nullif({first if found['down'] else second}, 0)"
        column = TableColumn("%", ColumnType.NUMBER, unit="%")
    told = tr("difference in the {value} between {names}", value=told,
              names=both(one_told, other_told))  # fmt: skip
    return _query(parts, value, told, column)


def _query(parts: QuestionParts, value: str, told: str, column: TableColumn | None) -> TableQuery:
    sql = f"SELECT {value} AS value FROM {parts.relation.sql}{parts.where}"
    return TableQuery(sql, Shape.VALUE, told + parts.where_told(), (column,))


def _of_columns(parts: QuestionParts) -> TableQuery | None:
    """ "How much more did we earn than spend": between two columns."""
    if not (pair := compared_columns(parts.read)) or not all(it.adds_up for it in pair.fields):
        return None
    one, other = pair.fields if pair.sign == ">" else pair.fields[::-1]
    parts.read.filters = [it for it in parts.read.filters if it.start != pair.places[0]]
    parts.told += pair.fields
    for place in pair.places:
        parts.read.use(place, place + 1)
    parts.read.use(0, pair.places[0])
    if _yes_no.match(parts.read.text):
        first, second = (f"sum({it.sql})" for it in pair.fields)
        names = [quoted(it.name) for it in pair.fields]
        sql = (
            f"SELECT {first} {pair.sign} {second} AS verdict, {first} AS {names[0]}, "
            f"{second} AS {names[1]} FROM {parts.relation.sql}{parts.where}"
        )
        shown = (None, *(it.column for it in pair.fields))
        return TableQuery(sql, Shape.COMPARED, tr("sum") + parts.where_told(), shown)
    sums = both(called("sum", one.name), called("sum", other.name))
    told = tr("difference between {names}", names=sums)
    return _query(parts, f"sum({one.sql}) - sum({other.sql})", told, one.column)


_Sides = tuple[tuple[str, str], tuple[str, str]]


def _ends(parts: QuestionParts) -> tuple[list[Filter], _Sides] | None:
    """The last and the first time of those from one to another: "from January to August"."""
    return next((([it], (it.ends[1], it.ends[0])) for it in parts.read.filters if it.ends), None)


def _alternatives(parts: QuestionParts) -> tuple[list[Filter], _Sides] | None:
    """The two entries or times that are compared: their conditions, and each in SQL and words."""
    for item in parts.read.filters:
        values = item.value.split("\0") if item.value else []
        if item.field and len(values) == 2:
            one, other = ((f"{item.field.sql} = {literal(it)}", it) for it in values)
            return [item], (one, other)
    dates = [item for item in parts.read.filters if item.field in parts.relation.dates]
    if len(dates) == 2 and dates[0].field is dates[1].field:
        first, last = sorted(dates, key=lambda item: item.start)
        sides = (first.sql, first.period or first.told), (last.sql, last.period or last.told)
        return dates, sides
    return None
