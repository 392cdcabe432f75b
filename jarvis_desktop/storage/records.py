"""Small tables of the history: the track record of experts, facts to remember, lists, and timers;
and the last dictations, in a file."""

from __future__ import annotations

import json
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from jarvis_desktop.core.context import in_private_conversation, local_now
from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.expert import Experience
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import Fact, Timer
from jarvis_desktop.paths import replace_text
from jarvis_desktop.storage.database import reading, writing

if TYPE_CHECKING:
    from jarvis_desktop.storage.database import Database


log = logging.getLogger(__name__)

MAX_RUNS = 20
"""Saved runs of an expert at a task; older ones say little about the present."""

RECENT_RUNS = 3
"""Runs of which most must have failed; a single failure may be due to a full memory."""

FAILURE_PERIOD = timedelta(days=1)
"""How long failures rank an expert lower; then it gets another chance."""


class TrackRecords:
    """Implements TrackRecord. Used from the thread that opened the database."""

    def __init__(self, db: Database, *, now: Callable[[], datetime]) -> None:
        self._db = db
        self._now = now

    def note(
        self, expert_id: str, task: str, *, seconds: float, worked: bool, size: int = 0
    ) -> None:
        """Save one run and drop the oldest ones. Errors are only logged.

        Nothing is learned from a private conversation.
        """
        if in_private_conversation():
            return
        row = (task, expert_id, seconds, worked, size, self._now().isoformat())
        try:
            with writing(self._db) as db:
                db.execute(
                    "INSERT INTO expert_runs (task, expert, seconds, worked, size, at)"
                    " VALUES (?, ?, ?, ?, ?, ?)",
                    row,
                )
                db.execute(
                    "DELETE FROM expert_runs WHERE task = ? AND expert = ? AND number NOT IN"
                    " (SELECT number FROM expert_runs WHERE task = ? AND expert = ?"
                    " ORDER BY number DESC LIMIT ?)",
                    (task, expert_id, task, expert_id, MAX_RUNS),
                )
        except StorageError as error:
            log.info("A run of %s was not kept: %s", expert_id, error.message)

    def of(self, task: str) -> Mapping[str, Experience]:
        """Return the records of a task's experts, by their ids; {} on errors."""
        find = (
            "SELECT expert, seconds, worked, size, at FROM expert_runs WHERE task = ?"
            " ORDER BY number"
        )
        runs: dict[str, list[_ExpertRun]] = defaultdict(list)
        try:
            with reading():
                for expert, *row in self._db.execute(find, (task,)).fetchall():
                    runs[str(expert)].append(_ExpertRun(*row))
        except StorageError as error:
            log.info("The runs of %s were not read: %s", task, error.message)
        return {expert: self._experience(rows) for expert, rows in runs.items()}

    def _experience(self, rows: list[_ExpertRun]) -> Experience:
        """Summarize runs, oldest first."""
        good = [row for row in rows if row.worked]
        times = [row.seconds for row in good]
        failures = [not row.worked for row in rows[-RECENT_RUNS:]]
        age = self._now().astimezone() - datetime.fromisoformat(rows[-1].at).astimezone()
        return Experience(
            runs=len(rows),
            worked=len(good),
            # The median is not affected by the first run, which loads weights.
            seconds=median(times) if times else None,
            failed=failures[-1] and 2 * sum(failures) > len(failures) and age < FAILURE_PERIOD,
            slowest=max(times, default=None),
            largest=max((row.size for row in good), default=0),
        )


class _ExpertRun(NamedTuple):
    seconds: float
    worked: bool
    size: int
    at: str


MAX_FACTS = 100
MAX_FACT_CHARS = 300
"""Characters of a fact: all of them go into every prompt."""

_LIST = "SELECT number, text FROM facts ORDER BY number"


class FactRecords:
    """Implements Facts. Used from the thread that opened the database."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def list(self) -> tuple[Fact, ...]:
        """Return all facts, oldest first."""
        with reading():
            rows = self._db.execute(_LIST).fetchall()
        return tuple(Fact(number, text) for number, text in rows)

    def add(self, text: str) -> Fact:
        """Save a fact durably; it replaces one that says the same.

        Raises InputError if it is empty, too long, or one too many, and in a private conversation.
        """
        _refuse_in_private()
        text = one_line(encodable(text), limit=MAX_FACT_CHARS + 1)
        if not _bare(text):
            raise InputError(tr("There is nothing to remember in that."))
        if len(text) > MAX_FACT_CHARS:
            raise InputError(
                tr(
                    "That is too long to remember; the most is {longest} characters.",
                    longest=MAX_FACT_CHARS,
                ),
                hint=tr("Say the main thing in a sentence."),
            )
        with writing(self._db) as db:
            rows = db.execute(_LIST).fetchall()
            same = [number for number, other in rows if _bare(other) == _bare(text)]
            if len(rows) - len(same) >= MAX_FACTS:
                raise InputError(
                    tr("I remember {most} things already, which is the most.", most=MAX_FACTS),
                    hint=tr("Say “forget that …”, or use: jarvis-desktop memory remove."),
                )
            for number in same:
                db.execute("DELETE FROM facts WHERE number = ?", (number,))
            row = db.execute("INSERT INTO facts (text) VALUES (?)", (text,))
            return Fact(int(row.lastrowid or 0), text)

    def remove(self, number: int) -> None:
        """Delete a fact. Raises InputError for an unknown number."""
        with writing(self._db) as db:
            gone = db.execute("DELETE FROM facts WHERE number = ?", (number,))
            if not gone.rowcount:
                raise InputError(tr("I remember nothing with the number {number}.", number=number))

    def clear(self) -> int:
        """Delete all facts and return their number."""
        with writing(self._db) as db:
            return db.execute("DELETE FROM facts").rowcount


def _refuse_in_private() -> None:
    if in_private_conversation():
        raise InputError(
            tr("This conversation is not saved, so this was not noted down either."),
            hint=tr("Say it in another conversation."),
        )


def _bare(text: str) -> str:
    """Return the words alone, to compare what facts say."""
    return " ".join(re.findall(r"\w+", text.casefold()))


MAX_LISTS, MAX_ITEMS = 50, 500
MAX_ITEM_CHARS = 500


class ListRecords:
    """Implements Lists. Used from the thread that opened the database."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def names(self) -> tuple[str, ...]:
        """Return the lists that have entries, by name."""
        with reading():
            rows = self._db.execute("SELECT DISTINCT list FROM list_items ORDER BY list").fetchall()
        return tuple(name for (name,) in rows)

    def items(self, name: str) -> tuple[str, ...]:
        """Return the entries of a list, oldest first."""
        with reading():
            rows = self._db.execute(
                "SELECT text FROM list_items WHERE list = ? ORDER BY number", (name,)
            ).fetchall()
        return tuple(text for (text,) in rows)

    def add(self, name: str, items: Sequence[str]) -> tuple[str, ...]:
        """Save entries durably and return those that were not there, in any case of letters.

        Raises InputError if there is none, one is too long, or they are too many, and in a private
        conversation.
        """
        _refuse_in_private()
        items = [one_line(encodable(item), limit=MAX_ITEM_CHARS + 1) for item in items]
        if not items or any(len(item) > MAX_ITEM_CHARS for item in items):
            raise InputError(
                tr("An entry of a list has 1 to {longest} characters.", longest=MAX_ITEM_CHARS)
            )
        there = self.items(name)
        if not there and len(self.names()) >= MAX_LISTS:
            raise InputError(tr("There are {most} lists already, the most.", most=MAX_LISTS))
        known = {item.casefold() for item in there}
        fresh = [item for item in dict.fromkeys(items) if item.casefold() not in known]
        if len(there) + len(fresh) > MAX_ITEMS:
            raise InputError(
                tr("The list “{name}” has {most} entries, the most.", name=name, most=MAX_ITEMS),
                hint=tr("Remove some first."),
            )
        with writing(self._db) as db:
            for item in fresh:
                db.execute("INSERT INTO list_items (list, text) VALUES (?, ?)", (name, item))
        return tuple(fresh)

    def remove(self, name: str, items: Sequence[str]) -> tuple[str, ...]:
        """Delete entries, in any case of letters, and return those that were there."""
        wanted = {item.casefold() for item in items}
        gone = tuple(item for item in self.items(name) if item.casefold() in wanted)
        with writing(self._db) as db:
            for item in gone:
                db.execute("DELETE FROM list_items WHERE list = ? AND text = ?", (name, item))
        return gone

    def clear(self, name: str) -> int:
        """Delete all entries of a list and return their number."""
        with writing(self._db) as db:
            return db.execute("DELETE FROM list_items WHERE list = ?", (name,)).rowcount


class SavedTimers:
    """The table of pending timers. Used from the thread that opened the database."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, timer: Timer) -> None:
        """Save a timer durably; it replaces one with the same id.

        A timer of a private conversation is not saved and only rings while the program runs.
        """
        if in_private_conversation():
            return
        values = (timer.id, encodable(timer.label), timer.due.isoformat())
        with writing(self._db) as db:
            db.execute("INSERT OR REPLACE INTO timers (id, label, due) VALUES (?, ?, ?)", values)

    def remove(self, timer_id: str) -> None:
        """Delete a timer, if it exists."""
        with writing(self._db) as db:
            db.execute("DELETE FROM timers WHERE id = ?", (timer_id,))

    def pending(self) -> tuple[Timer, ...]:
        """Return all saved timers, the next one first, including overdue ones."""
        with reading():
            rows = self._db.execute("SELECT id, label, due FROM timers").fetchall()
        timers = (Timer(name, label, datetime.fromisoformat(due)) for name, label, due in rows)
        return tuple(sorted(timers, key=lambda timer: timer.due.astimezone()))


MAX_KEPT = 50


@dataclass(frozen=True, slots=True)
class KeptDictation:
    """A text that was dictated."""

    text: str
    at: str
    """When, in ISO 8601."""


@dataclass(eq=False)
class DictationLog:
    """The last dictations, to be pasted or copied again. They have a file of their own: clearing it
    leaves no trace in the database.

    `days` returns for how many days they are kept; 0 keeps them until newer ones replace them.

    A file that cannot be read or written only costs the list: dictation continues.
    """

    path: Path
    _: KW_ONLY
    days: Callable[[], int] = lambda: 0
    now: Callable[[], datetime] = local_now

    def add(self, text: str) -> None:
        """Keep a text."""
        fresh = KeptDictation(text, self.now().isoformat(timespec="seconds"))
        self._save([fresh, *self.kept()][:MAX_KEPT])

    def kept(self) -> list[KeptDictation]:
        """The texts, the newest first."""
        try:
            found = [KeptDictation(**each) for each in json.loads(self.path.read_text("utf-8"))]
            days = self.days()
            oldest = self.now() - timedelta(days=days)
            return [each for each in found if not days or datetime.fromisoformat(each.at) >= oldest]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError) as error:
            log.info("the last dictations cannot be read: %s", type(error).__name__)
            return []

    def clear(self) -> None:
        """Forget all of them."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("the last dictations cannot be removed: %s", error.strerror)

    def _save(self, kept: list[KeptDictation]) -> None:
        try:
            replace_text(self.path, json.dumps([asdict(each) for each in kept]))
        except OSError as error:
            log.warning("a dictation cannot be kept: %s", error.strerror)
