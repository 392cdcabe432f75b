"""The history: conversations, their turns and all that came of them, in SQLite."""

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
    Summary,
)
from jarvis_desktop.storage.database import attached, connect, reading
from jarvis_desktop.storage.deletion import Erasing, Trashed
from jarvis_desktop.storage.export import Exported, Form, Media, export_to, exported
from jarvis_desktop.storage.goals import SqliteGoalMemory
from jarvis_desktop.storage.import_ import Imported, import_from
from jarvis_desktop.storage.journal import Owners, SqliteJournal
from jarvis_desktop.storage.records import FactRecords, SavedTimers, TrackRecords
from jarvis_desktop.storage.search import EVERYTHING, TurnFilters, TurnHit, optimize_index, search
from jarvis_desktop.storage.turn_rows import TurnRows

log = logging.getLogger(__name__)


class SqliteHistory:
    """Implements History.

    Belongs to the thread that made it: SQLite's connection refuses any other. `notice` is a
    sentence for the person where the database was damaged and had to be begun anew, else "".
    What is not to be kept goes to `unkept`, where there is one.
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
        self._db, moved = connect(path)
        self.notice = ""
        if moved:
            self.notice = tr(
                "The history was damaged; a new one is begun. The old one is {path}.", path=moved
            )
            log.warning("%s", self.notice)
        self._path = path
        self._warmed = False
        self._root = store_root.absolute()
        self._inventory = inventory
        self._rows = TurnRows(self._db, self._root, inventory)
        self._now = now
        self._private = private
        self._listing = ConversationList(self._db)
        self.timers = SavedTimers(self._db)
        self.facts = FactRecords(self._db)
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
        """Close the database. Of what was deleted, or not to be kept, nothing is left."""
        with suppress(StorageError):  # the next start does it then
            sum(self._erasing.finish())
        if self._private:
            self._private.close()
        self.journal.close()
        self._db.close()

    # What the assistant asks

    def open_conversation(self, conversation_id: str | None = None) -> Conversation:
        """The conversation of that id with its recent turns, or a new one.

        A new one is written when its first turn is saved; an id that is not known begins one.
        """
        if conversation_id is None:
            return Conversation(uuid.uuid4().hex)
        return self._of(conversation_id).open_conversation(conversation_id)

    def save(self, conversation_id: str, turn: Turn) -> None:
        """Write a finished turn durably: when this returns, it survives a crash or power cut."""
        try:
            self._of(conversation_id).save(conversation_id, turn)
        finally:
            self._store.release(turn.id)

    def amend(self, conversation_id: str, turn: Turn) -> bool:
        """Write a kept turn anew; False, and nothing happens, where it is gone."""
        try:
            return self._of(conversation_id).amend(conversation_id, turn)
        finally:
            self._store.release(turn.id)

    def since(self, conversation_id: str, turn_id: str) -> tuple[Turn, ...]:
        """The turns after that one, oldest first; all of them where there is no such turn."""
        return self._of(conversation_id).since(conversation_id, turn_id)

    def resources(self, conversation_id: str) -> tuple[Resource, ...]:
        """What was given to its turns and what answered them, oldest first, without names."""
        return self._of(conversation_id).resources(conversation_id)

    def recap(self, conversation_id: str) -> Recap | None:
        """What was kept of its older turns; None once one of its turns was deleted."""
        return self._of(conversation_id).recap(conversation_id)

    def keep_recap(self, conversation_id: str, recap: Recap) -> None:
        """Keep it durably in the place of the last one; nothing happens where its turn is gone."""
        self._of(conversation_id).keep_recap(conversation_id, recap)

    def latest(self, max_age: timedelta) -> str | None:
        """The id of the conversation that was last talked in, where that is at most so long ago."""
        found = self._listing.newest()
        if found is None:
            return None
        age = self._now().astimezone() - found[1].astimezone()
        return found[0] if age <= max_age else None

    # What is not to be kept

    def open_private(self) -> Conversation:
        """A new conversation that leaves nothing on the disk, until `forget_unkept`."""
        assert self._private
        return Conversation(self._private.begin())

    def forget_private(self, conversation_id: str) -> None:
        """Such a conversation is closed: nothing of it is left, in memory or on the disk."""
        if self._private:
            self._private.forget(conversation_id)

    # What a person looks at

    def list(self, limit: int = 20, before: str | None = None) -> tuple[Summary, ...]:
        """The conversations, pinned ones first, then the one last talked in; `before` continues
        after that id."""
        return self._listing.list(limit, before)

    def newest(self) -> str | None:
        """The id of the conversation that was last talked in."""
        found = self._listing.newest()
        return found[0] if found else None

    def resolve(self, prefix: str) -> tuple[str, str]:
        """Whether it is in "conversations" or "turns", and the whole id of what begins so.

        Raises InputError where there is none, or more than one.
        """
        return self._listing.resolve(prefix)

    def show(self, prefix: str) -> Conversation | Turn:
        """The conversation or turn whose id begins so.

        Raises InputError where there is none, or more than one.
        """
        table, found = self._listing.resolve(prefix)
        if table == "conversations":
            return Conversation(found, self._kept.turns(found))
        return self._kept.read("SELECT number FROM turns WHERE id = ?", found)[0]

    def search(
        self, words: str, limit: int = 20, *, filters: TurnFilters = EVERYTHING, skip: int = 0
    ) -> tuple[TurnHit, ...]:
        """The turns with all these words that pass the filters, the best first; the last word may
        be a beginning."""
        with reading():
            return search(self._db, words, limit=limit, now=self._now(), filters=filters, skip=skip)

    def experts(self) -> tuple[str, ...]:
        """The ids of the experts that did something, the most used first."""
        return self._listing.experts()

    def size(self) -> tuple[int, int]:
        """How many conversations and how many turns there are."""
        return self._listing.size()

    # What a person changes

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title. Raises InputError where it is empty."""
        self._listing.rename(conversation_id, title)

    def pin(self, conversation_id: str, pinned: bool) -> None:
        """List a conversation before the others, or with them again."""
        self._listing.pin(conversation_id, pinned)

    def pin_turn(self, turn_id: str, pinned: bool) -> None:
        """Mark a turn, or unmark it."""
        self._listing.pin_turn(turn_id, pinned)

    def trash(
        self,
        ids: Sequence[str] | None = None,
        *,
        since: date | None = None,
        until: date | None = None,
    ) -> Trashed:
        """Delete conversations and turns, all or those of `ids`, or of conversations last talked in
        between two days: gone from every list and search, until `empty_trash` makes that final."""
        return self._erasing.put_away(self._chosen(ids), since, until)

    def delete_turn(self, turn_id: str) -> Trashed:
        """The same with one turn."""
        return self.trash([turn_id])

    def restore(self, trashed: int) -> int:
        """Undo one such deletion, by its number; how many turns came back."""
        return self._erasing.restore(trashed)

    async def empty_trash(self, trashed: int | None = None, *, left: bool = False) -> int:
        """Make one such deletion final, or all; how many turns that were. With `left` those only
        that another run left behind: nobody can undo them any more."""
        return await _bit_by_bit(self._erasing.empty(trashed, left=left))

    def delete(self, ids: Sequence[str] | None = None) -> int:
        """Delete conversations and turns for good, all or those of `ids`; how many turns that were.

        What was cut off of these conversations goes with them, and so do the plans and logs of
        their goals. Their files go too, unless another turn refers to them or is about to. Raises
        InputError on an unknown id before anything is deleted.
        """
        return sum(self._erasing.erase(self._chosen(ids)))

    async def forget(self, days: int) -> int:
        """Delete for good the conversations without a turn for so many days, but for pinned ones
        and those with a pinned turn; how many turns. 0 days forget nothing."""
        count = 0
        for chosen in self._erasing.older_than(days):
            count += await _bit_by_bit(self._erasing.erase(chosen))
        return count

    async def tidy(self) -> None:
        """Remove what runs left behind that were killed: files of conversations that were not to be
        kept, and deletions that were not final yet. Then make searching quick."""
        if self._private:
            await asyncio.to_thread(self._private.sweep)
        await self.empty_trash(left=True)
        stopped = Event()
        try:
            await asyncio.to_thread(optimize_index, self._path, stopped, warmed=self._warmed)
            self._warmed = True
        finally:
            stopped.set()

    # Out and in

    def export(self, form: str, ids: Sequence[str] | None = None) -> str:
        """Conversations and turns, all or those of `ids`, as "json", "markdown" or "text"."""
        return exported(self._kept.entries(self._names(ids)), form)

    async def export_to(
        self, path: Path, form: Form, ids: Sequence[str] | None = None, *, media: Media = "none"
    ) -> Exported:
        """Write them to a file, with what was given and made in a folder beside it, or inside."""
        if ids and self._private and all(map(is_private, ids)):
            # They lie in memory, which one thread alone may read.
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
        """Read conversations that were exported as JSON; those that are there stay as they are.

        Raises InputError where the file is none of ours.
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
        """The files of the artifact store that turns refer to, for its `sweep`.

        Those of the journal and of the goals are among them.
        """
        with reading():
            return frozenset(self._root / path for path in self._erasing.files())

    def _of(self, conversation_id: str) -> Conversations:
        """Where a conversation lies."""
        if self._private and is_private(conversation_id):
            return self._private.conversations(conversation_id)
        return self._kept

    def _chosen(self, ids: Sequence[str] | None) -> Sequence[tuple[str, str]] | None:
        return None if ids is None else [self._listing.resolve(prefix) for prefix in ids]

    def _names(self, ids: Sequence[str] | None) -> Sequence[str]:
        """The whole ids, or those of all conversations in their order."""
        if ids is not None:
            return [self._listing.resolve(prefix)[1] for prefix in ids]
        with reading():
            rows = self._db.execute("SELECT id FROM conversations WHERE kept ORDER BY rowid")
            return [str(row[0]) for row in rows.fetchall()]

    def _export(self, path: Path, form: Form, names: Sequence[str], media: Media) -> Exported:
        """In any thread, with a connection of its own: the engine goes on meanwhile."""
        with reading(), attached(self._path) as db:
            entries = Conversations(TurnRows(db, self._root, self._inventory)).entries(names)
            return export_to(path, form, entries, media=media, holds=self._store.holds)


async def _bit_by_bit(work: Iterator[int]) -> int:
    """All of the work, with room for others after each bit; the sum of what it gave."""
    done = 0
    for bit in work:
        done += bit
        await asyncio.sleep(0)
    return done
