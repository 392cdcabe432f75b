"""The tables of the history, as steps: a change is a new function at the end, never an edit.

Imported inside `database.connect` only, because sqlite_utils takes a while to import.
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations


def conversations_and_turns(db: Database) -> None:
    """Requests with their plans, results and answers, their files, and the search index.

    The index holds a copy of its text: an index over the tables' own text would have to be given
    the exact old text at each deletion, and a mismatch damages it.
    """
    db.executescript(
        """
        CREATE TABLE conversations (
            id TEXT PRIMARY KEY,
            started TEXT NOT NULL,
            title TEXT NOT NULL
        );
        CREATE TABLE turns (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            conversation TEXT NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
            position INTEGER NOT NULL,
            started TEXT NOT NULL,
            finished TEXT,
            status TEXT,
            text TEXT NOT NULL,
            heard_by TEXT NOT NULL,
            reply TEXT NOT NULL,
            plan TEXT,
            notes TEXT NOT NULL,
            UNIQUE (conversation, position)
        );
        CREATE TABLE tasks (
            turn INTEGER NOT NULL REFERENCES turns(number) ON DELETE CASCADE,
            task_id INTEGER NOT NULL,
            type TEXT NOT NULL,
            status TEXT NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (turn, task_id)
        ) WITHOUT ROWID;
        CREATE TABLE attempts (
            turn INTEGER NOT NULL,
            task_id INTEGER NOT NULL,
            position INTEGER NOT NULL,
            expert TEXT NOT NULL,
            revision TEXT NOT NULL,
            backend TEXT NOT NULL,
            seconds REAL NOT NULL,
            error TEXT NOT NULL,
            PRIMARY KEY (turn, task_id, position),
            FOREIGN KEY (turn, task_id) REFERENCES tasks(turn, task_id) ON DELETE CASCADE
        ) WITHOUT ROWID;
        CREATE TABLE artifacts (
            turn INTEGER NOT NULL REFERENCES turns(number) ON DELETE CASCADE,
            task_id INTEGER,
            position INTEGER NOT NULL,
            kind TEXT NOT NULL,
            text TEXT,
            path TEXT,
            name TEXT NOT NULL,
            made_by INTEGER,
            CHECK ((text IS NULL) <> (path IS NULL))
        );
        CREATE INDEX artifacts_turn ON artifacts(turn, task_id, position);
        CREATE TABLE files (
            turn INTEGER NOT NULL REFERENCES turns(number) ON DELETE CASCADE,
            path TEXT NOT NULL,
            PRIMARY KEY (turn, path)
        ) WITHOUT ROWID;
        CREATE INDEX files_path ON files(path);
        CREATE VIRTUAL TABLE search USING fts5(
            request, reply, results, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3'
        );
        """,
    )


def timers(db: Database) -> None:
    """Timers that have not rung."""
    db.executescript(
        "CREATE TABLE timers (id TEXT PRIMARY KEY, label TEXT NOT NULL, due TEXT NOT NULL);"
    )


STEPS = (conversations_and_turns, timers)


def steps() -> Migrations:
    """All steps, oldest first."""
    migrations = Migrations("jarvis_desktop")
    for step in STEPS:
        migrations()(step)
    return migrations
