"""A history for the window to show, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path

from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.storage.deletion import Trashed
from jarvis_desktop.storage.export import Exported, Form, Media
from jarvis_desktop.storage.import_ import Imported
from jarvis_desktop.storage.search import EVERYTHING, TurnFilters


@dataclass(frozen=True)
class Row:
    id: str
    title: str
    last: datetime
    pinned: bool = False


@dataclass(frozen=True)
class Hit:
    conversation_id: str
    snippet: str
    started: datetime
    turn_id: str = ""
    title: str = ""
    spots: tuple[tuple[int, int], ...] = ()


@dataclass
class FakeHistory:
    """Keeps conversations in memory, in the order in which they are to be listed."""

    conversations: dict[str, Conversation] = field(default_factory=dict)
    begun: int = 0
    titles: dict[str, str] = field(default_factory=dict)
    pinned: set[str] = field(default_factory=set)
    """Ids of conversations and of turns."""
    trashed: dict[int, dict[str, Conversation]] = field(default_factory=dict)
    """What was deleted and can be restored: how the conversations were before."""
    forgotten: list[str] = field(default_factory=list)
    """The conversations that were not to be kept and are closed."""
    searches: list[tuple[str, TurnFilters]] = field(default_factory=list)
    exports: list[tuple[Path, str, Sequence[str] | None, str]] = field(default_factory=list)
    imports: list[Path] = field(default_factory=list)
    used: Sequence[str] = ()
    """The experts that did something."""
    error: JarvisError | None = None
    """Raised by whatever changes, writes or reads something."""

    def open_conversation(self, conversation_id: str | None = None) -> Conversation:
        if conversation_id is None:
            self.begun += 1
            return Conversation(f"new-{self.begun}")
        return self.conversations[conversation_id]

    def open_private(self) -> Conversation:
        self.begun += 1
        return Conversation(f"unkept-{self.begun}")

    def forget_private(self, conversation_id: str) -> None:
        self.forgotten.append(conversation_id)

    def show(self, prefix: str) -> Conversation:
        if prefix not in self.conversations:
            raise InputError(f"The history has nothing with the id '{prefix}'.")
        return self.conversations[prefix]

    def list(self, limit: int, before: str | None = None) -> Sequence[Row]:
        rows = [
            Row(
                item.id,
                self.titles.get(item.id, item.turns[0].text),
                item.turns[-1].started,
                item.id in self.pinned,
            )
            for item in self.conversations.values()
        ]
        rows.sort(key=lambda row: not row.pinned)
        start = [row.id for row in rows].index(before) + 1 if before else 0
        return rows[start : start + limit]

    def search(
        self, words: str, limit: int, *, filters: TurnFilters = EVERYTHING, skip: int = 0
    ) -> Sequence[Hit]:
        self.searches.append((words, filters))
        found = [
            Hit(
                item.id,
                turn.text,
                turn.started,
                turn.id,
                self.titles.get(item.id, item.turns[0].text),
                ((at, at + len(words)),) if words and (at := turn.text.find(words)) >= 0 else (),
            )
            for item in self.conversations.values()
            for turn in item.turns
            if words in turn.text and (item.id in self.pinned or not filters.pinned)
        ]
        return found[skip : skip + limit]

    def experts(self) -> Sequence[str]:
        return self.used

    def size(self) -> tuple[int, int]:
        return len(self.conversations), sum(len(item.turns) for item in self.conversations.values())

    def rename(self, conversation_id: str, title: str) -> None:
        self._check()
        self.titles[conversation_id] = title

    def pin(self, conversation_id: str, pinned: bool) -> None:
        self._check()
        (self.pinned.add if pinned else self.pinned.discard)(conversation_id)

    def pin_turn(self, turn_id: str, pinned: bool) -> None:
        self.pin(turn_id, pinned)

    def trash(
        self,
        ids: Sequence[str] | None = None,
        *,
        since: date | None = None,
        until: date | None = None,
    ) -> Trashed:
        self._check()
        chosen = [
            item
            for item in self.conversations.values()
            if (ids is None or item.id in ids)
            and (since is None or item.turns[-1].started.date() >= since)
            and (until is None or item.turns[-1].started.date() <= until)
        ]
        return self._put_away(chosen, {item.id: () for item in chosen})

    def delete_turn(self, turn_id: str) -> Trashed:
        self._check()
        [whole] = [
            item
            for item in self.conversations.values()
            if turn_id in [turn.id for turn in item.turns]
        ]
        rest = tuple(turn for turn in whole.turns if turn.id != turn_id)
        return self._put_away([whole], {whole.id: rest})

    def _put_away(
        self, before: Sequence[Conversation], after: dict[str, tuple[Turn, ...]]
    ) -> Trashed:
        number = len(self.trashed) + 1
        self.trashed[number] = dict(self.conversations)
        turns = 0
        for item in before:
            turns += len(item.turns) - len(after[item.id])
            if after[item.id]:
                self.conversations[item.id] = Conversation(item.id, after[item.id])
            else:
                del self.conversations[item.id]
        return Trashed(number, turns, tuple(item.id for item in before if not after[item.id]))

    def restore(self, trashed: int) -> int:
        self._check()
        count = self.size()[1]
        self.conversations = self.trashed.pop(trashed)
        return self.size()[1] - count

    async def empty_trash(self, trashed: int | None = None) -> int:
        count = len(self.trashed)
        for number in list(self.trashed) if trashed is None else [trashed]:
            self.trashed.pop(number, None)
        return count

    async def forget(self, days: int) -> int:
        return 0

    async def export_to(
        self, path: Path, form: Form, ids: Sequence[str] | None = None, *, media: Media = "none"
    ) -> Exported:
        self._check()
        self.exports.append((path, form, ids, media))
        chosen = self.conversations if ids is None else ids
        return Exported(path, len(chosen), 0, 0)

    async def import_from(self, path: Path) -> Imported:
        self._check()
        self.imports.append(path)
        return Imported(2, 5, 1, 0)

    def _check(self) -> None:
        if self.error:
            raise self.error
