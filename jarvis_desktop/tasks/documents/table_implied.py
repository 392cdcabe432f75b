"""What a question says of a table's columns without naming them: full, sold out, over budget, late.

Each is a condition on columns of numbers that the table has, or has made of others
(`table_relations.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.tasks.documents.table_database import ColumnType
from jarvis_desktop.tasks.documents.table_relations import quotient
from jarvis_desktop.tasks.documents.table_words import (
    UNIT_NAMES,
    VERBS,
    ColumnMention,
    Filter,
    ReadWords,
    TableField,
    hinted,
)

_REST = frozenset(("free", "left", "remaining"))
_STOCK = frozenset("stock hand quantity qty inventory left remaining".split())
_LEVEL = frozenset("reorder minimum min level threshold par".split())
_conditions: Sequence[tuple[str, str, str]] = (
    ("rest", "<= 0", r"\b(?:(?:fully |all )?booked(?: (?:up|out))?|full|packed|at capacity)\b"),
    ("rest", "< 0", r"\b(?:over ?budget|overspent|(?:over|exceed\w*|went over) (?:the |our |its )?"
                    r"(?:budget|limit|plan)|overbooked|spent too much)\b"),
    ("rest", ">= 0", r"\b(?:under|within|on|below) (?:the |our |its )?(?:budget|limit)\b"),
    ("stock", "= 0", r"\b(?:(?:sold|run|ran|running|are we|is|are|all) out(?: of)?|out of stock|"
                     r"none (?:left|in stock)|used up|(?:nothing|not any) left)\b"),
    ("low", "", r"\b(?:re-?order(?:ed|ing)?|re-?stock(?:ed|ing)?|run(?:ning)? (?:low|short)|"
                r"low (?:on|in stock)|short of|(?:order|buy) more|top(?:ping)? up|"
                r"(?:below|under|less than) (?:the |its |their )?"
                r"(?:minimum|min|threshold|par|level|re-?order (?:level|point)))\b"),
    ("rain", "> 0", r"\b(?:rainy|wet) (?=(?:days?|weeks?|hours?)\b)|\brained\b"),
    ("rain", "= 0", r"\b(?:dry|rainless) (?=(?:days?|weeks?|hours?)\b)"),
    ("delay", "<= 0", r"\b(?:on time|punctual)\b"),
    ("delay", "> 0", r"\b(?:late|delayed|overdue)\b(?! by| than)"),
)  # fmt: skip
_exact = re.compile(r"\b(?:out of|zero|sold out of) (\w+)")
_DELAYS = frozenset("delay overdue late lateness".split())


def read_implied(read: ReadWords) -> None:
    """Add the conditions that are said in words for them alone."""
    for found in _exact.finditer(read.text):
        place = next(n for n, word in enumerate(read.words) if word.start == found.start(1))
        named = read.mention_at(place)
        if named and named.field.is_measure:
            _add(read, found, named.field, "= 0")
    for kind, sign, form in _conditions:
        for found in re.finditer(form, read.text):
            if any(read.words[at].start in range(*found.span()) for at in read.used):
                continue
            measures = [item for item in read.relation.fields if item.is_measure]
            if kind == "rest":
                for item in measures:
                    if item.made and _REST & {*item.parts}:
                        _add(read, found, item, sign)
                        break
            elif kind == "delay":
                delays = [item for item in measures if _DELAYS & {*item.parts}]
                counted = re.search(r"\bhow many\b|\bwhich\b|\bwere\b|\bany\b", read.text)
                around = read.text[max(0, found.start() - 24) : found.end() + 20]
                numbered = re.search(r"\d|\b(?:most|least|worst|longest)\b", around)
                if len(delays) == 1 and counted and not numbered:
                    _add(read, found, delays[0], sign)
            elif kind == "rain":
                for item in hinted(read, VERBS["rain"])[:1]:
                    _add(read, found, item, sign)
            else:
                _add_stock(read, found, measures, sign)


def _add_stock(
    read: ReadWords, found: re.Match[str], measures: Sequence[TableField], sign: str
) -> None:
    plain = [item for item in measures if not item.made]
    named = [item for item in plain if _STOCK & {*item.parts} and not {"level"} & {*item.parts}]
    counts = named or [item for item in plain if item.adds_up and item.column.whole]
    counts = [item for item in counts if named or not (item.column.unit or item.units)]
    if len(counts) != 1:
        return
    (stock,) = counts
    levels = [item for item in plain if _LEVEL & {*item.parts} and item is not stock]
    if not sign and len(levels) != 1:
        return
    _add(read, found, stock, sign, *([] if sign else levels))
    if not named:
        read.doubt(tr("“{word}” is read as {name}.", word=found[0], name=stock.name))
    for other in read.mentions:
        if levels and other.field in levels:
            read.use(other.start, other.end)
    if levels:
        read.take(*(at for at, word in enumerate(read.words) if word.text in ("below", "under")))


def _add(
    read: ReadWords, found: re.Match[str], which: TableField, sign: str, *least: TableField
) -> None:
    sql, told = (f"< {least[0].sql}", f"< {least[0].name}") if least else (sign, sign)
    condition = Filter(f"{which.sql} {sql}", f"{which.name} {told}", found.start(), which)
    read.filters.append(condition)
    read.used |= {
        at for at, word in enumerate(read.words) if found.start() <= word.start < found.end()
    }


_each = re.compile(r"\b(?:per|for each|for every|to each)\b (?:single )?")
_UNITS = {
    "metre": "m", "meter": "m", "metres": "m", "meters": "m", "sqm": "m2", "m2": "m2", "m²": "m2",
    "foot": "ft", "litre": "l", "liter": "l",
}  # fmt: skip


def read_ratio(read: ReadWords) -> None:
    """One column divided by another: "price per square metre", "patients per nurse"."""
    for found in _each.finditer(read.text):
        behind = [at for at, word in enumerate(read.words) if word.start >= found.end()][:2]
        before = [
            it for it in read.mentions
            if it.end <= found.start() and it.field.is_measure and not it.field.made
        ]  # fmt: skip
        if not behind or not before:
            continue
        named = read.mention_at(behind[0])
        lower, last = (named.field if named and not named.guessed else None), behind[0]
        if lower is None or not lower.is_measure:
            lower, last = _by_unit(read, behind)
        upper = max(before, key=lambda it: (it.end, it.score))
        if lower is None or not lower.is_measure or lower is upper.field:
            continue
        if lower.parts[-1:] in (("day",), ("month",), ("year",), ("week",)):
            continue
        made = quotient(upper.field, lower, ("ratio", "rate"))
        read.relation = replace(read.relation, fields=(*read.relation.fields, made))
        end = read.words[last].end
        read.mentions = [it for it in read.mentions if not upper.start <= it.start < end]
        read.mentions.append(ColumnMention(upper.start, upper.end, made, 3.0))
        read.use(upper.end, end)


def _by_unit(read: ReadWords, behind: Sequence[int]) -> tuple[TableField | None, int]:
    """The column that is measured in the unit after "per"."""
    texts = [read.words[at].text for at in behind]
    square = texts[0] in ("square", "sq")
    word = texts[1] if square and texts[1:] else texts[0]
    unit = UNIT_NAMES.get(word, _UNITS.get(word, word))
    signs = {f"{unit}2", f"{unit}²", f"sq{unit}", f"sq {unit}"} if square else {unit}
    signs |= {"m²", "sqm", "sq m"} if unit == "m2" else set()
    for item in read.relation.fields:
        bracket = re.search(r"[(\[/ ]([^()\[\]/]+)[)\]]?$", item.name.casefold())
        numeric = item.column.type is ColumnType.NUMBER and not item.made
        if numeric and bracket and bracket[1].strip() in signs:
            return item, behind[1] if square and behind[1:] else behind[0]
    return None, behind[0]
