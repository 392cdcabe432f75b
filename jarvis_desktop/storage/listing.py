"""The list of conversations, and what a person changes of an entry."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.shown import encodable, one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.storage.database import reading, writing
from jarvis_desktop.storage.filters import PINNED

if TYPE_CHECKING:
    from jarvis_desktop.storage.light import Database

TITLE = 120
"""Characters of a title."""

_LISTED = """
    SELECT conversations.id, title, conversations.started, turns.started, kept,
        conversations.pinned
    FROM conversations JOIN turns ON turns.number = newest
    WHERE :before IS NULL OR (conversations.pinned, last, newest) <
        (SELECT pinned, last, newest FROM conversations WHERE id = :before)
    ORDER BY conversations.pinned DESC, last DESC, newest DESC LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class Summary:
    """A conversation in a list: `turns` is how many it has, `last` when the newest began."""

    id: str
    title: str
    started: datetime
    last: datetime
    turns: int
    pinned: bool = False


class Listing:
    """Reads and changes the entries of the list. What is in the trash is not in it."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def list(self, limit: int, before: str | None) -> tuple[Summary, ...]:
        """Pinned conversations first, then the one last talked in; `before` continues there."""
        choice = {"before": before and encodable(before), "limit": limit}
        with reading():
            rows = self._db.conn.execute(_LISTED, choice).fetchall()
        moment = datetime.fromisoformat
        return tuple(
            Summary(name, title, moment(started), moment(last), turns, bool(pinned))
            for name, title, started, last, turns, pinned in rows
        )

    def newest(self) -> tuple[str, datetime] | None:
        """The conversation last talked in, and when its newest turn ended."""
        newest = """
            SELECT conversation, coalesce(finished, turns.started)
            FROM conversations JOIN turns ON turns.number = newest
            ORDER BY last DESC, newest DESC LIMIT 1
        """
        with reading():
            row = self._db.conn.execute(newest).fetchone()
        return (str(row[0]), datetime.fromisoformat(row[1])) if row else None

    def resolve(self, prefix: str) -> tuple[str, str]:
        """Table and id of the one thing whose id begins with `prefix`. Raises InputError."""
        start = encodable(prefix)
        found = []
        with reading():
            for table, there in (("conversations", "kept"), ("turns", "trash IS NULL")):
                rows = self._db.conn.execute(
                    f"SELECT id FROM {table} WHERE id >= ? AND substr(id, 1, ?) = ?"  # noqa: S608
                    f" AND {there} ORDER BY id LIMIT 2",
                    (start, len(start), start),
                ).fetchall()
                found += [(table, str(row[0])) for row in rows]
        exact = [entry for entry in found if entry[1] == start]
        shown = one_line(prefix)
        if not start or not found:
            raise InputError(tr("The history has nothing with the id '{shown}'.", shown=shown))
        if len(found) > 1 and len(exact) != 1:
            raise InputError(
                tr("The history has several things whose id begins with '{shown}'.", shown=shown)
            )
        return (exact or found)[0]

    def size(self) -> tuple[int, int]:
        """How many conversations and how many turns there are."""
        count = "SELECT count(*), coalesce(sum(kept), 0) FROM conversations WHERE kept"
        with reading():
            conversations, turns = self._db.conn.execute(count).fetchone()
        return int(conversations), int(turns)

    def experts(self) -> tuple[str, ...]:
        """The ids of the experts that did something, the most used first."""
        used = """
            SELECT expert FROM attempts WHERE error = ''
            GROUP BY expert ORDER BY count(*) DESC, expert
        """
        with reading():
            return tuple(str(row[0]) for row in self._db.conn.execute(used).fetchall())

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title. Raises InputError where it is empty."""
        clean = encodable(one_line(title, limit=TITLE))
        if not clean:
            raise InputError(tr("A conversation needs a title."))
        self._change("title", clean, conversation_id)

    def pin(self, conversation_id: str, pinned: bool) -> None:
        """List a conversation before the others, or with them again."""
        self._change("pinned", int(pinned), conversation_id)

    def pin_turn(self, turn_id: str, pinned: bool) -> None:
        """Mark a turn, or unmark it. Raises InputError where there is none of that id."""
        change = "UPDATE turns SET pinned = ? WHERE id = ? AND trash IS NULL RETURNING number"
        with writing(self._db) as db:
            row = db.conn.execute(change, (int(pinned), encodable(turn_id))).fetchone()
            if row is None:
                raise InputError(tr("This turn is not in the history."))
            (was,) = db.conn.execute("SELECT marks FROM search WHERE rowid = ?", row).fetchone()
            marks = [mark for mark in was.split() if mark != PINNED] + [PINNED] * pinned
            change = "UPDATE search SET marks = ? WHERE rowid = ?"
            db.conn.execute(change, (" ".join(marks), row[0]))

    def _change(self, column: str, value: object, conversation_id: str) -> None:
        change = f"UPDATE conversations SET {column} = ? WHERE id = ? AND kept"  # noqa: S608
        with writing(self._db) as db:
            if not db.conn.execute(change, (value, encodable(conversation_id))).rowcount:
                raise InputError(tr("This conversation is not in the history."))
