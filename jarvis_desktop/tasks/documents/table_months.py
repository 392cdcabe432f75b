"""Months in tables: their names in a column, and tables with a column for each month or year.

For questions, names of months are dates of no year (`NO_YEAR`), so that they have an order and
quarters, and a wide table is read in two ways: with a row for each cell, and one for each month.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import date

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.tasks.documents.table_database import (
    ColumnType,
    LoadedTable,
    TableColumn,
    TableDatabase,
    column_names,
    literal,
)
from jarvis_desktop.tasks.documents.table_relations import relation_of
from jarvis_desktop.tasks.documents.table_words import (
    Relation,
    TableField,
    folded,
)

NO_YEAR = 4
"""The year of months without one: a leap year, in which nothing of a table has happened."""
_names = (
    "jan", "feb", "mar", "apr", "ma[iy]", "jun", "jul", "aug", "sep", "o[ck]t", "nov", "de[cz]",
)  # fmt: skip
_month = re.compile(
    r"(?:(?P<year>(?:19|20)\d\d)[-/. ])?"
    r"(?P<month>(?:jan|feb|mar|mrz|apr|ma[iy]|jun|jul|aug|sep|o[ck]t|nov|de[cz])[a-z]{0,6}|"
    r"(?<=[-/.])\d\d|\d\d(?=[-/.]))\.?(?:[-/ ]?(?P<after>(?:19|20)\d\d))?"
)
_MANY = 3
"""Columns of months or years from which a table counts as wide."""
_MAX_ENTRIES = 60
"""Rows of a wide table that can be columns."""


def _month_of(name: str) -> date | None:
    """The first day of a month by its name: "Mar", "März 2024", "2024-03"."""
    found = _month.fullmatch(folded(name.strip()))
    if not found:
        return None
    word = found["month"].replace("mrz", "mar")
    number = next((n for n, form in enumerate(_names, 1) if re.match(form, word)), 0)
    number = number or (int(word) if word.isdigit() else 0)
    year = int(found["year"] or found["after"] or NO_YEAR)
    return date(year, number, 1) if 1 <= number <= 12 else None


def with_months(table: LoadedTable, db: TableDatabase) -> LoadedTable:
    """Return a table with dates for the names of months in its columns of texts."""
    cases: dict[str, str] = {}
    for item in table.columns:
        if item.type is ColumnType.TEXT and item.distinct <= 13:
            sql = f"SELECT DISTINCT {item.sql} FROM {table.sql} WHERE {item.sql} IS NOT NULL"
            names = [str(row[0]) for row in db.rows(sql, 14)[1]]
            months = {name: found for name in names if (found := _month_of(name))}
            if months and len(months) == len(names):
                whens = (f"WHEN {literal(it)} THEN {_day(day)}" for it, day in months.items())
                cases[item.name] = f"CASE {item.sql} {' '.join(whens)} END AS {item.sql}"
    if not cases:
        return table
    replaced = f"SELECT * REPLACE ({', '.join(cases.values())}) FROM {table.sql}"
    columns = [
        replace(it, type=ColumnType.DATE, monthly=True, yearless=True) if it.name in cases else it
        for it in table.columns
    ]
    return replace(table, sql=_view(db, "months", table, replaced), columns=tuple(columns))


def wide_relations(table: LoadedTable, db: TableDatabase) -> list[Relation]:
    """Return the two readings of a table with a column for each month or year: a row for each of
    its numbers, and one for each month with a column for each entry. Empty for another table."""
    numbers = [item for item in table.columns if item.type is ColumnType.NUMBER]
    months = {item: found for item in numbers if (found := _month_of(item.name))}
    years = {it: it.name for it in numbers if re.fullmatch(r"(?:19|20)\d\d", it.name)}
    times: Mapping[TableColumn, date | str] = months if len(months) >= _MANY else years
    if len(times) < _MANY:
        return []
    kept = [it for it in table.columns if it not in times and it.type is not ColumnType.NUMBER]
    whole, unit = all(it.whole for it in times), next(iter(times))
    name = tr("Month") if times is months else tr("Year")
    kind = ColumnType.DATE if times is months else ColumnType.NUMBER
    yearless = times is months and all(day.year == NO_YEAR for day in months.values())
    time = TableColumn(
        name, kind, len(times), whole=True, monthly=times is months, yearless=yearless
    )
    amount = replace(unit, name=tr("Amount"), distinct=len(times) * table.rows, whole=whole)
    union = " UNION ALL ".join(
        f"SELECT {''.join(f'{it.sql}, ' for it in kept)}{_day(at)} AS {time.sql}, "
        f"{item.sql}::{'BIGINT' if whole else 'DOUBLE'} AS {amount.sql} FROM {table.sql}"
        for item, at in times.items()
    )
    long = LoadedTable(
        _view(db, "long", table, union), table.title, (*kept, time, amount), len(times) * table.rows
    )
    parts = {time.name: ("month" if times is months else "year",), amount.name: ("amount",)}
    relations = [_with_parts(relation_of(long), parts)]
    label = next((it for it in kept if it.type is ColumnType.TEXT and it.distinct), None)
    if label is not None and table.rows <= _MAX_ENTRIES:
        sql = f"SELECT {label.sql} FROM {table.sql} WHERE {label.sql} IS NOT NULL"
        entries = [str(row[0]) for row in db.rows(sql, _MAX_ENTRIES)[1]]
        if len(set(entries)) == len(entries):
            named = column_names([name, *entries])[1:]
            columns = [replace(amount, name=it, distinct=len(times)) for it in named]
            sums = (
                f"sum({amount.sql}) FILTER ({label.sql} = {literal(entry)}) AS {column.sql}"
                for entry, column in zip(entries, columns, strict=True)
            )
            grouped = f"SELECT {time.sql}, {', '.join(sums)} FROM {long.sql} GROUP BY 1 ORDER BY 1"
            tall = LoadedTable(
                _view(db, "tall", table, grouped), table.title, (time, *columns), len(times)
            )
            relations.append(_with_parts(relation_of(tall), {time.name: parts[time.name]}))
    return relations


def _with_parts(relation: Relation, parts: Mapping[str, tuple[str, ...]]) -> Relation:
    """The relation with other words for some of its columns, whatever the user's language."""

    def renamed(item: TableField) -> TableField:
        return replace(item, parts=parts[item.name]) if item.name in parts else item

    return replace(relation, fields=tuple(map(renamed, relation.fields)))


def _day(at: date | str) -> str:
    return f"DATE '{at}'" if isinstance(at, date) else at


def _view(db: TableDatabase, kind: str, table: LoadedTable, sql: str) -> str:
    name = f"{kind}_{table.sql.rpartition('.')[2]}"
    db.change(f"CREATE OR REPLACE TEMP VIEW {name} AS {sql}")
    return name
