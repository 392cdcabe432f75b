"""The history's database: durable settings, migrations, and recovery from a damaged file.

A connection belongs to the thread that opened it; the application's belongs to the engine thread.
sqlite-utils applies the migrations. It imports numpy and pandas wherever they are installed, so it
is itself imported only when a migration is pending, and all other access is the standard library's.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jarvis_desktop.core.display import unused_name
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.storage.migrations import STEPS
from jarvis_desktop.text.tokens import spell_runs

BUSY_SECONDS = 1
"""How long to wait for another process, twice for a write: the event loop waits, and the window."""
OPENING_SECONDS = 10
"""The same while opening, when another process may be creating the tables."""
CHECKED_BYTES = 128 * 1024**2
"""A database up to this size is checked completely when opened, in a fraction of a second."""

_opening = threading.RLock()
"""Held while a database is opened. SQLite does not wait for another connection that is making the
file, and takes its unfinished pages for damage."""
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class _DamagedError(Exception):
    """The database file does not hold what SQLite wrote."""


class Database(sqlite3.Connection):
    """A connection whose queries may return rows as dictionaries."""

    def query(
        self, sql: str, params: Sequence[object] | Mapping[str, object] = ()
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of a query, by column name."""
        cursor = self.execute(sql, params)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)


def connect(path: Path) -> tuple[Database, Path | None]:
    """Open the database at `path` with all tables; create it if it does not exist.

    A damaged file is moved aside and a new one created. The second value is then the new path of
    the damaged file, which must be reported to the user. Raises StorageError if the file cannot be
    opened or was written by a newer version.
    """
    with _opening, _translating(path):
        try:
            return _open(path), None
        except _DamagedError:
            moved = _move_aside(path)
            return _open(path), moved


def in_memory() -> Database:
    """Create a database with all tables that never touches the disk."""
    db = sqlite3.connect(":memory:", factory=Database)
    db.deserialize(_empty_tables())
    for pragma in ("temp_store = MEMORY", "foreign_keys = ON"):
        db.execute(f"PRAGMA {pragma}").fetchall()
    _register_functions(db)
    return db


@cache
def _empty_tables() -> bytes:
    """All tables. A copy takes a twentieth of the time in which the migrations make them."""
    with closing(sqlite3.connect(":memory:", factory=Database)) as db:
        _register_functions(db)
        for step in STEPS:
            step(db)
        db.commit()
        return db.serialize()


@contextmanager
def attached(path: Path) -> Iterator[Database]:
    """Open another connection, from any thread, to a database that was checked when first opened.

    If it lacks one of the tables it is opened as in `connect`. To be used within `reading`.
    """
    with _opening:
        if not path.exists():
            connect(path)[0].close()
        db = sqlite3.connect(path, timeout=BUSY_SECONDS, factory=Database)
    with closing(db):
        with _opening:
            if not _known_steps() <= _applied_steps(db):
                connect(path)[0].close()
            _configure(db)
        yield db


@contextmanager
def writing(db: Database) -> Iterator[Database]:
    """Run one transaction: all of it or nothing. Raises StorageError if it cannot be written."""
    with reading():
        # IMMEDIATE waits for another writer here; a deferred one could not at its first write.
        _begin(db)
        try:
            yield db
            db.execute("COMMIT")
        except BaseException:
            db.rollback()
            raise


@contextmanager
def reading() -> Iterator[None]:
    """Translate SQLite's errors into StorageError."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a wrong thread or a closed connection is a bug, not a problem of the file
    except sqlite3.Error as error:
        raise _translated(error) from error


def _open(path: Path) -> Database:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Created first, so that it and the files that SQLite puts beside it are private to the user.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    _refuse_newer(path)
    db = sqlite3.connect(path, timeout=OPENING_SECONDS, factory=Database)
    try:
        _configure(db)
        if path.stat().st_size <= CHECKED_BYTES:
            _check(db)
        _migrate(db)
        db.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000)}").fetchall()
    except sqlite3.DatabaseError as error:
        db.close()
        if _is_damage(error):
            raise _DamagedError from error
        raise
    except BaseException:
        db.close()
        raise
    return db


def _begin(db: Database) -> None:
    try:
        db.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if not _is_busy(error):
            raise
        db.execute("BEGIN IMMEDIATE")


def _configure(db: Database) -> None:
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",  # with NORMAL a power cut takes the last turns with it
        "foreign_keys = ON",
        "secure_delete = ON",
        "cache_size = -16000",  # kB at most: a search in a large history reads at random
    ):
        db.execute(f"PRAGMA {pragma}").fetchall()


def _check(db: Database) -> None:
    (answer,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if answer != "ok":
        raise _DamagedError(answer)


def _migrate(db: Database) -> None:
    # One transaction around all steps: a second process waits here, then finds them done.
    db.execute("BEGIN IMMEDIATE")
    try:
        applied = _applied_steps(db)
        if not applied <= _known_steps():
            raise _newer()
        if applied < _known_steps():
            _apply_pending(db)
        db.execute("COMMIT")
    except BaseException:
        db.rollback()
        raise


def _refuse_newer(path: Path) -> None:
    """Raise StorageError if a newer version wrote the file, without changing a byte of it.

    Even to open and close a database may write to it: its mode, or what its log still holds.
    """
    log = path.with_name(f"{path.name}-wal")
    mode = "mode=ro" if log.exists() and log.stat().st_size else "immutable=1"
    try:
        with closing(
            sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, factory=Database)
        ) as db:
            newer = not _applied_steps(db) <= _known_steps()
    except sqlite3.Error:
        return  # a damaged one, say; it is found out below
    if newer:
        raise _newer()


def _newer() -> StorageError:
    return StorageError(
        tr("The history was written by a newer version of JARVIS Desktop."),
        hint=tr("Install that version; the history is left as it is."),
    )


def _apply_pending(db: Database) -> None:
    import sqlite_utils

    _register_functions(db)
    migrations = sqlite_utils.Migrations("jarvis_desktop")
    schema = _Schema(db)
    for step in STEPS:
        migrations(name=step.__name__)(lambda _, step=step: step(schema))
    migrations.apply(sqlite_utils.Database(db, execute_plugins=False))


@dataclass(frozen=True)
class _Schema:
    """Runs scripts within a transaction. sqlite-utils can too, but takes most of a first start to
    look for the ends of statements after each character."""

    db: Database

    def execute(self, sql: str) -> object:
        return self.db.execute(sql)

    def executescript(self, sql: str) -> object:
        statement = ""
        for part in sql.split(";"):
            statement += part + ";"
            if sqlite3.complete_statement(statement):
                self.db.execute(statement)
                statement = ""
        return None


def _register_functions(db: Database) -> None:
    db.create_function("spelt", 1, lambda text: spell_runs(text or ""), deterministic=True)


def _known_steps() -> set[str]:
    return {step.__name__ for step in STEPS}


def _applied_steps(db: Database) -> set[str]:
    table = "SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'"
    if not db.execute(table).fetchone():  # another process or thread may be about to create it
        return set()
    return {str(row[0]) for row in db.execute("SELECT name FROM _sqlite_migrations").fetchall()}


def _move_aside(path: Path) -> Path:
    moment = f"{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    wanted = f"{path.name}.corrupt-{moment}"
    moved = path.with_name(unused_name(wanted, taken=lambda name: path.with_name(name).exists()))
    for ending in ("", "-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(path.name + ending).rename(moved.with_name(moved.name + ending))
    return moved


def _is_damage(error: sqlite3.Error) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE


def _is_busy(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


@contextmanager
def _translating(path: Path) -> Iterator[None]:
    hint = tr("Check that its folder is writable and that the disk is not full.")
    try:
        yield
    except OSError as error:
        reason = (error.strerror or tr("unknown reason")).lower()
        message = tr("The history at {path} cannot be opened: {reason}.", path=path, reason=reason)
        raise StorageError(message, hint=hint) from error
    except sqlite3.Error as error:
        message = tr("The history at {path} cannot be opened: {reason}.", path=path, reason=error)
        raise StorageError(message, hint=hint) from error
    except _DamagedError as error:  # the new file as well: the disk itself fails
        raise StorageError(
            tr("The history at {path} cannot be written.", path=path), hint=hint
        ) from error


def _translated(error: sqlite3.Error) -> StorageError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        hint = tr("Free some disk space, then try again.")
        return StorageError(tr("The disk is full: the history could not be saved."), hint=hint)
    if code in _DAMAGE:
        hint = tr("Restart JARVIS Desktop; it then moves the damaged file aside.")
        return StorageError(tr("The history file is damaged."), hint=hint)
    if _is_busy(error):
        hint = tr("Try again in a moment.")
        message = tr("Another program has locked the history.")
        return StorageError(message, hint=hint, retryable=True)
    return StorageError(tr("The history cannot be read or written: {error}.", error=error))
