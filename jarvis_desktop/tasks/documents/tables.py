"""Reads tables: CSV, TSV, Excel, Parquet and JSON records. Runs in a child process."""

from __future__ import annotations

import csv
import io
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.tasks.documents.plain_text import check_zip, damaged, decode

MAX_ROWS = 100_000
MAX_COLUMNS = 500
MAX_NAME_CHARS = 500
"""Characters of the names of the objects that hold a cell, the innermost last."""
_NUMERIC = re.compile(r"\(?[-+−]?[$€£¥]?\s?\d[\d,  ']*(?:\.\d+)?(?:[eE][-+]?\d+)?\s?[%$€£¥]?\)?")


@dataclass(frozen=True, slots=True)
class Table:
    """Column names and rows with as many cells, all as text."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    name: str = ""  # the sheet's name if the file has several

    def lines(self, most: int) -> Iterator[str]:
        """Yield each row as a readable line, such as "city: Bern; people: 134,000"."""
        for row in self.rows[:most]:
            pairs = zip(self.columns, row, strict=True)
            cells = [f"{name}: {cell}" if name else cell for name, cell in pairs if cell]
            if cells:
                yield "; ".join(cells)


def read_tables(path: Path, *, name: str = "", most: int = MAX_ROWS) -> list[Table]:
    """Read the tables of a file, up to `most` rows each. Raises InputError that names the file."""
    name = name or path.name
    with path.open("rb") as file:
        start = file.read(8)
    if start[:4] == b"PK\x03\x04":
        return _read_sheets(path, name, most)
    if start[:4] == b"PAR1":
        return [_read_parquet(path, name, most)]
    text = decode(path, name=name)
    if text.lstrip()[:1] in ("[", "{"):
        if found := json_tables(text, name):
            return found
        raise InputError(tr("{name} contains no table: it is not a list of records.", name=name))
    return [_parse_csv(text, name, most)]


def number(cell: str) -> float | None:
    """The cell's value if it is a number, with or without currency, per cent or commas."""
    cell = cell.strip()
    if not cell or len(cell) > 40 or not _NUMERIC.fullmatch(cell):
        return None
    negative = cell.startswith("(") or "-" in cell.split("e")[0].split("E")[0] or "−" in cell
    digits = re.sub(r"[^\d.eE+-]", "", cell).lstrip("-+")
    try:
        value = float(digits)
    except ValueError:
        return None
    return -value if negative else value


def json_tables(text: str, name: str) -> list[Table]:
    """The tables of a JSON text: a list of objects, an object in each line, or each such list of an
    object, by its name. Raises InputError if it is no JSON."""
    value = _json(text, name)
    lists = value.items() if isinstance(value, dict) else [("", value)]
    try:
        return [table for title, found in lists if (table := _table_of_records(found, title))]
    except RecursionError as error:
        raise _too_deep(name) from error


def _parse_csv(text: str, name: str, most: int) -> Table:
    sample = text[:20_000]
    try:
        dialect: Any = csv.Sniffer().sniff(sample, delimiters=",;\t|")
        dialect.doublequote = True
    except csv.Error:
        dialect = csv.excel_tab if sample.count("\t") > sample.count(",") else csv.excel
    csv.field_size_limit(1_000_000)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), dialect)
        rows = [row for row in islice(reader, most) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise damaged(name, "a cell of it never ends") from error
    if not rows:
        raise InputError(tr("{name} contains no rows.", name=name))
    return _with_header(rows)


def _with_header(rows: Sequence[Sequence[str]], name: str = "") -> Table:
    """Use the first row as column names, unless it has numbers or fewer cells than the others."""
    width = min(max(len(row) for row in rows), MAX_COLUMNS)
    padded = [tuple(cell.strip() for cell in (*row, *[""] * width)[:width]) for row in rows]
    first = padded[0]
    is_header = len(padded) > 1 and not any(number(cell) is not None for cell in first)
    if is_header and sum(map(bool, first)) > width / 2:
        return Table(first, tuple(padded[1:]), name)
    return Table(("",) * width, tuple(padded), name)


def _json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:  # JSON Lines
            return [json.loads(line) for line in lines[:MAX_ROWS]]
        except (ValueError, RecursionError):
            raise damaged(name, "it is no valid JSON") from error
    except RecursionError as error:
        raise _too_deep(name) from error


def _too_deep(name: str) -> InputError:
    return damaged(name, "it is nested too deeply")


def _table_of_records(value: Any, title: str) -> Table | None:
    if not isinstance(value, list) or not value:
        return None
    value = value[:MAX_ROWS]
    if not all(isinstance(item, dict) for item in value):
        return None
    rows = [dict(islice(_flattened(item), MAX_COLUMNS)) for item in value]
    columns = tuple(dict.fromkeys(key for row in rows for key in row))[:MAX_COLUMNS]
    return Table(columns, tuple(tuple(row.get(key, "") for key in columns) for row in rows), title)


def _flattened(record: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the cells of an object and of the objects in it: {"by": {"name": "Ann"}} has the cell
    "Ann" in the column "by.name"."""
    for key, cell in record.items():
        if isinstance(cell, dict):
            yield from _flattened(cell, f"{before}{key}."[-MAX_NAME_CHARS:])
        else:
            yield f"{before}{key}", _in_words(cell)


def _in_words(cell: object) -> str:
    """The text of a cell: of a list its entries, of an object in a list its values by name."""
    match cell:
        case dict():
            return " ".join(f"{key} {_in_words(each)}" for key, each in cell.items())
        case list():
            return ", ".join(map(_in_words, cell))
        case _:
            return _format_cell(cell)


def _read_sheets(path: Path, name: str, most: int) -> list[Table]:
    from zipfile import BadZipFile

    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    check_zip(path, name)
    try:
        # The warnings concern formatting, which a table of values does not have.
        with warnings.catch_warnings(), path.open("rb") as file:
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            tables = []
            for sheet in book.worksheets:
                rows = [
                    [_format_cell(cell) for cell in row[:MAX_COLUMNS]]
                    for row in _nonempty_rows(sheet.iter_rows(values_only=True), most)
                ]
                if rows:
                    tables.append(_with_header(rows, sheet.title))
            book.close()
    except (BadZipFile, InvalidFileException, KeyError, ValueError, TypeError, SyntaxError,
            AttributeError, IndexError, EOFError, OSError) as error:  # fmt: skip
        raise damaged(name) from error
    if not tables:
        raise InputError(tr("{name} contains no rows.", name=name))
    return tables


def _read_parquet(path: Path, name: str, most: int) -> Table:
    import duckdb

    try:
        with duckdb.connect() as link:
            found = link.execute("SELECT * FROM read_parquet(?) LIMIT ?", [str(path), most])
            columns = tuple(item[0] for item in found.description or ())[:MAX_COLUMNS]
            rows = found.fetchall()
    except duckdb.Error as error:
        raise damaged(name) from error
    return Table(columns, tuple(tuple(map(_format_cell, row[:MAX_COLUMNS])) for row in rows))


def _nonempty_rows(rows: Iterable[Sequence[Any]], most: int) -> Iterator[Sequence[Any]]:
    """Rows with content; a sheet may claim a million rows and have ten."""
    for row in islice(rows, most):
        if any(cell is not None for cell in row):
            yield row


def _format_cell(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 1e15:
        return str(int(cell))
    text = " ".join(str(cell).split())
    return text.removesuffix(" 00:00:00")
