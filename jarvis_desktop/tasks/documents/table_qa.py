"""Answers questions about a table: extremes, sums, averages, counts, single cells. In a child."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.documents.tables import MAX_ROWS, Table, number, read_tables
from jarvis_desktop.tasks.naming import quantity
from jarvis_desktop.text.tokens import FUNCTION_WORDS, stem, tokens

_LARGEST = frozenset(
    "highest largest biggest most maximum max greatest top longest heaviest oldest richest "
    "best".split()
)
_SMALLEST = frozenset(
    "lowest smallest least minimum min fewest shortest lightest youngest poorest worst".split()
)
_AS_A_WHOLE = (FUNCTION_WORDS - _LARGEST) | frozenset(
    """column columns contain contains content contents csv data describe description exactly file
    first give have hold holds inside kind like list look looks name names overview row rows say
    says see sheet show shows sort spreadsheet table tell what's whats""".split()
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
FIRST_ROWS = 3
MAX_NAMED = 20  # columns, or values of a column, that are listed
MAX_LISTED = 3  # columns whose values are listed
_ASKING = (
    FUNCTION_WORDS
    | _LARGEST
    | _SMALLEST
    | frozenset(
        "average mean sum total count number many much value row rows column columns table csv "
        "spreadsheet sheet list tell show give find".split()
    )
)


@dataclass(frozen=True, slots=True)
class _TableQuestion:
    """The words of a question and the columns and cells they name."""

    words: frozenset[str]
    columns: tuple[int, ...]  # columns that the question names, the best match first
    rows: tuple[int, ...]  # rows with the named cell; empty if there is none
    cell: tuple[int, str] | None  # column and content of the cell that is named
    nothing_else: bool  # whether it only names columns: "what are the cities"


def reply(call: Call, report: Report) -> Iterable[Artifact]:
    """Answer in a sentence, or describe the table if nothing in particular is asked for. Raises
    ExpertError for kinds of questions that it cannot answer."""
    question = call.text("question").strip()
    if not question:
        raise InputError(tr("There is no question."))
    name = call.title("table")
    tables = read_tables(call.file("table"), name=name)
    if _is_about_all(question.casefold().replace(name.casefold(), " "), tables):
        return [text_artifact("\n\n".join(describe_table(table, name) for table in tables))]
    reasons = []
    for table in tables:
        try:
            return [text_artifact(answer(question, table))]
        except ExpertError as error:
            reasons.append(error)
    raise reasons[0]


def _is_about_all(question: str, tables: Iterable[Table]) -> bool:
    """Whether it asks about the whole table: "what is in it", but not "what is the name" if a
    column has that name."""
    words = tokens(question)
    if not _AS_A_WHOLE.issuperset(words):
        return False
    left = tokens(_ASKS.sub(" ", _OF_THE_TABLE.sub(" ", " ".join(words))))
    naming = {stem(word) for word in left if word not in FUNCTION_WORDS}
    columns = {stem(word) for table in tables for name in table.columns for word in tokens(name)}
    return naming.isdisjoint(columns)


def describe_table(table: Table, name: str) -> str:
    """The table's size, its columns with the range of their numbers, and its first rows."""
    whose = f"The sheet {table.name} of {name}" if table.name else name
    least = "at least " if len(table.rows) >= MAX_ROWS - 1 else ""
    size = f"{least}{quantity(len(table.rows), 'row')} and {quantity(len(table.columns), 'column')}"
    named = [at for at, column in enumerate(table.columns) if column]
    columns = ", ".join(_with_range(table, at) for at in named[:MAX_NAMED])
    more = f" and {len(named) - MAX_NAMED} more" if len(named) > MAX_NAMED else ""
    rows = [f"- {one_line(line, limit=200)}" for line in table.lines(FIRST_ROWS)]
    head = f"{whose} has {size}{': ' if named else ''}{columns}{more}."
    beginning = "It begins with:" if len(table.rows) > len(rows) else "It holds:"
    return "\n".join([head, *([beginning] if rows else []), *rows])


def _with_range(table: Table, column: int) -> str:
    """The column's name; for numbers also the smallest and the largest, as written."""
    cells = [row[column] for row in table.rows if row[column]]
    values = [(value, cell) for cell in cells if (value := number(cell)) is not None]
    name = one_line(table.columns[column])
    if not values or len(values) < len(cells):
        return name
    low, high = min(values)[1], max(values)[1]
    return f"{name} ({low} to {high})" if low != high else f"{name} ({low})"


def answer(question: str, table: Table) -> str:
    """The answer from one table. Raises ExpertError if it has none."""
    asked = _parse_question(question, table)
    words = asked.words
    asks_count = words & {"many", "count"} or {"number", "of"} <= words
    if asks_count and (counted := _count(asked, table)):
        return counted
    if words & (_LARGEST | _SMALLEST):
        return _extreme(asked, table, largest=bool(words & _LARGEST))
    if words & {"average", "mean", "sum", "total"}:
        return _aggregate(asked, table, mean=bool(words & {"average", "mean"}))
    if asked.cell and asked.rows:
        return _look_up(asked, table)
    if asked.columns and words & {"columns"}:
        return f"The columns are {', '.join(table.columns)}."
    if asked.columns and asked.nothing_else:
        return "\n".join(_list_values(column, table) for column in asked.columns[:MAX_LISTED])
    raise ExpertError(
        tr("The built-in method cannot answer that kind of question from a table."),
        hint=tr(
            "It finds the largest, smallest, sum, average or count of a column, or a row's value."
        ),
    )


def _parse_question(question: str, table: Table) -> _TableQuestion:
    words = frozenset(tokens(question))
    named = {stem(word) for word in words - _ASKING}
    scored, known = [], set[str]()
    for at, column in enumerate(table.columns):
        parts = [stem(word) for word in tokens(column)]
        heard = [{word for word in named if _is_similar(part, word)} for part in parts]
        known.update(*heard)
        hits = sum(map(bool, heard))
        if hits:
            scored.append((-hits / len(parts), at))
    cell, rows = _named_rows(question, table)
    left = {word for word in words - _ASKING - _AS_A_WHOLE if stem(word) not in known}
    nothing_else = not left and not words & {"why", "how"}
    return _TableQuestion(words, tuple(at for _, at in sorted(scored)), rows, cell, nothing_else)


def _is_similar(one: str, other: str) -> bool:
    return one == other or (len(one) > 4 and SequenceMatcher(None, one, other).ratio() > 0.85)


def _named_rows(question: str, table: Table) -> tuple[tuple[int, str] | None, tuple[int, ...]]:
    """The longest cell whose words the question contains, and the rows that have it."""
    line = f" {' '.join(tokens(question))} "
    best: tuple[int, str] | None = None
    length = 0
    for row in table.rows:
        for at, cell in enumerate(row):
            if len(cell) > length and (written := " ".join(tokens(cell))):
                plain_word = written in _ASKING or any(
                    written == " ".join(tokens(column)) for column in table.columns
                )
                if not plain_word and f" {written} " in line:
                    best, length = (at, cell), len(cell)
    if best is None:
        return None, ()
    column, content = best
    same = content.casefold()
    return best, tuple(at for at, row in enumerate(table.rows) if row[column].casefold() == same)


def _scope(asked: _TableQuestion, table: Table) -> tuple[Sequence[int], str]:
    """The rows that a question is about, and a phrase for them."""
    if asked.cell and asked.rows:
        column, content = asked.cell
        name = table.columns[column]
        return asked.rows, f" where {name} is {content}" if name else f" with {content}"
    return range(len(table.rows)), ""


def _count(asked: _TableQuestion, table: Table) -> str:
    rows, where = _scope(asked, table)
    if "columns" in asked.words:
        return f"The table has {len(table.columns)} columns."
    value_column = [at for at in asked.columns if not asked.cell or at != asked.cell[0]]
    if value_column and asked.cell and len(rows) == 1:
        return _look_up(asked, table)
    if value_column and not asked.cell:
        column = value_column[0]
        different = {row[column] for row in table.rows if row[column]}
        return f"There are {len(different)} different values of {table.columns[column]}."
    if not where and not asked.words & {"row", "rows", "entries", "records", "lines"}:
        return ""
    counted = "is 1 row" if len(rows) == 1 else f"are {len(rows)} rows"
    return f"There {counted}{where}."


def _numbers(asked: _TableQuestion, table: Table) -> tuple[int, list[tuple[float, int]], str]:
    rows, where = _scope(asked, table)
    for column in asked.columns:
        values = [
            (value, at) for at in rows if (value := number(table.rows[at][column])) is not None
        ]
        filled = sum(bool(table.rows[at][column]) for at in rows)
        if values and len(values) >= 0.5 * filled:
            return column, values, where
    numeric = [name for at, name in enumerate(table.columns) if name and _is_numeric(table, at)]
    raise ExpertError(
        tr("The question names no column of numbers."),
        hint=tr("The table has {numeric}.", numeric=", ".join(numeric[:8]))
        if numeric
        else tr("The table has none."),
    )


def _is_numeric(table: Table, column: int) -> bool:
    cells = [row[column] for row in table.rows[:50] if row[column]]
    return bool(cells) and all(number(cell) is not None for cell in cells)


def _extreme(asked: _TableQuestion, table: Table, *, largest: bool) -> str:
    column, values, where = _numbers(asked, table)
    best = (max if largest else min)(value for value, _ in values)
    rows = [at for value, at in values if value == best]
    label = _label_column(table, column)
    names = ", ".join(dict.fromkeys(table.rows[at][label] for at in rows[:5]))
    word = "highest" if largest else "lowest"
    shown = table.rows[rows[0]][column]
    more = f" and {len(rows) - 5} more rows" if len(rows) > 5 else ""
    whose = f", of {names}{more}" if label != column else ""
    return f"The {word} {table.columns[column]}{where} is {shown}{whose}."


def _aggregate(asked: _TableQuestion, table: Table, *, mean: bool) -> str:
    column, values, where = _numbers(asked, table)
    total = sum(value for value, _ in values)
    result = total / len(values) if mean else total
    what = "average" if mean else "sum"
    shown = f"{result:,.2f}".rstrip("0").rstrip(".")
    return f"The {what} of {table.columns[column]}{where} is {shown}, over {len(values)} rows."


def _look_up(asked: _TableQuestion, table: Table) -> str:
    assert asked.cell is not None
    column, content = asked.cell
    wanted = [at for at in asked.columns if at != column]
    if len(asked.rows) > 3 and not wanted:
        return f"There are {len(asked.rows)} rows with {content}."
    lines = []
    for at in asked.rows[:5]:
        row = table.rows[at]
        if wanted:
            lines.append(f"The {table.columns[wanted[0]]} of {content} is {row[wanted[0]]}.")
        else:
            pairs = zip(table.columns, row, strict=True)
            lines.append("; ".join(f"{name}: {cell}" for name, cell in pairs if cell) + ".")
    return "\n".join(dict.fromkeys(lines))


def _list_values(column: int, table: Table) -> str:
    values = list(dict.fromkeys(one_line(row[column]) for row in table.rows if row[column]))
    name = table.columns[column]
    if len(values) < 2:
        return f"The {name} is {values[0]}." if values else f"Nothing stands in {name}."
    more = f" and {len(values) - MAX_NAMED} more" if len(values) > MAX_NAMED else ""
    return f"The values of {name} are {', '.join(values[:MAX_NAMED])}{more}."


def _label_column(table: Table, column: int) -> int:
    """The column that names the rows: the first without numbers."""
    for at in range(len(table.columns)):
        if at != column and not _is_numeric(table, at) and not re.match("date", table.columns[at]):
            return at
    return column


TABLE_QUESTION_ANSWERING = define(
    name="table-question-answering",
    summary="Answers a question about a table: largest, smallest, sum, average, count, one cell.",
    ports=(Port("table", (Kind.TABLE,)), Port("question", (Kind.TEXT,))),
    cues=(
        "in the table", "in this table", "from the table", "in the spreadsheet", "in the csv",
        "which row", "which column", "how many rows", "average of the", "sum of the", "column",
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
            )
        ),
    ),
    method=reply,
    note="what it holds; largest, smallest, sum, average, count and look-up, by column name",
)  # fmt: skip
