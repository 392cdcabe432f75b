"""Deletion in two steps: into the trash, which can be undone, then for good, in small batches."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.database import reading, writing
from jarvis_desktop.storage.goals import SqliteGoalMemory
from jarvis_desktop.storage.journal import SqliteJournal
from jarvis_desktop.storage.turn_rows import TurnRows

if TYPE_CHECKING:
    from jarvis_desktop.storage.database import Database


UNDO = timedelta(seconds=10)
"""How long a deletion can be undone."""

Extent = Literal["turns", "conversations", "everything"]
"""The target of a deletion. Interrupted turns and goals of a conversation are deleted too."""

_EMPTIED = """
    SELECT DISTINCT conversation FROM turns AS gone
    WHERE trash IS NOT NULL AND trash IN (SELECT value FROM json_each(?))
    AND NOT EXISTS (SELECT 1 FROM turns WHERE conversation = gone.conversation AND
        (trash IS NULL OR trash NOT IN (SELECT value FROM json_each(?))))
"""


@dataclass(frozen=True, slots=True)
class Trashed:
    """One deletion, to be undone by its number."""

    number: int
    turns: int
    conversations: tuple[str, ...] = ()
    """The ids of conversations with no turns left."""


@dataclass(frozen=True, slots=True)
class Final:
    """Deletions to be made final."""

    numbers: tuple[int, ...]
    """The numbers of the turns."""
    conversations: tuple[str, ...]
    """The ids of targeted conversations with no turns left."""
    everything: bool
    """Whether the whole history was the target."""


class Trash:
    """Marks turns as deleted. Every method needs an open transaction, or `reading`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def put(self, numbers: Sequence[int], now: datetime, *, extent: Extent) -> Trashed:
        """Move turns to the trash."""
        execute = self._db.execute
        row = execute("INSERT INTO trash (at, extent) VALUES (?, ?)", (now.isoformat(), extent))
        number = int(row.lastrowid or 0)
        put = execute(
            "UPDATE turns SET trash = ? WHERE trash IS NULL AND number IN"
            " (SELECT value FROM json_each(?))",
            (number, json.dumps(list(numbers))),
        )
        return Trashed(number, put.rowcount, self._emptied((number,)))

    def touch(self, number: int, now: datetime) -> None:
        """Mark a deletion as in progress, so that other processes do not clean it up."""
        self._db.execute("UPDATE trash SET at = ? WHERE number = ?", (now.isoformat(), number))

    def restore(self, number: int) -> int:
        """Restore the turns of one deletion. Return their number."""
        execute = self._db.execute
        execute("DELETE FROM trash WHERE number = ?", (number,))
        return execute("UPDATE turns SET trash = NULL WHERE trash = ?", (number,)).rowcount

    def waiting(self, *, older_than: datetime | None = None) -> tuple[int, ...]:
        """Return the deletions that are not final, all or those before a moment."""
        rows = self._db.execute("SELECT number, at FROM trash ORDER BY number").fetchall()
        return tuple(
            int(number)
            for number, at in rows
            if older_than is None
            or datetime.fromisoformat(at).astimezone() < older_than.astimezone()
        )

    def meant(self, numbers: Sequence[int]) -> Final:
        """Return the targets of these deletions."""
        chosen, execute = json.dumps(list(numbers)), self._db.execute
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
        """Remove the records of final deletions."""
        gone = "DELETE FROM trash WHERE number IN (SELECT value FROM json_each(?))"
        self._db.execute(gone, (json.dumps(list(numbers)),))

    def _emptied(self, numbers: Sequence[int]) -> tuple[str, ...]:
        chosen = json.dumps(list(numbers))
        rows = self._db.execute(_EMPTIED, (chosen, chosen)).fetchall()
        return tuple(str(row[0]) for row in rows)


BATCH_CONVERSATIONS = 20
"""Conversations that are deleted before other work may run."""
BIT = 50
"""Turns that are deleted before other work may run."""
PAGES = 64
"""Index pages that are rewritten before other work may run."""

Chosen = Sequence[tuple[str, str]] | None
"""Tables and ids of conversations and turns; None is the whole history."""


class Erasing:
    """Trashes, restores and erases turns."""

    def __init__(
        self,
        rows: TurnRows,
        store: FileStore,
        *,
        journal: SqliteJournal,
        goals: SqliteGoalMemory,
        now: Callable[[], datetime],
    ) -> None:
        self._db = rows.db
        self._rows = rows
        self._store = store
        self._journal = journal
        self._goals = goals
        self._now = now
        self._trash = Trash(rows.db)
        self._own: set[int] = set()
        """The deletions of this process that were not undone."""

    def put_away(
        self, chosen: Chosen, since: date | None = None, until: date | None = None
    ) -> Trashed:
        """Move turns to the trash, or those of conversations last used between two days."""
        with writing(self._db):
            trashed = self._put(chosen, since, until)
        self._own.add(trashed.number)
        return trashed

    def restore(self, trashed: int) -> int:
        """Restore the turns of one deletion. Return their number."""
        self._own.discard(trashed)
        with writing(self._db):
            return self._trash.restore(trashed)

    def empty(self, trashed: int | None, *, left: bool) -> Iterator[int]:
        """Make deletions final bit by bit; yields the number of turns of each bit.

        Other work may run after each bit. Stopping or a kill in between loses nothing: the rest is
        still in the trash.
        """
        with reading():
            before = self._now() - UNDO if left else None
            waiting = self._trash.waiting(older_than=before)
        if numbers := [item for item in waiting if trashed in (None, item)]:
            yield from self._remove(numbers)

    def finish(self) -> Iterator[int]:
        """Make this process's deletions final: after its end nobody can undo them."""
        own, self._own = self._own, set()
        if own:
            with reading():
                numbers = [item for item in self._trash.waiting() if item in own]
            if numbers:
                yield from self._remove(numbers)

    def erase(self, chosen: Chosen) -> Iterator[int]:
        """Erase turns for good, bit by bit as `empty` does."""
        with writing(self._db):
            trashed = self._put(chosen)
        yield from self._remove([trashed.number])

    def older_than(self, days: int) -> Iterator[Chosen]:
        """Yield the conversations to forget, a few at a time; none for 0 days."""
        last = self._now() - timedelta(days=days)
        old = """
            SELECT id FROM conversations WHERE NOT pinned AND last < julianday(?)
            AND NOT EXISTS (SELECT 1 FROM turns WHERE conversation = conversations.id AND pinned)
        """
        with reading():
            rows = self._db.execute(old, (last.isoformat(),)).fetchall() if days > 0 else []
        chosen = [("conversations", str(row[0])) for row in rows]
        for start in range(0, len(chosen), BATCH_CONVERSATIONS):
            yield chosen[start : start + BATCH_CONVERSATIONS]

    def files(self) -> set[str]:
        """Return the files of all turns, of the journal and of goals, as paths in the store.

        Must be called within `reading` or `writing`.
        """
        return self._files_of(None) | self._files_besides()

    def _remove(self, deletions: Sequence[int]) -> Iterator[int]:
        """Erase the deletions of these numbers."""
        with reading():
            final = self._trash.meant(deletions)
            others = self._others(final.numbers)
        if final.everything and not others:
            yield self._remove_bit(None, final)
        else:
            for start in range(0, len(final.numbers) or 1, BIT):
                yield self._remove_bit(final.numbers[start : start + BIT], final)
            yield from self._purge()
        with writing(self._db):
            self._trash.done(deletions)
        with reading():
            # The write-ahead log has the old pages until it is truncated.
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def _remove_bit(self, numbers: Sequence[int] | None, final: Final) -> int:
        """Erase some turns, or all, and files that are no longer used."""
        with writing(self._db):
            files = self._files_of(numbers) | self._files_besides()
            self._journal.clear(None if final.everything else final.conversations)
            if numbers is None:
                self._rows.clear()
                self._goals.clear(None, ())
            else:
                turns = self._rows.remove(numbers)
                self._goals.clear(final.conversations, turns)
            # Checked while nobody can save: a turn that is saved later still has its claims.
            unused = [
                place
                for path in files - self._still_used(files)
                if not self._store.claimed(place := self._rows.root / path)
            ]
        self._store.remove(unused)
        return len(final.numbers if numbers is None else numbers)

    def _purge(self) -> Iterator[int]:
        """Rewrite the index, which keeps deleted words until its segments are merged."""
        merge = "INSERT INTO search(search, rank) VALUES ('merge', ?)"
        pages, before = -PAGES, -2
        while self._db.total_changes - before >= 2:  # while a step does work
            before = self._db.total_changes
            with writing(self._db) as db:
                db.execute(merge, (pages,))
            pages = PAGES
            yield 0

    # Each of the following needs an open transaction.

    def _put(self, chosen: Chosen, since: date | None = None, until: date | None = None) -> Trashed:
        within = since is not None or until is not None
        numbers = self._within(since, until) if within else self._numbers(chosen)
        extent: Extent = "everything"
        if within or chosen is not None:
            named = within or any(table == "conversations" for table, _ in chosen or ())
            extent = "conversations" if named else "turns"
        return self._trash.put(numbers, self._now(), extent=extent)

    def _files_of(self, numbers: Sequence[int] | None) -> set[str]:
        """Return the files of some turns, or of all."""
        chosen = "" if numbers is None else " WHERE turn IN (SELECT value FROM json_each(?))"
        find = f"SELECT DISTINCT path FROM files{chosen}"  # noqa: S608
        rows = self._db.execute(find, () if numbers is None else (json.dumps(list(numbers)),))
        return {str(row[0]) for row in rows.fetchall()}

    def _files_besides(self) -> set[str]:
        """Return the files of the journal and of goals."""
        return self._journal.files() | self._goals.files()

    def _still_used(self, files: set[str]) -> set[str]:
        find = "SELECT path FROM files WHERE path IN (SELECT value FROM json_each(?))"
        rows = self._db.execute(find, (json.dumps(list(files)),)).fetchall()
        return {str(row[0]) for row in rows} | self._files_besides()

    def _others(self, numbers: Sequence[int]) -> bool:
        (count,) = self._db.execute("SELECT count(*) FROM turns").fetchone()
        return int(count) > len(numbers)

    def _numbers(self, chosen: Chosen) -> Sequence[int]:
        if chosen is None:
            rows = self._db.execute("SELECT number FROM turns").fetchall()
            return [row[0] for row in rows]
        found: dict[int, None] = {}
        for table, name in chosen:
            column = "conversation" if table == "conversations" else "id"
            find = f"SELECT number FROM turns WHERE {column} = ?"  # noqa: S608
            found |= {row[0]: None for row in self._db.execute(find, (name,)).fetchall()}
        return list(found)

    def _within(self, since: date | None, until: date | None) -> Sequence[int]:
        """Return the turns of conversations last used between two days, by their local time."""
        newest = """
            SELECT conversations.id, turns.started
            FROM conversations JOIN turns ON turns.number = newest
        """
        zone = self._now().tzinfo
        days = (
            (name, datetime.fromisoformat(started).astimezone(zone).date())
            for name, started in self._db.execute(newest).fetchall()
        )
        chosen = [
            ("conversations", str(name))
            for name, day in days
            if (since is None or since <= day) and (until is None or day <= until)
        ]
        return self._numbers(chosen)
