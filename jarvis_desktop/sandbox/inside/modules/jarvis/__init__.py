"""What scripts import as `jarvis`: tables, texts, charts and experts, without a package to install.

`read_table` returns numbers as numbers and dates as 2024-01-31, whatever the file writes, so that a
short script is enough. Everything that is written is printed too: a name, a size, the values of a
chart.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from statistics import mean
from typing import Any, SupportsIndex
from xml.etree import ElementTree
from zipfile import ZipFile

_EXPERTS = ("ask", "caption", "read_picture", "run", "summarize", "transcribe", "translate")
__all__ = [
    *("Name", "Row", "Text", "chart", "files", "read_lines", "read_table", "read_text"),
    *("write_table", "write_text", "ExpertCallError", *_EXPERTS),
]

TABLES = (".csv", ".tsv", ".xlsx", ".json", ".jsonl")
PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".tif", ".tiff")
SOUNDS = (".wav", ".mp3", ".flac", ".ogg", ".m4a", ".mp4", ".mkv", ".mov", ".webm")
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"

_given = {path.name for path in Path().iterdir()}
"""What was in the folder before a script wrote to it."""


def __getattr__(name: str) -> Any:
    if name in _EXPERTS:
        from . import experts

        return getattr(experts, name)
    if name == "ExpertCallError":
        from .experts import channel

        return channel().ExpertCallError
    there = ", ".join(each for each in __all__ if each[0].islower())
    raise AttributeError(f"jarvis has no {name}; it has {there}")


class Row(dict[str, Any]):
    """A row of a table. A column is found whatever its case; a missing one names those that
    exist."""

    def __missing__(self, key: str) -> Any:
        meant = [name for name in self if _plain(name) == _plain(str(key))]
        if len(meant) == 1:
            return self[meant[0]]
        raise KeyError(f"there is no column {key!r}; the columns are {', '.join(self)}")

    def get(self, key: str, default: Any = None) -> Any:
        """Return the cell, or `default` if it is empty or missing."""
        try:
            value = self[key]
        except KeyError:
            return default
        return default if value is None else value


class Text(str):
    """The text of a file, which is gone through line by line, as an open file is."""

    def __iter__(self) -> Iterator[str]:
        return iter(self.splitlines())


class Name(str):
    """The name of a file. Its length is never what is asked, but that of the text in the file."""

    def __len__(self) -> int:
        raise TypeError(f"{self} is the name of a file: read it first, with jarvis.read_text")

    def __bool__(self) -> bool:
        return True

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        """Return the parts of the name. Raises TypeError for its words, which it has none of."""
        if sep is None:
            raise TypeError(f"{self} is the name of a file: read it first, with jarvis.read_text")
        return super().split(sep, maxsplit)


def files(pattern: str = "*") -> list[str]:
    """Return the names of the given files that match a pattern such as "*.txt"."""
    found = (path for path in Path().glob(pattern) if path.is_file())
    return sorted(Name(path.name) for path in found if path.name in _given)


def read_lines(path: str | Path) -> list[str]:
    """Return the lines of a text."""
    return read_text(path).splitlines()


def read_text(path: str | Path) -> Text:
    """Return the text of a file: a plain one, a PDF or a Word document."""
    return Text(_text_of(path))


def _text_of(path: str | Path) -> str:
    path, data = Path(path), Path(path).read_bytes()
    if path.suffix.lower() == ".pdf":
        from pypdf import PdfReader

        return "\n".join(page.extract_text() for page in PdfReader(path).pages)
    if path.suffix.lower() == ".docx":
        with ZipFile(path) as archive:
            body = ElementTree.fromstring(archive.read("word/document.xml"))  # noqa: S314 - sandboxed
        return "\n".join(
            "".join(part.text or "" for part in paragraph.iter(f"{_WORD}t"))
            for paragraph in body.iter(f"{_WORD}p")
        )
    return _decoded(data)


def write_text(path: str | Path, text: object) -> None:
    """Write a text, or one line for each item of a list, to a file."""
    if isinstance(text, list | tuple):
        lines = (
            ", ".join(map(str, each)) if isinstance(each, tuple) else str(each) for each in text
        )
        text = "\n".join(lines)
    elif isinstance(text, dict):
        text = json.dumps(text, indent=2, ensure_ascii=False, default=str)
    Path(path).write_text(f"{str(text).rstrip()}\n", "utf-8")
    _note(path, f"{str(text).count(chr(10)) + 1} lines")


def read_table(path: str | Path) -> list[Row]:
    """Return the rows of a CSV, TSV, Excel or JSON file, each a dict by column.

    A number is an int or a float ("1,200.50 EUR" is 1200.5), a date is text such as "2024-01-31",
    and an empty cell is None in a column of numbers and "" in one of text. The sheets of a workbook
    that have the same columns are one table, with a column for the name of the sheet.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix == ".xlsx":
        return _typed(_lines_of_workbook(path))
    text = read_text(path)
    if suffix in (".json", ".jsonl"):
        return _of_json(text, lines=suffix == ".jsonl")
    return _typed(list(csv.reader(io.StringIO(text), delimiter=_delimiter(text, suffix))))


def _lines_of_workbook(path: Path) -> list[list[Any]]:
    from openpyxl import load_workbook

    book = load_workbook(path, read_only=True, data_only=True)
    sheets = {
        sheet.title: [
            ["" if cell is None else cell for cell in line]
            for line in sheet.iter_rows(values_only=True)
            if any(cell is not None for cell in line)
        ]
        for sheet in book.worksheets
    }
    full = {name: lines for name, lines in sheets.items() if lines}
    heads = [lines[0] for lines in full.values()]
    if len(heads) < 2 or any(head != heads[0] for head in heads):
        return sheets[book.active.title]
    body = [[name, *line] for name, lines in full.items() for line in lines[1:]]
    return [["sheet", *heads[0]], *body]


def write_table(path: Any, rows: Any) -> None:
    """Write rows to a CSV, TSV, Excel or JSON file. Rows are dicts, or lists of which the first one
    has the names of the columns; a dict becomes two columns, or more if it holds dicts."""
    if not isinstance(path, str | Path):
        path, rows = rows, path
    suffix = Path(path).suffix.lower()
    columns, lines = _columns_and_lines(rows, nested=suffix == ".json")
    if suffix == ".xlsx":
        from openpyxl import Workbook

        book = Workbook()
        for line in (columns, *lines):
            book.active.append(list(line))
        book.save(path)
    elif suffix == ".json":
        records = [dict(zip(columns, line, strict=False)) for line in lines]
        text = json.dumps(records, indent=2, ensure_ascii=False, default=str)
        Path(path).write_text(text, "utf-8")
    else:
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, delimiter="\t" if suffix == ".tsv" else ",")
            writer.writerows([columns, *lines])
    first = f"; the first row is {', '.join(map(str, lines[0]))}"[:MAX_LINE_CHARS] if lines else ""
    _note(path, f"{len(lines)} rows, columns {', '.join(map(str, columns))}{first}")


def chart(path: Any, data: Any, **options: Any) -> None:
    """Draw a chart as a picture: `chart("sales.png", rows, x="month", y="sales", kind="line",
    title="Sales")`. `data` is rows, pairs, a dict of label and value, or numbers. Kinds are bar,
    line, pie, scatter and histogram."""
    from .drawing import draw

    if not isinstance(path, str | Path):
        path, data = data, path
    _note(path, draw(path, data, **options))


def _note(path: str | Path, about: str) -> None:
    print(f"Wrote {Path(path).name}: {about}")  # noqa: T201


def _decoded(data: bytes) -> str:
    for encoding in ("utf-8-sig", "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "cp1252"):
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def _delimiter(text: str, suffix: str) -> str:
    if suffix == ".tsv":
        return "\t"
    head = [line for line in text.splitlines()[:20] if line.strip()]
    counts = {each: [line.count(each) for line in head] for each in ",;\t|"}
    # The one that is in every line most often.
    return max(counts, key=lambda each: (min(counts[each], default=0), sum(counts[each])))


def _of_json(text: str, *, lines: bool) -> list[Row]:
    if lines:
        found: Any = [json.loads(line) for line in text.splitlines() if line.strip()]
    else:
        found = json.loads(text)
    if isinstance(found, dict):
        lists = [each for each in found.values() if isinstance(each, list) and each]
        found = lists[0] if len(lists) == 1 else [found]
    if not isinstance(found, list):
        found = [found]
    return [Row(each) if isinstance(each, dict) else Row(value=each) for each in found]


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with columns such as `details_year` in place of a dict in a cell."""
    return {
        f"{name}_{inner}" if inner else name: cell
        for name, value in row.items()
        for inner, cell in (value.items() if isinstance(value, dict) else [("", value)])
    }


def _columns_and_lines(rows: Any, *, nested: bool) -> tuple[list[Any], list[list[Any]]]:
    if isinstance(rows, list) and len(rows) == 1 and _holds_dicts(rows[0]):
        rows = rows[0]
    if _holds_dicts(rows):
        rows = [{"name": key, **inner} for key, inner in rows.items()]
    elif isinstance(rows, Mapping):
        rows = [{"name": key, "value": value} for key, value in rows.items()]
    rows = list(rows)
    if rows and all(_is_pair_with_dict(row) for row in rows):  # the items of a dict of dicts
        rows = [{"name": key, **inner} for key, inner in rows]
    if not all(isinstance(row, Mapping) for row in rows):
        lines = [list(row) if isinstance(row, list | tuple) else [row] for row in rows]
        if _has_names(lines):
            return lines[0], lines[1:]
        names = ["value"], ["name", "value"]
        wide = max(map(len, lines))
        return (names[wide - 1] if wide < 3 else list(range(1, wide + 1))), lines
    if not nested:
        rows = [flat(row) for row in rows]
    columns = list(dict.fromkeys(name for row in rows for name in row))
    # `dict.get`, because a missing column of a Row is an error.
    cells = [[dict.get(row, name, "") for name in columns] for row in rows]
    return columns, [["" if cell is None else cell for cell in line] for line in cells]


def _holds_dicts(value: Any) -> bool:
    """Whether it is a dict of dicts, such as the columns of each row by its name."""
    return isinstance(value, Mapping) and all(isinstance(each, Mapping) for each in value.values())


def _is_pair_with_dict(row: Any) -> bool:
    return isinstance(row, list | tuple) and len(row) == 2 and isinstance(row[1], Mapping)


def _has_names(lines: Sequence[Sequence[Any]]) -> bool:
    """Whether the first of these lists has the names of the columns: text above numbers, or several
    columns of text with other words in each."""
    first, *others = lines
    if len(first) < 2 or not all(isinstance(cell, str) for cell in first):
        return False
    numbers = any(not isinstance(cell, str) for line in others for cell in line)
    return numbers or not any(re.search(r"[\d@.]", cell) for cell in first)


# Columns: what the text in their cells means.

_EMPTY = {"", "-", "--", "?", "n/a", "na", "nan", "null", "none", "unknown", "missing"}
_MONEY = re.compile(r"^[€$£¥₹]|[€$£¥₹%]$|\b(?:EUR|USD|GBP|CHF|JPY)\b", re.IGNORECASE)
_NUMBER = re.compile(r"[+-]?(?:\d[\d.,' \u00a0\u202f]*|\.\d+)(?:[eE][+-]?\d+)?")
_DATES = (
    *("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d"),
    *("%d.%m.%Y", "%d.%m.%y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y"),
    *("%b %d %Y", "%b %d, %Y", "%B %d %Y", "%B %d, %Y", "%d %b %Y", "%d %B %Y", "%d-%b-%Y"),
)
_TIMES = ("", " %H:%M:%S", " %H:%M", "T%H:%M:%S", "T%H:%M", "T%H:%M:%SZ", " %I:%M %p")


def _typed(lines: Iterable[Sequence[Any]]) -> list[Row]:
    """Return rows with columns of numbers, dates or text."""
    kept = [list(line) for line in lines if any(str(cell).strip() for cell in line)]
    if not kept:
        return []
    names: list[str] = []
    for number, name in enumerate(kept[0], 1):
        name = str(name).strip() or f"column {number}"
        names.append(name if name not in names else f"{name} {number}")
    body = [[*line, *[""] * (len(names) - len(line))] for line in kept[1:]]
    columns = [_typed_column([line[at] for line in body]) for at in range(len(names))]
    return [Row(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _typed_column(cells: Sequence[Any]) -> list[Any]:
    texts = [cell.strip() if isinstance(cell, str) else cell for cell in cells]
    written = [text for text in texts if isinstance(text, str) and text.lower() not in _EMPTY]
    if any(isinstance(text, datetime) for text in texts):
        return [str(text)[:10] if isinstance(text, datetime) else text for text in texts]
    if written:
        for read in (_numbers(written), _dates(written)):
            if read:
                found = dict(zip(written, read, strict=True))
                rest = None if not isinstance(read[0], str) else ""
                return [_cell(text, found, rest) for text in texts]
        # A few slips in a column of numbers stay as they are.
        if len(set(written)) > 3 and (found := _mostly_numbers(written)):
            return [_cell(text, found, None) for text in texts]
        return texts
    return [None if text == "" else text for text in texts] if texts else []


def _cell(text: Any, found: Mapping[str, Any], empty: Any) -> Any:
    if not isinstance(text, str):
        return text
    return empty if text.lower() in _EMPTY and text not in found else found.get(text, text)


def _numbers(texts: Sequence[str]) -> list[Any]:
    """Return the numbers, or [] if a text is not one. A number that begins with 0 is a code."""
    bare = [_MONEY.sub("", _MONEY.sub("", text)).strip() for text in texts]
    if any(not _NUMBER.fullmatch(text) or re.match(r"0\d", text) for text in bare):
        return []
    comma = any(re.search(r",\d{1,2}$|\.\d{3},|,\d{4,}$", text) for text in bare)
    comma = comma and not any(re.search(r"\.\d{1,2}$", text) for text in bare)
    found: list[Any] = []
    for text in bare:
        text = re.sub(r"[' \u00a0\u202f]", "", text)
        text = text.replace(".", "").replace(",", ".") if comma else text.replace(",", "")
        try:
            found.append(int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text))
        except ValueError:
            return []
    return found


def _mostly_numbers(texts: Sequence[str]) -> dict[str, Any]:
    good = [text for text in texts if _numbers([text])]
    return dict(zip(good, _numbers(good), strict=False)) if len(good) > len(texts) * 0.8 else {}


def _dates(texts: Sequence[str]) -> list[str]:
    """Return the dates as 2024-01-31, with their times, or [] if a text is none. One way to write
    them is looked for first; else each may have its own."""
    if not all(any(letter.isdigit() for letter in text) for text in texts[:50]):
        return []
    for date in _DATES:
        for time in _TIMES:
            read = [_moment(text, date + time) for text in texts[:1]]
            if read[0] is None:
                continue
            read += [_moment(text, date + time) for text in texts[1:]]
            if None not in read:
                return [str(moment) if time else str(moment)[:10] for moment in read]
    each = [
        next((moment for date in _DATES if (moment := _moment(text, date))), None) for text in texts
    ]
    return [] if None in each else [str(moment)[:10] for moment in each]


def _moment(text: str, form: str) -> datetime | None:
    if form == "%Y%m%d" and not re.fullmatch(r"(?:19|20)\d{6}", text):
        return None
    try:
        return datetime.strptime(text, form)
    except ValueError:
        return None


# What is at hand, in a few lines for the one who writes the scripts.

MAX_DETAILED = 4
MAX_NAMES = 15
SHOWN_ROWS = 3
SHOWN_LINES = 5
MAX_VALUES = 8
MAX_LINE_CHARS = 160


def describe(names: Sequence[str]) -> None:
    """Print what these files are: columns, types, first rows, oddities, first lines."""
    by_kind: dict[str, list[str]] = {}
    for name in names:
        suffix = Path(name).suffix.lower()
        kind = "table" if suffix in TABLES else "picture" if suffix in PICTURES else "text"
        by_kind.setdefault("sound" if suffix in SOUNDS else kind, []).append(name)
    for kind, group in by_kind.items():
        detailed = group[:MAX_DETAILED] if len(group) <= MAX_DETAILED else group[:2]
        if len(detailed) < len(group):
            more = f", and {len(group) - MAX_NAMES} more" if len(group) > MAX_NAMES else ""
            print(f"{len(group)} {kind} files: {', '.join(group[:MAX_NAMES])}{more}. For example:")  # noqa: T201
        for name in detailed:
            try:
                about = {"table": _about_table, "picture": _about_picture}.get(kind, _about_text)
                print("\n".join(_cut(line) for line in about(name)))  # noqa: T201
            except Exception as error:  # noqa: BLE001 - a broken file must not hide the others
                print(f"{name}: {kind}, cannot be read ({type(error).__name__})")  # noqa: T201


def _cut(line: str) -> str:
    return line if len(line) <= 4 * MAX_LINE_CHARS else f"{line[: 4 * MAX_LINE_CHARS]} …"


def _about_table(name: str) -> Iterable[str]:
    rows = read_table(name)
    if not rows:
        return [f"{name}: table without rows"]
    columns = list(dict.fromkeys(column for row in rows for column in row))
    told = [f"{name}: table, {len(rows)} rows. Columns:"]
    told += [f"- {about_column(name, [dict.get(row, name) for row in rows])}" for name in columns]
    told.append("First rows:")
    told += [str(dict(row))[: 2 * MAX_LINE_CHARS] for row in rows[:SHOWN_ROWS]]
    twice = len(rows) - len({json.dumps(row, sort_keys=True, default=str) for row in rows})
    return [*told, f"Note: {twice} rows repeat an earlier row exactly."] if twice else told


def about_column(name: str, cells: Sequence[Any]) -> str:
    there = [cell for cell in cells if cell not in (None, "")]
    numbers = [cell for cell in there if isinstance(cell, int | float)]
    nested = any(isinstance(cell, dict | list) for cell in there)
    values = [] if nested else list(Counter(map(str, there)))
    if numbers and len(numbers) == len(there):
        whole = f"; in all {round(sum(numbers), 2)}, on average {round(mean(numbers), 2)}"
        about = f"number, {min(numbers)} to {max(numbers)}{whole}"
    elif numbers:
        slips = [str(cell) for cell in there if not isinstance(cell, int | float)]
        about = f"number, but text in {len(slips)} cells: {', '.join(slips[:3])}"
    elif values and all(re.match(r"\d{4}-\d\d-\d\d", value) for value in values):
        about = f'date such as "{there[0]}", {min(values)} to {max(values)}'
    elif 0 < len(values) <= MAX_VALUES:
        about = f"text, one of: {', '.join(values)}"
    else:
        about = "nested" if nested else f"text, {len(values)} different"
    empty = len(cells) - len(there)
    return f"{name}: {about}" + (f"; {empty} cells are empty" if empty else "")


def _about_picture(name: str) -> Iterable[str]:
    from PIL import Image

    with Image.open(name) as picture:
        return [f"{name}: picture, {picture.width} x {picture.height} pixels, {picture.mode}"]


def _about_text(name: str) -> Iterable[str]:
    if Path(name).suffix.lower() in SOUNDS:
        return [f"{name}: sound or film"]
    text = read_text(name)
    lines = [line for line in text.splitlines() if line.strip()]
    asked = len(re.findall(r"\?+[\"'”’)]*(?=\s|$)", text))
    questions = f"; {asked} sentences end with ?" if asked else ""
    told = [f"{name}: text, {len(lines)} lines{questions}. It begins:"]
    told += [f"  {line[:MAX_LINE_CHARS]}" for line in lines[:SHOWN_LINES]]
    counts = {len(line.split()) for line in lines[:20]}
    if len(lines) > 4 and lines[0][:1].isdigit() and max(counts) - min(counts) < 4:
        parts = enumerate(lines[0].split()[:MAX_PARTS])
        told.append(
            f"A line in parts: {', '.join(f'split()[{at}] is {part!r}' for at, part in parts)}"
        )
    elif BEFORE_COLON in (columns := columns_of_lines(lines)):
        about = about_column("", columns[BEFORE_COLON])[2:]
        told.append(f'What is before the colon, line.split(":")[0], is {about}')
    return told


BEFORE_COLON = "before_colon"
MAX_PARTS = 12
_before_colon = re.compile(r"\s*([^\W\d_][\w .'-]{0,30}):\s+(\S.*)")


def columns_of_lines(lines: Sequence[str]) -> dict[str, list[Any]]:
    """Return the columns of lines that are all of one shape, such as those of a log or an
    interview; {} for other texts. None stands for what a line lacks."""
    full = [line for line in lines if line.strip()]
    begun = [_before_colon.match(line) for line in lines]
    named = [found[1] for found in begun if found]
    if len(named) > 0.8 * len(full) and len(set(named)) <= len(named) / 2:
        return {
            BEFORE_COLON: [found and found[1] for found in begun],
            "after_colon": [found and found[2] for found in begun],
        }
    ((usual, often),) = Counter(len(line.split()) for line in full).most_common(1) or [(0, 0)]
    if len(full) < 3 or often < 0.9 * len(full) or not 3 <= usual <= MAX_PARTS:
        return {}
    parts = [each if len(each := line.split()) == usual else [""] * usual for line in lines]
    return {
        f"part_{at}": _typed_column(cells) for at, cells in enumerate(zip(*parts, strict=True), 1)
    }
