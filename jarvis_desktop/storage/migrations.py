"""The tables of the history, as steps: a change is a new function at the end, never an edit.

Imported inside `database.connect` only, because sqlite_utils takes a while to import.
"""

from __future__ import annotations

from jarvis_desktop.storage.sqlite import Database, Migrations


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


def expert_runs(db: Database) -> None:
    """How experts did on this computer: one row per run, of which the newest few are kept."""
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


def facts_and_recaps(db: Database) -> None:
    """What the person wants remembered, and what is kept in words of older turns.

    A recap may tell of any turn of its conversation, so it goes when one of them is deleted.
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


def selections(db: Database) -> None:
    """Why its experts were chosen for each task of a turn."""
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


def faults_and_sizes(db: Database) -> None:
    """What an attempt failed of, in a word, and how much a run worked on."""
    db.executescript(
        """
        ALTER TABLE attempts ADD COLUMN fault TEXT NOT NULL DEFAULT '';
        ALTER TABLE expert_runs ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
        """
    )


def journal(db: Database) -> None:
    """What is done of the turns that run now, or were cut off; each belongs to a process.

    A task without a result acts outside of the store, and was started.
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


def goals(db: Database) -> None:
    """Goals of agent mode: their controllers, what each round did, the files of that."""
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


def turns_of_agent_mode(db: Database) -> None:
    """The plan and the rounds of a turn that was worked on in agent mode, as JSON."""
    db.executescript(
        """
        ALTER TABLE turns ADD COLUMN agentic INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE turns ADD COLUMN outline TEXT;
        ALTER TABLE turns ADD COLUMN rounds TEXT;
        """
    )


def code_library(db: Database) -> None:
    """The index of the code library: each version of each function, sealed, as it was agreed to.

    A vector says where a function's words point; what it was made of is known by its key.
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


def lengths_of_rounds(db: Database) -> None:
    """How many seconds a round took; 0 for those of before."""
    db.executescript("ALTER TABLE goal_log ADD COLUMN seconds REAL NOT NULL DEFAULT 0")


def pins_and_trash(db: Database) -> None:
    """What is pinned, what was deleted a moment ago, and of each conversation what a list shows:
    the number and the day (Julian, UTC) of its newest turn that is not in the trash.

    They are kept right by triggers, so that a list of 100,000 reads its own rows only.
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
            """  # noqa: S608 - nothing of it comes from outside
        )


def search_with_marks(db: Database) -> None:
    """An index that knows first letters, scripts without spaces, and what a turn is besides its
    words: the kinds of its files, its experts, its day."""
    from jarvis_desktop.storage.search_terms import spelt

    db.conn.create_function("spelt", 1, lambda text: spelt(text or ""), deterministic=True)
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


def costs_of_attempts(db: Database) -> None:
    """Which attempts were made on another computer, by whom, and what they cost."""
    for column in ("remote", "calls", "tokens"):
        db.execute(f"ALTER TABLE attempts ADD COLUMN {column} INTEGER NOT NULL DEFAULT 0")
    db.execute("ALTER TABLE attempts ADD COLUMN provider TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE attempts ADD COLUMN dollars REAL")
    db.execute("UPDATE attempts SET remote = 1 WHERE backend = 'api'")


STEPS = (
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
)


def steps() -> Migrations:
    """All steps, oldest first."""
    migrations = Migrations("jarvis_desktop")
    for step in STEPS:
        migrations()(step)
    return migrations
