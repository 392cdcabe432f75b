"""Writes pages of the Hub's list into the index, each with where the next one begins, or not at
all: whatever ends the process, what is there is whole and can be gone on with."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from jarvis_desktop.catalogue.hub import database
from jarvis_desktop.catalogue.hub.checks import Check
from jarvis_desktop.catalogue.hub.entry import OURS, UNFIT, Entry
from jarvis_desktop.catalogue.hub.terms import indexed

MERGED = 2000
"""Pages of the full-text index that are joined in one transaction."""

_INSERT = f"INSERT INTO entries VALUES ({', '.join(18 * '?')})"  # noqa: S608 - marks alone
_CHECK = f"INSERT OR REPLACE INTO checked VALUES ({', '.join(10 * '?')})"  # noqa: S608
_UPDATE = (
    "UPDATE entries SET round = ?, sha = ?, modified = ?, downloads = ?, likes = ?, parameters = ?"
    " WHERE number = ?"
)
_DELETE = "INSERT INTO terms (terms, rowid, text) VALUES ('delete', ?, ?)"


@dataclass(frozen=True, slots=True)
class State:
    """How far the list of one task was read."""

    number: int
    name: str
    round: int = 0
    """Of reading the whole list; every entry bears that in which it was last met."""
    sort: str = ""
    """What the reading that is under way is sorted by; "" where none is."""
    cursor: str = ""
    """Where that goes on."""
    position: int = 0
    """How many entries it has met."""
    began: int = 0
    """When it did; all moments are seconds since 1970, by the Hub's clock."""
    known: int = 0
    """All changes up to then are here; 0 where the list was never read whole."""
    whole: int = 0
    """When it was."""


class Writer:
    """The index, open for writing. Raises StorageError where the disk refuses."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.connection = database.open_to_write(path)

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close it."""
        self.connection.close()

    def state(self, task: str) -> State:
        """How far a task was read; a new task gets its number here."""
        with self.transaction() as db:
            db.execute("INSERT INTO tasks (name) VALUES (?) ON CONFLICT DO NOTHING", [task])
            row = db.execute("SELECT * FROM tasks WHERE name = ?", [task]).fetchone()
        return State(*row)

    def keep(self, entries: Iterable[Entry], state: State) -> int:
        """Take in a page of a task's list, and how far it was read then; how many were new."""
        with self.transaction() as db:
            fresh = sum([_take_in(db, entry, state) for entry in entries])
            _save(db, state)
        return fresh

    def count(self, state: State) -> int:
        """How many entries of a task there are."""
        first, last = map(database.class_of, database.span(state.number))
        query = "SELECT coalesce(sum(entries), 0) FROM ladder WHERE class BETWEEN ? AND ?"
        return int(self.connection.execute(query, [first, last]).fetchone()[0])

    def unsized(self, state: State, most: int) -> list[Entry]:
        """The most popular entries of a task that would run here, were their size known."""
        rows = self.connection.execute(
            "SELECT * FROM entries WHERE number BETWEEN ? AND ? AND runs AND NOT weights_mb"
            " ORDER BY number LIMIT ?",
            [*database.span(state.number), most],
        )
        return [entry_of(row, state.name) for row in rows]

    def note(self, check: Check) -> None:
        """Keep what the Hub said of a repository of the shipped list."""
        with self.transaction() as db:
            db.execute(_CHECK, check.row)

    def finish(self, state: State) -> int:
        """Drop entries that a whole reading has not met, some at a time; how many that were."""
        dropped = 0
        while True:
            with self.transaction() as db:
                rows = db.execute(
                    "SELECT * FROM entries WHERE number BETWEEN ? AND ? AND round < ? LIMIT 1000",
                    [*database.span(state.number), state.round],
                ).fetchall()
                for row in rows:
                    _drop(db, row[0], entry_of(row, state.name))
                if not rows:
                    _save(db, state)
                    return dropped
            dropped += len(rows)

    def tidy(self) -> None:
        """Join the pieces of the full-text index, so that searches open few of them."""
        # The first number begins the joining, the others go on; each a small transaction.
        size = -MERGED
        while True:
            with self.transaction() as db:
                before = db.total_changes
                db.execute("INSERT INTO terms (terms, rank) VALUES ('merge', ?)", [size])
                if db.total_changes - before < 2:
                    return
            size = MERGED

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing."""
        with database.writing(self._path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise


def values_of(entry: Entry) -> tuple[object, ...]:
    """An entry as the columns after its numbers."""
    return (
        entry.repo, bytes.fromhex(entry.sha), entry.modified, entry.downloads, entry.likes,
        entry.parameters, entry.weights_mb, entry.licence, entry.gated, entry.library,
        " ".join(entry.languages), " ".join(entry.providers), " ".join(entry.tags), entry.summary,
        entry.runs,
    )  # fmt: skip


def entry_of(row: Sequence[Any], task: str) -> Entry:
    """The reverse, of a whole row."""
    _, _, _, repo, sha, modified, downloads, likes, parameters, size, *rest = row
    licence, gated, library, languages, providers, tags, summary, runs = rest
    return Entry(
        repo=repo,
        task=task,
        sha=sha.hex(),
        modified=modified,
        downloads=downloads,
        likes=likes,
        parameters=parameters,
        weights_mb=size,
        licence=licence,
        gated=bool(gated),
        library=library,
        languages=tuple(languages.split()),
        providers=tuple(providers.split()),
        tags=tuple(tags.split()),
        summary=summary,
        runs=bool(runs),
    )


def _save(db: sqlite3.Connection, state: State) -> None:
    _, _, *values = astuple(state)
    db.execute(
        "UPDATE tasks SET round = ?, sort = ?, cursor = ?, position = ?, began = ?, known = ?,"
        " whole = ? WHERE number = ?",
        [*values, state.number],
    )


def _take_in(db: sqlite3.Connection, entry: Entry, state: State) -> bool:
    """Insert or renew one entry; whether it was not there."""
    key = database.key_of(entry.repo)
    row = db.execute("SELECT * FROM entries WHERE key = ?", [key]).fetchone()
    if row is None:
        _insert(db, entry, state, key)
        return True
    number = row[0]
    step = database.class_of(number)
    task = db.execute(
        "SELECT name FROM tasks WHERE number = ?", [step >> database.POPULARITY_BITS]
    ).fetchone()[0]
    known = entry_of(row, task)
    entry = _completed(entry, known)
    moves = database.class_of(database.number_of(state.number, entry.downloads, 0)) != step
    renewed = replace(
        known,
        sha=entry.sha,
        modified=entry.modified,
        downloads=entry.downloads,
        likes=entry.likes,
        parameters=entry.parameters,
    )
    if moves or renewed != entry:
        _drop(db, number, known)
        _insert(db, entry, state, key)
        return False
    counts = (entry.modified, entry.downloads, entry.likes, entry.parameters)
    db.execute(_UPDATE, [state.round, bytes.fromhex(entry.sha), *counts, number])
    return False


def _completed(entry: Entry, known: Entry) -> Entry:
    """With what was once read of the repository itself, of which the list tells less."""
    if known.repo != entry.repo:
        return entry
    entry = replace(entry, summary=entry.summary or known.summary)
    ours = tuple(tag for tag in known.tags if tag in OURS and tag not in entry.tags)
    if known.sha != entry.sha or not (ours or known.weights_mb):
        return entry
    return replace(
        entry,
        weights_mb=entry.weights_mb or known.weights_mb,
        tags=(*entry.tags, *ours),
        runs=entry.runs and UNFIT not in ours,
    )


def _insert(db: sqlite3.Connection, entry: Entry, state: State, key: int) -> None:
    (serial,) = db.execute(
        "INSERT INTO counters VALUES ('serial', 1)"
        " ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value"
    ).fetchone()
    number = database.number_of(state.number, entry.downloads, serial)
    db.execute(_INSERT, [number, key, state.round, *values_of(entry)])
    db.execute("INSERT INTO terms (rowid, text) VALUES (?, ?)", [number, indexed(entry)])
    db.execute("INSERT INTO licences VALUES (?) ON CONFLICT DO NOTHING", [entry.licence])
    db.execute(
        "INSERT INTO ladder VALUES (?, 1) ON CONFLICT DO UPDATE SET entries = entries + 1",
        [database.class_of(number)],
    )


def _drop(db: sqlite3.Connection, number: int, entry: Entry) -> None:
    db.execute(_DELETE, [number, indexed(entry)])
    db.execute("DELETE FROM entries WHERE number = ?", [number])
    db.execute(
        "UPDATE ladder SET entries = entries - 1 WHERE class = ?", [database.class_of(number)]
    )
