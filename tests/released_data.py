"""The data folders of released versions, and one of a version that does not exist yet."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from zipfile import ZipFile

RELEASED = sorted((Path(__file__).parent / "released").glob("*.zip"))


def unpack(archive: Path, home: Path) -> None:
    """Put the data of a version into JARVIS_DESKTOP_HOME."""
    with ZipFile(archive) as packed:
        packed.extractall(home)


def make_newer(home: Path, *, mode: str = "WAL", unfinished: bool = False) -> None:
    """Let a later version have written the history; `unfinished`: it was killed meanwhile."""
    path = home / "data" / "history.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}").fetchall()
        db.execute("INSERT INTO _sqlite_migrations (migration_set, name) VALUES ('x', 'later')")
        db.commit()
        kept = {each: each.read_bytes() for each in path.parent.glob("history.db*")}
    if unfinished:
        for each, content in kept.items():
            if not each.name.endswith("-shm"):
                each.write_bytes(content)


def snapshot(home: Path) -> dict[str, bytes]:
    """Every file of the data and the settings."""
    return {
        str(path.relative_to(home)): path.read_bytes()
        for folder in ("data", "config")
        for path in (home / folder).rglob("*")
        if path.is_file() and not path.name.endswith("-shm")  # SQLite's memory, not data
    }
