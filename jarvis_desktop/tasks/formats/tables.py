"""Writes tables in other formats: CSV, TSV, Excel, JSON and Parquet, of any size.

A cell stays what it is: numbers and dates are written as such only if that loses nothing, so that
007 and 1.234,50 remain texts. A column of a JSON or Parquet file gets a type only if all its cells
have it.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.tasks.documents.plain_text import (
    OLD_OFFICE,
    check_zip,
    damaged,
    decode,
    old_office,
)
from jarvis_desktop.tasks.documents.table_database import (
    NESTED,
    column_names,
    delimiter_of,
    header_of,
    is_utf8,
    literal,
    quoted,
)
from jarvis_desktop.tasks.documents.tables import Table, read_tables
from jarvis_desktop.text.records import begins_wrapped_records

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    Rows = Iterator[Sequence[Any]]

TABLES = ("csv", "tsv", "xlsx", "json", "parquet")
SAMPLE_LINES = 2000
MAX_SHEET_ROWS = 1_048_576
MAX_SHEET_COLUMNS = 16_384
MAX_EXACT_DIGITS = 15
"""Digits of a number that Excel keeps."""
_MEMORY = "1500MB"
_number = re.compile(r"-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?")
_iso = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?)?")
_BROKEN = (
    KeyError, ValueError, TypeError, SyntaxError, AttributeError, IndexError, EOFError, OSError,
)  # fmt: skip

_types = (
    ("BIGINT", r"-?(0|[1-9][0-9]{0,17})"),
    ("DOUBLE", r"-?(0|[1-9][0-9]{0,14})(\.[0-9]{1,14})?"),
    ("DATE", r"[0-9]{4}-[0-9]{2}-[0-9]{2}"),
    ("TIMESTAMP", r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2})?"),
    ("BOOLEAN", r"true|false|TRUE|FALSE|True|False"),
)
"""DuckDB's types, and the texts that each keeps as they are; the first that fits all is taken."""


def save_table(path: Path, to: Path, *, name: str, report: Report) -> list[Path]:
    """Write the table of a file in the format of the ending of `to`; several sheets become files
    of their own, unless a workbook is written. Raises InputError."""
    report(None, tr("Converting {name}", name=name))
    ending = to.suffix[1:]
    with _tables(path, name, to.parent) as (tables, link):
        if ending == "xlsx":
            write_workbook(tables, to, name)
            return [to]
        made = []
        for title, rows in tables:
            target = to.with_stem(f"{to.stem}-{_plain(title)}") if title else to
            if ending in ("csv", "tsv"):
                _write_csv(rows, target)
            else:
                _write_records(rows, target, link)
            made.append(target)
        return made


@contextmanager
def _tables(
    path: Path, name: str, workdir: Path
) -> Iterator[tuple[Iterable[tuple[str, Rows]], DuckDBPyConnection]]:
    """The tables of a file, each with its title ("" if there is one only) and its rows, of which
    the first has the names; and a database for records. Rows are read as they are needed."""
    import duckdb

    with path.open("rb") as file:
        start = file.read(4096)
    if not start.strip():
        raise InputError(tr("{name} is empty.", name=name))
    if start.startswith(OLD_OFFICE):
        raise old_office(name)
    with closing(duckdb.connect()) as link:
        link.execute(
            f"SET memory_limit = '{_MEMORY}'; SET temp_directory = {literal(str(workdir))};"
            "SET autoinstall_known_extensions = false; SET autoload_known_extensions = false"
        )
        try:
            if start[:4] == b"PK\x03\x04":
                with sheets_of(path, name) as found:
                    yield found, link
            elif start[:4] == b"PAR1":
                yield [("", _queried(link, f"read_parquet({literal(str(path))})"))], link
            elif begins_wrapped_records(start):
                listed = read_tables(path, name=name)
                yield [_titled(table, len(listed)) for table in listed], link
            elif start.lstrip()[:1] in (b"[", b"{"):
                yield [("", _queried(link, _json(path, start, name)))], link
            else:
                yield [("", _csv_rows(path, name))], link
        except duckdb.Error as error:
            raise damaged(name, str(error).splitlines()[0][:200]) from error


def _titled(table: Table, count: int) -> tuple[str, Rows]:
    return table.name if count > 1 else "", iter([table.columns, *table.rows])


def _json(path: Path, start: bytes, name: str) -> str:
    if not re.match(rb"\s*(?:\[\s*)?\{", start):
        raise InputError(tr("{name} contains no table: it is not a list of records.", name=name))
    # Dates stay the texts that they are: no text has these forms.
    options = (
        "dateformat = '%Y~%m~%d', timestampformat = '%Y~%m~%d %H', map_inference_threshold = -1"
    )
    return f"read_json_auto({literal(str(path))}, {options})"


def _queried(link: DuckDBPyConnection, source: str) -> Rows:
    described = link.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
    columns = [
        f"to_json({quoted(row[0])})::VARCHAR" if NESTED.match(row[1]) else quoted(row[0])
        for row in described
    ]
    link.execute(f"CREATE VIEW source AS SELECT * FROM {source}")
    yield [row[0] for row in described]
    found = link.cursor().execute(f"SELECT {', '.join(columns)} FROM source")
    while some := found.fetchmany(10_000):
        yield from some


def _csv_rows(path: Path, name: str) -> Rows:
    csv.field_size_limit(10_000_000)
    file: Any = (
        path.open(encoding="utf-8-sig", newline="")
        if is_utf8(path)
        else io.StringIO(decode(path, name=name), newline="")
    )
    with file:
        lines = [line.rstrip("\r\n") for line in itertools.islice(file, SAMPLE_LINES)]
        sign, _ = delimiter_of(lines)
        file.seek(0)
        try:
            yield from csv.reader(file, delimiter=sign)
        except csv.Error as error:
            raise damaged(name, str(error)) from error


@contextmanager
def sheets_of(path: Path, name: str) -> Iterator[list[tuple[str, Rows]]]:
    """The sheets of a workbook that have rows, each with its title ("" if there is one only), while
    it is open. Raises InputError."""
    from zipfile import BadZipFile

    import openpyxl
    from openpyxl.utils.exceptions import InvalidFileException

    check_zip(path, name)
    try:
        # The warnings concern formatting, which a table of values does not have.
        with warnings.catch_warnings(), path.open("rb") as file:
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(file, read_only=True, data_only=True, keep_links=False)
            filled = [sheet for sheet in book.worksheets if _first(_sheet_rows(sheet))]
            if not filled:
                raise InputError(tr("{name} contains no rows.", name=name))
            one = len(filled) == 1
            yield [("" if one else sheet.title, _sheet_rows(sheet)) for sheet in filled]
            book.close()
    except InputError:
        raise
    except (BadZipFile, InvalidFileException, *_BROKEN) as error:
        raise damaged(name) from error


def _sheet_rows(sheet: Any) -> Rows:
    """The rows up to the last one with content; a sheet may claim a million rows and have ten."""
    empty = 0
    for row in sheet.iter_rows(values_only=True):
        if all(cell is None for cell in row):
            empty += 1
            continue
        yield from itertools.repeat((), empty)
        empty = 0
        yield row


def _first(rows: Rows) -> Sequence[Any]:
    return next((row for row in rows if row), ())


def _text(cell: Any) -> str:
    match cell:
        case None:
            return ""
        case bool():
            return "true" if cell else "false"
        case float() if cell.is_integer() and abs(cell) < 10**MAX_EXACT_DIGITS:
            return str(int(cell))
        case datetime() if cell.time() == time() and cell.tzinfo is None:
            return cell.date().isoformat()
        case datetime():
            return cell.isoformat(" ")
        case date() | time():
            return cell.isoformat()
        case bytes():
            return cell.hex()
        case _:
            return str(cell)


def _write_csv(rows: Rows, to: Path) -> None:
    with to.open("w", encoding="utf-8", newline="") as file:
        sign = "\t" if to.suffix == ".tsv" else ","
        csv.writer(file, delimiter=sign, lineterminator="\n").writerows(
            map(_text, row) for row in rows
        )


def write_workbook(tables: Iterable[tuple[str, Rows]], to: Path, name: str) -> None:
    """Write tables, each with its title, as the sheets of a workbook. Raises InputError."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    book = Workbook(write_only=True)
    for title, rows in tables:
        sheet = book.create_sheet(re.sub(r"[\[\]*?:/\\]", " ", title or Path(name).stem)[:31])

        def made(cell: Any, sheet: Any = sheet) -> Any:
            value = _value(cell)
            if not isinstance(value, str):
                return value
            text = WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("", value)[:32_767])
            text.data_type = "s"  # "=1+1" is a text, not a formula
            return text

        for number, row in enumerate(rows, 1):
            if number > MAX_SHEET_ROWS or len(row) > MAX_SHEET_COLUMNS:
                raise InputError(
                    tr("{name} has more rows or columns than an Excel sheet can have.", name=name),
                    hint=tr("It can become CSV or Parquet."),
                )
            sheet.append([made(cell) for cell in row])
    book.save(to)


def _value(cell: Any) -> Any:
    """What an Excel sheet gets for a cell."""
    if isinstance(cell, str):
        if _number.fullmatch(cell) and sum(map(str.isdigit, cell)) <= MAX_EXACT_DIGITS:
            return float(cell) if "." in cell else int(cell)
        if _iso.fullmatch(cell):
            try:
                found = datetime.fromisoformat(cell)
            except ValueError:
                return cell
            return found if len(cell) > 10 else found.date()
        return cell
    if isinstance(cell, bool) or cell is None:
        return cell
    if isinstance(cell, int | float) and abs(cell) < 10**MAX_EXACT_DIGITS:
        return cell
    if (
        isinstance(cell, datetime | date)
        and getattr(cell, "tzinfo", None) is None
        and cell.year >= 1900
    ):
        return cell
    return _text(cell)


def _write_records(rows: Rows, to: Path, link: DuckDBPyConnection) -> None:
    """Write JSON or Parquet, by way of a CSV file in which every cell is quoted."""
    form = "FORMAT json, ARRAY true" if to.suffix == ".json" else "FORMAT parquet"
    first = list(itertools.islice(rows, 1))
    if link.execute("SELECT 1 FROM duckdb_views() WHERE view_name = 'source'").fetchall():
        link.execute(f"COPY (SELECT * FROM source) TO {literal(str(to))} ({form})")
        return
    first += itertools.islice(rows, SAMPLE_LINES)
    cells = [(at, list(map(_text, row))) for at, row in enumerate(first, 1) if any(row)]
    at, named = header_of(cells)
    width = max(map(len, (row for _, row in cells)))
    names = column_names((*(cells[at][1] if named else ()), *[""] * width)[:width])
    skip = cells[at][0] if named else 0
    plain = to.with_suffix(".cells")
    with plain.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for row in itertools.chain(first[skip:], rows):
            if any(cell not in (None, "") for cell in row):
                writer.writerow((*map(_text, row), *[""] * width)[:width])
    columns = ", ".join(f"{literal(item)}: 'VARCHAR'" for item in names)
    link.execute(
        f"CREATE OR REPLACE VIEW cells AS SELECT * FROM read_csv({literal(str(plain))}, "
        "auto_detect = false, header = false, delim = ',', quote = '\"', escape = '\"', "
        f"columns = {{{columns}}})"
    )
    chosen = ", ".join(_typed(link, item) for item in names)
    link.execute(f"COPY (SELECT {chosen} FROM cells) TO {literal(str(to))} ({form})")
    plain.unlink()


def _typed(link: DuckDBPyConnection, name: str) -> str:
    """The column in SQL, of the first type that keeps all its cells as they are."""
    at = quoted(name)
    fits = [f"bool_and(regexp_full_match({at}, {literal(form)}))" for _, form in _types]
    casts = [f"bool_and(TRY_CAST({at} AS {kind}) IS NOT NULL)" for kind, _ in _types]
    (found,) = link.execute(
        f"SELECT {', '.join(f'{fit} AND {cast}' for fit, cast in zip(fits, casts, strict=True))} "
        f"FROM cells WHERE {at} != ''"
    ).fetchall()
    kind = next((kind for (kind, _), fit in zip(_types, found, strict=True) if fit), "VARCHAR")
    return f"CAST(nullif({at}, '') AS {kind}) AS {at}"


def _plain(title: str) -> str:
    return re.sub(r"[^\w -]+", "_", title).strip()[:40] or "sheet"


def table_rows(
    path: Path, *, name: str, workdir: Path, most: int
) -> list[tuple[str, list[list[str]]]]:
    """Return the tables of a file as texts, each with its title. Raises InputError, also if one has
    more than `most` rows."""
    with _tables(path, name, workdir) as (tables, _):
        found = []
        for title, rows in tables:
            cells = [[_text(cell) for cell in row] for row in itertools.islice(rows, most + 2)]
            if len(cells) > most + 1:
                raise InputError(
                    tr(
                        "{name} has more than {most} rows, too many to be read on pages.",
                        name=name,
                        most=most,
                    ),
                    hint=tr("It can become CSV, Excel, JSON or Parquet."),
                )
            found.append((title, cells))
        return found
