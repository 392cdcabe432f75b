"""Searches the index of the Hub by words, conditions and meaning.

Only a few hundred of each task's most popular entries have a vector (384 bytes): embedding all
summaries would take hours, and rarely used experts need not be found by meaning.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log as ln
from math import log10
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any
from zlib import crc32

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.experts.hub import database
from jarvis_desktop.experts.hub import entry as terms
from jarvis_desktop.experts.hub.database import RepositoryCheck, entry_of
from jarvis_desktop.experts.hub.entry import HubEntry, HubQuery, is_repo
from jarvis_desktop.text.languages import NAMES

if TYPE_CHECKING:
    import numpy as np


MAX_VECTORS = 300
"""Entries of a task that get a vector."""
MIN_FOR_MEAN = 8
"""With fewer entries, the mean of a task's vectors says nothing."""


def text_of(entry: HubEntry) -> str:
    """Return what is embedded of an entry."""
    name = entry.repo.partition("/")[2].replace("-", " ").replace("_", " ")
    tags = " ".join(tag.partition(":")[2] or tag for tag in entry.tags)
    return f"{name}. {tags}. {entry.summary}"


def near(db: sqlite3.Connection, task: int, direction: Sequence[float]) -> dict[int, float]:
    """Return the similarity of a task's entries to the request, by key, from 0 to 1.

    The mean of all vectors is subtracted first, since it does not distinguish them.
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
    if len(rows) >= MIN_FOR_MEAN:
        middle = vectors.mean(0)
        vectors, request = _unit(vectors - middle), _unit(request - middle)
    nearness = np.clip(vectors @ request, 0.0, 1.0).tolist()
    return {key: value for (key, _), value in zip(rows, nearness, strict=True)}


def missing(db: sqlite3.Connection, task: int, name: str) -> list[tuple[int, str]]:
    """Return key and text of entries whose vector is missing or outdated."""
    rows = db.execute(
        "SELECT * FROM entries WHERE number BETWEEN ? AND ? AND runs ORDER BY number LIMIT ?",
        [*database.span(task), MAX_VECTORS],
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
    """Save the vectors of entries."""
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


log = logging.getLogger(__name__)

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Returns a vector for each text; similar texts have similar directions."""

READ_PER_WORD = 32
"""How many of the most popular entries with a word are read."""
WIDE_FACTOR = 10
"""How many times more are read if too few of them meet the criteria."""
MAX_SIMILAR = 24
"""Entries that are read because of their meaning."""
MAX_LICENCE_TERMS = 12
"""More licences than this are not part of the query: most entries have one of them."""
WORDS, MEANING, POPULARITY = 1.0, 1.0, 0.15
"""The weight of the words found, of similarity and of popularity.

On 52 requests worded unlike the summaries of 673 entries, the intended one was among the first five
in 46 % by words alone, and in 79 % with these weights."""


@dataclass(frozen=True, slots=True)
class HubHit:
    """An entry and its score."""

    entry: HubEntry
    score: float


@dataclass(frozen=True, slots=True)
class _Lists:
    """The entries found for one task, and the weight of each word."""

    weights: Mapping[str, float]
    numbers: Iterable[int]
    cut: bool
    """Whether there are more."""


class HubIndex:
    """The index, open for reading as soon as it exists. Callable from any thread.

    A missing, outdated or damaged index is empty. `embed` adds entries that are similar in meaning;
    without it only words count.
    """

    def __init__(self, path: Path, *, embed: Embed | None = None) -> None:
        self.path = path
        self._embed = embed
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._file = 0
        self._opened = 0
        self._allowed: tuple[object, Sequence[str]] = (None, ())
        self._last: tuple[str, Sequence[float]] | None = None

    def close(self) -> None:
        """Close the file; the next search opens it again."""
        with self._lock:
            self._shut()

    @property
    def version(self) -> int:
        """Changes whenever somebody writes to the index; -1 without an index."""
        rows = self._read("PRAGMA data_version")
        return 1000 * self._opened + int(rows[0][0]) if rows else -1

    @property
    def size(self) -> int:
        """How many entries there are."""
        rows = self._read("SELECT coalesce(sum(entries), 0) FROM ladder")
        return int(rows[0][0]) if rows else 0

    def find(self, repo: str) -> HubEntry | None:
        """Return a repository's entry, whatever its case."""
        if not is_repo(repo):
            return None
        found = self.keyed(database.key_of(repo), database.key_of(repo))
        return next((each for each in found if each.repo.casefold() == repo.casefold()), None)

    def keyed(self, first: int, last: int) -> list[HubEntry]:
        """Return the entries whose keys are in this range."""
        rows = self._read(
            "SELECT tasks.name, entries.* FROM entries"
            " JOIN tasks ON tasks.number = entries.number >> ?"
            " WHERE key BETWEEN ? AND ? LIMIT 100",
            [database.SERIAL_BITS + database.POPULARITY_BITS, first, last],
        )
        return [entry_of(row, task) for task, *row in rows]

    def checks(self) -> dict[str, RepositoryCheck]:
        """Return what the Hub said of each shipped expert's repository."""
        rows = self._read("SELECT * FROM checked")
        return {row[0]: RepositoryCheck.of(row) for row in rows}

    def search(self, wanted: HubQuery) -> list[HubHit]:
        """Return the best entries, best first."""
        asked = terms.asked(wanted.words)
        direction = self._direction(wanted.words) if asked else None
        found: list[HubHit] = []
        with self._lock:
            try:
                db = self._open()
                if db is None:
                    return []
                condition = _condition(wanted, self._licences(db, wanted))
                if condition is None:
                    return []
                for task, name in _tasks(db, wanted.tasks):
                    found += _search(db, task, name, wanted, condition, asked, direction)
            except sqlite3.Error as error:
                self._give_up(error)
        found.sort(key=lambda each: (-each.score, -each.entry.downloads))
        return found[: wanted.limit]

    def _licences(self, db: sqlite3.Connection, wanted: HubQuery) -> Sequence[str]:
        """The terms of the allowed licences, cached because there are thousands of names."""
        if wanted.any_licence:
            return ()
        (count,) = db.execute("SELECT count(*) FROM licences").fetchone()
        key = (count, wanted.allowed_licences, wanted.denied_licences)
        if self._allowed[0] != key:
            names = [row[0] for row in db.execute("SELECT name FROM licences")]
            found = [terms.licence_term(name) for name in names if wanted.licence_allowed(name)]
            self._allowed = key, tuple(dict.fromkeys(found))
        return self._allowed[1]

    def _direction(self, words: str) -> Sequence[float] | None:
        """The request's vector; the last one is cached, since a plan asks for several tasks."""
        if self._embed is None or not self.path.is_file():
            return None
        last = self._last
        if last is None or last[0] != words:
            try:
                last = self._last = (words, self._embed([words])[0])
            except JarvisError:  # the words are enough
                return None
        return last[1]

    def _read(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        with self._lock:
            try:
                db = self._open()
                return db.execute(query, values).fetchall() if db else []
            except sqlite3.Error as error:
                self._give_up(error)
                return []

    def _open(self) -> sqlite3.Connection | None:
        """The connection, reopened if the file was replaced."""
        try:
            file = self.path.stat().st_ino
        except OSError:
            self._shut()
            return None
        if self._connection is None or file != self._file:
            self._shut()
            self._connection, self._file = database.open_to_read(self.path), file
            self._opened += 1
        return self._connection

    def _give_up(self, error: sqlite3.Error) -> None:
        # The shipped list works without the index.
        log.info("the index of the Hub gave no answer: %s", error)
        self._shut()

    def _shut(self) -> None:
        if self._connection:
            self._connection.close()
        self._connection = None


_MATCH = (
    "SELECT rowid FROM terms WHERE terms MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?"
)
_NUMBERED = "SELECT * FROM entries WHERE number IN (SELECT value FROM json_each(?))"
_KEYED = "SELECT * FROM entries WHERE key IN (SELECT value FROM json_each(?))"
_APART = str.maketrans(dict.fromkeys("-_/:,;()[]", " "))


def _tasks(db: sqlite3.Connection, names: Sequence[str]) -> list[tuple[int, str]]:
    rows = db.execute("SELECT number, name FROM tasks").fetchall()
    return [(number, name) for number, name in rows if not names or name in names]


def _condition(wanted: HubQuery, allowed: Sequence[str]) -> str | None:
    """The FTS5 condition for every entry; "" without one, None if no entry can meet it.

    `allowed` are the terms of the allowed licences, unless all are.
    """
    parts = []
    if wanted.runs:
        parts.append(terms.quoted(terms.RUNS))
    if wanted.served:
        parts.append(terms.quoted(terms.SERVED))
    if not wanted.gated:
        parts.append(terms.quoted(terms.OPEN))
    if not wanted.any_licence:
        if not allowed:
            return None
        if len(allowed) <= MAX_LICENCE_TERMS:
            parts.append(terms.any_of(allowed))
    if wanted.language:
        parts.append(terms.any_of((terms.LANGUAGE + wanted.language, terms.LANGUAGE + "*")))
    if wanted.largest_mb and (size := terms.size_term(wanted.largest_mb)):
        parts.append(terms.quoted(size))
    return " AND ".join(parts)


def _search(
    db: sqlite3.Connection,
    task: int,
    name: str,
    wanted: HubQuery,
    condition: str,
    asked: Sequence[str],
    direction: Sequence[float] | None,
) -> list[HubHit]:
    """The promising entries of one task, with their scores."""
    nearness = near(db, task, direction) if direction is not None else {}
    keys = sorted(nearness, key=lambda key: -nearness[key])[:MAX_SIMILAR]
    usual = max(READ_PER_WORD, 2 * wanted.limit)
    found: list[HubHit] = []
    for count in (usual, WIDE_FACTOR * usual):
        lists = _lists(db, task, name, condition, asked, count)
        found = [
            HubHit(entry, _score(entry, lists.weights, nearness.get(key, 0.0)))
            for key, entry in _entries(db, name, lists.numbers, keys)
            if wanted.accepts(entry)
        ]
        if len(found) >= wanted.limit or not lists.cut:
            break
    return found


def _score(entry: HubEntry, weights: Mapping[str, float], nearness: float) -> float:
    text = _text(entry)
    whole = sum(weights.values())
    having = sum(weight for word, weight in weights.items() if f" {word}" in text)
    words = having / whole if whole else 0.0
    popularity = min(1.0, log10(1 + entry.downloads) / 7)
    return WORDS * words + MEANING * nearness + POPULARITY * popularity


def _lists(
    db: sqlite3.Connection, task: int, name: str, condition: str, asked: Sequence[str], count: int
) -> _Lists:
    """The most popular entries for each word, for all words, and for none."""
    first, last = database.span(task)

    def listed(*words: str) -> list[int]:
        if not words and not condition:
            rows = db.execute(
                "SELECT number FROM entries WHERE number BETWEEN ? AND ? ORDER BY number LIMIT ?",
                [first, last, count],
            )
        else:
            # The task is a term too, because FTS5 would look for a match beyond its range of
            # numbers.
            parts = [terms.quoted(word) for word in (terms.TASK + name, *words)]
            expression = " AND ".join([*parts, *filter(None, [condition])])
            rows = db.execute(_MATCH, [expression, first, last, count])
        return [row[0] for row in rows]

    steps = db.execute(
        "SELECT class, entries FROM ladder WHERE class BETWEEN ? AND ?",
        [database.class_of(first), database.class_of(last)],
    ).fetchall()
    numbers: dict[int, None] = {}
    weights: dict[str, float] = {}
    rare = False
    for word in asked:
        if having := listed(word):
            numbers.update(dict.fromkeys(having))
            weights[word] = _weight(having, steps, full=len(having) == count)
            rare = rare or len(having) < count
    # An entry with all words has the rare one, and was found by it. Several common words are
    # looked up among the popular entries only, because there may be no match and the search takes
    # long.
    if len(weights) > 1 and not rare:
        numbers.update(dict.fromkeys(listed(terms.TOP + name, *weights)))
    plain = listed()
    numbers.update(dict.fromkeys(plain))
    return _Lists(weights, numbers, cut=len(plain) == count)


def _weight(having: Sequence[int], steps: Sequence[tuple[int, int]], *, full: bool) -> float:
    """A word's weight as in BM25 (Robertson and Zaragoza, 2009).

    If the list was cut, the number of entries with the word is estimated from how far the list
    reached.
    """
    whole = sum(entries for _, entries in steps)
    reached = database.class_of(having[-1])
    passed = sum(entries for step, entries in steps if step <= reached)
    number = len(having) * whole / max(passed, len(having)) if full else len(having)
    return ln(1 + (whole - number + 0.5) / (number + 0.5))


def _entries(
    db: sqlite3.Connection, task: str, numbers: Iterable[int], keys: Sequence[int]
) -> Iterator[tuple[int, HubEntry]]:
    """The rows with their keys, each once."""
    seen: set[int] = set()
    for query, values in ((_NUMBERED, list(numbers)), (_KEYED, list(keys))):
        for row in db.execute(query, [json.dumps(values)]):
            if row[1] not in seen:
                seen.add(row[1])
                yield row[1], entry_of(row, task)


def _text(entry: HubEntry) -> str:
    """The text that is searched for the stems of words."""
    spoken = [NAMES.get(code, "") for code in entry.languages]
    text = " ".join(("", entry.repo, *entry.tags, *spoken, entry.summary))
    return text.casefold().translate(_APART)
