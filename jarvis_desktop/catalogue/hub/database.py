"""Opens the index's file. It is a copy of what the Hub says, so a damaged or older one is not
mended: reading takes it for none, writing begins anew.

An entry's number tells its task, then its popularity, then when it came. So the rows of a task lie
together with the most popular first, and so does every list of the full-text index: what a search
wants is found at the beginning.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from math import log2
from pathlib import Path

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.wording import tr

log = logging.getLogger(__name__)

VERSION = 1
"""Of the tables and of what `terms.indexed` makes of an entry: an index of another one is stale."""

READING_SECONDS, WRITING_SECONDS = 1.0, 30.0
"""How long another process is waited for."""

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
    """A number by which a repository is looked up, whatever the case of its letters."""
    return int.from_bytes(blake2b(repo.casefold().encode(), digest_size=8).digest()) >> 1


def popularity(downloads: int) -> int:
    """The class of an entry's popularity, 0 for the most popular: half doubles of its downloads."""
    return _CLASSES - min(_CLASSES, int(2 * log2(1 + downloads)))


def number_of(task: int, downloads: int, serial: int) -> int:
    """The number of an entry."""
    return (task << POPULARITY_BITS | popularity(downloads)) << SERIAL_BITS | serial


def class_of(number: int) -> int:
    """Task and popularity of an entry, as one number: the entry's step of the ladder."""
    return number >> SERIAL_BITS


def span(task: int) -> tuple[int, int]:
    """The first and the last number that entries of a task can have."""
    width = POPULARITY_BITS + SERIAL_BITS
    return task << width, (task + 1 << width) - 1


def open_to_read(path: Path) -> sqlite3.Connection | None:
    """The index; None where there is none that could be read."""
    if not path.is_file():
        return None
    try:
        connection = sqlite3.connect(path, timeout=READING_SECONDS, check_same_thread=False)
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
    """The index, made where there is none, begun anew where it is stale or damaged.

    Raises StorageError where it cannot be written.
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
    """Translates what the disk and SQLite refuse into StorageError."""
    hint = tr("See that its folder may be written to and that the disk has room.")
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
    """A connection with all our tables; None where the file holds something else."""
    connection = sqlite3.connect(path, timeout=WRITING_SECONDS, isolation_level=None)
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
