"""How experts did on this computer, so that the choice among them can rest on it."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.expert import Experience
from jarvis_desktop.core.unkept import works_unkept
from jarvis_desktop.storage.database import reading, writing

if TYPE_CHECKING:
    from jarvis_desktop.storage.light import Database

log = logging.getLogger(__name__)

KEPT = 20
"""Runs of an expert at a task; older ones say little about today."""

LAST = 3
"""Runs of which most must have failed: one that works may be cut off once, by a full memory say."""

LATELY = timedelta(days=1)
"""How long failures keep an expert behind; after that it gets another chance."""


class TrackRecords:
    """Implements TrackRecord. Used from the thread that opened the database."""

    def __init__(self, db: Database, *, now: Callable[[], datetime]) -> None:
        self._db = db
        self._now = now

    def note(
        self, expert_id: str, task: str, *, seconds: float, worked: bool, size: int = 0
    ) -> None:
        """Write one run, and drop the oldest of the same kind. What fails is only logged.

        From a conversation that is not to be kept nothing is learned.
        """
        if works_unkept():
            return
        row = (task, expert_id, seconds, worked, size, self._now().isoformat())
        try:
            with writing(self._db) as db:
                db.conn.execute(
                    "INSERT INTO expert_runs (task, expert, seconds, worked, size, at)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    row,
                )
                db.conn.execute(
                    "DELETE FROM expert_runs WHERE task = ? AND expert = ? AND number NOT IN"
                    " (SELECT number FROM expert_runs WHERE task = ? AND expert = ?"
                    " ORDER BY number DESC LIMIT ?)",
                    (task, expert_id, task, expert_id, KEPT),
                )
        except StorageError as error:
            log.info("A run of %s was not kept: %s", expert_id, error.message)

    def of(self, task: str) -> Mapping[str, Experience]:
        """What is kept about the experts of a task, by their ids; nothing where it fails."""
        find = (
            "SELECT expert, seconds, worked, size, at FROM expert_runs WHERE task = ?"
            " ORDER BY number"
        )
        runs: dict[str, list[_Row]] = defaultdict(list)
        try:
            with reading():
                for expert, *row in self._db.conn.execute(find, (task,)).fetchall():
                    runs[str(expert)].append(_Row(*row))
        except StorageError as error:
            log.info("The runs of %s were not read: %s", task, error.message)
        return {expert: self._experience(rows) for expert, rows in runs.items()}

    def _experience(self, rows: list[_Row]) -> Experience:
        """`rows`, oldest first."""
        good = [row for row in rows if row.worked]
        times = [row.seconds for row in good]
        failures = [not row.worked for row in rows[-LAST:]]
        age = self._now().astimezone() - datetime.fromisoformat(rows[-1].at).astimezone()
        return Experience(
            runs=len(rows),
            worked=len(good),
            # The first run loads weights; the median is not moved by it.
            seconds=median(times) if times else None,
            failed=failures[-1] and 2 * sum(failures) > len(failures) and age < LATELY,
            slowest=max(times, default=None),
            largest=max((row.size for row in good), default=0),
        )


class _Row(NamedTuple):
    seconds: float
    worked: bool
    size: int
    at: str
