"""Fills in a column of a table where it is empty, learning from the rows where it is not. Runs in
a child process.

What the Hub has for this are pickles, which may carry code: they are never loaded.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Sequence

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Option, Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.learning import Learnt, features, learn
from jarvis_desktop.tasks.tables import Table, number, read_tables
from jarvis_desktop.tasks.words import tokens

TYPE = TaskType(
    name="tabular-classification",
    summary="Fills in a column of a table where it is empty, learning from the other rows.",
    ports=(Port("table", (Kind.TABLE,)), Port("examples", (Kind.TABLE,), required=False)),
    gives=(Kind.TABLE, Kind.TEXT),
    options=(Option("column", "the column to be filled in", "", reads="clause"),),
    cues=(
        "tabular classification", "classify the rows", "classify each row", "classify every row",
        "classify the table", "label the rows", "label each row", "predict the column",
        "predict ... column", "predict the missing", "predict the values", "predict the label*",
        "predict ... for each row", "predict ... for every row", "predict ... in the table",
        "predict ... from the table", "fill in the column",
        "fill in ... column", "fill in the missing values", "fill in the missing labels",
        "fill in the missing", "fill in the empty", "fill in the empty cells",
        "impute the missing", "missing values in the table",
    ),
)  # fmt: skip

FEWEST = 6
"""Rows that must be known."""

MOST_KINDS = 50
"""Different values of the column that is learnt."""


def fill(call: Call, report: Report) -> Iterable[Artifact]:
    """The table with the column filled in, and how far that can be relied on.

    Raises InputError where the column cannot be told, or there is too little to learn from.
    """
    tables = _tables(call)
    column = _column(call.words("column"), tables)
    asked, examples = _roles(tables, column)
    report(None, f"learning {column}")
    names = [name for name in asked.columns if name and name != column and name in examples.columns]
    if not names:
        raise InputError(tr("The table has no other column to learn from."))
    target = examples.columns.index(column)
    known = [row for row in examples.rows if row[target]]
    own = asked.columns.index(column) if column in asked.columns else None
    open_rows = [at for at, row in enumerate(asked.rows) if own is None or not row[own]]
    if not open_rows:
        raise InputError(
            tr("{column} is filled in everywhere: there is nothing to predict.", column=column),
            hint=tr("Leave it empty in the rows that are to be filled in, or give a second table."),
        )
    answers = [row[target] for row in known]
    _check(answers, column)
    # Both kinds of rows are put into numbers together, in the same units.
    places = [(examples.columns.index(name), asked.columns.index(name)) for name in names]
    columns = [
        [row[there] for row in known] + [asked.rows[at][here] for at in open_rows]
        for there, here in places
    ]
    whole = features(columns)
    seen = type(whole)(whole.measures[: len(known)], whole.choices[: len(known)])
    if not whole.joined.shape[1]:
        raise InputError(tr("The other columns hold nothing that could be learnt from."))
    values = [number(answer) for answer in answers]
    measured = _is_measure(values)
    kinds = [] if measured else sorted(set(answers))
    learnt = learn(
        seen,
        [value or 0.0 for value in values]
        if measured
        else [float(kinds.index(a)) for a in answers],
        len(kinds),
    )
    shares = learnt.tell(whole.joined[len(known) :])
    found = [
        (kinds[int(row.argmax())], f"{row.max():.0%}") if kinds else (_written(row[0]), "")
        for row in shares
    ]
    table = _filled(asked, column, own, dict(zip(open_rows, found, strict=True)), bool(kinds))
    path = call.workdir / "filled.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(table)
    return [
        Artifact(Kind.TABLE, path=path, name="filled.csv"),
        text_artifact(_told(column, len(open_rows), len(known), learnt, answers, found, kinds)),
    ]


def _tables(call: Call) -> list[Table]:
    items = (*call.inputs.get("table", ()), *call.inputs.get("examples", ()))
    tables = [
        max(read_tables(item.path, name=item.title), key=lambda table: len(table.rows))
        for item in items
        if item.path is not None
    ]
    if not tables:
        raise InputError(tr("Give a table, such as a CSV file."))
    return tables


def _column(words: str, tables: Sequence[Table]) -> str:
    """The column that the words name, or else the only one with empty cells."""
    names = list(dict.fromkeys(name for table in tables for name in table.columns if name))
    exact = [name for name in names if name.casefold() == words.strip().casefold()]
    line = f" {' '.join(tokens(words))} "
    named = [name for name in names if (said := " ".join(tokens(name))) and f" {said} " in line]
    if found := exact or named:
        return max(found, key=len)
    if len(tables) == 1:
        (table,) = tables
        gaps = [
            name
            for at, name in enumerate(table.columns)
            if name and any(not row[at] for row in table.rows)
        ]
        if len(gaps) == 1:
            return gaps[0]
    else:
        lacking = [name for name in names if sum(name in table.columns for table in tables) == 1]
        if len(lacking) == 1:
            return lacking[0]
    raise InputError(
        tr("It is not clear which column is to be filled in."),
        hint=tr("Name one of: {names}.", names=", ".join(names[:20]))
        if names
        else tr("Give the columns names."),
    )


def _roles(tables: Sequence[Table], column: str) -> tuple[Table, Table]:
    """The table that is to be filled in, and the one with the examples: often the same."""

    def known(table: Table) -> int:
        if column not in table.columns:
            return 0
        at = table.columns.index(column)
        return sum(bool(row[at]) for row in table.rows)

    ordered = sorted(tables, key=known)
    return ordered[0], ordered[-1]


def _check(answers: Sequence[str], column: str) -> None:
    if len(answers) < FEWEST:
        raise InputError(
            tr(
                "{column} is known in {answers} rows only; at least {fewest} are needed.",
                column=column,
                answers=len(answers),
                fewest=FEWEST,
            ),
            hint=tr("Fill it in for more rows."),
        )
    different = len(set(answers))
    if different < 2:
        raise InputError(
            tr(
                "{column} is {answers} in every row: there is nothing to learn.",
                column=column,
                answers=answers[0],
            )
        )
    if different > MOST_KINDS and not _is_measure([number(answer) for answer in answers]):
        raise InputError(
            tr(
                "{column} has {different} different values, which are too many to tell apart.",
                column=column,
                different=different,
            )
        )


def _is_measure(values: Sequence[float | None]) -> bool:
    """Whether a column holds measures rather than the numbers of a few classes."""
    different = len(set(values))
    return None not in values and different > 10 and different > 0.1 * len(values)


def _filled(
    table: Table, column: str, own: int | None, found: dict[int, tuple[str, str]], sure: bool
) -> Iterable[list[str]]:
    """The rows of the new file; beside what was filled in stands how sure that is."""
    more = ([] if own is not None else [column]) + ([f"{column} (how sure)"] if sure else [])
    yield [*table.columns, *more]
    for at, row in enumerate(table.rows):
        cells = list(row)
        value, share = found.get(at, ("", ""))
        if own is None:
            cells.append(value)
        elif at in found:
            cells[own] = value
        yield cells + ([share] if sure else [])


def _told(
    column: str,
    count: int,
    known: int,
    learnt: Learnt,
    answers: Sequence[str],
    found: Sequence[tuple[str, str]],
    kinds: Sequence[str],
) -> str:
    rows = "1 row" if count == 1 else f"{count:,} rows"
    head = f"{column} is filled in for {rows}, learnt from {known:,} others by {learnt.name}."
    if not kinds:
        error, plain = _written(learnt.right), _written(learnt.plain)
        check = f"On rows held back it was off by {error} on average; the mean alone, by {plain}."
        poor = learnt.right >= 0.95 * learnt.plain
    else:
        often = Counter(answers).most_common(1)[0][0]
        check = (
            f"On rows held back it was right in {learnt.right:.0%}; "
            f"always saying “{often}” would be right in {learnt.plain:.0%}."
        )
        poor = learnt.right <= learnt.plain
        counted = Counter(value for value, _ in found)
        head += f" {', '.join(f'{value}: {times}' for value, times in counted.most_common(5))}."
    warning = " That is no better than guessing: do not rely on it." if poor else ""
    return f"{head} {check}{warning}"


def _written(value: float) -> str:
    return f"{value:.4g}"


DEFINITION = Definition(
    TYPE,
    method=fill,
    note="naive Bayes or nearest neighbours, learnt from the table's own rows and checked on some",
)
