"""The tables of the history, as steps. A change is a new function at the end, never an edit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol


class Schema(Protocol):
    """What a step changes: a connection, or sqlite-utils' Database, which keeps its transaction."""

    def execute(self, sql: str, /) -> object:
        """Run one statement."""

    def executescript(self, sql: str, /) -> object:
        """Run several statements."""


def conversations_and_turns(db: Schema) -> None:
    """Create the tables of requests, plans, results, answers and files, and the search index.

    The index holds a copy of its text: an external-content index needs the exact old text at each
    deletion, and a mismatch damages it.
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


def timers(db: Schema) -> None:
    """Create the table of pending timers."""
    db.executescript(
        "CREATE TABLE timers (id TEXT PRIMARY KEY, label TEXT NOT NULL, due TEXT NOT NULL);"
    )


def expert_runs(db: Schema) -> None:
    """Create the track record of experts: one row per run; the newest few are kept."""
    db.executescript(
        """
        CREATE TABLE expert_runs (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            task TEXT NOT NULL,
            expert TEXT NOT NULL,
            seconds REAL NOT NULL,
            worked INTEGER NOT NULL,
            at TEXT NOT NULL
        );
        CREATE INDEX expert_runs_task ON expert_runs(task, expert, number);
        """
    )


def facts_and_recaps(db: Schema) -> None:
    """Create the tables of remembered facts and of summaries of older turns.

    A recap may mention any turn of its conversation, so it goes when one of them is deleted.
    """
    db.executescript(
        """
        CREATE TABLE facts (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            text TEXT NOT NULL
        );
        CREATE TABLE recaps (
            conversation TEXT PRIMARY KEY REFERENCES conversations(id) ON DELETE CASCADE,
            through TEXT NOT NULL,
            text TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TRIGGER turn_deleted AFTER DELETE ON turns BEGIN
            DELETE FROM recaps WHERE conversation = OLD.conversation;
        END;
        """
    )


def selections(db: Schema) -> None:
    """Add why the experts of each task were selected."""
    db.executescript(
        """
        CREATE TABLE selections (
            turn INTEGER NOT NULL REFERENCES turns(number) ON DELETE CASCADE,
            task_id INTEGER NOT NULL,
            reason TEXT NOT NULL,
            PRIMARY KEY (turn, task_id)
        ) WITHOUT ROWID;
        """
    )


def faults_and_sizes(db: Schema) -> None:
    """Add why an attempt failed, and the input size of a run."""
    db.executescript(
        """
        ALTER TABLE attempts ADD COLUMN fault TEXT NOT NULL DEFAULT '';
        ALTER TABLE expert_runs ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
        """
    )


def journal(db: Schema) -> None:
    """Create the journal of running and interrupted turns; each belongs to a process.

    A task without a result has effects outside the store, and was started.
    """
    db.executescript(
        """
        CREATE TABLE journal (
            turn TEXT PRIMARY KEY,
            owner TEXT NOT NULL,
            document TEXT NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE journal_tasks (
            turn TEXT NOT NULL REFERENCES journal(turn) ON DELETE CASCADE,
            task_id INTEGER NOT NULL,
            result TEXT,
            PRIMARY KEY (turn, task_id)
        ) WITHOUT ROWID;
        """
    )


def goals(db: Schema) -> None:
    """Create the goals of agent mode: their controllers, log and files."""
    db.executescript(
        """
        CREATE TABLE goals (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL UNIQUE,
            conversation TEXT NOT NULL,
            text TEXT NOT NULL,
            terms TEXT NOT NULL,
            started TEXT NOT NULL,
            status TEXT,
            answer TEXT NOT NULL
        );
        CREATE TABLE goal_frames (
            goal INTEGER NOT NULL REFERENCES goals(number) ON DELETE CASCADE,
            depth INTEGER NOT NULL,
            document TEXT NOT NULL,
            PRIMARY KEY (goal, depth)
        );
        CREATE TABLE goal_log (
            goal INTEGER NOT NULL REFERENCES goals(number) ON DELETE CASCADE,
            number INTEGER NOT NULL,
            path TEXT NOT NULL,
            branch TEXT NOT NULL,
            what TEXT NOT NULL,
            status TEXT NOT NULL,
            observation TEXT NOT NULL,
            at TEXT NOT NULL,
            code TEXT NOT NULL,
            artifacts TEXT NOT NULL,
            PRIMARY KEY (goal, number)
        );
        CREATE TABLE goal_files (
            goal INTEGER NOT NULL REFERENCES goals(number) ON DELETE CASCADE,
            path TEXT NOT NULL,
            PRIMARY KEY (goal, path)
        ) WITHOUT ROWID;
        CREATE VIRTUAL TABLE goal_search USING fts5(
            text, tokenize = 'porter unicode61 remove_diacritics 2'
        );
        CREATE TRIGGER goal_begun AFTER INSERT ON goals BEGIN
            INSERT INTO goal_search (rowid, text) VALUES (NEW.number, NEW.text);
        END;
        CREATE TRIGGER goal_deleted AFTER DELETE ON goals BEGIN
            DELETE FROM goal_search WHERE rowid = OLD.number;
        END;
        """
    )


def turns_of_agent_mode(db: Schema) -> None:
    """Add the plan and rounds of agent-mode turns, as JSON."""
    db.executescript(
        """
        ALTER TABLE turns ADD COLUMN agentic INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE turns ADD COLUMN outline TEXT;
        ALTER TABLE turns ADD COLUMN rounds TEXT;
        """
    )


def code_library(db: Schema) -> None:
    """Create the index of the code library: each approved version of each function, signed.

    `key` identifies what a function's embedding was computed from.
    """
    db.executescript(
        """
        CREATE TABLE library (
            name TEXT NOT NULL,
            version INTEGER NOT NULL,
            state TEXT NOT NULL,
            source TEXT NOT NULL,
            tests TEXT NOT NULL,
            packages TEXT NOT NULL,
            signature TEXT NOT NULL,
            summary TEXT NOT NULL,
            approved TEXT NOT NULL,
            sha256 TEXT NOT NULL,
            source_sha256 TEXT NOT NULL,
            tests_sha256 TEXT NOT NULL,
            seal TEXT NOT NULL,
            used INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (name, version)
        );
        CREATE TABLE library_vectors (
            name TEXT PRIMARY KEY,
            key TEXT NOT NULL,
            vector BLOB NOT NULL
        );
        """
    )


def lengths_of_rounds(db: Schema) -> None:
    """Add the duration of a round in seconds; 0 for older rounds."""
    db.executescript("ALTER TABLE goal_log ADD COLUMN seconds REAL NOT NULL DEFAULT 0")


def pins_and_trash(db: Schema) -> None:
    """Add pins, the trash, and what a list shows of each conversation.

    The latter are the number and Julian day (UTC) of the newest turn outside the trash. Triggers
    update them, so that a list of 100,000 conversations only reads its own rows.
    """
    db.executescript(
        """
        ALTER TABLE conversations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE conversations ADD COLUMN newest INTEGER;
        ALTER TABLE conversations ADD COLUMN last REAL;
        ALTER TABLE conversations ADD COLUMN kept INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE turns ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE turns ADD COLUMN trash INTEGER;
        CREATE TABLE trash (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            at TEXT NOT NULL,
            extent TEXT NOT NULL
        );
        CREATE INDEX turns_trash ON turns(trash) WHERE trash IS NOT NULL;
        CREATE INDEX turns_pinned ON turns(pinned) WHERE pinned;
        CREATE INDEX conversations_listed ON conversations(pinned, last, newest);
        CREATE INDEX conversations_latest ON conversations(last, newest);
        UPDATE conversations SET
            (newest, last) = (
                SELECT number, julianday(started) FROM turns
                WHERE conversation = conversations.id ORDER BY position DESC LIMIT 1),
            kept = (SELECT count(*) FROM turns WHERE conversation = conversations.id);
        """
    )
    for name, event, turn, more in (
        ("turn_listed", "INSERT", "NEW", "(NEW.trash IS NULL)"),
        ("turn_unlisted", "DELETE", "OLD", "-(OLD.trash IS NULL)"),
        ("turn_trashed", "UPDATE OF trash", "NEW", "(NEW.trash IS NULL) - (OLD.trash IS NULL)"),
    ):
        db.executescript(
            f"""
            CREATE TRIGGER {name} AFTER {event} ON turns BEGIN
                UPDATE conversations SET kept = kept + {more}, (newest, last) = (
                    SELECT number, julianday(started) FROM turns
                    WHERE conversation = {turn}.conversation AND trash IS NULL
                    ORDER BY position DESC LIMIT 1
                ) WHERE id = {turn}.conversation;
            END;
            """  # noqa: S608 - no part of it comes from outside
        )


def search_with_marks(db: Schema) -> None:
    """Rebuild the index with first letters, scripts without spaces, and marks for filters.

    The marks are the kinds of a turn's files, its experts and its date.
    """
    db.executescript(
        """
        CREATE TEMP TABLE marked AS SELECT number, (
            SELECT group_concat(mark, ' ') FROM (
                SELECT 'ꙮ' || kind AS mark FROM artifacts
                    WHERE turn = number AND path IS NOT NULL GROUP BY kind
                UNION ALL
                SELECT 'ꙮx' || lower(hex(expert)) FROM attempts
                    WHERE turn = number AND error = '' GROUP BY expert
                UNION ALL
                SELECT DISTINCT 'ꙮa' FROM artifacts WHERE turn = number AND task_id IS NULL
                UNION ALL SELECT 'ꙮc' || lower(hex(conversation))
                UNION ALL SELECT 'ꙮy' || substr(started, 1, 4)
                UNION ALL SELECT 'ꙮm' || substr(started, 1, 4) || substr(started, 6, 2)
                UNION ALL SELECT 'ꙮd' || substr(started, 1, 4) || substr(started, 6, 2)
                    || substr(started, 9, 2)
            )
        ) AS marks FROM turns;
        ALTER TABLE search RENAME TO search_before;
        CREATE VIRTUAL TABLE search USING fts5(
            request, reply, results, signs, marks,
            tokenize = 'unicode61 remove_diacritics 2', prefix = '1 2 3'
        );
        INSERT INTO search (rowid, request, reply, results, signs, marks)
            SELECT search_before.rowid, request, reply, results,
                spelt(request || char(10) || reply || char(10) || results), marked.marks
            FROM search_before JOIN marked ON marked.number = search_before.rowid;
        DROP TABLE search_before;
        DROP TABLE marked;
        """
    )


def costs_of_attempts(db: Schema) -> None:
    """Add which attempts ran on another computer, who ran them, and what they cost."""
    for column in ("remote", "calls", "tokens"):
        db.execute(f"ALTER TABLE attempts ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE attempts ADD COLUMN provider TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE attempts ADD COLUMN dollars REAL")
    db.execute("UPDATE attempts SET remote = 1 WHERE backend = 'api'")


def waiting_of_turns(db: Schema) -> None:
    """Add how many seconds a turn waited for the user or for the requests before it."""
    db.execute("ALTER TABLE turns ADD COLUMN waited REAL NOT NULL DEFAULT 0")


def lists(db: Schema) -> None:
    """Add the entries of the user's lists."""
    db.execute(
        "CREATE TABLE list_items (number INTEGER PRIMARY KEY, list TEXT NOT NULL,"
        " text TEXT NOT NULL, UNIQUE (list, text))"
    )


STEPS: tuple[Callable[[Schema], None], ...] = (
    conversations_and_turns,
    timers,
    expert_runs,
    facts_and_recaps,
    selections,
    faults_and_sizes,
    journal,
    goals,
    turns_of_agent_mode,
    code_library,
    lengths_of_rounds,
    pins_and_trash,
    search_with_marks,
    costs_of_attempts,
    waiting_of_turns,
    lists,
)
