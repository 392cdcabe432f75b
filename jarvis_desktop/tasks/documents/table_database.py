"""Tables of files in DuckDB, typed and ready for questions: CSV, Excel, JSON and Parquet.

Every cell is first a text. What a column holds (numbers in English or German writing, dates in one
of several forms, yes or no) is decided on its first rows; cells that do not fit count as empty, and
how many is known. After loading, the database reaches no file and no network, and its settings
cannot be changed, so that a query of an LLM can do no more than read these tables.

A database of a large file is kept beside it, for the next question; the artifact store removes it
with the other things that nothing refers to.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.tasks.documents import tables
from jarvis_desktop.tasks.documents.plain_text import damaged, decode
from jarvis_desktop.text.records import begins_records, begins_wrapped_records

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY = "1500MB"
SPILL = "8GB"
QUERY_SECONDS = 60.0
SAMPLE_ROWS = 10_000
SAMPLE_BYTES = 1 << 20
KEPT_BYTES = 30_000_000
"""The size of a file from which its database is kept."""
CELLS = "_cells"
MAX_SHEET_ROWS = 1_048_576
MIN_RISING_ROWS, MAX_RISING_ROWS = 6, 100_000
MAX_VALUES = 5_000
"""Different entries of a column up to which a question may name them in other words."""
FITTING = 0.95
"""The share of a column's filled cells that must be of one type."""

_EMPTY = "('', '-', '–', 'na', 'n/a', 'nan', 'null', 'none', '#n/a')"
_no_value = frozenset(("", "-", "–", "na", "n/a", "nan", "null", "none", "#n/a"))
_SIGNS = "$€£¥₹%"
_money = rf"(?:[{_SIGNS}]|[A-Z]{{3}}|Fr\.|kr)"
_english = re.compile(
    rf"\(?\s*{_money}?\s*[-+−]?\s*{_money}?\s*(?:\d{{1,3}}(?:[,'’  ]\d{{3}})+|\d+)?(?:\.\d+)?"
    rf"(?:[eE][-+]?\d+)?\s*{_money}?\s*\)?"
)
_german = re.compile(
    rf"\(?\s*{_money}?\s*[-+−]?\s*(?:\d{{1,3}}(?:[.'’  ]\d{{3}})+|\d+)(?:,\d+)?\s*{_money}?\s*\)?"
)
_digest = re.compile(r"[0-9a-f]{64}")
"""The name of a file that has its content's digest as its name: its time says nothing about it."""
_code = re.compile(r"[+]?0\d+")
"""Numbers that are names: postcodes, telephones."""
_YES = ("yes", "true", "ja", "wahr", "oui", "y")
_MARKS = ("x", "✓", "✔", "✗", "*", "•")
"""What a cell is ticked with."""
_NO = ("no", "false", "nein", "falsch", "non", "n")
_DATES = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%d %H:%M:%S.%f", "%Y-%m-%dT%H:%M:%S.%f", "%Y-%m-%dT%H:%M", "%Y/%m/%d", "%d.%m.%Y",
    "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%d.%m.%y", "%m/%d/%Y", "%d/%m/%Y", "%m/%d/%Y %H:%M",
    "%d/%m/%Y %H:%M", "%m/%d/%y", "%d/%m/%y", "%d-%m-%Y", "%b %d %Y", "%b %d, %Y", "%d %b %Y",
    "%B %d, %Y", "%d %B %Y", "%b-%Y", "%b %Y", "%B %Y", "%Y-%m", "%d-%b-%Y", "%d-%b-%y",
    "%a %d %b %Y", "%a, %d %b %Y", "%A %d %B %Y", "%A, %d %B %Y", "%a %d/%m/%Y", "%a %d.%m.%Y",
    "%d %b %y",
)  # fmt: skip
_unclear_dates = frozenset(("%m/%d/%Y", "%m/%d/%y", "%m/%d/%Y %H:%M"))
_plain_sheet = re.compile(r"(?:sheet|tabelle|feuil|blatt) ?\d*", re.IGNORECASE)
NESTED = re.compile(r"STRUCT|MAP|JSON|UNION|.*\[\d*\]$")
"""DuckDB's types of cells that hold lists or objects."""
_clock = re.compile(r"(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d)?")
_total = re.compile(r"(?:grand )?total|sum|summe|gesamt(?:summe)?|totaux", re.IGNORECASE)


class ColumnType(StrEnum):
    """What the cells of a column are."""

    NUMBER = "number"
    DATE = "date"
    FLAG = "flag"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a loaded table."""

    name: str
    type: ColumnType
    distinct: int = 0
    """About how many different entries it has."""
    unit: str = ""
    """The sign at its numbers: "€" or "%"."""
    before: bool = False
    """Whether the sign is written before the number."""
    whole: bool = False
    """Whether all its numbers are whole."""
    timed: bool = False
    """Whether its dates have a time of day."""
    unread: int = 0
    """Cells that are not of its type and count as empty."""
    unclear: bool = False
    """Whether its dates may be meant day first: 03/04/2024."""
    monthly: bool = False
    """Whether its dates are months."""
    yearless: bool = False
    """Whether they are months of no year."""
    clock: bool = False
    """Whether its texts are times of day, with two digits for the hour: 07:30."""
    rising: bool = False
    """Whether its numbers never fall over the dates beside them, as those of a meter."""

    @property
    def sql(self) -> str:
        """The name as an identifier."""
        return quoted(self.name)


@dataclass(frozen=True, slots=True)
class LoadedTable:
    """A table in the database."""

    sql: str  # its name there
    title: str
    columns: tuple[TableColumn, ...]
    rows: int
    totals: int = 0
    """Rows of totals at its end, which were left out."""

    def column(self, name: str) -> TableColumn:
        """Return the column of that name."""
        return next(item for item in self.columns if item.name == name)


def quoted(name: str) -> str:
    """Return an identifier in SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: str) -> str:
    """Return a text in SQL."""
    return "'" + value.replace("'", "''") + "'"


class TableDatabase:
    """The tables of one call. `workdir` is for what does not fit into memory."""

    def __init__(self, workdir: Path) -> None:
        import duckdb

        self._workdir = workdir
        self._link: DuckDBPyConnection = duckdb.connect()
        self._link.execute(
            f"SET memory_limit = '{MEMORY}'; SET temp_directory = {literal(str(workdir))};"
            f"SET max_temp_directory_size = '{SPILL}'; SET autoinstall_known_extensions = false;"
            "SET autoload_known_extensions = false; SET enable_progress_bar = false;"
            "SET preserve_insertion_order = true"
        )
        self.tables: list[LoadedTable] = []
        self._cells = False

    def load_with_cells(self, path: Path, *, name: str) -> list[LoadedTable]:
        """Load the tables of a file as `load` does, each with a second table under its name and
        `CELLS`: the cells as they are in the file, in the columns c1, c2, ... of the same rows."""
        first, self._cells = len(self.tables), True
        try:
            self.load(path, name=name)
        finally:
            self._cells = False
        return self.tables[first:]

    def change(self, sql: str) -> None:
        """Run a statement of the application's own. Raises ExpertError."""
        self.rows(sql, 1)

    def load(self, path: Path, *, name: str) -> None:
        """Load the tables of a file. Raises InputError, which names the file."""
        import duckdb

        kept = path.with_name(f"{path.name}.duckdb")
        changed = "" if _digest.fullmatch(path.stem) else path.stat().st_mtime_ns
        stamp = f"{path.stat().st_size} {changed}"
        large = path.stat().st_size >= KEPT_BYTES and not self._cells
        if large and self._reopen(kept, stamp, name):
            return
        first = len(self.tables)
        try:
            if large:
                fresh = self._workdir / "tables.duckdb"
                self._link.execute(f"ATTACH {literal(str(fresh))} AS fresh")
            for source, title in _sources(path, name, self._workdir):
                place = "fresh." if large else ""
                try:
                    self._add(source, title or name, place)
                except duckdb.Error:
                    if source.again is None:
                        raise
                    self._link.execute(f"DROP TABLE IF EXISTS {self._next(place)}")
                    self._add(source.again(), title or name, place)
            if large:
                self._keep(fresh, kept, stamp, self.tables[first:])
        except duckdb.Error as error:
            raise damaged(name, _reason(error)) from error

    def lock(self) -> None:
        """Close the way to files, network and settings, for good."""
        self._link.execute("SET enable_external_access = false; SET lock_configuration = true")

    def rows(self, sql: str, most: int) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Return the names of the columns and up to `most` rows of a query. Raises ExpertError."""
        import duckdb

        alarm = threading.Timer(QUERY_SECONDS, self._link.interrupt)
        alarm.daemon = True
        alarm.start()
        try:
            found = self._link.execute(sql)
            return [item[0] for item in found.description or ()], found.fetchmany(most)
        except duckdb.InterruptException as error:
            raise ExpertError(tr("The table is too large for that question.")) from error
        except duckdb.Error as error:
            raise ExpertError(
                tr("The table could not be asked: {reason}", reason=_reason(error))
            ) from error
        finally:
            alarm.cancel()
            alarm.join()

    def stream(self, sql: str) -> Iterator[tuple[Any, ...]]:
        """Yield each row of a query of the application's own."""
        found = self._link.cursor().execute(sql)
        while some := found.fetchmany(10_000):
            yield from some

    def write(self, sql: str, path: Path) -> None:
        """Write all rows of a query as CSV."""
        names, rows = self.rows(sql, 1_000_000)
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([names, *rows])

    def checked(self, sql: str) -> str:
        """Return a query that somebody else wrote. Raises ExpertError unless it is one SELECT."""
        import duckdb

        try:
            found = duckdb.extract_statements(sql)
        except duckdb.Error as error:
            raise ExpertError(
                tr("The table could not be asked: {reason}", reason=_reason(error))
            ) from error
        if len(found) != 1 or found[0].type != duckdb.StatementType.SELECT:
            raise ExpertError(tr("A table is only read: a single SELECT is needed."))
        return str(found[0].query).strip().rstrip(";")

    def export(self, sql: str, path: Path) -> None:
        """Write a query as CSV, JSON or Parquet, before the database is locked."""
        ways = {".csv": "HEADER", ".tsv": "HEADER, DELIMITER '\t'", ".json": "ARRAY true"}
        form = {".tsv": "csv"}.get(path.suffix, path.suffix[1:])
        more = f", {ways[path.suffix]}" if path.suffix in ways else ""
        self._link.execute(f"COPY ({sql}) TO {literal(str(path))} (FORMAT {form}{more})")

    def _reopen(self, kept: Path, stamp: str, name: str) -> bool:
        """Use the database that an earlier call kept; return whether there is one."""
        import duckdb

        if not kept.exists():
            return False
        place = f"kept{len(self.tables)}"
        try:
            self._link.execute(f"ATTACH {literal(str(kept))} AS {place} (READ_ONLY)")
            ((of, about),) = self._link.execute(f"SELECT * FROM {place}.about").fetchall()
        except (duckdb.Error, ValueError):
            return False
        if of != stamp:
            self._link.execute(f"DETACH {place}")
            return False
        for item in json.loads(about):
            columns = tuple(
                TableColumn(**{**each, "type": ColumnType(each["type"])})
                for each in item.pop("columns")
            )
            at = f"{place}.{item['sql'].rpartition('.')[2]}"
            title = name if item["title"] == "" else item["title"]
            self.tables.append(LoadedTable(**{**item, "sql": at, "title": title}, columns=columns))
        return True

    def _keep(self, fresh: Path, kept: Path, stamp: str, made: Sequence[LoadedTable]) -> None:
        about = json.dumps([asdict(item) for item in made])
        self._link.execute("CREATE TABLE fresh.about AS SELECT ?, ?", [stamp, about])
        self._link.execute("CHECKPOINT fresh; DETACH fresh")
        with suppress(OSError):  # a folder that cannot be written: the next call reads again
            fresh.replace(kept)
            fresh = kept
        self._link.execute(f"ATTACH {literal(str(fresh))} AS fresh (READ_ONLY)")

    def _add(self, source: _Source, title: str, place: str) -> None:
        """Make the table of a source, and count what did not fit."""
        sample = self._link.execute(f"SELECT {source.select} LIMIT {SAMPLE_ROWS}").fetchall()
        if not sample:
            raise InputError(tr("{name} contains no rows.", name=title))
        guesses = [
            _typed(name, [row[at] for row in sample], source.types[at] if source.types else "")
            for at, name in enumerate(source.columns)
        ]
        sql = self._next(place)
        chosen = ", ".join(f"{shown} AS {item.sql}" for item, shown in guesses)
        self._link.execute(f"CREATE TABLE {sql} AS SELECT {chosen} {source.origin}")
        if self._cells:
            cells = ", ".join(f"{quoted(it)} AS c{at}" for at, it in enumerate(source.columns, 1))
            self._link.execute(f"CREATE TABLE {sql}{CELLS} AS SELECT {cells} {source.origin}")
        totals = self._drop_totals(sql, guesses[0][0]) if guesses else 0
        counted = ", ".join(
            f"count({item.sql}), approx_count_distinct({item.sql})" for item, _ in guesses
        )
        rows, *numbers = self._link.execute(f"SELECT count(*), {counted} FROM {sql}").fetchall()[0]
        filled = [f"count(*) FILTER ({_filled(item.sql)})" for item, _ in guesses]
        there = self._link.execute(f"SELECT {', '.join(filled)} {source.origin}").fetchall()[0]
        rising = self._rising(sql, [item for item, _ in guesses], rows)
        self.tables.append(
            LoadedTable(
                sql, title,
                tuple(
                    TableColumn(
                        **{
                            **asdict(item), "type": item.type, "distinct": numbers[2 * at + 1],
                            "unread": max(0, there[at] - numbers[2 * at] - totals),
                            "rising": item.name in rising,
                        }
                    )
                    for at, (item, _) in enumerate(guesses)
                ),
                rows, totals,
            )
        )  # fmt: skip

    def _rising(self, sql: str, columns: Sequence[TableColumn], rows: int) -> set[str]:
        """Return the columns of numbers that never fall from one date to the next."""
        numbers = [item for item in columns if item.type is ColumnType.NUMBER]
        dated = next((item for item in columns if item.type is ColumnType.DATE), None)
        if not (numbers and dated and MIN_RISING_ROWS <= rows <= MAX_RISING_ROWS):
            return set()
        order = f"OVER (ORDER BY {dated.sql}, rowid)"
        before = ", ".join(
            f"{it.sql} - lag({it.sql}) {order} AS d{at}" for at, it in enumerate(numbers)
        )
        never = ", ".join(f"bool_and(d{at} >= 0) AND max(d{at}) > 0" for at in range(len(numbers)))
        rises = f"SELECT {never} FROM (SELECT {before} FROM {sql})"
        (found,) = self._link.execute(rises).fetchall()
        return {item.name for item, is_so in zip(numbers, found, strict=True) if is_so}

    def _next(self, place: str) -> str:
        return f"{place}t{len(self.tables) + 1}"

    def _drop_totals(self, sql: str, first: TableColumn) -> int:
        """Remove a last row that sums up the others; return how many were removed."""
        last = f"rowid = (SELECT max(rowid) FROM {sql})"
        found = self._link.execute(f"SELECT {first.sql} FROM {sql} WHERE {last}").fetchall()
        if not found or not _total.fullmatch(str(found[0][0] or "")):
            return 0
        self._link.execute(f"DELETE FROM {sql} WHERE {last}")
        return 1


def _filled(name: str) -> str:
    return f"lower(trim({name}::VARCHAR)) NOT IN {_EMPTY}"


@dataclass(frozen=True, slots=True)
class _Source:
    """A table in a file, as DuckDB reads it."""

    origin: str
    """FROM ..., with all its columns under their names."""
    columns: tuple[str, ...]
    types: tuple[str, ...] = ()
    """DuckDB's types, if the file has any."""
    again: Callable[[], _Source] | None = None
    """Another, slower way, if the first fails."""

    @property
    def is_flat(self) -> bool:
        """Whether no cell holds a list or an object."""
        return not any(map(NESTED.match, self.types))

    @property
    def select(self) -> str:
        return f"{', '.join(map(quoted, self.columns))} {self.origin}"


def _sources(path: Path, name: str, workdir: Path) -> Iterable[tuple[_Source, str]]:
    with path.open("rb") as file:
        start = file.read(SAMPLE_BYTES)
    if not start:
        raise InputError(tr("{name} is empty.", name=name))
    if start[:4] == b"PAR1":
        yield _typed_source(f"read_parquet({literal(str(path))})"), ""
    elif (
        _is_records(start)
        and (flat := _typed_source(f"read_json_auto({literal(str(path))})")).is_flat
    ):
        yield flat, ""
    elif start[:4] == b"PK\x03\x04" or start.lstrip()[:1] in (b"[", b"{"):
        found = tables.read_tables(path, name=name, most=MAX_SHEET_ROWS)
        for at, table in enumerate(found):
            copy = workdir / f"sheet{at}.csv"
            with copy.open("w", encoding="utf-8", newline="") as out:
                csv.writer(out).writerows(table.rows)
            yield (
                _csv_source(copy, column_names(table.columns), ",", 0),
                "" if _plain_sheet.fullmatch(table.name) else table.name,
            )
    else:
        yield _csv(path, name, start, workdir), ""


def _is_records(start: bytes) -> bool:
    """Whether it is a list of JSON objects, or one in each line."""
    if begins_wrapped_records(start):
        return False
    if begins_records(start):
        return True
    line = start.lstrip().partition(b"\n")[0]
    with suppress(ValueError, RecursionError):
        return line[:1] == b"{" and isinstance(json.loads(line), dict)
    return False


def _typed_source(call: str) -> _Source:
    import duckdb

    described = duckdb.execute(f"DESCRIBE SELECT * FROM {call}").fetchall()
    return _Source(
        f"FROM {call}", tuple(row[0] for row in described), tuple(row[1] for row in described)
    )


def _csv(path: Path, name: str, start: bytes, workdir: Path) -> _Source:
    text = _decoded(start, whole=len(start) < SAMPLE_BYTES)
    if text is None or not is_utf8(path):
        path = _utf8_copy(path, name, workdir)
        with path.open("rb") as file:
            text = file.read(SAMPLE_BYTES).decode("utf-8", "ignore")
    lines = text.splitlines()[: 200 if len(start) == SAMPLE_BYTES else 2000]
    delimiter, rows = delimiter_of(lines)
    first, header = header_of(rows)
    if not rows[first:]:
        raise InputError(tr("{name} contains no rows.", name=name))
    width = max(len(row) for _, row in rows[first:])
    names = (*rows[first][1], *[""] * width)[:width] if header else [""] * width
    skip = (rows[first - 1][0] if first else 0) if not header else rows[first][0]
    source = _csv_source(path, column_names(names), delimiter, skip)
    return replace(
        source, again=lambda: _cleaned(path, name, workdir, delimiter, names, first + header)
    )


def _cleaned(
    path: Path, name: str, workdir: Path, delimiter: str, names: Sequence[str], skip: int
) -> _Source:
    """The same table, for cells with line breaks and rows of many widths: read by Python first."""
    copy, width = workdir / "cleaned.csv", len(names)
    csv.field_size_limit(1_000_000)
    try:
        with copy.open("w", encoding="utf-8", newline="") as out:
            reader = csv.reader(
                io.StringIO(decode(path, name=name), newline=""), delimiter=delimiter
            )
            rows = (row for row in reader if any(cell.strip() for cell in row))
            padded = (
                [" ".join(cell.split()) for cell in (*row, *[""] * width)[:width]] for row in rows
            )
            csv.writer(out).writerows(padded)
    except csv.Error as error:
        raise damaged(name, "a cell of it never ends") from error
    return _csv_source(copy, column_names(names), ",", skip)


def _csv_source(path: Path, names: Sequence[str], delimiter: str, skip: int) -> _Source:
    columns = ", ".join(f"{literal(item)}: 'VARCHAR'" for item in names)
    call = (
        f"read_csv({literal(str(path))}, auto_detect = false, header = false, skip = {skip}, "
        f"delim = {literal(delimiter)}, quote = '\"', escape = '\"', null_padding = true, "
        f"columns = {{{columns}}})"
    )
    return _Source(f"FROM {call}", tuple(names))


def _decoded(data: bytes, *, whole: bool) -> str | None:
    """The text of UTF-8, of which the end may be missing; None for another encoding."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data:
        return None
    try:
        return codecs.getincrementaldecoder("utf-8-sig")().decode(data, whole)
    except UnicodeDecodeError:
        return None


def is_utf8(path: Path) -> bool:
    """Whether a whole file is UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        try:
            while chunk := file.read(1 << 24):
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return False
    return True


def _utf8_copy(path: Path, name: str, workdir: Path) -> Path:
    copy = workdir / "decoded.csv"
    copy.write_text(decode(path, name=name), "utf-8")
    return copy


def delimiter_of(lines: Sequence[str]) -> tuple[str, list[tuple[int, list[str]]]]:
    """The delimiter that splits the lines most evenly; and the rows, each with the number of its
    last line."""
    best: tuple[float, str, list[tuple[int, list[str]]]] = (-1.0, ",", [])
    for sign in ",;\t|":
        reader = csv.reader(iter(line + "\n" for line in lines), delimiter=sign)
        rows: list[tuple[int, list[str]]] = []
        with suppress(csv.Error):
            for row in reader:
                if any(cell.strip() for cell in row):
                    rows.append((reader.line_num, [cell.strip() for cell in row]))
        widths = [len(row) for _, row in rows]
        usual = max(set(widths), key=widths.count, default=1)
        score = widths.count(usual) / max(1, len(widths)) * (usual > 1) + usual / 10_000
        if score > best[0]:
            best = score, sign, rows
    return best[1], best[2]


def header_of(rows: Sequence[tuple[int, list[str]]]) -> tuple[int, bool]:
    """Return the row with the names of the columns, or the first row with cells; and whether it has
    names. Titles and notes above have few cells."""
    widths = [sum(map(bool, row)) for _, row in rows]
    usual = max(set(widths[:200]), key=widths[:200].count, default=1)
    first = next((at for at, wide in enumerate(widths) if wide > usual / 2), 0)
    if len(rows) <= first + 1:
        return first, False
    cells = [cell for cell in rows[first][1] if cell]
    numbers = [cell for cell in cells if tables.number(cell) is not None]
    years = all(re.fullmatch(r"(?:19|20)\d\d", cell) for cell in numbers)
    named = not numbers or (years and len(numbers) < len(cells) and len(set(cells)) == len(cells))
    return first, named


def column_names(given: Sequence[str]) -> list[str]:
    """Names of columns that differ whatever their case; those without get a number."""
    names: list[str] = []
    for at, name in enumerate(given, 1):
        name = " ".join(name.split())[:200] or f"column {at}"
        unique, count = name, 1
        while unique.casefold() in {item.casefold() for item in names}:
            count += 1
            unique = f"{name} {count}"
        names.append(unique)
    return names


def _typed(name: str, cells: Sequence[Any], given: str) -> tuple[TableColumn, str]:
    """What a column holds, and the SQL that reads it."""
    at = quoted(name)
    if given and given != "VARCHAR":
        if given.startswith(("DATE", "TIMESTAMP")):
            timed = given != "DATE"
            return TableColumn(name, ColumnType.DATE, timed=timed), f"{at}::TIMESTAMP"
        if given == "BOOLEAN":
            return TableColumn(name, ColumnType.FLAG), at
        if re.match(r"U?(?:TINY|SMALL|BIG|HUGE)?INT", given):
            return TableColumn(name, ColumnType.NUMBER, whole=True), at
        if given.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
            return TableColumn(name, ColumnType.NUMBER), f"{at}::DOUBLE"
        return TableColumn(name, ColumnType.TEXT), f"{at}::VARCHAR"
    filled = [text for cell in cells if (text := str(cell or "").strip()).lower() not in _no_value]
    plain = f"trim({at})"
    as_text = TableColumn(name, ColumnType.TEXT), f"nullif({plain}, '')"
    if not filled:
        return as_text
    enough = FITTING * len(filled)
    lowered = {cell.lower() for cell in filled}
    if lowered <= {*_YES, *_NO}:
        yes, no = (f"({', '.join(map(literal, words))})" for words in (_YES, _NO))
        low = f"lower({plain})"
        flag = f"CASE WHEN {low} IN {yes} THEN true WHEN {low} IN {no} THEN false END"
        return TableColumn(name, ColumnType.FLAG), flag
    if lowered <= {*_MARKS} and len(filled) < len(cells):
        return TableColumn(name, ColumnType.FLAG), f"coalesce({plain}, '') <> ''"
    if not any(_code.fullmatch(cell) for cell in filled[:1000]):
        found = _number_type(name, filled, enough)
        if found:
            return found
    few = list(dict.fromkeys(filled))[:400]
    if all(map(_clock.fullmatch, few)):
        return TableColumn(name, ColumnType.TEXT, clock=True), f"left({plain}, 5)"
    for form in _DATES:
        if sum(_is_date(cell, form) for cell in few) >= FITTING * len(few):
            other = form.replace("%m/%d", "%d/%m")
            unclear = form in _unclear_dates and all(_is_date(cell, other) for cell in few)
            timed = "%H" in form
            column = TableColumn(
                name, ColumnType.DATE, timed=timed, unclear=unclear, monthly="%d" not in form
            )
            return column, f"try_strptime({plain}, {literal(form)})"
    return as_text


def _number_type(name: str, filled: Sequence[str], enough: float) -> tuple[TableColumn, str] | None:
    # "1.234" is a thousand in German only if other cells of the column show it.
    commas = any(re.search(r"\d,\d{1,2}(?!\d)|\d\.\d{3},|,\d{4,}", cell) for cell in filled)
    points = any(re.search(r"\.\d{1,2}(?!\d)|\d,\d{3}\.|\.\d{4,}", cell) for cell in filled)
    german = (commas and not points) or (
        not points and all(re.search(r"\d\.\d{3}\.\d{3}", c) for c in filled if "." in c)
        and any(cell.count(".") > 1 for cell in filled)
    )  # fmt: skip
    form = _german if german else _english
    digits = [cell for cell in filled if any(map(str.isdigit, cell)) and form.fullmatch(cell)]
    if len(digits) < enough:
        return None
    thousands, point = (".", ",") if german else (",", ".")
    whole = all(point not in cell and "e" not in cell.lower() for cell in digits)
    signs = [sign for cell in digits for sign in re.findall(rf"[{_SIGNS}]|[A-Z]{{3}}", cell)]
    unit = max(set(signs), key=signs.count) if 2 * len(signs) > len(digits) else ""
    before = any(cell.lstrip("(-+− ").startswith(unit) for cell in digits[:20]) if unit else False
    at = quoted(name)
    bare = f"regexp_replace({at}, '[^0-9eE.,()−-]|[A-Z]{{3}}|Fr\\.', '', 'g')"
    bare = f"replace(replace({bare}, '{thousands}', ''), '−', '-')"
    bare = f"replace({bare}, ',', '.')" if german else bare
    minus = f"regexp_replace({bare}, '^\\((.*)\\)$', '-\\1')"
    kind = "BIGINT" if whole else "DOUBLE"
    slow = f"try_cast({minus} AS {kind})"
    read = slow if german else f"coalesce(try_cast({at} AS {kind}), {slow})"
    if not german and kind == "BIGINT":  # DuckDB would round 1.5
        read = f"CASE WHEN contains({at}, '.') THEN NULL ELSE {read} END"
    return TableColumn(name, ColumnType.NUMBER, unit=unit, before=before, whole=whole), read


def _is_date(cell: str, form: str) -> bool:
    try:
        datetime.strptime(cell, form)
    except ValueError:
        return False
    return True


def _reason(error: Exception) -> str:
    return str(error).splitlines()[0][:200]
