"""Conversations as the assistant knows them: over the tables of a database, on the disk or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from jarvis_desktop.core.ports import Recap, Resource
from jarvis_desktop.core.shown import encodable, one_line
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.storage.database import reading, writing
from jarvis_desktop.storage.export import Entry
from jarvis_desktop.storage.rows import TurnRows

if TYPE_CHECKING:
    from jarvis_desktop.storage.light import Database

RECENT = 20
"""How many turns of a conversation a planner gets to know."""


def title_of(turn: Turn) -> str:
    """What a conversation is called that begins with this turn."""
    return encodable(one_line(turn.text or "(spoken request)"))


class Conversations:
    """Implements core.ports.History for one database. What is in the trash is not there."""

    def __init__(
        self, db: Database, rows: TurnRows, *, saved: Callable[[str], None] = lambda turn_id: None
    ) -> None:
        """`saved` is told of each turn within the transaction that writes it."""
        self._db = db
        self._rows = rows
        self._saved = saved

    def open_conversation(self, conversation_id: str) -> Conversation:
        """The conversation of that id with its recent turns; one that is not known has none."""
        return Conversation(conversation_id, self.turns(conversation_id, limit=RECENT))

    def save(self, conversation_id: str, turn: Turn) -> None:
        """Write a finished turn durably."""
        begin = "INSERT OR IGNORE INTO conversations (id, started, title) VALUES (?, ?, ?)"
        conversation_id = encodable(conversation_id)
        with writing(self._db) as db:
            db.conn.execute(begin, (conversation_id, turn.started.isoformat(), title_of(turn)))
            self._rows.write(conversation_id, turn)
            self._saved(turn.id)

    def amend(self, conversation_id: str, turn: Turn) -> bool:
        """Write a kept turn anew; False, and nothing happens, where it is gone."""
        find = "SELECT pinned FROM turns WHERE id = ? AND trash IS NULL"
        with writing(self._db) as db:
            row = db.conn.execute(find, (encodable(turn.id),)).fetchone()
            if row:
                turn = replace(turn, pinned=bool(row[0]))
                self._rows.write(encodable(conversation_id), turn)
        return row is not None

    def since(self, conversation_id: str, turn_id: str) -> tuple[Turn, ...]:
        """The turns after that one, oldest first; all of them where there is no such turn."""
        name = encodable(conversation_id)
        later = """
            SELECT number FROM turns
            WHERE conversation = ? AND trash IS NULL AND position > coalesce(
                (SELECT position FROM turns WHERE conversation = ? AND id = ?), 0)
            ORDER BY position
        """
        return self.read(later, name, name, encodable(turn_id))

    def resources(self, conversation_id: str) -> tuple[Resource, ...]:
        """What was given to its turns and what answered them, oldest first, without names."""
        with reading():
            return self._rows.resources(conversation_id)

    def recap(self, conversation_id: str) -> Recap | None:
        """What was kept of its older turns; None once one of its turns was deleted."""
        find = """
            SELECT text, through FROM recaps WHERE conversation = :id AND NOT EXISTS
                (SELECT 1 FROM turns WHERE conversation = :id AND trash IS NOT NULL)
        """
        with reading():
            row = self._db.conn.execute(find, {"id": encodable(conversation_id)}).fetchone()
        return Recap(*row) if row else None

    def keep_recap(self, conversation_id: str, recap: Recap) -> None:
        """Keep it durably in the place of the last one; nothing happens where its turn is gone."""
        values = {"conversation": conversation_id, "through": recap.through, "text": recap.text}
        with writing(self._db) as db:
            db.conn.execute(
                "INSERT OR REPLACE INTO recaps (conversation, through, text)"
                " SELECT conversation, id, :text FROM turns"
                " WHERE conversation = :conversation AND id = :through AND trash IS NULL",
                {name: encodable(value) for name, value in values.items()},
            )

    def entries(self, ids: Iterable[str]) -> Iterator[Entry]:
        """Conversations and single turns, by their whole ids, as they are written out."""
        find = "SELECT title, pinned FROM conversations WHERE id = ? AND kept"
        for name in ids:
            with reading():
                row = self._db.conn.execute(find, (name,)).fetchone()
            if row:
                yield Entry(Conversation(name, self.turns(name)), row[0], bool(row[1]))
            else:
                alone = "SELECT number FROM turns WHERE id = ? AND trash IS NULL"
                for turn in self.read(alone, name):
                    yield Entry(Conversation("", (turn,)), title_of(turn))

    def turns(self, conversation_id: str, *, limit: int = -1) -> tuple[Turn, ...]:
        """The newest turns, oldest first; all of them without a limit."""
        numbers = """
            SELECT number FROM turns WHERE conversation = ? AND trash IS NULL
            ORDER BY position DESC LIMIT ?
        """
        return self.read(numbers, encodable(conversation_id), limit)[::-1]

    def read(self, numbers: str, *parameters: object) -> tuple[Turn, ...]:
        """The turns whose numbers a query gives, in its order."""
        with reading():
            rows = self._db.conn.execute(numbers, parameters).fetchall()
            return self._rows.read([row[0] for row in rows])
