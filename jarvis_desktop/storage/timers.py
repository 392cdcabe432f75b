"""Timers on the disk, so that one set before a restart still rings after it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.shown import encodable
from jarvis_desktop.core.unkept import works_unkept
from jarvis_desktop.storage.database import reading, writing

if TYPE_CHECKING:
    from jarvis_desktop.storage.light import Database


class TimerRecords:
    """The table of timers that have not rung. Used from the thread that opened the database."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, timer: Timer) -> None:
        """Write a timer durably, in the place of an earlier one with its id.

        One of a conversation that is not to be kept rings as long as the program runs.
        """
        if works_unkept():
            return
        values = (timer.id, encodable(timer.label), timer.due.isoformat())
        with writing(self._db) as db:
            db.conn.execute(
                "INSERT OR REPLACE INTO timers (id, label, due) VALUES (?, ?, ?)", values
            )

    def remove(self, timer_id: str) -> None:
        """Forget a timer; one that is not there is no error."""
        with writing(self._db) as db:
            db.conn.execute("DELETE FROM timers WHERE id = ?", (timer_id,))

    def pending(self) -> tuple[Timer, ...]:
        """All that are written, the next one first, also those that are overdue."""
        with reading():
            rows = self._db.conn.execute("SELECT id, label, due FROM timers").fetchall()
        timers = (Timer(name, label, datetime.fromisoformat(due)) for name, label, due in rows)
        return tuple(sorted(timers, key=lambda timer: timer.due.astimezone()))
