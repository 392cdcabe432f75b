"""Meaning: where the summaries of the most popular entries point, and which are near a request.

A direction is 384 numbers of one byte, some hundred for each task: to read all summaries of the
Hub would take hours, and those that are never taken need not be found by what they mean.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from jarvis_desktop.catalogue.hub import database
from jarvis_desktop.catalogue.hub.entry import Entry
from jarvis_desktop.catalogue.hub.rows import entry_of

if TYPE_CHECKING:
    import numpy as np

MOST = 300
"""Entries of a task that get a direction."""
FEW = 8
"""With fewer there is no telling what the entries of a task have in common."""


def text_of(entry: Entry) -> str:
    """What of an entry is read for its meaning."""
    name = entry.repo.partition("/")[2].replace("-", " ").replace("_", " ")
    tags = " ".join(tag.partition(":")[2] or tag for tag in entry.tags)
    return f"{name}. {tags}. {entry.summary}"


def near(db: sqlite3.Connection, task: int, direction: Sequence[float]) -> dict[int, float]:
    """How near each entry of a task that has a direction is to the request's, by its key, 0 to 1.

    What all entries of the task have in common is taken off first: it says nothing.
    """
    import numpy as np

    rows = db.execute("SELECT key, vector FROM vectors WHERE task = ?", [task]).fetchall()
    if not rows:
        return {}
    table = np.frombuffer(b"".join(row[1] for row in rows), dtype=np.int8)
    if table.size != len(rows) * len(direction):
        return {}
    vectors = _unit(table.reshape(len(rows), -1).astype(np.float32))
    request = _unit(np.asarray(direction, dtype=np.float32))
    if len(rows) >= FEW:
        middle = vectors.mean(0)
        vectors, request = _unit(vectors - middle), _unit(request - middle)
    nearness = np.clip(vectors @ request, 0.0, 1.0).tolist()
    return {key: value for (key, _), value in zip(rows, nearness, strict=True)}


def missing(db: sqlite3.Connection, task: int, name: str) -> list[tuple[int, str]]:
    """Key and text of the entries that should have a direction and have none, or an old one."""
    rows = db.execute(
        "SELECT * FROM entries WHERE number BETWEEN ? AND ? AND runs ORDER BY number LIMIT ?",
        [*database.span(task), MOST],
    ).fetchall()
    known = dict(db.execute("SELECT key, text FROM vectors WHERE task = ?", [task]).fetchall())
    texts = [(row[1], text_of(entry_of(row, name))) for row in rows]
    gone = known.keys() - {key for key, _ in texts}
    db.executemany("DELETE FROM vectors WHERE task = ? AND key = ?", [(task, key) for key in gone])
    return [(key, text) for key, text in texts if known.get(key) != _digest(text)]


def keep(
    db: sqlite3.Connection,
    task: int,
    texts: Sequence[tuple[int, str]],
    directions: Sequence[Sequence[float]],
) -> None:
    """Keep the directions of entries."""
    import numpy as np

    for (key, text), direction in zip(texts, directions, strict=True):
        values = np.asarray(direction, dtype=np.float32)
        largest = float(np.abs(values).max()) or 1.0
        vector = np.round(values / largest * 127).astype(np.int8).tobytes()
        db.execute(
            "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", [task, key, _digest(text), vector]
        )


def _unit(values: np.ndarray) -> np.ndarray:
    import numpy as np

    length = np.linalg.norm(values, axis=-1, keepdims=True)
    return np.asarray(values / np.maximum(length, 1e-6))


def _digest(text: str) -> int:
    return crc32(text.encode("utf-8", "replace"))
