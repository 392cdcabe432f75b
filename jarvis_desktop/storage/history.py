"""The history: conversations with their turns, in SQLite."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event

from jarvis_desktop.core.context import is_private
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import Recap, Resource
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.conversations import (
    ConversationList,
    Conversations,
    PrivateConversations,
)
from jarvis_desktop.storage.database import attached, connect, reading
from jarvis_desktop.storage.deletion import Erasing, Trashed
from jarvis_desktop.storage.export import Exported, Form, Media, export_to, exported
from jarvis_desktop.storage.goals import SqliteGoalMemory
from jarvis_desktop.storage.import_ import Imported, import_from
from jarvis_desktop.storage.journal import Owners, SqliteJournal
from jarvis_desktop.storage.records import FactRecords, ListRecords, SavedTimers, TrackRecords
from jarvis_desktop.storage.search import EVERYTHING, TurnFilters, TurnHit, optimize_index, search
from jarvis_desktop.storage.turn_rows import TurnRows

log = logging.getLogger(__name__)


class SqliteHistory(ConversationList):
    """Implements History.

    Belongs to the thread that created it: SQLite's connection refuses any other. `notice` is a
    sentence for the user if the database was damaged and replaced, else "". Private conversations
    go to `private`, if given.
    """

    def __init__(
        self,
        path: Path,
        *,
        store_root: Path,
        inventory: Mapping[str, TaskType],
        now: Callable[[], datetime],
        private: PrivateConversations | None = None,
    ) -> None:
        self._store = FileStore(store_root)
        db, moved = connect(path)
        super().__init__(db)
        self.notice = ""
        if moved:
            self.notice = tr(
                "The history was damaged, so a new one was started. The old one is {path}.",
                path=moved,
            )
            log.warning("%s", self.notice)
        self._path = path
        self._warmed = False
        self._root = store_root.absolute()
        self._inventory = inventory
        self._rows = TurnRows(self._db, self._root, inventory)
        self._now = now
        self._private = private
        self.timers = SavedTimers(self._db)
        self.facts = FactRecords(self._db)
        self.lists = ListRecords(self._db)
        self.records = TrackRecords(self._db, now=now)
        self.goals = SqliteGoalMemory(
            self._rows, private=private.current_rows if private else lambda: None
        )
        self.journal = SqliteJournal(self._rows, Owners(path.with_name("running")))
        self._kept = Conversations(self._rows, saved=self.journal.remove)
        self._erasing = Erasing(
            self._rows, self._store, journal=self.journal, goals=self.goals, now=now
        )

    def close(self) -> None:
        """Close the database. Nothing remains of deleted or private conversations."""
        with suppress(StorageError):  # the next start tries again
            sum(self._erasing.finish())
        if self._private:
            self._private.close()
        self.journal.close()
        self._db.close()

    # The port

    def open_conversation(self, conversation_id: str | None = None) -> Conversation:
        """Return the conversation of that id with its recent turns, or a new one.

        A new one is saved with its first turn; an unknown id starts one.
        """
        if conversation_id is None:
            return Conversation(uuid.uuid4().hex)
        return self._of(conversation_id).open_conversation(conversation_id)

    def save(self, conversation_id: str, turn: Turn) -> None:
        """Save a finished turn durably: after the call it survives a crash or power cut."""
        try:
            self._of(conversation_id).save(conversation_id, turn)
        finally:
            self._store.release(turn.id)

    def amend(self, conversation_id: str, turn: Turn) -> bool:
        """Update a saved turn. Return False if it no longer exists."""
        try:
            return self._of(conversation_id).amend(conversation_id, turn)
        finally:
            self._store.release(turn.id)

    def since(self, conversation_id: str, turn_id: str) -> tuple[Turn, ...]:
        """Return the turns after that one, oldest first; all if there is no such turn."""
        return self._of(conversation_id).since(conversation_id, turn_id)

    def resources(self, conversation_id: str) -> tuple[Resource, ...]:
        """Return attachments and results of its turns, oldest first, without names."""
        return self._of(conversation_id).resources(conversation_id)

    def recap(self, conversation_id: str) -> Recap | None:
        """Return the saved summary of older turns; None once one of its turns was deleted."""
        return self._of(conversation_id).recap(conversation_id)

    def keep_recap(self, conversation_id: str, recap: Recap) -> None:
        """Replace the saved summary; nothing happens if its turn no longer exists."""
        self._of(conversation_id).keep_recap(conversation_id, recap)

    def latest(self, max_age: timedelta) -> str | None:
        """Return the id of the last used conversation if it is at most that old."""
        found = self._last_used()
        if found is None:
            return None
        age = self._now().astimezone() - found[1].astimezone()
        return found[0] if age <= max_age else None

    # Private conversations

    def open_private(self) -> Conversation:
        """Return a new conversation that leaves nothing on the disk, until `forget_private`."""
        assert self._private
        return Conversation(self._private.begin())

    def forget_private(self, conversation_id: str) -> None:
        """Close a private conversation. Nothing of it remains in memory or on the disk."""
        if self._private:
            self._private.forget(conversation_id)

    # Lists and search

    def newest(self) -> str | None:
        """Return the id of the last used conversation."""
        found = self._last_used()
        return found[0] if found else None

    def show(self, prefix: str) -> Conversation | Turn:
        """Return the conversation or turn whose id starts with `prefix`.

        Raises InputError if none or more than one matches.
        """
        table, found = self.resolve(prefix)
        if table == "conversations":
            return Conversation(found, self._kept.turns(found))
        return self._kept.read("SELECT number FROM turns WHERE id = ?", found)[0]

    def search(
        self, words: str, limit: int = 20, *, filters: TurnFilters = EVERYTHING, skip: int = 0
    ) -> tuple[TurnHit, ...]:
        """Return the turns with all these words that pass the filters, the best first.

        The last word may be a prefix.
        """
        with reading():
            return search(self._db, words, limit=limit, now=self._now(), filters=filters, skip=skip)

    # Changes

    def trash(
        self,
        ids: Sequence[str] | None = None,
        *,
        since: date | None = None,
        until: date | None = None,
    ) -> Trashed:
        """Move conversations and turns to the trash: all, those of `ids`, or by last use between
        two days.

        They disappear from lists and searches at once; `empty_trash` deletes them for good.
        """
        return self._erasing.put_away(self._chosen(ids), since, until)

    def delete_turn(self, turn_id: str) -> Trashed:
        """Move one turn to the trash."""
        return self.trash([turn_id])

    def restore(self, trashed: int) -> int:
        """Undo one deletion by its number. Return how many turns came back."""
        return self._erasing.restore(trashed)

    async def empty_trash(self, trashed: int | None = None, *, left: bool = False) -> int:
        """Delete one deletion's turns for good, or all in the trash. Return their number.

        With `left`, only those of an earlier process, which nobody can undo any more.
        """
        return await _bit_by_bit(self._erasing.empty(trashed, left=left))

    def delete(self, ids: Sequence[str] | None = None) -> int:
        """Delete conversations and turns for good, all or those of `ids`. Return the number of
        turns.

        Interrupted turns and goals of these conversations are deleted too, and files that no other
        turn uses. Raises InputError on an unknown id before anything is deleted.
        """
        return sum(self._erasing.erase(self._chosen(ids)))

    async def forget(self, days: int) -> int:
        """Delete conversations without a turn in the last `days` days for good. Return the number
        of turns.

        Pinned conversations and those with a pinned turn stay. 0 days delete nothing.
        """
        count = 0
        for chosen in self._erasing.older_than(days):
            count += await _bit_by_bit(self._erasing.erase(chosen))
        return count

    async def tidy(self) -> None:
        """Clean up after killed processes, then optimize the search index.

        Removes files of their private conversations and empties their trash.
        """
        if self._private:
            await asyncio.to_thread(self._private.sweep)
        await self.empty_trash(left=True)
        stopped = Event()
        try:
            await asyncio.to_thread(optimize_index, self._path, stopped, warmed=self._warmed)
            self._warmed = True
        finally:
            stopped.set()

    # Export and import

    def export(self, form: str, ids: Sequence[str] | None = None) -> str:
        """Return conversations and turns, all or those of `ids`, as "json", "markdown" or
        "text"."""
        return exported(self._kept.entries(self._names(ids)), form)

    async def export_to(
        self, path: Path, form: Form, ids: Sequence[str] | None = None, *, media: Media = "none"
    ) -> Exported:
        """Write them to a file, with attachments and results in a folder beside it or embedded."""
        if ids and self._private and all(map(is_private, ids)):
            # Their database is in memory, which only one thread may read.
            return await asyncio.to_thread(
                export_to,
                path,
                form,
                self._private.entries(ids),
                media=media,
                holds=self._private.holds,
            )
        return await asyncio.to_thread(self._export, path, form, self._names(ids), media)

    async def import_from(self, path: Path) -> Imported:
        """Import conversations that were exported as JSON; existing ones stay as they are.

        Raises InputError if the file is not such an export.
        """
        work = partial(
            import_from,
            path,
            self._path,
            store=self._store,
            store_root=self._root,
            inventory=self._inventory,
            now=self._now,
        )
        return await asyncio.to_thread(work)

    def files(self) -> frozenset[Path]:
        """Return the files of the artifact store in use, for its `sweep`.

        This includes those of the journal and of goals.
        """
        with reading():
            return frozenset(self._root / path for path in self._erasing.files())

    def _of(self, conversation_id: str) -> Conversations:
        """Return the conversations that hold this id: saved or private."""
        if self._private and is_private(conversation_id):
            return self._private.conversations(conversation_id)
        return self._kept

    def _chosen(self, ids: Sequence[str] | None) -> Sequence[tuple[str, str]] | None:
        return None if ids is None else [self.resolve(prefix) for prefix in ids]

    def _names(self, ids: Sequence[str] | None) -> Sequence[str]:
        """Return the whole ids, or those of all conversations in order."""
        if ids is not None:
            return [self.resolve(prefix)[1] for prefix in ids]
        with reading():
            rows = self._db.execute("SELECT id FROM conversations WHERE kept ORDER BY rowid")
            return [str(row[0]) for row in rows.fetchall()]

    def _export(self, path: Path, form: Form, names: Sequence[str], media: Media) -> Exported:
        """Export in any thread, with its own connection, while the engine continues."""
        with reading(), attached(self._path) as db:
            entries = Conversations(TurnRows(db, self._root, self._inventory)).entries(names)
            return export_to(path, form, entries, media=media, holds=self._store.holds)


async def _bit_by_bit(work: Iterator[int]) -> int:
    """Do all of the work and let others run after each bit. Return the sum."""
    done = 0
    for bit in work:
        done += bit
        await asyncio.sleep(0)
    return done
