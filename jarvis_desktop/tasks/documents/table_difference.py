"""Differences that a question asks for: between the largest and the smallest, or between two."""

from __future__ import annotations

import re

from jarvis_desktop.core.i18n import both, tr
from jarvis_desktop.tasks.documents.table_conditions import comparative_of, compared_columns
from jarvis_desktop.tasks.documents.table_database import TableColumn, literal
from jarvis_desktop.tasks.documents.table_parts import ROWS, QuestionParts, called
from jarvis_desktop.tasks.documents.table_words import Filter, hinted

_EXTREMES = (
    r"(?:(?:the )?(?:highest|largest|biggest|max\w*|most expensive|best|oldest|longest|tallest)"
    r" (?:\w+ ){0,3}?(?:and|to) (?:the )?"
    r"(?:lowest|smallest|min\w*|cheapest|worst|youngest|shortest))"
)
_range = re.compile(
    rf"\b(?:difference|gap|spread|span|range) (?:between|from|of) {_EXTREMES}|"
    rf"\b(?:difference|gap|spread|span) between (?:the )?(?:lowest|smallest|min\w*|cheapest|worst)"
    rf" (?:\w+ ){{0,3}}?and (?:the )?(?:highest|largest|biggest|max\w*|most expensive|best)"
)
_two = re.compile(
    r"\bhow (?:much|many) (?:\w+ )?(?:more|less|fewer|better|worse)\b|"
    r"\bhow (?:much|many (?:years|months|days|hours|minutes|cm|m|km|kg|points)) (\w+er)\b|"
    r"\b(?:difference|gap) (?:in|of|between)\b|\bcompared (?:to|with)\b|"
    r"\bhow (?:much|many) .*\b(?:behind|ahead of)\b|"
    r"^\W*(?:did|do|does|was|were|is|are|has|have)\b.*\b(?:more|less|fewer|(\w+er))\b.*\bthan\b"
)
_less = re.compile(r"\b(?:less|fewer|worse)\b")


def difference_of(parts: QuestionParts) -> tuple[str, str, TableColumn | None] | None:
    """Return the SQL of a difference, what it is in words, and the column it has its unit from;
    None if the question asks for none."""
    text = parts.read.text
    if found := _range.search(text):
        measure = parts.measure() or parts.only_measure()
        if measure is None:
            return None
        parts.told.append(measure)
        parts.read.use(*found.span())
        value = f"max({measure.sql}) - min({measure.sql})"
        told = tr("difference between the highest and the lowest {name}", name=measure.name)
        sql = f"SELECT {value} AS value FROM {parts.relation.sql}{parts.where}"
        return sql, told + parts.where_told(), measure.column
    if not (found := _two.search(text)):
        return None
    if not (pair := _alternatives(parts)):
        return _of_columns(parts)
    for at, word in enumerate(parts.words):
        if word.start in range(*found.span()) and not parts.read.mention_at(at):
            parts.read.used.add(at)
    kept = [item for item in parts.read.filters if item not in pair[0]]
    parts.read.filters = kept
    comparative = found[1] or found[2]
    adjective = comparative_of(comparative) if comparative else None
    measures = [it for it in hinted(parts.read, adjective[1]) if it.is_measure] if adjective else []
    measure = measures[0] if measures else parts.measure()
    if measure is None and "how many" not in found[0]:
        measure = parts.only_measure()
        if measure is None:
            return None
    value, told, column = "count(*)", tr(ROWS), None
    if measure is not None:
        parts.told.append(measure)
        function = parts.aggregate or ("sum" if measure.adds_up else "avg")
        value, column = f"{function}({measure.sql})", measure.column
        told = called(function, measure.name)
    elif parts.aggregate:
        return None
    (one, one_told), (other, other_told) = pair[1]
    first, second = (f"coalesce({value} FILTER ({sql}), 0)" for sql in (one, other))
    if _less.search(found[0]) or (adjective and not adjective[0]):
        first, second = second, first
    change = f"{first} - {second}"
    if "than" not in parts.texts:
        change = f"abs({change})"
    told = tr("difference in the {value} between {names}", value=told,
              names=both(one_told, other_told))  # fmt: skip
    sql = f"SELECT {change} AS value FROM {parts.relation.sql}{parts.where}"
    return sql, told + parts.where_told(), column


def _of_columns(parts: QuestionParts) -> tuple[str, str, TableColumn | None] | None:
    """ "How much more did we earn than spend": between two columns."""
    if not (pair := compared_columns(parts.read)) or not all(it.adds_up for it in pair.fields):
        return None
    one, other = pair.fields if pair.sign == ">" else pair.fields[::-1]
    parts.read.filters = [it for it in parts.read.filters if it.start != pair.places[0]]
    parts.told += pair.fields
    for place in pair.places:
        parts.read.use(place, place + 1)
    parts.read.use(0, pair.places[0])
    names = both(called("sum", one.name), called("sum", other.name))
    told = tr("difference between {names}", names=names)
    sql = (
        f"SELECT sum({one.sql}) - sum({other.sql}) AS value FROM {parts.relation.sql}{parts.where}"
    )
    return sql, told + parts.where_told(), one.column


_Sides = tuple[tuple[str, str], tuple[str, str]]


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
