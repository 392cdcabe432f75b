"""Reads and changes the history on the engine, for the sidebar and the history page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr, trn
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage.search import EVERYTHING, TurnFilters
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.history.list_view import HistoryRow
from jarvis_desktop.ui.session import AppJobs, WindowSession
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.storage.deletion import Trashed
    from jarvis_desktop.storage.export import Exported, Form, Media
    from jarvis_desktop.storage.import_ import Imported
    from jarvis_desktop.ui.pending_turn import PendingTurn

PAGE = 200
"""Conversations read at a time."""
FINDS = 30
"""Search results read at a time; each needs a snippet."""
UNDO_MS = 10_000
"""Milliseconds for which a deletion can be undone."""


@dataclass(frozen=True, slots=True)
class HistoryBatch:
    """Rows that were read for the list."""

    rows: Sequence[HistoryRow]
    begins: bool
    """Whether these rows replace the list instead of extending it."""
    more: bool
    """Whether there are more rows."""


@dataclass(frozen=True, slots=True)
class Removal:
    """A deletion that can be undone."""

    number: int
    words: str
    """What was deleted, in a sentence."""
    open: str = ""
    """The deleted conversation, if it was open."""
    turn: tuple[int, PendingTurn] | None = None
    """The deleted turn of the open conversation, with its position."""


class HistoryController(QObject):
    """One for each window."""

    read = Signal(object)
    """Carries a Batch."""
    removed = Signal(object)
    """Carries a Removal, or None if nothing can be undone any more."""
    turn_gone = Signal(object)
    """Carries a PendingTurn that was removed from the open conversation."""
    turn_back = Signal(int, object)
    """Carries the position in the open conversation at which a PendingTurn was restored, and the
    PendingTurn."""
    message = Signal(str, bool)
    """Carries a message for the user, and whether it is good news."""
    counted = Signal(int, int)
    """Carries how many conversations and turns there are."""

    def __init__(self, session: WindowSession, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.words, self.filters = "", EVERYTHING
        self.chosen: HistoryRow | None = None
        """The conversation that the user chose to export, if any."""
        self._rows: list[HistoryRow] = []
        self._active: Sequence[HistoryRow] = ()
        """The conversations that run; the history has a new one only when its turn has ended."""
        self._jobs = AppJobs(session, self)
        self._stale = False
        self._removal: Removal | None = None
        self._final = new_timer(self, self.make_final, UNDO_MS)
        session.kept.connect(self.refresh)
        session.changed.connect(self._changed)

    # What the list shows

    @property
    def searching(self) -> bool:
        """Whether search results are shown."""
        return bool(self.words or self.filters)

    def look(self, words: str, filters: TurnFilters) -> None:
        """List what matches the words and filters; everything if there are none."""
        if (words, filters) != (self.words, self.filters):
            self.words, self.filters = words, filters
            self._rows = []
            self.refresh()

    def refresh(self) -> None:
        """Read the list again. If a read is running, read once more after it, so that fast typing
        gets the latest results without a queue."""
        if "read" in self._jobs:
            self._stale = True
        else:
            most = FINDS if self.searching else PAGE
            self._ask(max(most, len(self._rows)), skip=0)

    def more(self) -> None:
        """Read the next rows."""
        if "read" not in self._jobs:
            self._ask(FINDS if self.searching else PAGE, skip=len(self._rows))

    def _ask(self, most: int, *, skip: int) -> None:
        words, filters, searching = self.words, self.filters, self.searching
        last = self._rows[-1].id if skip else None

        async def work(app: Application) -> list[HistoryRow]:
            if searching:
                hits = app.history.search(words, most, filters=filters, skip=skip)
                return [
                    HistoryRow(
                        hit.conversation_id,
                        hit.title,
                        hit.started,
                        turn_id=hit.turn_id,
                        snippet=hit.snippet,
                        spots=tuple(hit.spots),
                    )
                    for hit in hits
                ]
            listed = app.history.list(most, last)
            return [HistoryRow(item.id, item.title, item.last, item.pinned) for item in listed]

        def then(outcome: Outcome) -> None:
            rows: list[HistoryRow] | None = outcome.value
            if self._stale or (words, filters) != (self.words, self.filters):
                self._stale = False
                self.refresh()
            elif rows is not None:
                self._rows = [*self._rows, *rows] if skip else rows
                shown = rows if searching else self._with_active(rows, begins=not skip)
                self.read.emit(HistoryBatch(shown, not skip, more=len(rows) >= most))
            self._report_error(outcome)

        self._jobs.start("read", work, then)

    def _changed(self) -> None:
        running = {pending.place: pending for pending in self.session.active}
        active = [
            HistoryRow(place.id, place.title, pending.turn.started)
            for place, pending in reversed(running.items())
            if place.id and place.entries and not place.private
        ]
        if active != self._active:
            self._active = active
            self.refresh()

    def _with_active(self, rows: Sequence[HistoryRow], *, begins: bool) -> list[HistoryRow]:
        """Put the conversations that run above the others, with the title that the user may have
        given them. A later request that ended before the first one is no title."""
        later = {
            (pending.place.id, one_line(entry.turn.text))
            for pending in self.session.active
            for entry in pending.place.entries
            if entry.turn.text != pending.place.title
        }
        listed = {row.id: row for row in rows if (row.id, row.title) not in later}
        active = {row.id: replace(listed.get(row.id, row), when=row.when) for row in self._active}
        rest = [row for row in rows if row.id not in active]
        if not begins:
            return rest
        return sorted([*active.values(), *rest], key=lambda row: not row.pinned)

    # Changes

    def rename(self, conversation_id: str, title: str) -> None:
        """Give a conversation another title."""
        self._change(lambda app: app.history.rename(conversation_id, title))

    def pin(self, row: HistoryRow) -> None:
        """Pin or unpin a conversation."""
        self._change(lambda app: app.history.pin(row.id, not row.pinned))

    def pin_turn(self, turn: Turn, pinned: bool) -> None:
        """Pin or unpin a turn."""
        self._change(lambda app: app.history.pin_turn(turn.id, pinned))
        for entry in self.session.open.entries:
            if entry.turn.id == turn.id:
                entry.turn = replace(entry.turn, pinned=pinned)
                self.session.changed.emit(entry)

    def delete(self, row: HistoryRow) -> None:
        """Delete a conversation, or the turn that was found."""
        if row.turn_id:
            self._delete_turn(row.turn_id)
        elif any(pending.place.id == row.id for pending in self.session.active):
            self.message.emit(tr("A request runs in this conversation. Stop it first."), False)
        else:
            words = tr("“{title}” is deleted.", title=row.name)
            self._trash(lambda app: app.history.trash([row.id]), lambda gone: words)

    def delete_turn(self, turn: Turn) -> None:
        """Delete a turn of the open conversation."""
        if turn.status is None:
            self.message.emit(tr("This request runs. Stop it first."), False)
        else:
            self._delete_turn(turn.id)

    def delete_many(self, since: date | None = None, until: date | None = None) -> None:
        """Delete the conversations last used between two days, or all of them."""

        def words(gone: Trashed) -> str:
            count = len(gone.conversations)
            return trn(
                "{count} conversation is deleted.", "{count} conversations are deleted.", count
            )

        self._trash(lambda app: app.history.trash(since=since, until=until), words)

    def undo(self) -> None:
        """Undo the last deletion."""
        removal, self._removal = self._removal, None
        self._final.stop()
        self.removed.emit(None)
        if removal:
            back = partial(self._back, removal)
            self._change(lambda app: app.history.restore(removal.number), back)

    def make_final(self) -> None:
        """Make the last deletion final."""
        removal, self._removal = self._removal, None
        self._final.stop()
        if removal:
            self.removed.emit(None)

            self.session.run(
                lambda app: app.history.empty_trash(removal.number), self._report_error
            )

    # Out and in

    def export(self, path: Path, form: Form, ids: Sequence[str] | None, media: Media) -> None:
        """Write conversations to a file, all or those of `ids`."""

        def then(outcome: Outcome) -> None:
            if outcome.value:
                self.message.emit(_exported(outcome.value), True)
            self._report_error(outcome)

        self.session.run(lambda app: app.history.export_to(path, form, ids, media=media), then)

    def import_from(self, path: Path) -> None:
        """Read conversations from a file."""

        def then(outcome: Outcome) -> None:
            if outcome.value:
                self.message.emit(_imported(outcome.value), True)
            self._report_error(outcome)
            self.refresh()
            self.count()

        self.session.run(lambda app: app.history.import_from(path), then)

    def count(self) -> None:
        """Emit how many conversations and turns there are."""

        async def work(app: Application) -> tuple[int, int]:
            return app.history.size()

        def then(outcome: Outcome) -> None:
            if outcome.value:
                self.counted.emit(*outcome.value)

        self.session.run(work, then)

    def experts(self, then: Callable[[Sequence[str]], None]) -> None:
        """Pass the experts that were used to `then`."""

        async def work(app: Application) -> Sequence[str]:
            return app.history.experts()

        self.session.run(work, lambda outcome: then(outcome.value or ()))

    def _delete_turn(self, turn_id: str) -> None:
        words = tr("The request and its answer are deleted.")
        self._trash(lambda app: app.history.delete_turn(turn_id), lambda gone: words, turn_id)

    def _trash(
        self,
        work: Callable[[Application], Trashed],
        words: Callable[[Trashed], str],
        turn_id: str = "",
    ) -> None:
        self.make_final()

        async def trash(app: Application) -> Trashed:
            return work(app)

        def then(outcome: Outcome) -> None:
            gone: Trashed | None = outcome.value
            if gone and gone.turns:
                opened = self.session.open.id or ""
                shown = opened if opened in gone.conversations else ""
                turn = None if shown else self.session.open.take_out(turn_id)
                if turn:
                    self.turn_gone.emit(turn[1])
                if shown:
                    self.session.new_conversation()
                self._removal = Removal(gone.number, words(gone), shown, turn)
                self._final.start()
                self.removed.emit(self._removal)
            self._report_error(outcome)
            self.refresh()
            self.count()

        self.session.run(trash, then)

    def _back(self, removal: Removal) -> None:
        """Show what was restored in its old place."""
        if removal.open and not self.session.open.entries:
            self.session.open_conversation(removal.open)
        elif removal.turn and removal.turn[1].place is self.session.open:
            self.session.open.entries.insert(*removal.turn)
            self.turn_back.emit(*removal.turn)
        self.count()

    def _change(
        self, work: Callable[[Application], object], done: Callable[[], None] = lambda: None
    ) -> None:
        async def change(app: Application) -> bool:
            work(app)
            return True

        def then(outcome: Outcome) -> None:
            self._report_error(outcome)
            if outcome.value:
                done()
            self.refresh()

        self.session.run(change, then)

    def _report_error(self, outcome: Outcome) -> None:
        if outcome.error:
            self.message.emit(str(outcome.error), False)


def _exported(done: Exported) -> str:
    count = done.conversations
    said = trn(
        "{count} conversation is written to {name}.",
        "{count} conversations are written to {name}.",
        count,
        name=done.path.name,
    )
    if done.missing:
        missing = trn("{count} file is missing.", "{count} files are missing.", done.missing)
        return f"{said} {missing}"
    return said


def _imported(done: Imported) -> str:
    said = trn(
        "{count} conversation was read.", "{count} conversations were read.", done.conversations
    )
    if done.skipped:
        there = trn("{count} was there already.", "{count} were there already.", done.skipped)
        said = f"{said} {there}"
    if done.missing:
        missing = trn(
            "{count} file was not with it.", "{count} files were not with it.", done.missing
        )
        said = f"{said} {missing}"
    return said
