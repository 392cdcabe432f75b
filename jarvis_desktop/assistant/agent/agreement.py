"""Whether a query came to the same result as a script that was written apart from it.

A script and a query share few slips, even by the same LLM, so "done" rests on their agreement. It
is strict: everything that the script says must be in the rows of the query, and what cannot be
compared does not agree.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from jarvis_desktop.assistant.agent.expected_results import ExpectedResult, ResultKind
from jarvis_desktop.assistant.agent.goal_checks import (
    COUNTABLE,
    answer_in,
    fits,
    names_order,
    wrote,
)
from jarvis_desktop.assistant.agent.made_files import csv_rows, plain_text
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.text.numbers import GERMAN_NUMBERS

CRUDE = 0.05
"""Of a value: one that is rounded further says too little."""
MAX_COMPARED = 1500
"""Rows that are looked for in any order; behind them the order must be the same."""

Result = tuple[str, Sequence[Artifact]]
"""What a script printed, and the files that it made."""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What a query returned."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    ranked: bool = True
    """Whether its first row is the answer where only the best one is asked for."""


_number = re.compile(r"(?<![\w.-])[-+]?\d[\d,]*(?:\.\d+)?(?![\w-]|\.\d)")
_name = re.compile(r"(?<![\w.,-])\w+(?:[.:/_-]\w+)*")
_date = re.compile(r"\d{4}-\d\d(?:-\d\d)?(?:[ T]\d\d:\d\d(?::\d\d)?)?")
_year = re.compile(r"^(\d{4})-\d\d\b")
_word = re.compile(r"[^\W\d_]{2,}")
_token = re.compile(r"\d[\d,]*(?:\.\d+)?|\w+")
_best = re.compile(
    r"\b(?:most|least|best|worst|last|ahead|(?!(?:requ|inter|t|gu|prot|inv|dig|for|harv|hon|cont|sugg|r)est)"
    r"\w+est|\w+sten|h[öo]chste\w*|le\s+plus|la\s+plus|m[áa]s)\b",
    re.IGNORECASE,
)
_several = re.compile(
    rf"\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten|{'|'.join(GERMAN_NUMBERS)})\b",
    re.IGNORECASE,
)
_names_columns = re.compile(
    r"\b(?:columns?\s+names?|headers?|rename\w*|column\s+(?:called|named)|spaltennamen)\b",
    re.IGNORECASE,
)
_percent = re.compile(r"\bpercent|\bprozent|\bpour\s?cent|\bshares?\b|\banteil|%", re.IGNORECASE)
_months = (
    "jan[a-z]* feb[a-z]* m(?:ar|är)[a-z]* apr[a-z]* ma[iy] jun[a-z]* jul[a-z]* aug[a-z]* sep[a-z]*"
    " o[ck]t[a-z]* nov[a-z]* de[cz][a-z]*"
).split()
_year_of_month = re.compile(rf"\b({'|'.join(_months)})\s+\d{{4}}\b", re.IGNORECASE)
_weekdays = (
    "sun[a-z]*|sonntag mon[a-z]*|montag tue[a-z]*|dienstag wed[a-z]*|mittwoch thu[a-z]*|donnerstag"
    " fri[a-z]*|freitag sat[a-z]*|samstag"
).split()


def agrees(
    expected: ExpectedResult,
    result: Result,
    query: QueryResult,
    words: Collection[str],
    given: Collection[Artifact],
) -> bool:
    """Return whether the result of a query confirms what a script made. `words` are those of the
    given files by which results can differ. It reads files."""
    (printed, made), rows = result, query.rows
    if expected.kind is ResultKind.ANSWER:
        return answers_agree(expected, printed, [(expected, query)], words, given)
    files = [item for item in made if fits(item, expected)]
    if not files:
        return False
    if expected.kind is ResultKind.CHART:
        return _same_points(wrote(printed).get(files[-1].title, ""), rows)
    if expected.kind is ResultKind.TEXT and (text := plain_text(files[-1])):
        return _same_lines(text, rows)
    tables = [csv_rows(item) or () for item in files]
    if not all(tables) or any(table[0] != tables[0][0] for table in tables):
        return False
    if expected.kind is not ResultKind.FILES:
        return _same_table(tables[-1], query, expected.goal, words, given)
    whole = [tables[0][0], *(row for table in tables for row in table[1:])]
    return _are_parts([table[1:] for table in tables]) and _same_table(
        whole, query, "", words, given
    )


def _are_parts(tables: Sequence[Sequence[Sequence[str]]]) -> bool:
    """Return whether each table has one value in a column, another one than the others."""
    return len(tables) > 1 and any(
        all(len(set(cells)) == 1 for cells in columns)
        and len({cells[0] for cells in columns}) == len(tables)
        for columns in zip(*(zip(*table, strict=False) for table in tables), strict=False)
    )


# Values.


def same_number(text: str, value: object) -> bool:
    """Return whether a number that is written as text is this value, rounded as it is written."""
    try:
        number, other = float(text.replace(",", "")), float(str(value))
    except ValueError:
        return False
    last = 0.51 * 10.0 ** -len(text.partition(".")[2])
    return abs(number - other) <= max(min(last, CRUDE * abs(other)), 1e-6 * abs(other))


def _same_cell(one: str, two: object) -> bool:
    """Return whether a cell of a file is this value: a number, a word, or a date of which one says
    more."""
    text, other = one.strip().casefold(), ("" if two is None else str(two).strip().casefold())
    bare = text.strip("% "), other.strip("% ")
    if text == other or same_number(*bare) or same_number(*reversed(bare)):
        return True
    return bool(text and other) and _is_moment(text) == _is_moment(other) != "" and (
        text.endswith(other) or other.endswith(text)
    )  # fmt: skip


def _is_moment(text: str) -> str:
    return (
        "date" if re.fullmatch(r"(?:\d{4}-)?(?:\d\d-?){1,2}(?:[ t]?\d\d(?::\d\d)*)?", text) else ""
    )


# Answers.


def answers_agree(
    expected: ExpectedResult,
    printed: str,
    returned: Iterable[tuple[ExpectedResult, QueryResult]],
    words: Collection[str],
    given: Collection[Artifact],
) -> bool:
    """Return whether the answer that a script printed is what queries returned together, each for
    one of the questions in it. It reads files."""
    rows: list[Sequence[object]] = []
    wanted: list[Sequence[object]] = []
    names = _Names(given)
    for part, query in returned:
        best = _best.search(part.clause) and not _several.search(part.clause)
        theirs = query.rows[:1] if query.ranked and best else query.rows
        whole = [[*row, *names.of(row)] for row in theirs]
        rows += whole
        counts = [[cell for cell in row if isinstance(cell, int | float)] for row in theirs]
        # Who asks how many is told the number; otherwise the name or the value of a row will do.
        wanted += counts if COUNTABLE.search(part.clause) and all(counts) else whole
    answer = answer_in(printed)
    numbers = [float(each.replace(",", "")) for each in _number.findall(answer)]
    if not any(map(any, rows)) or (numbers and not any(numbers)):
        return False  # both may have looked for the same that is not there, such as a word
    return _same_answer(expected, answer, rows, wanted, words)


class _Names:
    """The given rows by what only one of them has. A query may return the names of customers where
    the script says their numbers. It reads files."""

    def __init__(self, given: Collection[Artifact]) -> None:
        self._rows: dict[str, Sequence[str]] = {}
        for _, *body in filter(None, map(csv_rows, given)):
            for cells in zip(*body, strict=False):
                texts = [cell.casefold() for cell in cells]
                if len(set(texts)) == len(texts) and not any(map(_number.fullmatch, texts)):
                    self._rows |= dict(zip(texts, body, strict=True))

    def of(self, row: Sequence[object]) -> Iterator[str]:
        """Yield the other cells of the given row that a row is about."""
        for cell in row:
            yield from self._rows.get(cell.casefold(), ()) if isinstance(cell, str) else ()


def _same_answer(
    expected: ExpectedResult,
    answer: str,
    rows: Sequence[Sequence[object]],
    wanted: Sequence[Sequence[object]],
    words: Collection[str],
) -> bool:
    """Return whether all that an answer says is in `rows`, and something of each row of `wanted` in
    the answer."""
    said = set(_word.findall(expected.goal.casefold()))
    named = _number.findall(expected.goal)
    rest = _date.sub(" ", answer)
    if len(_number.findall(rest)) > 1:  # a value besides the year of "May 2024"
        rest = _year_of_month.sub(r"\1", rest)
    facts = [
        *_date.findall(answer),
        *(each for each in _number.findall(rest) if each not in named),
        *(each for each in _codes(rest) if each not in expected.goal.casefold()),
        *(
            word
            for word in dict.fromkeys(_word.findall(rest.casefold()))
            if word not in said and (word in words or _moment_names(word))
        ),
    ]
    if not facts:
        return False
    percent = bool(_percent.search(expected.clause))
    cells = [cell for row in rows for cell in row if cell is not None]
    if not all(any(_tells(fact, cell, percent) for cell in cells) for fact in facts):
        return False
    told = (any(_tells(fact, cell, percent) for cell in row for fact in facts) for row in wanted)
    return all(told)


def _codes(text: str) -> list[str]:
    """Return the names with digits in a text: of files, addresses, or codes such as K7."""
    found = _name.findall(text.casefold())
    return [each for each in found if re.search(r"\d", each) and not _number.fullmatch(each)]


def _tells(fact: str, cell: object, percent: bool) -> bool:
    """Return whether a date, a number or a word of an answer is in a cell."""
    text = str(cell).casefold()
    if _date.fullmatch(fact):
        return text.startswith(fact) or (len(fact) == len("2024-05") and fact.endswith(f"-{text}"))
    if fact in _codes(fact):
        return text.startswith(fact) or fact in _codes(text)
    if _number.fullmatch(fact):
        values = [text, *_number.findall(text), *_year.findall(text)]
        if percent and isinstance(cell, float):
            values.append(str(100 * cell))
        return any(same_number(fact, value) for value in values)
    return fact in _word.findall(text) or text in _moment_names(fact) or any(
        text.endswith(f"-{each}") for each in _moment_names(fact) if len(each) == 2
    )  # fmt: skip


def _moment_names(word: str) -> Collection[str]:
    """Return how a query writes the name of a month or a weekday."""
    for at, pattern in enumerate(_months, 1):
        if re.fullmatch(pattern, word):
            return {f"{at:02}", str(at)}
    return {str(at) for at, pattern in enumerate(_weekdays) if re.fullmatch(pattern, word)}


# Charts, texts and tables.


def _same_points(about: str, rows: Sequence[Sequence[object]]) -> bool:
    kind, _, points = about.partition(" points: ")
    count = re.search(r"(\d+)$", kind)
    if not count:
        return False
    shown = [part.rpartition(" ") for part in points.removesuffix("; …").split("; ")]
    if kind.startswith("histogram"):
        values = [cell for row in rows for cell in row[-1:] if isinstance(cell, int | float)]
        counted = sum(float(value.replace(",", "")) for _, _, value in shown)
        return bool(values) and counted == len(values) and same_number(shown[0][0], min(values))
    return int(count[1]) == len(rows) and all(
        any(
            any(_same_cell(label, cell) for cell in row)
            and any(same_number(value, cell) or _near(value, cell) for cell in row)
            for row in rows
        )
        for label, _, value in shown
    )


def _near(text: str, value: object) -> bool:
    """Return whether a value is this one, which a chart writes with six digits."""
    return isinstance(value, int | float) and f"{value:,.6g}" == text


def _same_lines(text: str, rows: Sequence[Sequence[object]]) -> bool:
    """Return whether the lines of a text say what rows say, in the same order if they are one
    column."""
    lines = [_tokens(line) for line in text.splitlines()]
    wanted = [_tokens(" ".join("" if cell is None else str(cell) for cell in row)) for row in rows]
    lines, wanted = list(filter(None, lines)), list(filter(None, wanted))
    if len(rows[0]) == 1:
        return lines == wanted
    return Counter(map(_sorted, lines)) == Counter(map(_sorted, wanted))


def _tokens(line: str) -> list[str]:
    return [
        f"{float(token.replace(',', '')):g}" if token[0].isdigit() and token[-1].isdigit()
        and re.fullmatch(r"[\d,]*\.?\d*", token) else token
        for token in _token.findall(line.casefold())
    ]  # fmt: skip


def _sorted(tokens: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(tokens))


def _same_table(
    table: Sequence[Sequence[str]],
    query: QueryResult,
    goal: str,
    words: Collection[str],
    given: Iterable[Artifact],
) -> bool:
    """Return whether a table is what a query returned, whatever the order of their columns.

    One of them may have more columns, of the same name and values as one of the given files. Names
    of columns must be the same if the goal is about them, or if they are values of the files, as in
    a pivot table.
    """
    header, *body = table
    if len(body) != len(query.rows):
        return _is_pivot_of(header, body, query.rows)
    columns, others = list(zip(*body, strict=False)), list(zip(*query.rows, strict=False))
    pairs = list(_paired(columns, others))
    for one, two in pairs:
        names = header[one].casefold(), query.columns[two].casefold()
        if names[0] != names[1] and (_names_columns.search(goal) or {*words} & {*names}):
            return False
    left = [at for at in range(len(columns)) if at not in {one for one, _ in pairs}]
    more = [at for at in range(len(others)) if at not in {two for _, two in pairs}]
    unmatched = [(header[at], columns[at]) for at in left]
    unmatched += [(query.columns[at], others[at]) for at in more]
    if (left and more) or not all(_is_given(name, cells, given) for name, cells in unmatched):
        return False
    # Whole rows, not only columns.
    mine = [[row[one] for one, _ in pairs] for row in body]
    theirs = [[row[two] for _, two in pairs] for row in query.rows]
    if names_order(goal):
        return bool(pairs) and all(map(_same_row, mine, theirs))
    return bool(pairs) and _matched(mine, theirs)


def _is_pivot_of(
    header: Sequence[str], body: Sequence[Sequence[str]], rows: Sequence[Sequence[object]]
) -> bool:
    """Return whether a table has a column for each value of the second column of rows, and a row
    for each value of their first."""
    if not rows or len(rows[0]) != 3 or len(header) < 3:
        return False
    cells = [
        (row[0], column, cell)
        for row in body
        for column, cell in zip(header[1:], row[1:], strict=False)
        if cell not in ("", "0")
    ]
    there = [row for row in rows if row[2] not in (None, 0)]
    return len(cells) == len(there) and _matched(cells, there)


def _paired(
    columns: Sequence[Sequence[str]], others: Sequence[Sequence[object]]
) -> Iterator[tuple[int, int]]:
    """Yield the columns that have the same cells, whatever their order."""
    free = list(range(len(others)))
    for one, cells in enumerate(columns):
        for two in free:
            if _same_set(cells, others[two]):
                yield one, two
                free.remove(two)
                break


def _same_set(one: Sequence[object], two: Sequence[object]) -> bool:
    first, second = (sorted(map(_sortable, cells)) for cells in (one, two))
    return len(first) == len(second) and all(
        _same_cell(text, other) for (*_, text), (*_, other) in zip(first, second, strict=True)
    )


def _sortable(cell: object) -> tuple[int, float, str]:
    text = "" if cell is None else str(cell).strip()
    try:
        return (0, float(text.replace(",", "").strip("% ")), text)
    except ValueError:
        return (1, 0.0, text.casefold())


def _same_row(one: Sequence[str], two: Sequence[object]) -> bool:
    return all(map(_same_cell, one, two))


def _matched(mine: Sequence[Sequence[str]], theirs: Sequence[Sequence[object]]) -> bool:
    """Return whether the rows are the same, in any order."""
    left = list(theirs)
    for row in mine[:MAX_COMPARED]:
        at = next((at for at, other in enumerate(left) if _same_row(row, other)), None)
        if at is None:
            return False
        del left[at]
    return all(map(_same_row, mine[MAX_COMPARED:], left))


def _is_given(name: str, cells: Sequence[object], given: Iterable[Artifact]) -> bool:
    """Return whether a column is one of the given tables, or a part of one."""
    known = {
        cell[:2] if cell[0] == 0 else cell
        for item in given
        for other, *column in zip(*(csv_rows(item) or ()), strict=False)
        if other.casefold() == name.casefold()
        for cell in map(_sortable, column)
    }
    return all((cell[:2] if cell[0] == 0 else cell) in known for cell in map(_sortable, cells))
