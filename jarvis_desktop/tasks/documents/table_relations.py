"""What a table's rows are, for questions: its columns, and those that follow from them.

A table of beds and of occupied beds also says how many are free, one of hours and a rate what they
cost. Such columns are made here, with the two tables that have a key in common as one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import date

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.tasks.documents.table_database import (
    ColumnType,
    LoadedTable,
    TableColumn,
)
from jarvis_desktop.tasks.documents.table_words import (
    SAME,
    Relation,
    TableField,
    is_unique,
    name_parts,
)
from jarvis_desktop.text.tokens import stem


def relation_of(table: LoadedTable) -> Relation:
    """The relation of one table."""
    fields = [
        TableField(item, f"{table.sql}.{item.sql}", name_parts(item.name), table.rows)
        for item in table.columns
    ]
    first = fields[0]
    things = _numbers_things | title_words(table)
    if first.parts[0] in things and first.column.whole and first.is_unique and not first.parts[1:]:
        fields[0] = replace(first, parts=(*first.parts, "id"))  # it numbers the rows
    made = _made_fields(fields)
    title = title_words(table)
    head = stem((name_parts(table.title.rpartition(".")[0] or table.title))[-1])
    return Relation(
        table.sql, (*fields, *made), row_nouns(table), table.rows, title=title, head=head
    )


_numbers_things = frozenset(
    "order invoice ticket booking loan member index row case person employee customer guest "
    "patient participant respondent student".split()
)


def title_words(table: LoadedTable) -> frozenset[str]:
    """The words of a table's name, in the singular as well."""
    words = name_parts(table.title.rpartition(".")[0] or table.title)
    return frozenset(form for word in words for form in (word, word.removesuffix("s")) if form[2:])


_given_names, _family_names = {"first", "given", "vorname", "forename"}, {
    "last", "surname", "family", "nachname", "lastname", "familienname"
}  # fmt: skip
_BORN = frozenset("birth birthday born dob birthdate geburtstag geburtsdatum".split())


def birth_of(fields: Iterable[TableField]) -> TableField | None:
    """The column of the dates of birth, if the table has no ages."""
    pool = list(fields)
    if any("age" in item.parts for item in pool if not item.made):
        return None
    dates = (item for item in pool if item.column.type is ColumnType.DATE)
    return next((item for item in dates if _BORN & {*item.parts}), None)


def _made_fields(fields: Sequence[TableField]) -> list[TableField]:
    """What a table says without a column for it: the full name of a first and a last name, the age
    by the date of birth, the worth of a number of things by their price."""
    made = []
    texts = [item for item in fields if item.column.type is ColumnType.TEXT]
    given = next((item for item in texts if _given_names & {*item.parts}), None)
    family = next((item for item in texts if _family_names & {*item.parts}), None)
    if given and family:
        column = TableColumn(f"{given.name}, {family.name}", ColumnType.TEXT, given.rows)
        sql = f"nullif(concat_ws(' ', {given.sql}, {family.sql}), '')"
        made.append(TableField(column, sql, ("full", "name"), given.rows, made=True))
    if birth := birth_of(fields):
        sql = f"datesub('year', {birth.sql}, TIMESTAMP '{date.today()}')"
        column = TableColumn(tr("age"), ColumnType.NUMBER, birth.rows, whole=True)
        made.append(TableField(column, sql, ("age",), birth.rows, made=True))
    known = {part for item in fields for part in item.parts}
    measures = [item for item in fields if item.is_measure]
    for firsts, seconds, said in _DIFFERENCES:
        sides = [[it for it in measures if words & {*it.parts}] for words in (firsts, seconds)]
        if len(sides[0]) == len(sides[1]) == 1 and sides[0] != sides[1] and not known & {*said}:
            one, other = sides[0][0], sides[1][0]
            own = () if "profit" in said else one.parts
            made.append(difference_field(one, other, (*said, *own)))
    rates = [it for it in measures if _is_hourly(it)]
    hours = [it for it in measures if {"hours", "hour"} & {*it.parts} and it not in rates]
    if len(rates) == len(hours) == 1 and not known & _PAY:
        made.append(_product(hours[0], rates[0], ("pay", "cost", "wages", "earnings")))
    steps = [item for item in measures if item.units and _STEPS & {*item.parts}]
    if len(steps) > 1 and len({item.units for item in steps}) == 1 and not known & _LASTING:
        made.append(sum_field(steps, ("duration", "total")))
    people = [item for item in measures if {"population", "inhabitants", "people"} & {*item.parts}]
    areas = [item for item in measures if "area" in item.parts]
    if len(people) == len(areas) == 1 and "density" not in known:
        made.append(quotient(people[0], areas[0], ("population", "density")))
    worth = {"value", "worth", "total", "amount", "revenue", "turnover", "sum", "sales"}
    if not any(worth & {*item.parts} for item in fields):
        price = [item for item in fields if item.is_measure and {"price", "cost"} & {*item.parts}]
        count = [item for item in fields if item.is_measure and _COUNTED & {*item.parts}]
        price = [item for item in price if item not in count]
        for item in price if len(count) == 1 else ():
            kind = [part for part in item.parts if part != "price"] if price[1:] else []
            made.append(_product(count[0], item, ("value", *kind)))
    return made


def sum_field(fields: Sequence[TableField], parts: tuple[str, ...]) -> TableField:
    """Return what several columns are together, in each row."""
    column = replace(fields[0].column, name=" + ".join(item.name for item in fields))
    sql = " + ".join(f"coalesce({item.sql}, 0)" for item in fields)
    return TableField(column, f"({sql})", parts, fields[0].rows, made=True)


def _is_hourly(item: TableField) -> bool:
    """Whether it says how much an hour costs: "€/h", "hourly rate"."""
    rate = {"rate", "hourly", "wage"} & {*item.parts}
    return bool(rate or re.search(r"(?:/|\bper )h", item.name.lower()))


def _product(count: TableField, price: TableField, parts: tuple[str, ...]) -> TableField:
    column = replace(price.column, name=f"{count.name} × {price.name}", whole=False)
    return TableField(column, f"({count.sql} * {price.sql})", parts, price.rows, made=True)


def quotient(upper: TableField, lower: TableField, parts: tuple[str, ...]) -> TableField:
    """Return one column divided by another, in each row."""
    name = f"{upper.name} / {lower.name}"
    column = replace(upper.column, name=name, whole=False)
    sql = f"({upper.sql} * 1.0 / nullif({lower.sql}, 0))"
    return TableField(column, sql, parts, upper.rows, made=True)


_PAY = frozenset("pay cost costs wage wages salary earnings earned total".split())
_LASTING = frozenset("duration total time runtime".split())
_STEPS = frozenset(
    "prep preparation cook cooking bake baking rest resting travel walking waiting driving".split()
)
"""Times that follow one another."""
_DIFFERENCES: tuple[tuple[frozenset[str], frozenset[str], tuple[str, ...]], ...] = tuple(
    (frozenset(one.split()), frozenset(other.split()), tuple(parts.split()))
    for one, other, parts in (
        ("earned earnings income revenue takings received turnover",
         "spent spending expense expenses expenditure cost costs outgoings",
         "profit saved savings balance"),
        ("selling sale retail sell", "cost purchase buying wholesale paid", "profit margin"),
        ("beds seats places capacity budget budgeted planned plan limit allowance allocated spaces "
         "stocked ordered bought slots quota",
         "occupied used taken booked sold spent filled actual reserved attended",
         "free left remaining available spare vacant over"),
        ("for scored", "against conceded", "difference"),
    )
)  # fmt: skip
"""Columns of which one minus the other has a name: of what is there and what is taken, the rest."""


def difference_field(one: TableField, other: TableField, parts: tuple[str, ...]) -> TableField:
    """Return what one column is more than another, in each row."""
    column = replace(one.column, name=f"{one.name} − {other.name}", distinct=one.rows)
    return TableField(column, f"({one.sql} - {other.sql})", parts, one.rows, made=True)


_COUNTED = frozenset("hand stock quantity qty units pieces inventory count amount".split())


def row_nouns(table: LoadedTable) -> frozenset[str]:
    """Stems of the words for one of its rows."""
    words = name_parts(table.title.rpartition(".")[0] or table.title)
    # "movies" has the stem of "movy".
    found = {stem(form) for word in words for form in (word, word.removesuffix("s"))}
    for item in table.columns:
        parts = name_parts(item.name)
        if parts[-1:] in (("id",), ("no",), ("nr",), ("number",)) and is_unique(item, table.rows):
            found |= {stem(word) for word in parts[:-1]}
    first = next((it for it in table.columns if it.type is ColumnType.TEXT), None)
    if first and is_unique(first, table.rows) and len(name_parts(first.name)) == 1:
        found |= {stem(name_parts(first.name)[0])} - {"name", "titl"}
    for same in SAME:
        if found & {stem(word) for word in same}:
            others = {part for item in table.columns for part in name_parts(item.name)}
            found |= {stem(word) for word in same - others}
    found |= {stem("thing"), stem("row"), stem("entries"), stem("record"), stem("line")}
    return frozenset(found)
