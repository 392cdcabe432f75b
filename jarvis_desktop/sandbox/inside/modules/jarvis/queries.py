"""The given files as tables of SQLite: what a script computed is computed a second time by a query,
whose author makes other slips than that of a script."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from . import (
    MAX_LINE_CHARS,
    PICTURES,
    SOUNDS,
    TABLES,
    about_column,
    columns_of_lines,
    flat,
    read_table,
    read_text,
)

MAX_ROWS = 20_000
SHOWN_TEXTS = 3
MAX_ALIKE = 4
ALL_TABLES = "all_tables"
"""The rows of all tables that have the same columns, with the name of their file."""
_READING = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}

Cells = Mapping[str, Sequence[Any]]
"""The columns of a table."""


def describe_tables(names: Sequence[str]) -> None:
    """Print the tables that a query has."""
    tables = dict(_tables(names))
    alike = [*tables.get(ALL_TABLES, ())][1:] if len(tables) > MAX_ALIKE else None
    for name, columns in tables.items():
        if [*columns] != alike:  # the table of all of them is shown
            told = [f'  "{column}", -- {_about(each)}' for column, each in columns.items()]
            print("\n".join([f'CREATE TABLE "{name}" (', *told, ");"]))  # noqa: T201


def _about(cells: Sequence[Any]) -> str:
    told = about_column("", cells)[2:]
    if not told.startswith("text,") or "one of" in told:
        return told
    examples = [json.dumps(cell, ensure_ascii=False) for cell in cells if cell][:SHOWN_TEXTS]
    return f"text such as {', '.join(each[:MAX_LINE_CHARS] for each in examples)}{told[4:]}"


def query(names: Sequence[str], queries: Sequence[str], to: str) -> None:
    """Write the columns and rows of each query as JSON to a file; an error is a text in their
    place."""
    database = sqlite3.connect(":memory:")
    known, first = set[str](), ""
    for name, columns in _tables(names):
        known |= {*columns}
        first = first or name
        listed = ", ".join(f'"{column}"' for column in columns)
        database.execute(f'CREATE TABLE "{name}" ({listed})')
        marks = ", ".join("?" * len(columns))
        cells = zip(*columns.values(), strict=True)
        database.executemany(f'INSERT INTO "{name}" VALUES ({marks})', cells)  # noqa: S608
    database.create_function("regexp", 2, lambda pattern, text: bool(_found(pattern, text)))
    database.create_function("regexp_extract", 2, lambda text, pattern: _found(pattern, text))
    database.create_function("strftime", 2, _strftime)
    database.create_aggregate("median", 1, _Median)  # type: ignore[arg-type]
    database.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY
    )
    results: list[Any] = []
    for each in queries:
        try:
            each = _with_table(each, first)
            if bare := _bare_column(each, known):
                raise sqlite3.ProgrammingError(bare)
            found = database.execute(_with_real_division(each))
            header = [column for column, *_ in found.description or ()]
            results.append([header, found.fetchmany(MAX_ROWS)])
        except (sqlite3.Error, sqlite3.Warning, re.error) as error:
            results.append(str(error))
    Path(to).write_text(json.dumps(results, ensure_ascii=False, default=str), "utf-8")


def _with_table(query: str, table: str) -> str:
    """Return a query that reads from a table if it names none, which small LLMs forget."""
    if re.search(r"\bfrom\b", query, re.IGNORECASE):
        return query
    found = re.search(r"\b(?:where|group\s+by|order\s+by|limit)\b", query, re.IGNORECASE)
    at = found.start() if found else len(query)
    return f'{query[:at]} FROM "{table}" {query[at:]}'


_divides = re.compile(r"""('[^']*'|"[^"]*"|--[^\n]*|/\*.*?\*/)|/""", re.DOTALL)


def _with_real_division(query: str) -> str:
    """Return a query in which 7 / 2 is 3.5, as in Python, and not 3."""
    return _divides.sub(lambda found: found[1] or "* 1.0 /", query)


_ANY_ROW = (
    "{column} is neither added up nor in GROUP BY, so it is that of any row: use SUM({column}), "
    "and (SELECT SUM({column}) FROM {table}) for the sum of all rows."
)
_selected = re.compile(r"select\s+(?:distinct\s+)?(.+?)\s+from\b(.*)", re.IGNORECASE | re.DOTALL)
_aggregate = re.compile(
    r"\b(?:sum|count|avg|min|max|median|total|group_concat)\s*\(", re.IGNORECASE
)
_grouped = re.compile(
    r"\bgroup\s+by\b(.+?)(?:\bhaving\b|\border\s+by\b|\blimit\b|$)", re.IGNORECASE | re.DOTALL
)
_named = re.compile(r"((?:[^,()]|\((?:[^()]|\([^()]*\))*\))*?)\s+as\s+\"?(\w+)\"?", re.IGNORECASE)
"""A part of a list of columns with its name; parentheses within two others are not known."""


def _bare_column(query: str, columns: Collection[str]) -> str:
    """Return what is wrong with a query with aggregates that takes a column from any row of a
    group, which SQLite allows: `SELECT budget / SUM(budget)`; "" if none is taken so, or the query
    is not plain."""
    found = _selected.match(query.strip())
    if not found or "select" in found[0][6:].lower() or not _aggregate.search(found[1]):
        return ""
    grouped = _grouped.search(found[2])
    by = {word.casefold() for word in re.findall(r"\w+", grouped[1])} if grouped else set()
    text, extremes = _outside_of_aggregates(found[1])
    if extremes:  # the row of the largest or smallest value, which SQLite promises
        return ""
    if any(word.isdigit() for word in by):  # by position
        return ""
    text = re.sub(r"'[^']*'", " ", text)
    text = _named.sub(lambda found: " " if found[2].casefold() in by else found[1], text)
    words = {word.casefold() for word in re.findall(r"\w+", text)}
    bare = next((it for it in columns if it.casefold() in words and it.casefold() not in by), "")
    table = re.match(r"\W*(\w+)", found[2])
    return _ANY_ROW.format(column=bare, table=table[1] if table else "rows") if bare else ""


def _outside_of_aggregates(selected: str) -> tuple[str, bool]:
    """Return a list of columns without its aggregates, and whether max or min is among them."""
    kept, at, extremes = "", 0, False
    while found := _aggregate.search(selected, at):
        kept += selected[at : found.start()]
        extremes |= found[0].lower().startswith(("max", "min"))
        depth, at = 1, found.end()
        while at < len(selected) and depth:
            depth += {"(": 1, ")": -1}.get(selected[at], 0)
            at += 1
    return kept + selected[at:], extremes


def _found(pattern: str, text: object) -> str | None:
    found = re.search(pattern, str(text))
    return found[1 if found.re.groups else 0] if found else None


def _strftime(form: str, moment: object) -> str | None:
    """Return a date in a form of Python, which knows names of months and weekdays too."""
    try:
        return datetime.fromisoformat(str(moment)).strftime(form)
    except ValueError:
        return None


class _Median:
    def __init__(self) -> None:
        self._values: list[float] = []

    def step(self, value: Any) -> None:
        if isinstance(value, int | float):
            self._values.append(value)

    def finalize(self) -> float | None:
        return median(self._values) if self._values else None


def _tables(names: Iterable[str]) -> Iterator[tuple[str, Cells]]:
    """Yield the tables by name, and the lines and words of the texts."""
    found: dict[str, Cells] = {}
    lines: list[tuple[str, int, str]] = []
    for name in names:
        suffix = Path(name).suffix.lower()
        if suffix in TABLES:
            found[re.sub(r"\W+", "_", Path(name).stem)] = _flat(read_table(name))
        elif suffix not in (*PICTURES, *SOUNDS):
            lines += [(name, at, text) for at, text in enumerate(read_text(name).splitlines(), 1)]
    yield from found.items()
    shapes = {tuple(columns) for columns in found.values()}
    if len(found) > 1 and len(shapes) == 1:
        whole: dict[str, list[Any]] = {"table_name": []}
        for name, columns in found.items():
            whole["table_name"] += [name] * len(next(iter(columns.values()), ()))
            for column, cells in columns.items():
                whole.setdefault(column, []).extend(cells)
        yield ALL_TABLES, whole
    if lines:
        yield (
            "lines",
            {
                **_columns(("file", "number", "text"), lines),
                **columns_of_lines([text for *_, text in lines]),
            },
        )
        words = [
            (file, number, word)
            for file, number, text in lines
            for word in re.findall(r"\w+", text.lower())
        ]
        yield "words", _columns(("file", "line", "word"), words)


def _columns(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Cells:
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def _flat(rows: Sequence[Mapping[str, Any]]) -> Cells:
    """Return the columns of rows; a dict in a cell becomes several."""
    wide = [flat(row) for row in rows]
    names = dict.fromkeys(name for row in wide for name in row)
    return {name: [_plain(row.get(name)) for row in wide] for name in names}


def _plain(cell: Any) -> Any:
    if cell is None or isinstance(cell, str | int | float):
        return cell
    return json.dumps(cell, ensure_ascii=False, default=str)
