"""Answers questions about tables by SQL: the application's own, or that of a language model.

Runs in a child process that reads nothing but the given files. A doubt comes with the
answer, and an answer longer than a screen is cut, with the whole as a file.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_detail
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.documents.table_database import (
    ColumnType,
    LoadedTable,
    TableColumn,
    TableDatabase,
)
from jarvis_desktop.tasks.documents.table_german import in_english
from jarvis_desktop.tasks.documents.table_months import NO_YEAR
from jarvis_desktop.tasks.documents.table_parts import AGGREGATES, ROWS
from jarvis_desktop.tasks.documents.table_pivot import asks_for_pivot, laid_out, pivot_asked
from jarvis_desktop.tasks.documents.table_query import Shape, TableQuery
from jarvis_desktop.tasks.documents.table_question import read_question
from jarvis_desktop.tasks.documents.table_words import ADJECTIVES, DOWN, UP, TableField, folded
from jarvis_desktop.text.numbers import with_digits
from jarvis_desktop.text.tokens import FUNCTION_WORDS, stem, tokens

_AS_A_WHOLE = (FUNCTION_WORDS - {"most"}) | frozenset(
    """column columns contain contains content contents csv data describe description exactly file
    first give have hold holds inside kind like list look looks name names overview row rows say
    says see sheet show shows sort spreadsheet summarise summarize summary table tell what's
    whats""".split()
)
"""Words of a question about the table as a whole, unless they name a column."""
_WHOLE = r"(?:tables?|csv|file|sheet|spreadsheet|columns?)"
_OF_THE_TABLE = re.compile(
    # "This list" is the table; "the list" may name a column.
    rf"\b(?:(?:what|which) (?:kind|sort) of \w+|names? of (?:(?:all|its|the|this|that) )*{_WHOLE}|"
    rf"(?:this|that) \w+|columns? names?|first rows?|rows?|inside|{_WHOLE})\b"
)
_ASKS = re.compile(
    r"(?<!\ba )(?<!\ball )(?<!\bany )(?<!\beach )(?<!\bevery )(?<!\bthe )(?<!\bwhat )(?<!\bwhich )"
    r"\b(?:contains?|describe|give|ha(?:ve|s)|holds?|like|lists?|looks?|says?|sees?|shows?|tell)\b"
)
"""Verbs that may also be names of columns: "show me the table", but "the shows"."""
_months = (
    mark("January"), mark("February"), mark("March"), mark("April"), mark("May"), mark("June"),
    mark("July"), mark("August"), mark("September"), mark("October"), mark("November"),
    mark("December"),
)  # fmt: skip
FIRST_ROWS = 3
MAX_NAMED = 20  # columns that are listed
MAX_LINES = 20
"""Lines of an answer; the whole is in its file."""
MAX_TIES = 5
MAX_ROWS = 100_000
"""Rows of an answer's file."""


def reply(call: Call, report: Report) -> Iterable[Artifact]:
    """Answer in words, with a table if the answer is long; describe the tables if nothing in
    particular is asked for. Raises ExpertError for a question that it cannot read."""
    question = call.text("question").strip()
    sql = call.words("sql").strip()
    if not question and not sql:
        raise InputError(tr("There is no question."))
    db = load_tables(call, report)
    db.lock()
    if sql:
        sql = db.checked(sql)
        return _written(TableQuery(sql, Shape.ROWS, ""), db, call)
    question = question_of(call)
    if rows := _rows_asked(question, db.tables[0]):
        return _written(rows, db, call)
    if _is_about_all(question.casefold(), db.tables):
        return [text_artifact("\n\n".join(describe_table(table, db) for table in db.tables))]
    report(None, tr("Reading the question"))
    question, as_a_table = _as_a_table.subn("", _adding_up.sub("the sum of", question))
    if asks_for_pivot(question):
        return _pivot(question, db, call)
    first, second = two_questions(question)
    query = read_question(first, db)
    if second and query and (also := read_question(second, db)):
        texts, *_ = _written(query, db, call)
        more, *_ = _written(also, db, call)
        return [text_artifact(f"{texts.text}\n\n{more.text}")]
    query = read_question(question, db) if second else query
    if query is None:
        names = ", ".join(item.name for item in db.tables[0].columns[:MAX_NAMED])
        raise ExpertError(
            tr("I did not understand what that asks of the table."),
            hint=tr("Ask with the names of its columns: {names}.", names=names),
        )
    return _written(query, db, call, as_a_table=bool(as_a_table))


def _pivot(question: str, db: TableDatabase, call: Call) -> list[Artifact]:
    """Return a pivot table and a sentence about it. Raises ExpertError if it is not clear."""
    wish = pivot_asked(question)
    query = read_question(wish.question, db) if wish else None
    if wish and query:
        names, rows = db.rows(query.sql, MAX_ROWS)
        doubts = [*query.doubts, *left_out(query.fields)]
        table = laid_out(wish, names, rows, periods=bool(query.grain))
        if table and len(rows) < MAX_ROWS:
            current_detail.get()(f"SQL: {query.sql}")
            path = call.workdir / "pivot.csv"
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows(table)
            told = tr("{value}, as a pivot table.", value=query.told[:1].upper() + query.told[1:])
            return [
                Artifact(Kind.TABLE, path=path, name="pivot.csv"),
                text_artifact(with_doubts(told, doubts)),
            ]
    raise ExpertError(
        tr("I did not understand which rows and columns the pivot table is to have."),
        hint=tr("Such as: a row for each month, a column for each city and the sum of the sales."),
    )


_some_rows = re.compile(
    r"\W*(?:(?:and|then|please|just|only|can you|i want to|show|give|list|print|display|see|me|us|"
    r"what are|the|zeige?|mir|nur|die)\s+)*(?:(?P<last>last|letzten)|first|top|ersten)\s+"
    r"(?P<count>\d+)\s+(?:rows?|lines?|entries|records|zeilen|einträge)"
    r"(?:\s+(?:of|in|from|von)\b.{0,20})?(?:\W*(?:please|bitte))?\W*$"
)


def _rows_asked(question: str, table: LoadedTable) -> TableQuery | None:
    """The query of so many rows as they are: "show me the first three rows"."""
    found = _some_rows.match(with_digits(question.lower()))
    if found is None:
        return None
    skipped = max(0, table.rows - int(found["count"])) if found["last"] else 0
    sql = f"SELECT * FROM {table.sql} LIMIT {found['count']} OFFSET {skipped}"
    return TableQuery(sql, Shape.ROWS, "", tuple(table.columns))


_as_a_table = re.compile(r",? as a (?:new )?table\W*$", re.IGNORECASE)
_adding_up = re.compile(
    r"\b(?:add|sum|total)\s+up\b(?:\s+all\b(?=\s+the\b))?"
    r"(?!(?:\s+(?:all|both|the|of|my|our|these|those))*\s+(?:\d|two|three|four|five|six)\b)",
    re.IGNORECASE,
)
"""Not "add up the three rounds", which are columns."""
_also = re.compile(
    r"[\s,;]+(?:and|or|und|oder)\s+(?:(?:which|who|what|welche\w?|wer|was)\s+)?(?:one\s+)?"
    r"(?:(?:has|had|is|was|hat|ist)\s+)?(?:(?:the|die|der|das|den|am)\s+)?(?P<word>[^\W\d]+)\W*$",
    re.IGNORECASE,
)


def two_questions(question: str) -> tuple[str, str]:
    """Return a question and a second one that it ends with in a few words, in full: "which city has
    the highest turnover, and which the lowest". "" if there is only one."""
    found = _also.search(question)
    if found is None:
        return question, ""
    first = question[: found.start()]

    def asking(word: str) -> str:
        plain = in_english(f"welche {folded(word)}", ()).removeprefix("which ")
        return plain if plain in {*UP, *DOWN, *ADJECTIVES, *AGGREGATES} else ""

    if not asking(found["word"]):
        return question, ""
    for word in re.finditer(r"[^\W\d]+", first):
        if asking(word[0]) and asking(word[0]) != asking(found["word"]):
            return first, f"{first[: word.start()]}{found['word']}{first[word.end() :]}"
    return question, ""


def question_of(call: Call) -> str:
    """What is asked of the tables, without their names: those say nothing about the contents."""
    question = call.text("question").strip()
    for item in call.inputs["table"]:
        question = re.sub(re.escape(item.title), " ", question, flags=re.IGNORECASE)
    return question


def table_items(call: Call) -> list[Artifact]:
    """The files of the tables. Raises InputError if there is none."""
    items = [item for item in call.inputs.get("table", ()) if item.path is not None]
    if not items:
        raise InputError(tr("Give a table, such as a CSV file."))
    return items


def load_tables(call: Call, report: Report) -> TableDatabase:
    """The tables of a call. Raises InputError, which names the file."""
    items = table_items(call)
    db = TableDatabase(call.workdir)
    for item in items:
        assert item.path is not None
        report(None, tr("Reading {name}", name=item.title))
        db.load(item.path, name=item.title)
    return db


def _written(
    query: TableQuery, db: TableDatabase, call: Call, *, as_a_table: bool = False
) -> list[Artifact]:
    """The answer in words, and as a file if there is more than a screen of it, or if it is to be a
    table."""
    current_detail.get()(f"SQL: {query.sql}")
    names, rows = db.rows(query.sql, MAX_ROWS)
    told = with_doubts(
        _sentence(query, names, rows),
        [*query.doubts, *_other_reading(query, rows, db), *left_out(query.fields)],
    )
    made = [text_artifact(told)]
    if as_a_table or len(rows) > MAX_LINES:
        path = call.workdir / "answer.csv"
        db.write(query.sql, path)
        made.append(Artifact(Kind.TABLE, path=path, name="answer.csv"))
    return made[::-1] if as_a_table else made  # the first one is what is saved


_UNSURE = mark("I am not sure of this. {doubts}")


def with_doubts(told: str, doubts: Sequence[str]) -> str:
    """Return an answer with what makes it doubtful."""
    return "\n\n".join([told, *([tr(_UNSURE, doubts=" ".join(doubts))] if doubts else [])])


def is_doubtful(answer: str) -> bool:
    """Return whether an answer says that it is not sure."""
    return tr(_UNSURE, doubts="").strip() in answer


def _other_reading(
    query: TableQuery, rows: Sequence[tuple[Any, ...]], db: TableDatabase
) -> list[str]:
    """What the other reading of the question gives, if that is something else."""
    if query.other is None or not rows:
        return []
    others = db.rows(query.other.sql, MAX_TIES)[1]
    if not others or {str(row[0]) for row in others} == {str(row[0]) for row in rows}:
        return []
    other = _line(query.other, others[0])
    return [tr("By the {value} it is {other}.", value=query.other.told, other=other)]


_unread = {
    ColumnType.NUMBER: mark("{cells} of {name} could not be read as a number."),
    ColumnType.DATE: mark("{cells} of {name} could not be read as a date."),
    ColumnType.FLAG: mark("{cells} of {name} could not be read as yes or no."),
}


def left_out(fields: Iterable[TableField]) -> list[str]:
    """Cells that could not be read, in the columns that an answer is made of."""
    notes = []
    for column in (item.column for item in fields):
        if column.unread:
            cells = trn("{count} cell", "{count} cells", column.unread)
            notes.append(tr(_unread[column.type], cells=cells, name=column.name))
        if column.unclear:
            notes.append(tr("Dates of {name} are read with the month first.", name=column.name))
    return notes


def _sentence(query: TableQuery, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    told = query.told
    if query.shape is Shape.EXISTS:
        count = rows[0][0]
        if not count:
            return tr("No: there is no such row.")
        return trn("Yes: {count} row.", "Yes: {count} rows.", count)
    if query.shape is Shape.VALUE:
        value = rows[0][0] if rows else None
        if value is None:
            return tr("There is no {value}: no row has one.", value=told)
        if told.startswith(tr(ROWS)):
            where = told.removeprefix(tr(ROWS))
            return trn(
                "There is {count} row{where}.", "There are {count} rows{where}.", value, where=where
            )
        return tr("The {value} is {answer}.", value=told, answer=cell_text(value, query.shown[0]))
    if query.shape is Shape.COMPARED:
        verdict, *sides = rows[0]
        one, other = (cell_text(it, query.shown[1]) for it in sides)
        form = mark("Yes: the {value} is {one} for {name} and {other} for {last}.")
        if not verdict:
            form = mark("No: the {value} is {one} for {name} and {other} for {last}.")
        return tr(form, value=told, one=one, name=names[1], other=other, last=names[2])
    if not rows:
        return tr("There is no {value}: no row fits.", value=told) if told else tr("No row fits.")
    if query.shape is Shape.BEST and len(rows) == 1:
        if len(rows[0]) == 1:
            return tr("The {value} is {answer}.", value=told, answer=_line(query, rows[0]))
        *cells, number = (_cell(query, rows[0], at) for at in range(len(rows[0])))
        best = ", ".join(cells)
        return tr("{answer} has the {value}: {number}.", answer=best, value=told, number=number)
    if len(rows) == 1 and len(rows[0]) == 1:
        answer = _cell(query, rows[0], 0)
        return tr("The {value} is {answer}.", value=told or names[0], answer=answer)
    lines = [f"- {one_line(_line(query, row), limit=200)}" for row in rows[:MAX_LINES]]
    if more := len(rows) - MAX_LINES > 0 and f"{len(rows) - MAX_LINES:,}":
        form = mark("… and {count} more, all of them in answer.csv.")
        if len(rows) >= MAX_ROWS:
            form = mark("… and at least {count} more, all of them in answer.csv.")
        lines.append(tr(form, count=more))
    head = tr("The {value}:", value=told) if told else f"{', '.join(names)}:"
    return "\n".join([head, *lines])


def _line(query: TableQuery, row: Sequence[Any]) -> str:
    cells = [_cell(query, row, at) for at in range(len(row))]
    if query.shape in (Shape.BEST, Shape.GROUPS) and len(cells) > 1:
        return f"{', '.join(cells[:-1])}: {cells[-1]}"
    return "; ".join(cells)


def _cell(query: TableQuery, row: Sequence[Any], at: int) -> str:
    column = query.shown[at] if at < len(query.shown) else None
    if at == 0 and query.grain:
        return moment_text(row[at], query.grain)
    return cell_text(row[at], column)


def moment_text(value: Any, grain: str) -> str:
    """Return a unit of time in words: "December 2007" for 2007-12."""
    if grain == "month" and (found := re.fullmatch(r"(\d{4})-(\d\d)", str(value))):
        month = tr(_months[int(found[2]) - 1])
        return month if int(found[1]) == NO_YEAR else f"{month} {found[1]}"
    if isinstance(value, date):
        return cell_text(value, None)
    return str(value).removeprefix(f"{NO_YEAR}-")


def cell_text(value: Any, column: TableColumn | None) -> str:
    """Return a cell as it is shown: with the unit of its column, years without commas."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return tr("yes") if value else tr("no")
    if isinstance(value, date) and (value.year == NO_YEAR or (column and column.monthly)):
        return moment_text(f"{value:%Y-%m}".zfill(7), "month")
    if isinstance(value, datetime):
        midnight = (value.hour, value.minute, value.second) == (0, 0, 0)
        return str(value.date()) if midnight else f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, date | str) or not isinstance(value, int | float):
        return str(value)
    years = column is not None and column.whole and "year" in column.name.casefold()
    id_like = column is not None and re.search(
        r"\b(?:id|no|nr|code|zip|postcode)\b", column.name.replace("_", " "), re.I
    )
    if years or id_like:
        return f"{value:.0f}"
    text = f"{value:,}" if isinstance(value, int) else _rounded(value)
    unit = column.unit if column else ""
    if not column or not unit:
        return text
    if not column.before:
        return f"{text} {unit}"
    sign, space = "-" if text.startswith("-") else "", " " if len(unit) > 1 else ""
    return f"{sign}{unit}{space}{text.removeprefix('-')}"


def _rounded(value: float) -> str:
    """Two decimals, or more for small numbers."""
    if value and abs(value) < 0.1:
        return f"{value:.4g}"
    text = f"{value:,.2f}"
    return text.rstrip("0").rstrip(".") if text.endswith("00") else text


def _is_about_all(question: str, tables: Iterable[LoadedTable]) -> bool:
    """Whether it asks about the whole table: "what is in it", but not "what is the name" if a
    column has that name."""
    words = tokens(question)
    if not _AS_A_WHOLE.issuperset(words):
        return False
    left = tokens(_ASKS.sub(" ", _OF_THE_TABLE.sub(" ", " ".join(words))))
    naming = {stem(word) for word in left if word not in FUNCTION_WORDS}
    columns = {
        stem(word) for table in tables for item in table.columns for word in tokens(item.name)
    }
    return naming.isdisjoint(columns)


def describe_table(table: LoadedTable, db: TableDatabase) -> str:
    """The table's size, its columns with the range of their numbers, and its first rows."""
    named = [item for item in table.columns if not re.fullmatch(r"column \d+", item.name)]
    columns = ", ".join(_with_range(table, item, db) for item in named[:MAX_NAMED])
    if len(named) > MAX_NAMED:
        more = len(named) - MAX_NAMED
        columns = tr("{columns} and {count} more", columns=columns, count=more)
    _, rows = db.rows(f"SELECT * FROM {table.sql} LIMIT {FIRST_ROWS}", FIRST_ROWS)
    lines = []
    for row in rows:
        pairs = [(item, cell_text(cell, item))
                 for item, cell in zip(table.columns, row, strict=True)
                 if cell is not None]  # fmt: skip
        cells = [f"{item.name}: {cell}" if item in named else cell for item, cell in pairs]
        lines.append(f"- {one_line('; '.join(cells), limit=200)}")
    head = tr(
        "{name} has {rows} and {columns}{names}.",
        name=table.title,
        rows=trn("{count} row", "{count} rows", table.rows),
        columns=trn("{count} column", "{count} columns", len(table.columns)),
        names=f": {columns}" if named else "",
    )
    beginning = tr("It begins with:") if table.rows > len(rows) else tr("It holds:")
    return "\n".join([head, *([beginning] if lines else []), *lines])


def _with_range(table: LoadedTable, column: TableColumn, db: TableDatabase) -> str:
    """The column's name; for numbers and dates also the smallest and the largest."""
    name = one_line(column.name)
    if column.type not in (ColumnType.NUMBER, ColumnType.DATE):
        return name
    sql = f"SELECT min({column.sql}), max({column.sql}) FROM {table.sql}"
    low, high = (cell_text(cell, column) for cell in db.rows(sql, 1)[1][0])
    span = tr("{low} to {high}", low=low, high=high) if low != high else low
    return f"{name} ({span})"


TABLE_QUESTION_ANSWERING = define(
    name="table-question-answering", label="Ask the table",
    summary="Answers a question about tables: filters, groups, months, top ten, sums, averages, "
    "medians, counts, shares, single cells, and two tables that belong together.",
    ports=(Port("table", (Kind.TABLE,), many=True), Port("question", (Kind.TEXT,))),
    gives=(Kind.TEXT, Kind.TABLE),
    options=(
        TaskOption("sql", "a SELECT in DuckDB's SQL that answers the question, if known", ""),
    ),
    cues=(
        "in the table", "in this table", "from the table", "in the spreadsheet", "in the csv",
        "pivot table", "pivot", "row for each ... column for each ... and",
        "row for each ... column for each", "row per ... column per ... and", "which row",
        "which column", "how many rows", "average of the", "sum of the", "column",
        "total of the", "the mean of the", "largest value", "smallest value", "in this csv",
        "in the sheet", "highest value", "lowest value", "what is the average",
        "what is the highest", "what is the lowest", "what's the highest", "what's the lowest",
        "what is the largest", "what is the smallest", "what's the average", "whats the average",
        "what is the sum of the", "which ... has the most", "which ... has the highest",
        "which ... has the lowest", "how many rows are", "which ... has the largest",
        *(
            phrase.replace("NOUN", noun)
            for noun in ("table", "csv", "spreadsheet", "sheet")
            for phrase in (
                "describe the NOUN", "describe this NOUN", "what does the NOUN hold",
                "what does this NOUN hold", "what does the NOUN contain", "what is in the NOUN",
                "what does this NOUN contain", "what is in this NOUN", "what's in the NOUN",
                "what's in this NOUN", "rows of the NOUN", "rows of this NOUN", "show me the NOUN",
                "show me this NOUN", "what is this NOUN about", "columns does the NOUN have",
                "columns does this NOUN have", "overview of the NOUN", "overview of this NOUN",
                "summary of the NOUN", "summary of this NOUN", "summarise the NOUN",
                "summarise this NOUN", "summarize the NOUN", "summarize this NOUN",
            )
        ),
    ),
    method=reply,
    note="DuckDB; the question is read by its words, and the SQL is shown under Details",
)  # fmt: skip
