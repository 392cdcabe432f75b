"""Learns from the rows of a table whose value is known to tell that of others. Numbers only: numpy.

Two plain methods that need few rows and no settings; which of them does better on rows that were
held back is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from jarvis_desktop.tasks.tables import number
from jarvis_desktop.tasks.words import tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

FOLDS = 5
NEIGHBOURS = 7
MOST_COMPARED = 5_000
"""Rows that each row is compared with."""
MOST_KINDS = 40
"""Different entries up to which a column is one of choices; beyond, it is text."""
MOST_WORDS = 2_000
MOST_CELLS = 30_000_000
"""Numbers that stand for a table: 240 MB."""
MOST_CHECKED = 5_000
"""Rows that the methods are tried on."""
SMOOTHING = 0.5

Tell = Callable[["Array"], "Array"]
"""A share of each answer, per row."""


@dataclass(frozen=True, slots=True)
class Features:
    """Rows as numbers: measures in standard units (NaN where missing), and choices and words."""

    measures: Array
    choices: Array
    """One column per entry or word: 1 where the row has it."""

    @property
    def joined(self) -> Array:
        """Both, side by side."""
        import numpy as np

        return np.hstack([self.measures, self.choices])

    @property
    def width(self) -> int:
        """How many measures there are; the choices follow them."""
        return int(self.measures.shape[1])


def features(columns: Sequence[Sequence[str]]) -> Features:
    """The columns of a table, without those that are only numbers of the rows."""
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
            room = MOST_CELLS // rows - len(measures) - len(choices)
            choices += _marks(cells, max(room, 0))
    none = np.zeros((rows, 0))
    return Features(
        np.stack(measures, axis=1) if measures else none,
        np.stack(choices, axis=1) if choices else none,
    )


def _only_counts(values: Sequence[float], rows: int) -> bool:
    """Whether a column numbers the rows: that says nothing about them."""
    steps = {after - before for before, after in pairwise(values)}
    return rows > 5 and len(values) == rows and steps == {1.0}


def _marks(cells: Sequence[str], room: int) -> list[Array]:
    """Which rows have each entry of a column; of a column of text, each of its words.

    The commonest ones, where there is no room for all.
    """
    import numpy as np

    found = [{cell.casefold()} if cell else set() for cell in cells]
    if len({cell.casefold() for cell in cells}) > MOST_KINDS:
        found = [set(tokens(cell)) for cell in cells]
    often = Counter(word for each in found for word in each)
    kept = [word for word, times in often.most_common(MOST_WORDS) if 1 < times < len(cells)]
    return [np.array([float(word in each) for each in found]) for word in kept[:room]]


def bayes(rows: Features, answers: Sequence[float], kinds: int) -> Tell:
    """Naive Bayes: a normal distribution per measure, a share per choice, as if independent."""
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
        # A kind with few rows leans on the whole, whose mean is 0 and whose spread is 1.
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


def neighbours(rows: Features, answers: Sequence[float], kinds: int) -> Tell:
    """The rows most like it decide, the closer the more (Wilson and Martinez, "Improved
    heterogeneous distance functions", 1997). With 0 kinds their mean is told."""
    import numpy as np

    chooser = np.random.default_rng(0)
    size = min(len(answers), MOST_COMPARED)
    kept = np.sort(chooser.choice(len(answers), size, replace=False))
    width = rows.width
    # A missing measure counts as the mean: as far from everything as the middle is.
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
class Learnt:
    """The better method, and how it did on rows that it had not seen."""

    tell: Tell
    name: str
    right: float
    """The share it told right; of numbers, its mean error."""
    plain: float
    """The same of who always says the commonest, or the mean."""


def learn(rows: Features, answers: Sequence[float], kinds: int) -> Learnt:
    """The method that does best in cross-validation. `kinds` is 0 where the answers are numbers."""
    import numpy as np

    told = np.array(answers)
    order = np.random.default_rng(0).permutation(len(told))[:MOST_CHECKED]
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
    return Learnt(tell, best, results[best], _score(plain[order], told[order], kinds))


def _score(guessed: Array, told: Array, kinds: int) -> float:
    import numpy as np

    return float((guessed == told).mean() if kinds else np.abs(guessed - told).mean())
