"""Opens the history's database: durable settings, our tables, and what to do with a damaged file.

A connection belongs to the thread that opened it; the engine thread owns the application's.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.i18n import tr

if TYPE_CHECKING:
    from jarvis_desktop.storage.sqlite import Database

BUSY_SECONDS = 1
"""How long another process is waited for, twice where something is to be written: it is the event
loop that waits, and with it the window."""
OPENING_SECONDS = 10
"""The same while opening, when another process may be making the tables."""
CHECKED_BYTES = 128 * 1024**2
"""A database up to this size is checked whole when opened, which takes a fraction of a second."""

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class _DamagedError(Exception):
    """The content of the database file is not what SQLite wrote."""


def connect(path: Path) -> tuple[Database, Path | None]:
    """The database at `path`, made where there is none, with all our tables.

    A damaged file is moved aside and a new one begun: the second value is then where the old one
    lies now, and must be told to the person. Raises StorageError where the file cannot be opened
    or was written by a newer version.
    """
    with _translating(path):
        try:
            return _open(path), None
        except _DamagedError:
            moved = _move_aside(path)
            return _open(path), moved


def in_memory() -> Database:
    """A database with all our tables that never touches the disk, and is gone when it is closed."""
    from jarvis_desktop.storage.sqlite import Database

    db = Database(sqlite3.connect(":memory:"), execute_plugins=False)
    for pragma in ("temp_store = MEMORY", "foreign_keys = ON"):
        db.conn.execute(f"PRAGMA {pragma}").fetchall()
    _migrate(db)
    return db


@contextmanager
def attached(path: Path) -> Iterator[Database]:
    """A connection of its own, for any thread, to a database that was checked when it was opened.

    Where it lacks one of our tables it is opened as `connect` does. To be used within `reading`.
    """
    from jarvis_desktop.storage.sqlite import Database

    if not path.exists():
        connect(path)[0].close()
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
    try:
        db = Database(connection, execute_plugins=False)
        if not _is_whole(db):
            connect(path)[0].close()
        _settle(db)
        yield db
    finally:
        connection.close()


@contextmanager
def writing(db: Database) -> Iterator[Database]:
    """One transaction: all of it or nothing. Raises StorageError where it cannot be written."""
    with reading():
        # IMMEDIATE waits for another writer now; a deferred one could not wait at its first write.
        _begin(db)
        try:
            yield db
            db.conn.execute("COMMIT")
        except BaseException:
            db.rollback()
            raise


@contextmanager
def reading() -> Iterator[None]:
    """Translates SQLite's errors into StorageError."""
    try:
        yield
    except sqlite3.ProgrammingError:
        raise  # a wrong thread or a closed connection is our mistake, not the file's
    except sqlite3.Error as error:
        raise _translated(error) from error


def _open(path: Path) -> Database:
    from jarvis_desktop.storage.sqlite import Database

    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # Made first, so that it and the files SQLite puts beside it are for this person only.
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connection = sqlite3.connect(path, timeout=OPENING_SECONDS)
    try:
        db = Database(connection, execute_plugins=False)
        _settle(db)
        if path.stat().st_size <= CHECKED_BYTES:
            _check(db)
        _migrate(db)
        connection.execute(f"PRAGMA busy_timeout = {round(BUSY_SECONDS * 1000)}").fetchall()
    except sqlite3.DatabaseError as error:
        connection.close()
        if _is_damage(error):
            raise _DamagedError from error
        raise
    except BaseException:
        connection.close()
        raise
    return db


def _begin(db: Database) -> None:
    try:
        db.conn.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if not _is_busy(error):
            raise
        db.conn.execute("BEGIN IMMEDIATE")


def _settle(db: Database) -> None:
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",  # with NORMAL a power cut takes the last turns with it
        "foreign_keys = ON",
        "secure_delete = ON",
        "cache_size = -16000",  # kB at most: a search in a large history reads here and there
    ):
        db.conn.execute(f"PRAGMA {pragma}").fetchall()


def _check(db: Database) -> None:
    (answer,) = db.conn.execute("PRAGMA quick_check(1)").fetchone()
    if answer != "ok":
        raise _DamagedError(answer)


def _migrate(db: Database) -> None:
    from jarvis_desktop.storage.migrations import STEPS, steps

    # One transaction around all steps: a second process waits here, then finds them done.
    db.conn.execute("BEGIN IMMEDIATE")
    try:
        migrations = steps()
        known = {step.__name__ for step in STEPS}
        if not {step.name for step in migrations.applied(db)} <= known:
            raise StorageError(
                tr("The history was written by a newer version of JARVIS Desktop."),
                hint=tr("Install that version; the history is left as it is."),
            )
        migrations.apply(db)
        db.conn.execute("COMMIT")
    except BaseException:
        db.rollback()
        raise


def _is_whole(db: Database) -> bool:
    """Whether all steps were taken: another process or thread may be about to take them."""
    from jarvis_desktop.storage.migrations import STEPS

    try:
        done = db.conn.execute("SELECT name FROM _sqlite_migrations").fetchall()
    except sqlite3.OperationalError:  # there is no such table
        return False
    return {step.__name__ for step in STEPS} <= {row[0] for row in done}


def _move_aside(path: Path) -> Path:
    moment = f"{datetime.now().astimezone():%Y%m%d-%H%M%S}"
    moved = path.with_name(f"{path.name}.corrupt-{moment}")
    count = 1
    while moved.exists():
        count += 1
        moved = path.with_name(f"{path.name}.corrupt-{moment}-{count}")
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
    hint = tr("See that its folder may be written to and that the disk has room.")
    try:
        yield
    except OSError as error:
        reason = (error.strerror or tr("unknown reason")).lower()
        message = tr("The history at {path} cannot be opened: {reason}.", path=path, reason=reason)
        raise StorageError(message, hint=hint) from error
    except sqlite3.Error as error:
        message = tr("The history at {path} cannot be opened: {reason}.", path=path, reason=error)
        raise StorageError(message, hint=hint) from error
    except _DamagedError as error:  # the new one as well: the disk itself fails
        raise StorageError(
            tr("The history at {path} cannot be written.", path=path), hint=hint
        ) from error


def _translated(error: sqlite3.Error) -> StorageError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        hint = tr("Free some space on the disk, then try again.")
        return StorageError(tr("There is no room on the disk for the history."), hint=hint)
    if code in _DAMAGE:
        hint = tr("Start JARVIS Desktop anew; it then sets the damaged file aside.")
        return StorageError(tr("The history's file is damaged."), hint=hint)
    if _is_busy(error):
        hint = tr("Try again in a moment.")
        message = tr("Another program keeps the history locked.")
        return StorageError(message, hint=hint, retryable=True)
    return StorageError(tr("The history cannot be read or written: {error}.", error=error))
