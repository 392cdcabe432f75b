"""How near words of a question are to the names of columns in meaning: "vendor" to "Supplier".

The encoder of the embedded planner says so. Its nearness is a guess, which the answer shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from jarvis_desktop.paths import shipped
from jarvis_desktop.process.onnx import TextEncoder
from jarvis_desktop.tasks.documents.table_words import TableField

if TYPE_CHECKING:
    import numpy as np

NEAR = 0.44
"""From which on a word is taken for a column; unrelated ones are below 0.4 mostly."""
COUNTED = 0.66
"""The same for what is counted: "how many trains" does not mean their carriages."""
MEASURED = 0.6
"""The same for columns of numbers: a profit is not a price."""
LOOSE = 0.3
"""The same if some column of numbers must be meant: "the lightest dish" by its calories."""
MAX_COLUMNS = 60
"""Columns whose names are compared: each takes two milliseconds."""


def nearest(word: str, fields: Iterable[TableField], least: float = NEAR) -> TableField | None:
    """Return the column whose name means most nearly the same, or None if none does."""
    pool = list(fields)[:MAX_COLUMNS]
    scores = [(likeness(word, " ".join(item.parts)), -at) for at, item in enumerate(pool)]
    best = max(scores, default=(0.0, 0))
    return pool[-best[1]] if pool and best[0] >= least else None


@cache
def likeness(one: str, other: str) -> float:
    """Return how alike two texts are in meaning: 1 if they are the same, about 0.2 if unrelated."""
    return float(_direction(one) @ _direction(other))


@cache
def _direction(text: str) -> np.ndarray:
    import numpy as np

    vector = _encoder().mean(text)
    return np.asarray(vector / np.linalg.norm(vector))


@cache
def _encoder() -> TextEncoder:
    return TextEncoder(shipped("models", "planner"))
