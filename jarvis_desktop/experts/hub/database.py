"""The index of the Hub: an SQLite file, its writer, and the checks of shipped experts.

It is a copy of what the Hub says. A damaged or outdated file is ignored by readers and replaced by
the writer. Each page of the Hub's list is written in one transaction, with the position of the next
page, so that an interrupted sync can resume.

An entry's number consists of its task, its popularity and a serial number. So the entries of a task
are stored with the most popular first, and the full-text index lists them in that order.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from hashlib import blake2b
from math import log2
from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.experts.hub.entry import OWN_TAGS, UNFIT, HubEntry, indexed

log = logging.getLogger(__name__)

VERSION = 1
"""Of the tables and of what `entry.indexed` returns; an index of another version is outdated."""

READ_TIMEOUT_S, WRITE_TIMEOUT_S = 1.0, 30.0
"""How long to wait for another process, in seconds."""

SERIAL_BITS, POPULARITY_BITS = 30, 6
_CLASSES = (1 << POPULARITY_BITS) - 1

TABLES = """
CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE tasks (
    number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, round INTEGER NOT NULL DEFAULT 0,
    sort TEXT NOT NULL DEFAULT '', cursor TEXT NOT NULL DEFAULT '',
    position INTEGER NOT NULL DEFAULT 0, began INTEGER NOT NULL DEFAULT 0,
    known INTEGER NOT NULL DEFAULT 0, whole INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE entries (
    number INTEGER PRIMARY KEY, key INTEGER NOT NULL, round INTEGER NOT NULL, repo TEXT NOT NULL,
    sha BLOB NOT NULL, modified INTEGER NOT NULL, downloads INTEGER NOT NULL,
    likes INTEGER NOT NULL, parameters INTEGER NOT NULL, weights_mb INTEGER NOT NULL,
    licence TEXT NOT NULL, gated INTEGER NOT NULL, library TEXT NOT NULL, languages TEXT NOT NULL,
    providers TEXT NOT NULL, tags TEXT NOT NULL, summary TEXT NOT NULL, runs INTEGER NOT NULL
);
CREATE UNIQUE INDEX entries_by_key ON entries (key);
CREATE TABLE ladder (class INTEGER PRIMARY KEY, entries INTEGER NOT NULL);
CREATE TABLE licences (name TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE vectors (
    task INTEGER NOT NULL, key INTEGER NOT NULL, text INTEGER NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (task, key)
) WITHOUT ROWID;
CREATE TABLE checked (
    repo TEXT PRIMARY KEY, moment INTEGER NOT NULL, state TEXT NOT NULL, sha TEXT NOT NULL,
    download_mb INTEGER NOT NULL, licence TEXT NOT NULL, gated INTEGER NOT NULL,
    providers TEXT NOT NULL, downloads INTEGER NOT NULL, likes INTEGER NOT NULL
) WITHOUT ROWID;
CREATE VIRTUAL TABLE terms USING fts5(
    text, content='', detail=none, columnsize=0, tokenize="ascii tokenchars '=:.-+*?''_'"
);
"""


def key_of(repo: str) -> int:
    """Return the number by which a repository is found, whatever its case."""
    return int.from_bytes(blake2b(repo.casefold().encode(), digest_size=8).digest()) >> 1


def popularity(downloads: int) -> int:
    """Return the class of an entry's popularity by the logarithm of its downloads; 0 is the top."""
    return _CLASSES - min(_CLASSES, int(2 * log2(1 + downloads)))


def number_of(task: int, downloads: int, serial: int) -> int:
    """Return the number of an entry."""
    return (task << POPULARITY_BITS | popularity(downloads)) << SERIAL_BITS | serial


def class_of(number: int) -> int:
    """Return an entry's task and popularity as one number."""
    return number >> SERIAL_BITS


def span(task: int) -> tuple[int, int]:
    """Return the first and last number that entries of a task can have."""
    width = POPULARITY_BITS + SERIAL_BITS
    return task << width, (task + 1 << width) - 1


def open_to_read(path: Path) -> sqlite3.Connection | None:
    """Open the index for reading; None if there is none that is usable."""
    if not path.is_file():
        return None
    try:
        connection = sqlite3.connect(path, timeout=READ_TIMEOUT_S, check_same_thread=False)
        try:
            connection.execute("PRAGMA query_only = 1")
            if _version(connection) == VERSION:
                return connection
        except sqlite3.Error:
            connection.close()
            raise
        connection.close()
    except sqlite3.Error as error:
        log.info("the index of the Hub cannot be read: %s", error)
    return None


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open the index, creating it if it is missing, outdated or damaged.

    Raises StorageError if it cannot be written.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            connection = _opened(path)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            log.info("the index of the Hub is damaged and begun anew: %s", error)
            connection = None
        if connection is None:
            for ending in ("", "-wal", "-shm"):
                path.with_name(path.name + ending).unlink(missing_ok=True)
            connection = _opened(path)
        if connection is None:
            raise sqlite3.OperationalError(tr("a new file is not empty"))
        return connection


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Translate errors of the disk and of SQLite into StorageError."""
    hint = tr("Check that its folder is writable and that the disk is not full.")
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise StorageError(
            tr(
                "The index of the Hub at {path} cannot be written: {reason}.",
                path=path,
                reason=reason.lower(),
            ),
            hint=hint,
            retryable=isinstance(error, sqlite3.OperationalError),
        ) from error


def _opened(path: Path) -> sqlite3.Connection | None:
    """A connection to a file with our tables; None if it contains something else."""
    connection = sqlite3.connect(path, timeout=WRITE_TIMEOUT_S, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
        version = _version(connection)
        if (
            not version
            and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        ):
            connection.executescript(f"BEGIN;{TABLES};PRAGMA user_version = {VERSION};COMMIT;")
            version = VERSION
        if version == VERSION:
            return connection
    except sqlite3.Error:
        connection.close()
        raise
    connection.close()
    return None


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


THERE, GONE, MOVED = "there", "gone", "moved"


@dataclass(frozen=True, slots=True)
class RepositoryCheck:
    """What the Hub says of one repository of the shipped list."""

    repo: str
    moment: int
    """When it was checked, in seconds since 1970."""
    state: str = THERE
    """THERE, GONE, or MOVED followed by a space and the new name."""
    sha: str = ""
    download_mb: int = 0
    """The size of the files that the expert needs."""
    licence: str = ""
    gated: bool = False
    providers: tuple[str, ...] = ()
    downloads: int = 0
    likes: int = 0

    @staticmethod
    def of(row: Sequence[Any]) -> RepositoryCheck:
        """Restore a check from its row."""
        *facts, gated, providers, downloads, likes = row
        fields = (*facts, bool(gated), tuple(providers.split()), downloads, likes)
        return RepositoryCheck(*fields)

    @property
    def row(self) -> list[object]:
        """The row of the table."""
        return [" ".join(each) if isinstance(each, tuple) else each for each in astuple(self)]

    @property
    def complaint(self) -> str:
        """What is wrong with the repository, in a few words; "" if nothing."""
        if self.state == GONE:
            return "no longer on the Hub"
        if self.state.startswith(MOVED):
            return f"now called {self.state.partition(' ')[2]} on the Hub"
        return ""


def checked(expert: Expert, check: RepositoryCheck | None) -> Expert:
    """Return a shipped expert updated with what the Hub says.

    One that is pinned to a commit keeps that commit and its size, which were read from the Hub as
    well.
    """
    if check is None or check.state != THERE or not check.sha:
        return expert
    counts = replace(
        expert,
        gated=check.gated,
        providers=check.providers or expert.providers,
        downloads=check.downloads,
        likes=check.likes,
    )
    if expert.verified or not check.download_mb:
        return counts
    return replace(
        counts,
        revision=check.sha,
        download_mb=check.download_mb,
        licence=check.licence or expert.licence,
        verified=True,
    )


MERGE_PAGES = 2000
"""Pages of the full-text index that are merged in one transaction."""

_INSERT = f"INSERT INTO entries VALUES ({', '.join(18 * '?')})"  # noqa: S608 - marks alone
_CHECK = f"INSERT OR REPLACE INTO checked VALUES ({', '.join(10 * '?')})"  # noqa: S608
_UPDATE = (
    "UPDATE entries SET round = ?, sha = ?, modified = ?, downloads = ?, likes = ?, parameters = ?"
    " WHERE number = ?"
)
_DELETE = "INSERT INTO terms (terms, rowid, text) VALUES ('delete', ?, ?)"


@dataclass(frozen=True, slots=True)
class SyncState:
    """How far the list of one task has been read."""

    number: int
    name: str
    round: int = 0
    """The number of this complete reading; each entry records the last one that met it."""
    sort: str = ""
    """What the current reading is sorted by; "" if none is under way."""
    cursor: str = ""
    """The page to resume at."""
    position: int = 0
    """How many entries it has read."""
    began: int = 0
    """When it began; all moments are seconds since 1970, by the Hub's clock."""
    known: int = 0
    """All changes until then are in the index; 0 if the list was never read completely."""
    whole: int = 0
    """When the list was last read completely."""


class HubIndexWriter:
    """The index, open for writing. Raises StorageError if it cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.connection = open_to_write(path)

    def __enter__(self) -> HubIndexWriter:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def state(self, task: str) -> SyncState:
        """Return how far a task was read; a new task is registered."""
        with self.transaction() as db:
            db.execute("INSERT INTO tasks (name) VALUES (?) ON CONFLICT DO NOTHING", [task])
            row = db.execute("SELECT * FROM tasks WHERE name = ?", [task]).fetchone()
        return SyncState(*row)

    def keep(self, entries: Iterable[HubEntry], state: SyncState) -> int:
        """Write a page of a task's list and the state after it; return how many entries are new."""
        with self.transaction() as db:
            fresh = sum([_take_in(db, entry, state) for entry in entries])
            _save(db, state)
        return fresh

    def count(self, state: SyncState) -> int:
        """Return the number of entries of a task."""
        first, last = map(class_of, span(state.number))
        query = "SELECT coalesce(sum(entries), 0) FROM ladder WHERE class BETWEEN ? AND ?"
        return int(self.connection.execute(query, [first, last]).fetchone()[0])

    def unsized(self, state: SyncState, most: int) -> list[HubEntry]:
        """Return a task's most popular entries that would run here if their size were known."""
        rows = self.connection.execute(
            "SELECT * FROM entries WHERE number BETWEEN ? AND ? AND runs AND NOT weights_mb"
            " ORDER BY number LIMIT ?",
            [*span(state.number), most],
        )
        return [entry_of(row, state.name) for row in rows]

    def note(self, check: RepositoryCheck) -> None:
        """Save what the Hub says of a shipped expert's repository."""
        with self.transaction() as db:
            db.execute(_CHECK, check.row)

    def finish(self, state: SyncState) -> int:
        """Drop entries that a complete reading has not met, in batches; return how many."""
        dropped = 0
        while True:
            with self.transaction() as db:
                rows = db.execute(
                    "SELECT * FROM entries WHERE number BETWEEN ? AND ? AND round < ? LIMIT 1000",
                    [*span(state.number), state.round],
                ).fetchall()
                for row in rows:
                    _drop(db, row[0], entry_of(row, state.name))
                if not rows:
                    _save(db, state)
                    return dropped
            dropped += len(rows)

    def tidy(self) -> None:
        """Merge the segments of the full-text index to keep searches fast."""
        # The first number starts the merge, the others continue it, each in a small transaction.
        size = -MERGE_PAGES
        while True:
            with self.transaction() as db:
                before = db.total_changes
                db.execute("INSERT INTO terms (terms, rank) VALUES ('merge', ?)", [size])
                if db.total_changes - before < 2:
                    return
            size = MERGE_PAGES

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Commit everything, or roll it back on an error."""
        with writing(self._path):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise


def values_of(entry: HubEntry) -> tuple[object, ...]:
    """Return an entry's columns after its numbers."""
    return (
        entry.repo, bytes.fromhex(entry.sha), entry.modified, entry.downloads, entry.likes,
        entry.parameters, entry.weights_mb, entry.licence, entry.gated, entry.library,
        " ".join(entry.languages), " ".join(entry.providers), " ".join(entry.tags), entry.summary,
        entry.runs,
    )  # fmt: skip


def entry_of(row: Sequence[Any], task: str) -> HubEntry:
    """Restore an entry from a complete row."""
    repo, sha, *numbers, licence, gated, library, languages, providers, tags, text, runs = row[3:]
    lists = (tuple(each.split()) for each in (languages, providers, tags))
    fields = (*numbers, licence, bool(gated), library, *lists, text, bool(runs))
    return HubEntry(repo, task, sha.hex(), *fields)


def _save(db: sqlite3.Connection, state: SyncState) -> None:
    _, _, *values = astuple(state)
    db.execute(
        "UPDATE tasks SET round = ?, sort = ?, cursor = ?, position = ?, began = ?, known = ?,"
        " whole = ? WHERE number = ?",
        [*values, state.number],
    )


def _take_in(db: sqlite3.Connection, entry: HubEntry, state: SyncState) -> bool:
    """Insert or update an entry; return whether it is new."""
    key = key_of(entry.repo)
    row = db.execute("SELECT * FROM entries WHERE key = ?", [key]).fetchone()
    if row is None:
        _insert(db, entry, state, key)
        return True
    number = row[0]
    step = class_of(number)
    task = db.execute(
        "SELECT name FROM tasks WHERE number = ?", [step >> POPULARITY_BITS]
    ).fetchone()[0]
    known = entry_of(row, task)
    entry = _completed(entry, known)
    moves = class_of(number_of(state.number, entry.downloads, 0)) != step
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


def _completed(entry: HubEntry, known: HubEntry) -> HubEntry:
    """The entry with what was read earlier from the repository itself, if it has not changed."""
    if known.repo != entry.repo:
        return entry
    entry = replace(entry, summary=entry.summary or known.summary)
    ours = tuple(tag for tag in known.tags if tag in OWN_TAGS and tag not in entry.tags)
    if known.sha != entry.sha or not (ours or known.weights_mb):
        return entry
    return replace(
        entry,
        weights_mb=entry.weights_mb or known.weights_mb,
        tags=(*entry.tags, *ours),
        runs=entry.runs and UNFIT not in ours,
    )


def _insert(db: sqlite3.Connection, entry: HubEntry, state: SyncState, key: int) -> None:
    (serial,) = db.execute(
        "INSERT INTO counters VALUES ('serial', 1)"
        " ON CONFLICT DO UPDATE SET value = value + 1 RETURNING value"
    ).fetchone()
    number = number_of(state.number, entry.downloads, serial)
    db.execute(_INSERT, [number, key, state.round, *values_of(entry)])
    db.execute("INSERT INTO terms (rowid, text) VALUES (?, ?)", [number, indexed(entry)])
    db.execute("INSERT INTO licences VALUES (?) ON CONFLICT DO NOTHING", [entry.licence])
    db.execute(
        "INSERT INTO ladder VALUES (?, 1) ON CONFLICT DO UPDATE SET entries = entries + 1",
        [class_of(number)],
    )


def _drop(db: sqlite3.Connection, number: int, entry: HubEntry) -> None:
    db.execute(_DELETE, [number, indexed(entry)])
    db.execute("DELETE FROM entries WHERE number = ?", [number])
    db.execute("UPDATE ladder SET entries = entries - 1 WHERE class = ?", [class_of(number)])
