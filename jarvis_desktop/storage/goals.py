"""Goals of agent mode with their plans and logs, in the history's database, and their folders.

A crash or power cut loses no finished round. Files that code made are also in the artifact store,
so a goal's folder is removed once the goal cannot be resumed.

A turn's journal holds the turn, this memory everything else. A round and the stack of controllers
are written in one transaction before the next round begins, so `kill -9` loses only the round that
ran.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import ControllerFrame, Goal, GoalMemory, LogEntry
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.safe_delete import remove
from jarvis_desktop.storage.code_search import words as words_in
from jarvis_desktop.storage.database import reading, writing
from jarvis_desktop.storage.turn_rows import (
    DamagedError,
    Row,
    TurnRows,
    artifacts_of,
    decoded,
    encoded,
    number,
    seconds_of,
    status_of,
    terms_of,
    text,
    text_of,
    values_of,
)

log = logging.getLogger(__name__)

MAX_TERMS = 40
"""Distinct words of a text that are searched for."""

_FRAME = """
    INSERT INTO goal_frames (goal, depth, document) VALUES (?, ?, ?)
    ON CONFLICT (goal, depth) DO UPDATE SET document = excluded.document
    WHERE document <> excluded.document
"""
_ENTRY = """
    INSERT OR REPLACE INTO goal_log
    (goal, number, path, branch, what, status, observation, at, code, artifacts, seconds)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_LIKE = """
    SELECT goals.* FROM goal_search JOIN goals ON goals.number = goal_search.rowid
    WHERE goal_search MATCH ? AND status IN ('done', 'partly')
    ORDER BY bm25(goal_search), goals.number DESC LIMIT ?
"""


class SqliteGoalMemory:
    """Implements GoalMemory. Used from the thread that opened the database.

    Updates of a removed goal are ignored.
    """

    def __init__(self, rows: TurnRows, private: Callable[[], TurnRows | None]) -> None:
        """`private` returns the rows of the running code's private conversation, if any.

        Its goal is kept there, while lists and searches only know saved goals.
        """
        self._saved = rows
        self._private = private

    @property
    def _rows(self) -> TurnRows:
        return self._private() or self._saved

    def begin(self, goal: Goal, frames: Sequence[ControllerFrame]) -> None:
        """Save a new goal durably; it replaces one with the same id."""
        row = (
            encodable(goal.id),
            encodable(goal.conversation),
            encodable(goal.text),
            text_of(encoded(goal.terms)),
            goal.started.isoformat(),
            goal.status and goal.status.value,
            encodable(goal.answer),
        )
        with writing(self._rows.db) as db:
            db.execute("DELETE FROM goals WHERE id = ?", row[:1])
            cursor = db.execute(
                "INSERT INTO goals (id, conversation, text, terms, started, status, answer)"
                " VALUES (?, ?, ?, ?, ?, ?, ?)",
                row,
            )
            self._put_frames(int(cursor.lastrowid or 0), frames)

    def goal(self, goal_id: str) -> Goal | None:
        """Return a goal, or None."""
        with reading():
            rows = self._rows.db.query("SELECT * FROM goals WHERE id = ?", [encodable(goal_id)])
            return next(_goals(rows), None)

    def frames(self, goal_id: str) -> tuple[ControllerFrame, ...]:
        """Return its controllers.

        An unreadable one ends the stack: its caller restarts it, and counts as tainted.
        """
        find = (
            "SELECT depth, document FROM goal_frames JOIN goals ON goals.number = goal"
            " WHERE id = ? ORDER BY depth"
        )
        with reading():
            rows = self._rows.db.execute(find, (encodable(goal_id),)).fetchall()
        found: list[ControllerFrame] = []
        for depth, document in rows:
            try:
                if depth != len(found):
                    raise DamagedError(tr("One is missing."))
                found.append(decoded(ControllerFrame, values_of(document)))
            except DamagedError as error:
                log.info("A controller of a goal was not read: %s", error)
                return (*found[:-1], *(replace(last, tainted=True) for last in found[-1:]))
        return tuple(found)

    def keep(
        self, goal_id: str, frames: Sequence[ControllerFrame], entries: Sequence[LogEntry] = ()
    ) -> None:
        """Save the stack and the new entries: after the call they survive a power cut."""
        with writing(self._rows.db):
            found = self._number(goal_id)
            if found is not None:
                self._put_frames(found, frames)
                for entry in entries:
                    self._put_entry(found, entry)

    def log(self, goal_id: str, *, path: str = "") -> tuple[LogEntry, ...]:
        """Return its entries, oldest first, without unreadable ones."""
        find = (
            "SELECT goal_log.* FROM goal_log JOIN goals ON goals.number = goal"
            " WHERE id = :id AND :path IN ('', path)"
            " ORDER BY goal_log.number"
        )
        chosen = {"id": encodable(goal_id), "path": encodable(path)}
        with reading():
            rows = list(self._rows.db.query(find, chosen))
        found = []
        for row in rows:
            try:
                found.append(self._entry(row))
            except (DamagedError, ValueError) as error:
                log.info("An entry of a goal's log was not read: %s", error)
        return tuple(found)

    def end(self, goal_id: str, status: Status, answer: str) -> None:
        """Record its end and its answer."""
        row = (status.value, encodable(answer), encodable(goal_id))
        with writing(self._rows.db) as db:
            db.execute("UPDATE goals SET status = ?, answer = ? WHERE id = ?", row)

    def list(self, most: int = 50) -> tuple[Goal, ...]:
        """Return the newest goals first."""
        with reading():
            rows = self._saved.db.query("SELECT * FROM goals ORDER BY number DESC LIMIT ?", [most])
            return tuple(_goals(rows))

    def like(self, words: str, most: int) -> tuple[Goal, ...]:
        """Return reached goals that share words with these, the nearest first."""
        found = words_in(encodable(words))[:MAX_TERMS]
        if not found:
            return ()
        # Words are quoted so that none is syntax; the index stems them.
        expression = " OR ".join(f'"{word}"' for word in found)
        with reading():
            return tuple(_goals(self._saved.db.query(_LIKE, [expression, most])))

    def remove(self, goal_id: str) -> None:
        """Delete a goal with its plan and log. Raises InputError if it does not exist."""
        with writing(self._saved.db) as db:
            gone = db.execute("DELETE FROM goals WHERE id = ?", (encodable(goal_id),))
            if not gone.rowcount:
                raise InputError(
                    tr("There is no goal with the id '{goal_id}'.", goal_id=one_line(goal_id))
                )
            self._purge()

    def clear(self, conversations: Collection[str] | None, turns: Collection[str]) -> None:
        """Delete the goals of conversations (None: all) and of turns, except those in the journal.

        Goals in the journal can still be resumed. Needs an open transaction.
        """
        gone = self._saved.db.execute(
            "DELETE FROM goals WHERE id NOT IN (SELECT turn FROM journal) AND"
            " (:all OR id IN (SELECT value FROM json_each(:turns))"
            " OR conversation IN (SELECT value FROM json_each(:conversations)))",
            {
                "all": conversations is None,
                "turns": text_of(list(turns)),
                "conversations": text_of(list(conversations or ())),
            },
        )
        if gone.rowcount:
            self._purge()

    def files(self) -> set[str]:
        """Return the files of its rounds, as paths in the artifact store.

        Must be called within `reading` or `writing`.
        """
        rows = self._saved.db.execute("SELECT DISTINCT path FROM goal_files")
        return {str(row[0]) for row in rows.fetchall()}

    def _number(self, goal_id: str) -> int | None:
        find = "SELECT number FROM goals WHERE id = ?"
        row = self._rows.db.execute(find, (encodable(goal_id),)).fetchone()
        return int(row[0]) if row else None

    def _put_frames(self, goal: int, frames: Sequence[ControllerFrame]) -> None:
        """Save a stack, writing only what changed. Needs a transaction."""
        rows = [(goal, depth, text_of(encoded(item))) for depth, item in enumerate(frames)]
        self._rows.db.executemany(_FRAME, rows)
        left = "DELETE FROM goal_frames WHERE goal = ? AND depth >= ?"
        self._rows.db.execute(left, (goal, len(rows)))

    def _put_entry(self, goal: int, entry: LogEntry) -> None:
        made = [self._rows.artifact_values(item) for item in entry.artifacts]
        words = (entry.path, entry.branch, entry.what, entry.status.value, entry.observation)
        row = (*map(encodable, words), entry.at.isoformat(), encodable(entry.code), text_of(made))
        self._rows.db.execute(_ENTRY, (goal, entry.number, *row, entry.seconds))
        inner = [(goal, path) for item in entry.artifacts if (path := self._rows.inner(item))]
        self._rows.db.executemany("INSERT OR IGNORE INTO goal_files VALUES (?, ?)", inner)

    def _entry(self, row: Row) -> LogEntry:
        return LogEntry(
            number(row, "number"),
            text(row, "path"),
            text(row, "branch"),
            text(row, "what"),
            status_of(row["status"]),
            text(row, "observation"),
            datetime.fromisoformat(text(row, "at")),
            artifacts_of(values_of(row["artifacts"]), self._rows.artifact),
            text(row, "code"),
            seconds_of(row),
        )

    def _purge(self) -> None:
        # The index keeps deleted words until its segments are merged.
        self._saved.db.execute("INSERT INTO goal_search(goal_search) VALUES ('optimize')")


def _goals(rows: Iterable[Row]) -> Iterator[Goal]:
    """Yield the goals of rows, without unreadable ones."""
    for row in rows:
        try:
            yield _goal(row)
        except (DamagedError, ValueError) as error:
            log.info("A goal was not read: %s", error)


def _goal(row: Row) -> Goal:
    try:
        terms = values_of(row["terms"])
    except DamagedError:
        terms = None
    return Goal(
        text(row, "id"),
        text(row, "conversation"),
        text(row, "text"),
        terms_of(terms),
        datetime.fromisoformat(text(row, "started")),
        None if row["status"] is None else status_of(row["status"]),
        text(row, "answer"),
    )


UNKNOWN_GOAL_SECONDS = 24 * 3600
"""How long the folder of an unknown goal stays: the memory may be damaged, or another process
may be about to save the goal."""
FINISHED_GOAL_AGE = timedelta(days=30)
"""How long after its start the folder of a finished goal stays."""


async def sweep(root: Path, memory: GoalMemory, now: datetime) -> int:
    """Remove the folders under `root` of goals that cannot be resumed. Return their number.

    Call it on the thread of the memory. Folders that cannot be read or removed stay.
    """
    gone = 0
    with suppress(StorageError, OSError):
        for folder in await asyncio.to_thread(_folders, root):
            if _is_done_with(folder, memory, now):
                await asyncio.to_thread(remove, folder)
                gone += not folder.exists()
            await asyncio.sleep(0)
    return gone


def _is_done_with(folder: Path, memory: GoalMemory, now: datetime) -> bool:
    goal = memory.goal(folder.name)
    if goal is None:
        return time.time() - folder.lstat().st_mtime > UNKNOWN_GOAL_SECONDS
    return goal.status is not None and now - goal.started > FINISHED_GOAL_AGE


def _folders(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return [path for path in root.iterdir() if path.is_dir() and not path.is_symlink()]
