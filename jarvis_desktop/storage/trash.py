"""What was deleted but can be brought back for a moment: gone from every list and search, and still
in the tables. The window makes it final when the moment has passed, and when it closes; should it
be killed meanwhile, the next start does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from jarvis_desktop.storage.light import Database

UNDO = timedelta(seconds=10)
"""How long a deletion can be undone."""

Extent = Literal["turns", "conversations", "everything"]
"""What a deletion was meant for. Of a conversation, what was cut off and its goals go as well."""

_EMPTIED = """
    SELECT DISTINCT conversation FROM turns AS gone
    WHERE trash IS NOT NULL AND trash IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM turns WHERE conversation = gone.conversation AND
        (trash IS NULL OR trash NOT IN (SELECT value FROM json_each(?))))
"""


@dataclass(frozen=True, slots=True)
class Trashed:
    """One deletion: its number undoes it."""

    number: int
    turns: int
    conversations: tuple[str, ...] = ()
    """The ids of those of which nothing is left."""


@dataclass(frozen=True, slots=True)
class Final:
    """Deletions that are to be made final."""

    numbers: tuple[int, ...]
    """Those of the turns."""
    conversations: tuple[str, ...]
    """The ids of those that were meant, and of which nothing is left."""
    everything: bool
    """Whether all of the history was meant."""


class Trash:
    """Marks turns as deleted. Every method needs an open transaction, or `reading`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, numbers: Sequence[int], now: datetime, *, extent: Extent) -> Trashed:
        """Put turns away."""
        execute = self._db.conn.execute
        row = execute("INSERT INTO trash (at, extent) VALUES (?, ?)", (now.isoformat(), extent))
        number = int(row.lastrowid or 0)
        put = execute(
            "UPDATE turns SET trash = ? WHERE trash IS NULL AND number IN"
            " (SELECT value FROM json_each(?))",
            (number, json.dumps(list(numbers))),
        )
        return Trashed(number, put.rowcount, self._emptied((number,)))

    def touch(self, number: int, now: datetime) -> None:
        """Say that somebody still works on it: nobody takes it for left behind."""
        self._db.conn.execute("UPDATE trash SET at = ? WHERE number = ?", (now.isoformat(), number))

    def restore(self, number: int) -> int:
        """Bring the turns of one deletion back; how many."""
        execute = self._db.conn.execute
        execute("DELETE FROM trash WHERE number = ?", (number,))
        return execute("UPDATE turns SET trash = NULL WHERE trash = ?", (number,)).rowcount

    def waiting(self, *, older_than: datetime | None = None) -> tuple[int, ...]:
        """The deletions that are not final, all or those of before a moment."""
        rows = self._db.conn.execute("SELECT number, at FROM trash ORDER BY number").fetchall()
        return tuple(
            int(number)
            for number, at in rows
            if older_than is None
            or datetime.fromisoformat(at).astimezone() < older_than.astimezone()
        )

    def meant(self, numbers: Sequence[int]) -> Final:
        """What these deletions are of."""
        chosen, execute = json.dumps(list(numbers)), self._db.conn.execute
        inside = "IN (SELECT value FROM json_each(?))"
        find = f"SELECT number FROM turns WHERE trash IS NOT NULL AND trash {inside}"  # noqa: S608
        turns = execute(find, (chosen,))
        found = tuple(int(row[0]) for row in turns.fetchall())
        rows = execute(
            f"SELECT number, extent FROM trash WHERE number {inside}",  # noqa: S608
            (chosen,),
        )
        extents = {int(number): extent for number, extent in rows.fetchall()}
        whole = [number for number, extent in extents.items() if extent != "turns"]
        return Final(found, self._emptied(whole), "everything" in extents.values())

    def done(self, numbers: Sequence[int]) -> None:
        """These deletions are final: nothing is left of their turns."""
        gone = "DELETE FROM trash WHERE number IN (SELECT value FROM json_each(?))"
        self._db.conn.execute(gone, (json.dumps(list(numbers)),))

    def _emptied(self, numbers: Sequence[int]) -> tuple[str, ...]:
        chosen = json.dumps(list(numbers))
        rows = self._db.conn.execute(_EMPTIED, (chosen, chosen)).fetchall()
        return tuple(str(row[0]) for row in rows)
