"""Goals of agent mode with their plans and logs, so that a crash or a power cut at any moment
loses no finished round. They lie in the history's database.

The folders that the code of goals worked in: what was made there lies in the artifact store as
well, so they go once nobody can come back to the goal."""

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
    frame_of,
    frame_values,
    number,
    seconds_of,
    status_of,
    terms_of,
    terms_values,
    text,
    text_of,
    values_of,
)

log = logging.getLogger(__name__)

MAX_TERMS = 40
"""Different words of a text that goals are looked for by."""

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

    What is told of a goal that is not there, because somebody removed it, is not kept.
    """

    def __init__(self, rows: TurnRows, private: Callable[[], TurnRows | None]) -> None:
        """`private` returns the rows of the private conversation that the running code works for,
        if any: its goal is kept there, while lists and searches only know saved goals."""
        self._saved = rows
        self._private = private

    @property
    def _rows(self) -> TurnRows:
        return self._private() or self._saved

    def begin(self, goal: Goal, frames: Sequence[ControllerFrame]) -> None:
        """Write a new goal down durably, in the place of what there was of it."""
        row = (
            encodable(goal.id),
            encodable(goal.conversation),
            encodable(goal.text),
            text_of(terms_values(goal.terms)),
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
        """One goal."""
        with reading():
            rows = self._rows.db.query("SELECT * FROM goals WHERE id = ?", [encodable(goal_id)])
            return next(_goals(rows), None)

    def frames(self, goal_id: str) -> tuple[ControllerFrame, ...]:
        """Its controllers. One that cannot be read ends the stack: its caller begins it anew, as
        if it had read what others wrote."""
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
                found.append(frame_of(values_of(document)))
            except DamagedError as error:
                log.info("A controller of a goal was not read: %s", error)
                return (*found[:-1], *(replace(last, tainted=True) for last in found[-1:]))
        return tuple(found)

    def keep(
        self, goal_id: str, frames: Sequence[ControllerFrame], entries: Sequence[LogEntry] = ()
    ) -> None:
        """Write the stack and what was done: when this returns, it survives a power cut."""
        with writing(self._rows.db):
            found = self._number(goal_id)
            if found is not None:
                self._put_frames(found, frames)
                for entry in entries:
                    self._put_entry(found, entry)

    def log(self, goal_id: str, *, path: str = "", after: int = 0) -> tuple[LogEntry, ...]:
        """Its entries, oldest first; one that cannot be read is left out."""
        find = (
            "SELECT goal_log.* FROM goal_log JOIN goals ON goals.number = goal"
            " WHERE id = :id AND goal_log.number > :after AND :path IN ('', path)"
            " ORDER BY goal_log.number"
        )
        chosen = {"id": encodable(goal_id), "after": after, "path": encodable(path)}
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
        """Write down that it is over, and with what answer."""
        row = (status.value, encodable(answer), encodable(goal_id))
        with writing(self._rows.db) as db:
            db.execute("UPDATE goals SET status = ?, answer = ? WHERE id = ?", row)

    def list(self, most: int = 50) -> tuple[Goal, ...]:
        """The newest first."""
        with reading():
            rows = self._saved.db.query("SELECT * FROM goals ORDER BY number DESC LIMIT ?", [most])
            return tuple(_goals(rows))

    def like(self, words: str, most: int) -> tuple[Goal, ...]:
        """Goals that were reached and share words with these, the nearest first."""
        found = words_in(encodable(words))[:MAX_TERMS]
        if not found:
            return ()
        # Each word alone, quoted so that none is syntax; the index knows its stem.
        expression = " OR ".join(f'"{word}"' for word in found)
        with reading():
            return tuple(_goals(self._saved.db.query(_LIKE, [expression, most])))

    def remove(self, goal_id: str) -> None:
        """Forget a goal with its plan and log. Raises InputError where there is none."""
        with writing(self._saved.db) as db:
            gone = db.execute("DELETE FROM goals WHERE id = ?", (encodable(goal_id),))
            if not gone.rowcount:
                raise InputError(
                    tr("There is no goal with the id '{goal_id}'.", goal_id=one_line(goal_id))
                )
            self._purge()

    def clear(self, conversations: Collection[str] | None, turns: Collection[str]) -> None:
        """Forget the goals of conversations (None: of all) and of turns, but for those that are in
        the journal: they go on. Needs an open transaction."""
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
        """The files that its rounds made, in the artifact store as their paths inside it.

        Needs to be called within `reading` or `writing`.
        """
        rows = self._saved.db.execute("SELECT DISTINCT path FROM goal_files")
        return {str(row[0]) for row in rows.fetchall()}

    def _number(self, goal_id: str) -> int | None:
        find = "SELECT number FROM goals WHERE id = ?"
        row = self._rows.db.execute(find, (encodable(goal_id),)).fetchone()
        return int(row[0]) if row else None

    def _put_frames(self, goal: int, frames: Sequence[ControllerFrame]) -> None:
        """Write a stack, and of it only what is another than before. Needs a transaction."""
        rows = [(goal, depth, text_of(frame_values(item))) for depth, item in enumerate(frames)]
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
        # The index keeps deleted words until its parts are merged.
        self._saved.db.execute("INSERT INTO goal_search(goal_search) VALUES ('optimize')")


def _goals(rows: Iterable[Row]) -> Iterator[Goal]:
    """The goals of rows; one that cannot be read is left out."""
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
"""Seconds that the folder of a goal that the memory does not have stays: the memory may be damaged,
and another process may be about to begin the goal."""
FINISHED_GOAL_AGE = timedelta(days=30)
"""How long after its beginning the folder of a goal stays that is over."""


async def sweep(root: Path, memory: GoalMemory, now: datetime) -> int:
    """Remove the folders under `root` that nobody comes back to; how many. To be called on the
    thread of the memory; what cannot be looked at or removed stays."""
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
