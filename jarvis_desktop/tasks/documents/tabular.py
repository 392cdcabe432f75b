"""Fills in empty cells of a table's column, learning from rows with a known value. In a child.

Two plain methods that need few rows and no settings, with numpy alone; the one that does better on
held-back rows is used. The Hub's models for this are pickles, which may carry code: they are never
loaded.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.documents.tables import Table, number, read_tables
from jarvis_desktop.tasks.naming import quantity
from jarvis_desktop.text.tokens import tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FOLDS = 5
NEIGHBOURS = 7
MAX_COMPARED = 5_000  # rows that each row is compared with
MAX_LEARNED_KINDS = 40  # different entries up to which a column is categorical; beyond, it is text
MAX_WORDS = 2_000
MAX_CELLS = 30_000_000  # numbers that represent a table: 240 MB
MAX_CHECKED = 5_000  # rows used for cross-validation
SMOOTHING = 0.5

Predict = Callable[["Array"], "Array"]  # returns the share of each answer, per row


@dataclass(frozen=True, slots=True)
class Features:
    """Rows as numbers: measures in standard units (NaN if missing), and choices and words."""

    measures: Array
    choices: Array  # one column per entry or word: 1 if the row has it

    @property
    def joined(self) -> Array:
        """Measures and choices side by side."""
        import numpy as np

        return np.hstack([self.measures, self.choices])

    @property
    def width(self) -> int:
        """The number of measures; the choices follow them."""
        return int(self.measures.shape[1])


def features(columns: Sequence[Sequence[str]]) -> Features:
    """Convert the columns of a table, except those that only number the rows."""
    import numpy as np

    rows = len(columns[0]) if columns else 0
    measures: list[Array] = []
    choices: list[Array] = []
    for cells in columns:
        values = [number(cell) for cell in cells]
        filled = sum(bool(cell) for cell in cells)
        known = [value for value in values if value is not None]
        if not filled or _only_counts(known, rows):
            continue
        if len(known) >= 0.8 * filled:
            column = np.array([np.nan if value is None else value for value in values])
            spread = float(np.nanstd(column))
            if spread:
                measures.append((column - np.nanmean(column)) / spread)
        else:
            room = MAX_CELLS // rows - len(measures) - len(choices)
            choices += _marks(cells, max(room, 0))
    none = np.zeros((rows, 0))
    return Features(
        np.stack(measures, axis=1) if measures else none,
        np.stack(choices, axis=1) if choices else none,
    )


def _only_counts(values: Sequence[float], rows: int) -> bool:
    """Whether a column numbers the rows, which says nothing about them."""
    steps = {after - before for before, after in pairwise(values)}
    return rows > 5 and len(values) == rows and steps == {1.0}


def _marks(cells: Sequence[str], room: int) -> list[Array]:
    """Which rows have each entry of a column; for text, each of its words. Only the most common
    ones, if there is not room for all."""
    import numpy as np

    found = [{cell.casefold()} if cell else set() for cell in cells]
    if len({cell.casefold() for cell in cells}) > MAX_LEARNED_KINDS:
        found = [set(tokens(cell)) for cell in cells]
    often = Counter(word for each in found for word in each)
    kept = [word for word, times in often.most_common(MAX_WORDS) if 1 < times < len(cells)]
    return [np.array([float(word in each) for each in found]) for word in kept[:room]]


def bayes(rows: Features, answers: Sequence[float], kinds: int) -> Predict:
    """Naive Bayes: a normal distribution per measure and a share per choice, as if independent."""
    import numpy as np

    told = np.array(answers).astype(int)
    count = np.bincount(told, minlength=kinds) + SMOOTHING
    prior = np.log(count / count.sum())
    mean = np.zeros((kinds, rows.width))
    spread = np.ones((kinds, rows.width))
    share = np.zeros((kinds, rows.choices.shape[1]))
    for kind in range(kinds):
        own = told == kind
        seen = ~np.isnan(rows.measures[own])
        size = seen.sum(0)
        values = np.where(seen, rows.measures[own], 0.0)
        # Shrink kinds with few rows towards the whole, with mean 0 and spread 1.
        mean[kind] = values.sum(0) / (size + SMOOTHING)
        squares = np.where(seen, (values - mean[kind]) ** 2, 0.0).sum(0)
        spread[kind] = np.sqrt((squares + SMOOTHING) / (size + SMOOTHING))
        share[kind] = (rows.choices[own].sum(0) + SMOOTHING) / (own.sum() + 2 * SMOOTHING)

    width = rows.width

    def tell(asked: Array) -> Array:
        scores = np.repeat(prior[None, :], len(asked), axis=0)
        for kind in range(kinds):
            away = (asked[:, :width] - mean[kind]) / spread[kind]
            scores[:, kind] += np.nansum(-0.5 * away**2 - np.log(spread[kind]), axis=1)
            marks = asked[:, width:]
            scores[:, kind] += marks @ np.log(share[kind]) + (1 - marks) @ np.log(1 - share[kind])
        shares = np.exp(scores - scores.max(1, keepdims=True))
        normed: Array = shares / shares.sum(1, keepdims=True)
        return normed

    return tell


def neighbours(rows: Features, answers: Sequence[float], kinds: int) -> Predict:
    """The most similar rows decide, weighted by closeness; with 0 kinds, by their mean. Wilson and
    Martinez, "Improved heterogeneous distance functions", 1997."""
    import numpy as np

    chooser = np.random.default_rng(0)
    size = min(len(answers), MAX_COMPARED)
    kept = np.sort(chooser.choice(len(answers), size, replace=False))
    width = rows.width
    # A missing measure counts as the mean.
    known = np.hstack([np.nan_to_num(rows.measures[kept]) / 4, rows.choices[kept] / np.sqrt(2)])
    told = np.array(answers)[kept]
    lengths = (known**2).sum(1)
    most = min(NEIGHBOURS, size)

    def tell(asked: Array) -> Array:
        found = np.zeros((len(asked), max(kinds, 1)))
        for at in range(0, len(asked), 256):
            part = asked[at : at + 256]
            part = np.hstack([np.nan_to_num(part[:, :width]) / 4, part[:, width:] / np.sqrt(2)])
            far = np.maximum((part**2).sum(1)[:, None] + lengths[None, :] - 2 * part @ known.T, 0)
            near = np.argsort(far, axis=1, kind="stable")[:, :most]
            weight = 1 / (np.sqrt(np.take_along_axis(far, near, 1)) + 0.05)
            if kinds:
                for kind in range(kinds):
                    found[at : at + 256, kind] = (weight * (told[near] == kind)).sum(1)
            else:
                found[at : at + 256, 0] = (weight * told[near]).sum(1)
            found[at : at + 256] /= weight.sum(1, keepdims=True)
        return found

    return tell


@dataclass(frozen=True, slots=True)
class LearnedModel:
    """The better method, and its score on rows that it had not seen."""

    tell: Predict
    name: str
    right: float  # the share of correct answers; for numbers, the mean error
    plain: float  # the same for always answering the commonest, or the mean


def learn(rows: Features, answers: Sequence[float], kinds: int) -> LearnedModel:
    """Choose the method that does best in cross-validation. `kinds` is 0 if the answers are
    numbers."""
    import numpy as np

    told = np.array(answers)
    order = np.random.default_rng(0).permutation(len(told))[:MAX_CHECKED]
    folds = np.array_split(order, min(FOLDS, len(order)))
    ways = {"nearest neighbours": neighbours}
    if kinds:
        ways = {"naive Bayes": bayes, **ways}
    results = {}
    for name, way in ways.items():
        guessed = np.zeros(len(told))
        for fold in folds:
            rest = np.setdiff1d(order, fold)
            seen = Features(rows.measures[rest], rows.choices[rest])
            found = way(seen, told[rest].tolist(), kinds)(rows.joined[fold])
            guessed[fold] = found.argmax(1) if kinds else found[:, 0]
        results[name] = _score(guessed[order], told[order], kinds)
    best = (max if kinds else min)(results, key=lambda name: results[name])
    plain = np.zeros(len(told))
    for fold in folds:
        rest = told[np.setdiff1d(order, fold)]
        plain[fold] = np.bincount(rest.astype(int)).argmax() if kinds else rest.mean()
    tell = ways[best](rows, answers, kinds)
    return LearnedModel(tell, best, results[best], _score(plain[order], told[order], kinds))


def _score(guessed: Array, told: Array, kinds: int) -> float:
    import numpy as np

    return float((guessed == told).mean() if kinds else np.abs(guessed - told).mean())


MIN_KNOWN_ROWS = 6  # rows whose value must be known
MAX_KINDS = 50  # different values of the learned column


def fill_column(call: Call, report: Report) -> Iterable[Artifact]:
    """Fill in the column; return the table, and a sentence about how reliable it is. Raises
    InputError if the column is unclear, or there is too little to learn from."""
    tables = _tables(call)
    column = _column(call.words("column"), tables)
    asked, examples = _roles(tables, column)
    report(None, tr("Learning {column}", column=column))
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
            hint=tr("Leave it empty in the rows to fill in, or give a second table."),
        )
    answers = [row[target] for row in known]
    _check(answers, column)
    # Convert known and unknown rows together, so that they are in the same units.
    places = [(examples.columns.index(name), asked.columns.index(name)) for name in names]
    columns = [
        [row[there] for row in known] + [asked.rows[at][here] for at in open_rows]
        for there, here in places
    ]
    whole = features(columns)
    seen = type(whole)(whole.measures[: len(known)], whole.choices[: len(known)])
    if not whole.joined.shape[1]:
        raise InputError(tr("The other columns contain nothing to learn from."))
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
        (kinds[int(row.argmax())], f"{row.max():.0%}") if kinds else (_format_value(row[0]), "")
        for row in shares
    ]
    table = _filled_rows(asked, column, own, dict(zip(open_rows, found, strict=True)), bool(kinds))
    path = call.workdir / "filled.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(table)
    return [
        Artifact(Kind.TABLE, path=path, name="filled.csv"),
        text_artifact(
            _summary_sentence(column, len(open_rows), len(known), learnt, answers, found, kinds)
        ),
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
    """The column that the words name, else the only one with empty cells."""
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
        tr("It is not clear which column to fill in."),
        hint=tr("Name one of: {names}.", names=", ".join(names[:20]))
        if names
        else tr("Give the columns names."),
    )


def _roles(tables: Sequence[Table], column: str) -> tuple[Table, Table]:
    """The table to fill in, and the one with the examples: often the same."""

    def known(table: Table) -> int:
        if column not in table.columns:
            return 0
        at = table.columns.index(column)
        return sum(bool(row[at]) for row in table.rows)

    ordered = sorted(tables, key=known)
    return ordered[0], ordered[-1]


def _check(answers: Sequence[str], column: str) -> None:
    if len(answers) < MIN_KNOWN_ROWS:
        raise InputError(
            tr(
                "{column} is known in {answers} rows only; at least {fewest} are needed.",
                column=column,
                answers=len(answers),
                fewest=MIN_KNOWN_ROWS,
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
    if different > MAX_KINDS and not _is_measure([number(answer) for answer in answers]):
        raise InputError(
            tr(
                "{column} has {different} different values, which are too many to predict.",
                column=column,
                different=different,
            )
        )


def _is_measure(values: Sequence[float | None]) -> bool:
    """Whether a column holds measurements rather than the numbers of a few classes."""
    different = len(set(values))
    return None not in values and different > 10 and different > 0.1 * len(values)


def _filled_rows(
    table: Table, column: str, own: int | None, found: dict[int, tuple[str, str]], sure: bool
) -> Iterable[list[str]]:
    """The rows of the new file; each filled-in value comes with its certainty."""
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


def _summary_sentence(
    column: str,
    count: int,
    known: int,
    learnt: LearnedModel,
    answers: Sequence[str],
    found: Sequence[tuple[str, str]],
    kinds: Sequence[str],
) -> str:
    rows = quantity(count, "row")
    head = f"{column} is filled in for {rows}, learnt from {known:,} others by {learnt.name}."
    if not kinds:
        error, plain = _format_value(learnt.right), _format_value(learnt.plain)
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


def _format_value(value: float) -> str:
    return f"{value:.4g}"


TABULAR_CLASSIFICATION = define(
    name="tabular-classification", label="Fill in column",
    summary="Fills in a column of a table where it is empty, learning from the other rows.",
    ports=(Port("table", (Kind.TABLE,)), Port("examples", (Kind.TABLE,), required=False)),
    gives=(Kind.TABLE, Kind.TEXT),
    options=(TaskOption("column", "the column to be filled in", "", reads="clause"),),
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
    method=fill_column,
    note="naive Bayes or nearest neighbours, learnt from the table's own rows and checked on some",
)  # fmt: skip
