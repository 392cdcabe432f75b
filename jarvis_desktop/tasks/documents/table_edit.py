"""The edit-table task: sorts, filters, joins and cleans tables by the words of a wish.

The cells stay the texts that they are in the file: DuckDB sorts and compares what they mean, and
the result is a new file in the form of the given one. Runs in a child process.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePath
from typing import Any

from jarvis_desktop.core.artifact import WRITTEN_TABLES, Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.task import Call, Port, Report
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.documents.table_database import TableDatabase, delimiter_of, is_utf8
from jarvis_desktop.tasks.documents.table_editor import TableEditor, combined, parts_of
from jarvis_desktop.tasks.documents.table_qa import question_of, table_items, with_doubts
from jarvis_desktop.tasks.formats.tables import sheets_of, write_workbook


def edit_tables(call: Call, report: Report) -> Iterable[Artifact]:
    """Return the edited tables and what was done. Raises InputError if a wish fits no column."""
    items = table_items(call)
    wish = question_of(call)
    if not wish:
        raise InputError(tr("Say what is to be changed in the table."))
    db = TableDatabase(call.workdir)
    editors = []
    for item in items:
        assert item.path is not None
        report(None, tr("Reading {name}", name=item.title))
        sheets = db.load_with_cells(item.path, name=item.title)
        at, named, wish = _sheet_of(wish, [sheet.title for sheet in sheets])
        editors.append(TableEditor(db, sheets[at], item.title))
        if len(sheets) > 1:
            form = mark("That is the sheet {name}; the others stay as they are.")
            told = tr(form, name=sheets[at].title)
            (editors[-1].told if named else editors[-1].doubts).append(told)
    report(None, tr("Changing the table"))
    parts = parts_of(wish)
    if len(editors) > 1 and (both := combined(editors, parts)):
        editors, parts = [both], parts[1:]
    made: list[Artifact] = []
    for number, (editor, item) in enumerate(zip(editors, items, strict=False)):
        for part in parts:
            if len(parts) > 1 and _statement.match(part):
                editor.doubts.append(tr("Not understood: {words}.", words=f"“{part}”"))
            else:
                editor.apply(part)
        told = " ".join(editor.told)
        if len(editors) > 1:
            told = f"{item.title}: {told}"
        assert item.path is not None
        ending = item.path.suffix.lower() if item.path.suffix.lower() in WRITTEN_TABLES else ".csv"
        path = call.workdir / f"edited-{number}{ending}"
        _write(editor, item.path, path)
        name = f"{PurePath(item.title).stem}-{editor.called}{ending}"
        made += [
            Artifact(Kind.TABLE, path=path, name=name),
            text_artifact(with_doubts(told, editor.doubts)),
        ]
    return made


def divided(
    item: Artifact, by: str, count: int, call: Call, report: Report, most: int
) -> Iterable[Artifact]:
    """Yield the parts of a table as files of its form, the first `most` of them: one for each value
    of the columns that `by` names, for each month or year, of "100 rows" each, or `count` equal
    parts. Raises InputError if there is no such column."""
    assert item.path is not None
    db = TableDatabase(call.workdir)
    report(None, tr("Reading {name}", name=item.title))
    editor = TableEditor(db, db.load_with_cells(item.path, name=item.title)[0], item.title)
    if rows := re.match(r"(\d+) ", by):
        parts = editor.parts_of_rows(max(1, int(rows[1])))
    elif by:
        parts = editor.parts_by(by, most)
    elif count > 1:
        parts = editor.parts_of_rows(max(1, math.ceil(editor.count / count)))
    else:
        raise InputError(
            tr("Say what each part of {name} is for.", name=item.title),
            hint=tr("Such as: one file for each town, or into 3 parts."),
        )
    ending = item.path.suffix.lower() if item.path.suffix.lower() in WRITTEN_TABLES else ".csv"
    for number, part in enumerate(islice(parts, most), 1):
        path = call.workdir / f"part-{number}{ending}"
        _write(editor, item.path, path)
        yield Artifact(Kind.TABLE, path=path, name=f"{PurePath(item.title).stem}-{part}{ending}")


def _sheet_of(wish: str, titles: Sequence[str]) -> tuple[int, bool, str]:
    """Which sheet of a workbook is meant, whether the wish names it, and the wish without it."""
    place = r"(?:\s*\b(?:in|on|of|from|im|auf|des|vom))?(?:\s*\b(?:the|das|dem|tab|blatt))*"
    for at, title in sorted(enumerate(titles), key=lambda pair: -len(pair[1])):
        quoted = rf"[\"“„']?{re.escape(title)}[\"”“']?"
        number = rf"{at + 1}|{_ordinals[at]}" if at < len(_ordinals) else str(at + 1)
        sheet = r"(?:work)?(?:sheet|tab|blatt)"
        form = rf"{place}\s*\b(?:{sheet} (?:{quoted}|{number})\b|(?:{number}) {sheet}\b"
        form += rf"|(?<!\w){quoted}(?!\w)(?: {sheet}\b)?)"
        if len(titles) > 1 and (found := re.search(form, wish, re.IGNORECASE)):
            rest = wish[found.end() :]
            return at, True, f"{wish[: found.start()]} the rows{rest}"
    return 0, False, wish


_statement = re.compile(
    r"(?!(?:keep|remove|delete|drop|sort|only)\b)(?:\w+ ){1,3}"
    r"(?:is|are|has|have|was|were|ist|sind)\b",
    re.IGNORECASE,
)
"""Says something of the table, and asks for nothing."""
_ordinals = (r"first|erste\w?", r"second|zweite\w?", r"third|dritte\w?", r"fourth|vierte\w?")


def _write(editor: TableEditor, source: Path, to: Path) -> None:
    """Write a table in the form of its source: with its delimiter, or as records with types."""
    if to.suffix in (".json", ".parquet"):
        editor.export(to)
        return
    rows = editor.rows()
    if to.suffix == ".xlsx":
        with sheets_of(source, editor.title) as sheets:
            changed = editor.table.title if len(sheets) > 1 else ""
            kept = [(it, rows if it == changed else its_rows) for it, its_rows in sheets]
            write_workbook(kept, to, to.name)
        return
    utf8 = is_utf8(source)
    sign = "\t" if to.suffix == ".tsv" else ","
    if utf8:
        with source.open(encoding="utf-8-sig", newline="") as file:
            sign, _ = delimiter_of([line.rstrip("\r\n") for line in _some(file)])
    marked = not utf8 or source.read_bytes()[:3] == b"\xef\xbb\xbf"
    # Excel reads UTF-8 with a mark only; a file in another encoding was made for it.
    encoding = "utf-8-sig" if marked else "utf-8"
    with to.open("w", encoding=encoding, newline="") as out:
        csv.writer(out, delimiter=sign, lineterminator="\n").writerows(map(_texts, rows))


def _some(lines: Iterable[str]) -> Iterator[str]:
    yield from (line for _, line in zip(range(2000), lines, strict=False))


def _texts(row: Sequence[Any]) -> list[Any]:
    return ["" if cell is None else cell for cell in row]


_what = ("rows", "lines", "entries", "records")
_table = ("the table", "this table", "the csv", "this csv", "the spreadsheet", "this spreadsheet")

EDIT_TABLE = define(
    name="edit-table", label="Edit table",
    summary="Changes a table into a new file: sorts it, keeps or removes rows, removes duplicates, "
    "drops or renames columns, adds a row of totals, or joins two tables.",
    ports=(Port("table", (Kind.TABLE,), many=True), Port("question", (Kind.TEXT,))),
    gives=(Kind.TABLE, Kind.TEXT),
    cues=(
        *(f"sort {which}" for which in _table), *(f"sort the {what}" for what in _what),
        "remove duplicates", "remove the duplicates", "remove duplicate rows", "deduplicate",
        "delete the column", "remove the column", "drop the column", "rename the column",
        "add a total row", "add a row of totals", "join the tables", "merge the tables",
        "merge these two tables", "join these two tables", "entferne doppelte zeilen",
        "sortiere die tabelle", "lösche die spalte",
    ),
    method=edit_tables,
    note="DuckDB; the file itself stays as it is",
)  # fmt: skip
