"""The history: conversations, their turns and all that came of them, in SQLite."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.ports import Recap, Resource
from jarvis_desktop.core.shown import encodable, one_line
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.database import connect, reading, writing
from jarvis_desktop.storage.export import exported
from jarvis_desktop.storage.facts import FactRecords
from jarvis_desktop.storage.goals import SqliteGoalMemory
from jarvis_desktop.storage.journal import SqliteJournal
from jarvis_desktop.storage.owners import Owners
from jarvis_desktop.storage.records import TrackRecords
from jarvis_desktop.storage.rows import TurnRows
from jarvis_desktop.storage.search import Found, search
from jarvis_desktop.storage.timers import TimerRecords

log = logging.getLogger(__name__)

RECENT = 20
"""How many turns of a conversation a planner gets to know."""

_LISTED = """
    SELECT conversations.id, title, conversations.started, newest.started,
        (SELECT count(*) FROM turns WHERE conversation = conversations.id)
    FROM turns AS newest JOIN conversations ON conversations.id = newest.conversation
    WHERE newest.position =
        (SELECT max(position) FROM turns WHERE conversation = conversations.id)
    AND (:before IS NULL OR newest.number <
        (SELECT max(number) FROM turns WHERE conversation = :before))
    ORDER BY newest.number DESC LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class Summary:
    """A conversation in a list: `turns` is how many it has, `last` when the newest began."""

    id: str
    title: str
    started: datetime
    last: datetime
    turns: int


class SqliteHistory:
    """Implements History.

    Belongs to the thread that made it: SQLite's connection refuses any other. `notice` is a
    sentence for the person where the database was damaged and had to be begun anew, else "".
    """

    def __init__(
        self,
        path: Path,
        *,
        store_root: Path,
        inventory: Mapping[str, TaskType],
        now: Callable[[], datetime],
    ) -> None:
        self._store = FileStore(store_root)
        self._db, moved = connect(path)
        self.notice = ""
        if moved:
            self.notice = f"The history was damaged; a new one is begun. The old one is {moved}."
            log.warning("%s", self.notice)
        self._root = store_root.absolute()
        self._rows = TurnRows(self._db, self._root, inventory)
        self._now = now
        self.timers = TimerRecords(self._db)
        self.facts = FactRecords(self._db)
        self.records = TrackRecords(self._db, now=now)
        self.goals = SqliteGoalMemory(self._db, self._rows)
        self.journal = SqliteJournal(self._db, self._rows, Owners(path.with_name("running")))

    def close(self) -> None:
        """Close the database."""
        self.journal.close()
        self._db.close()

    def open_conversation(self, conversation_id: str | None = None) -> Conversation:
        """The conversation of that id with its recent turns, or a new one.

        A new one is written when its first turn is saved; an id that is not known begins one.
        """
        if conversation_id is None:
            return Conversation(uuid.uuid4().hex)
        return Conversation(conversation_id, self._turns_of(conversation_id, limit=RECENT))

    def save(self, conversation_id: str, turn: Turn) -> None:
        """Write a finished turn durably: when this returns, it survives a crash or power cut."""
        title = encodable(one_line(turn.text or "(spoken request)"))
        begin = "INSERT OR IGNORE INTO conversations (id, started, title) VALUES (?, ?, ?)"
        conversation_id = encodable(conversation_id)
        try:
            with writing(self._db) as db:
                db.conn.execute(begin, (conversation_id, turn.started.isoformat(), title))
                self._rows.write(conversation_id, turn)
                self.journal.remove(turn.id)
        finally:
            self._store.release(turn.id)

    def since(self, conversation_id: str, turn_id: str) -> tuple[Turn, ...]:
        """The turns after that one, oldest first; all of them where there is no such turn."""
        name = encodable(conversation_id)
        later = """
            SELECT number FROM turns WHERE conversation = ? AND position > coalesce(
                (SELECT position FROM turns WHERE conversation = ? AND id = ?), 0)
            ORDER BY position
        """
        return self._read(later, name, name, encodable(turn_id))

    def resources(self, conversation_id: str) -> tuple[Resource, ...]:
        """What was given to its turns and what answered them, oldest first, without names."""
        with reading():
            return self._rows.resources(conversation_id)

    def recap(self, conversation_id: str) -> Recap | None:
        """What was kept of its older turns; None once one of its turns was deleted."""
        find = "SELECT text, through FROM recaps WHERE conversation = ?"
        with reading():
            row = self._db.conn.execute(find, (encodable(conversation_id),)).fetchone()
        return Recap(*row) if row else None

    def keep_recap(self, conversation_id: str, recap: Recap) -> None:
        """Keep it durably in the place of the last one; nothing happens where its turn is gone."""
        values = {"conversation": conversation_id, "through": recap.through, "text": recap.text}
        with writing(self._db) as db:
            db.conn.execute(
                "INSERT OR REPLACE INTO recaps (conversation, through, text)"
                " SELECT conversation, id, :text FROM turns"
                " WHERE conversation = :conversation AND id = :through",
                {name: encodable(value) for name, value in values.items()},
            )

    def latest(self, max_age: timedelta) -> str | None:
        """The id of the conversation that was last talked in, where that is at most so long ago."""
        newest = "SELECT conversation, coalesce(finished, started) FROM turns"
        with reading():
            row = self._db.conn.execute(f"{newest} ORDER BY number DESC LIMIT 1").fetchone()
        if row is None:
            return None
        age = self._now().astimezone() - datetime.fromisoformat(row[1]).astimezone()
        return str(row[0]) if age <= max_age else None

    def list(self, limit: int = 20, before: str | None = None) -> tuple[Summary, ...]:
        """The conversations, the one last talked in first; `before` continues after that id."""
        with reading():
            choice = {"before": before and encodable(before), "limit": limit}
            rows = self._db.conn.execute(_LISTED, choice).fetchall()
        moment = datetime.fromisoformat
        return tuple(
            Summary(name, title, moment(started), moment(last), turns)
            for name, title, started, last, turns in rows
        )

    def show(self, prefix: str) -> Conversation | Turn:
        """The conversation or turn whose id begins so.

        Raises InputError where there is none, or more than one.
        """
        table, found = self._resolve(prefix)
        if table == "conversations":
            return Conversation(found, self._turns_of(found))
        return self._read("SELECT number FROM turns WHERE id = ?", found)[0]

    def search(self, words: str, limit: int = 20) -> tuple[Found, ...]:
        """The turns with all these words, newest first; the last word may be a beginning."""
        with reading():
            return search(self._db, words, limit=limit)

    def export(self, form: str, ids: Sequence[str] | None = None) -> str:
        """Conversations and turns, all or those of `ids`, as "json", "markdown" or "text"."""
        if ids is None:
            with reading():
                rows = self._db.conn.execute("SELECT id FROM conversations ORDER BY rowid")
                ids = [str(row[0]) for row in rows.fetchall()]
        shown = (self.show(prefix) for prefix in ids)
        whole = (Conversation("", (item,)) if isinstance(item, Turn) else item for item in shown)
        return exported(whole, form)

    def delete(self, ids: Sequence[str] | None = None) -> int:
        """Delete conversations and turns, all or those of `ids`; how many turns that were.

        What was cut off of these conversations goes with them, and so do the plans and logs of
        their goals. Their files go too, unless another
        turn refers to them or is about to. Raises InputError on an unknown id before anything is
        deleted.
        """
        chosen = None if ids is None else [self._resolve(prefix) for prefix in ids]
        with writing(self._db):
            numbers = self._numbers(chosen)
            files = self._files()
            if chosen is None:
                self._rows.clear()
                self.journal.clear()
                self.goals.clear(None, ())
            else:
                turns = self._rows.remove(numbers)
                named = [name for table, name in chosen if table == "conversations"]
                self.journal.clear(named)
                self.goals.clear(named, turns)
            # Looked at while nobody can save: a turn that is saved later still has its claims.
            places = [self._root / path for path in files - self._files()]
            unused = [place for place in places if not self._store.claimed(place)]
        self._store.remove(unused)
        with reading():
            # The log beside the database still has the old pages until it is cut.
            self._db.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return len(numbers)

    def files(self) -> frozenset[Path]:
        """The files of the artifact store that turns refer to, for its `sweep`.

        Those of the journal and of the goals are among them.
        """
        with reading():
            return frozenset(self._root / path for path in self._files())

    def _turns_of(self, conversation_id: str, *, limit: int = -1) -> tuple[Turn, ...]:
        numbers = "SELECT number FROM turns WHERE conversation = ? ORDER BY position DESC LIMIT ?"
        return self._read(numbers, encodable(conversation_id), limit)[::-1]

    def _read(self, numbers: str, *parameters: object) -> tuple[Turn, ...]:
        with reading():
            rows = self._db.conn.execute(numbers, parameters).fetchall()
            return self._rows.read([row[0] for row in rows])

    def _resolve(self, prefix: str) -> tuple[str, str]:
        """Table and id of the one thing whose id begins with `prefix`."""
        start = encodable(prefix)
        found = []
        with reading():
            for table in ("conversations", "turns"):
                rows = self._db.conn.execute(
                    f"SELECT id FROM {table} WHERE id >= ? AND substr(id, 1, ?) = ?"  # noqa: S608
                    " ORDER BY id LIMIT 2",
                    (start, len(start), start),
                ).fetchall()
                found += [(table, str(row[0])) for row in rows]
        exact = [entry for entry in found if entry[1] == start]
        shown = one_line(prefix)
        if not start or not found:
            raise InputError(f"The history has nothing with the id '{shown}'.")
        if len(found) > 1 and len(exact) != 1:
            raise InputError(f"The history has several things whose id begins with '{shown}'.")
        return (exact or found)[0]

    def _numbers(self, chosen: Sequence[tuple[str, str]] | None) -> Sequence[int]:
        if chosen is None:
            rows = self._db.conn.execute("SELECT number FROM turns").fetchall()
            return [row[0] for row in rows]
        found: dict[int, None] = {}
        for table, name in chosen:
            column = "conversation" if table == "conversations" else "id"
            find = f"SELECT number FROM turns WHERE {column} = ?"  # noqa: S608
            found |= {row[0]: None for row in self._db.conn.execute(find, (name,)).fetchall()}
        return list(found)

    def _files(self) -> set[str]:
        """The files of all turns, those of the journal and of the goals too."""
        rows = self._db.conn.execute("SELECT DISTINCT path FROM files")
        own = {str(row[0]) for row in rows.fetchall()}
        return own | self.journal.files() | self.goals.files()
