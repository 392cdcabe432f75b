"""The journal of running turns, which lets an interrupted turn resume after a crash.

It is in the history's database, so that a turn is in one of the two and never in both. A turn
belongs to a process that holds a lock file: `kill -9` releases a lock, and a process number may be
reused.
"""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.context import is_private
from jarvis_desktop.core.display import encodable
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.expert import Selection, Status, TaskResult
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage.database import reading, writing
from jarvis_desktop.storage.turn_rows import Row, TurnRows, attempt_of, attempt_values

if TYPE_CHECKING:
    from filelock import BaseFileLock


HOUR = 60 * 60
"""Seconds. A younger file may belong to a process that is about to lock it."""


class Owners:
    """One locked file per process in a folder; its name identifies the process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock: BaseFileLock | None = None
        self.name = ""
        """The name of this process; "" until `own` is called."""

    def own(self, named: Callable[[], Collection[str]]) -> str:
        """Return the name of this process, which is created at the first call.

        Files of ended processes are removed then, except those that are still `named` somewhere.
        Raises StorageError if the file cannot be created or locked.
        """
        from filelock import Timeout

        if self._lock is None:
            self._sweep(named())
            name = secrets.token_hex(8)
            try:
                self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                lock = _lock(self._folder / name)
                lock.acquire()
            except (OSError, NotImplementedError, Timeout) as error:
                raise StorageError(
                    tr(
                        "The folder {folder} cannot be used: {error}.",
                        folder=self._folder,
                        error=getattr(error, "strerror", None) or "its files cannot be locked",
                    ),
                    hint=tr("See that it may be written to and that the disk has room."),
                ) from error
            self._lock, self.name = lock, name
        return self.name

    def has_ended(self, name: str) -> bool:
        """Whether the process of this name, another one than this, has ended."""
        from filelock import Timeout

        path = self._folder / name
        if name == self.name or not path.exists():
            return name != self.name
        try:
            with _lock(path):
                return True
        except Timeout:
            return False
        except (OSError, NotImplementedError):  # it is gone, or locks are not supported
            return not path.exists()

    def close(self) -> None:
        """Release the lock before this process ends."""
        lock, self._lock = self._lock, None
        if lock:
            lock.release()
            with suppress(OSError):
                (self._folder / self.name).unlink()
            self.name = ""

    def _sweep(self, named: Collection[str]) -> None:
        with suppress(OSError):
            for path in self._folder.iterdir():
                old = path.stat().st_mtime < time.time() - HOUR
                if old and path.name not in named and self.has_ended(path.name):
                    path.unlink()


def _lock(path: Path) -> BaseFileLock:
    from filelock import FileLock

    return FileLock(path, timeout=0, mode=0o600, thread_local=False)


_FILES = """
    SELECT atom FROM journal, json_tree(document) WHERE key = 'path' AND type = 'text'
    UNION
    SELECT atom FROM journal_tasks, json_tree(result) WHERE key = 'path' AND type = 'text'
"""


class SqliteJournal:
    """Implements Journal. Used from the thread that opened the database."""

    def __init__(self, rows: TurnRows, owners: Owners) -> None:
        self._db = rows.db
        self._rows = rows
        self._owners = owners

    def begin(self, unfinished: Unfinished) -> None:
        """Record a turn and its plan, if it has one, durably; replaces an earlier record.

        A turn of a private conversation is not recorded.
        """
        if is_private(unfinished.conversation):
            return
        turn, own = unfinished.turn, self._own()
        name, done = encodable(turn.id), _done(turn)
        with writing(self._db) as db:
            db.execute("DELETE FROM journal WHERE turn = ?", (name,))
            row = (name, own, self._document(unfinished))
            db.execute("INSERT INTO journal (turn, owner, document) VALUES (?, ?, ?)", row)
            for task_id in unfinished.perhaps - done.keys():
                self._put(name, task_id, None)
            for task_id, result in done.items():
                self._put(name, task_id, result)

    def starting(self, turn_id: str, task_id: int) -> None:
        """Record durably that a task with effects outside the store is about to start."""
        with writing(self._db):
            self._put(encodable(turn_id), task_id, None)

    def finished(self, turn_id: str, result: TaskResult) -> None:
        """Record the end of a task: after the call it survives a crash or power cut."""
        name = encodable(turn_id)
        with writing(self._db) as db:
            if result.status is Status.DONE:
                self._put(name, result.task_id, result)
            else:
                unmade = "DELETE FROM journal_tasks WHERE turn = ? AND task_id = ?"
                db.execute(unmade, (name, result.task_id))

    def end(self, turn_id: str) -> None:
        """Forget a turn; an unknown one is ignored and writes nothing."""
        name = encodable(turn_id)
        with reading():
            there = self._db.execute("SELECT 1 FROM journal WHERE turn = ?", (name,))
            if not there.fetchone():
                return
        with writing(self._db):
            self.remove(turn_id)

    def remove(self, turn_id: str) -> None:
        """Forget a turn, in the transaction that saves it in the history."""
        self._db.execute("DELETE FROM journal WHERE turn = ?", (encodable(turn_id),))

    def clear(self, conversations: Collection[str] | None = None) -> None:
        """Forget the interrupted turns, all or those of `conversations`.

        Running turns continue. Needs an open transaction.
        """
        rows = list(self._db.query("SELECT DISTINCT owner FROM journal"))
        ended = [owner for owner in _owners(rows) if self._owners.has_ended(owner)]
        chosen = None if conversations is None else json.dumps(list(conversations))
        self._db.execute(
            "DELETE FROM journal WHERE owner IN (SELECT value FROM json_each(:ended))"
            " AND (:chosen IS NULL OR json_extract(document, '$.conversation') IN"
            " (SELECT value FROM json_each(:chosen)))",
            {"ended": json.dumps(ended), "chosen": chosen},
        )

    def unfinished(self) -> tuple[Unfinished, ...]:
        """Return the turns of processes that have ended, oldest first."""
        with reading():
            rows = list(self._db.query("SELECT * FROM journal"))
            ended = {name for name in _owners(rows) if self._owners.has_ended(name)}
            left = [self._read(row) for row in rows if row["owner"] in ended]
        return tuple(sorted(left, key=lambda item: item.turn.started.astimezone()))

    def elsewhere(self) -> Collection[str]:
        """Return the ids of turns that another process is working on."""
        own = self._own()
        with reading():
            rows = list(self._db.query("SELECT turn, owner FROM journal"))
            ended = {own, *filter(self._owners.has_ended, _owners(rows))}
            return {row["turn"] for row in rows if row["owner"] not in ended}

    def take_over(self, turn_id: str) -> Unfinished | None:
        """Take over a turn of an ended process; None if it is not available."""
        name, own = encodable(turn_id), self._own()
        # The database lock lets one process at a time check the owner.
        with writing(self._db) as db:
            rows = list(db.query("SELECT * FROM journal WHERE turn = ?", [name]))
            if not rows:
                return None
            owner = rows[0]["owner"]
            if owner != own and not self._owners.has_ended(owner):
                return None
            db.execute("UPDATE journal SET owner = ? WHERE turn = ?", (own, name))
            return self._read(rows[0])

    def files(self) -> set[str]:
        """Return the files of its turns, as paths in the artifact store.

        Must be called within `reading` or `writing`.
        """
        return {str(row[0]) for row in self._db.execute(_FILES).fetchall()}

    def close(self) -> None:
        """Let other processes take over what is left of this one."""
        self._owners.close()

    def _own(self) -> str:
        return self._owners.own(self._named)

    def _named(self) -> set[str]:
        with reading():
            return _owners(list(self._db.query("SELECT owner FROM journal")))

    def _put(self, name: str, task_id: int, result: TaskResult | None) -> None:
        """Record a task of a recorded turn. Needs an open transaction."""
        self._db.execute(
            "INSERT OR REPLACE INTO journal_tasks (turn, task_id, result)"
            " SELECT turn, ?, ? FROM journal WHERE turn = ?",
            (task_id, result and self._result_text(result), name),
        )

    def _document(self, unfinished: Unfinished) -> str:
        turn, folder = unfinished.turn, unfinished.folder
        return _text(
            {
                "conversation": unfinished.conversation,
                "speak": unfinished.speak,
                "folder": folder and str(folder),
                "goal": unfinished.goal,
                "fixed": unfinished.fixed,
                "started": turn.started.isoformat(),
                "text": turn.text,
                "heard_by": turn.heard_by,
                "attachments": [self._rows.artifact_values(item) for item in turn.attachments],
                "notes": turn.notes,
                "plan": None if turn.plan is None else self._rows.plan_values(turn.plan),
            }
        )

    def _result_text(self, result: TaskResult) -> str:
        return _text(
            {
                "artifacts": [self._rows.artifact_values(item) for item in result.artifacts],
                "attempts": [attempt_values(item) for item in result.attempts],
            }
        )

    def _read(self, row: Row) -> Unfinished:
        document = json.loads(row["document"])
        plan = None if document["plan"] is None else self._rows.plan(document["plan"])
        find = "SELECT task_id, result FROM journal_tasks WHERE turn = ? ORDER BY task_id"
        written = self._db.execute(find, (row["turn"],)).fetchall()
        results = [self._result(number, text, plan) for number, text in written if text]
        turn = Turn(
            id=row["turn"],
            started=datetime.fromisoformat(document["started"]),
            text=document["text"],
            heard_by=document["heard_by"],
            attachments=tuple(self._rows.artifact(item) for item in document["attachments"]),
            plan=plan,
            selections=tuple(_selection(item) for item in results),
            # A result whose file was removed must be made again.
            results={item.task_id: item for item in results if all(map(_there, item.artifacts))},
            agentic=document.get("goal", False),
            notes=tuple(document["notes"]),
        )
        return Unfinished(
            document["conversation"],
            turn,
            speak=document["speak"],
            folder=Path(document["folder"]) if document["folder"] else None,
            goal=document.get("goal", False),  # older records have none
            perhaps=frozenset(number for number, text in written if not text),
            # Older records lack it; a given plan had no request text.
            fixed=document.get("fixed", not document["text"]),
            unplanned=document["plan"] is None and not document.get("goal", False),
        )

    def _result(self, number: int, text: str, plan: Plan | None) -> TaskResult:
        values = json.loads(text)
        kind = next((task.type.name for task in plan or () if task.id == number), "")
        return TaskResult(
            number,
            Status.DONE,
            tuple(self._rows.artifact(item) for item in values["artifacts"]),
            tuple(attempt_of(item, kind) for item in values["attempts"]),
        )


def _done(turn: Turn) -> dict[int, TaskResult]:
    found = turn.results.items()
    return {number: result for number, result in found if result.status is Status.DONE}


def _selection(result: TaskResult) -> Selection:
    tried = dict.fromkeys(item.candidate for item in result.attempts)
    return Selection(result.task_id, tuple(tried), "It was done before the turn was cut off.")


def _there(artifact: Artifact) -> bool:
    return artifact.path is None or artifact.path.is_file()


def _owners(rows: list[Row]) -> set[str]:
    return {row["owner"] for row in rows}


def _text(document: Row) -> str:
    return encodable(json.dumps(document, ensure_ascii=False))
