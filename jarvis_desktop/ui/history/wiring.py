"""Puts the parts of the history into the window, and says what happens when one of them speaks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QHBoxLayout

from jarvis_desktop.ui import shortcuts
from jarvis_desktop.ui.exchange import PendingTurn
from jarvis_desktop.ui.history.controller import HistoryDesk, Removal
from jarvis_desktop.ui.history.drawer import HistoryDrawer, UndoBar
from jarvis_desktop.ui.history.rows import ROW, HistoryRow
from jarvis_desktop.ui.history.sidebar import AsideSign, Sidebar

if TYPE_CHECKING:
    from jarvis_desktop.ui.main_window import MainWindow


class HistoryParts(QObject):
    """The side list, the offer to undo a deletion, and the sign of what is not kept."""

    def __init__(self, window: MainWindow, desk: HistoryDesk) -> None:
        super().__init__(window)
        self._window = window
        self.desk = desk
        self.sidebar = Sidebar()
        self.sign = AsideSign()
        self._unread: set[str] = set()
        self.is_seen: Callable[[PendingTurn], bool] = lambda exchange: False
        """Whether the person looks at it elsewhere, as in the quick box."""

    def connect_parts(self) -> None:
        """Everything in the window is there now."""
        window, desk, sidebar, session = self._window, self.desk, self.sidebar, self._window.session
        stage = window.centralWidget()
        row = stage.layout() if stage else None
        assert stage
        assert isinstance(row, QHBoxLayout)
        self.undo = UndoBar(stage, window.places)
        self.drawer = HistoryDrawer(stage, row, sidebar, window.header.lists)
        sidebar.opened.connect(self._open)
        sidebar.new_wanted.connect(self.begin)
        sidebar.aside_wanted.connect(lambda: self.begin(kept=False))
        sidebar.place_wanted.connect(self._go)
        sidebar.search.searched.connect(desk.look)
        sidebar.search.experts_wanted.connect(
            lambda: desk.experts(sidebar.search.menu.offer_experts)
        )
        lines = sidebar.list
        lines.lines.more_wanted.connect(desk.more)
        lines.lines.renamed.connect(desk.rename)
        lines.pin_wanted.connect(desk.pin)
        lines.delete_wanted.connect(desk.delete)
        lines.export_wanted.connect(self._export)
        desk.read.connect(sidebar.show_batch)
        desk.read.connect(lambda batch: self._mark())
        desk.removed.connect(self._removed)
        window.turns.follow(desk)
        desk.told.connect(lambda text, good: window.banner.say(text, calm=good))
        self.undo.undone.connect(desk.undo)
        self.sign.forget_wanted.connect(session.forget_aside)
        session.changed.connect(self._changed)
        session.switched.connect(self._switched)
        session.busy_changed.connect(self._mark)
        shortcuts.bind(
            window,
            shortcuts.WINDOW,
            begin=lambda: self.begin(kept=True),
            aside=lambda: self.begin(kept=False),
            search=self.search,
            undo=desk.undo,
        )

    def begin(self, kept: bool) -> None:
        """Open an empty conversation, or the one that is not kept."""
        self.drawer.close()
        self._window.session.new_conversation(kept=kept)
        self._window.composer.field.setFocus()

    def search(self) -> None:
        """Put the keyboard into the search field."""
        self.drawer.open()
        self.sidebar.search.setFocus()
        self.sidebar.search.field.selectAll()

    def _open(self, conversation_id: str, turn_id: str) -> None:
        self.drawer.close()
        self._window.places.back()
        self._window.session.open_conversation(conversation_id, turn_id)

    def _go(self, place: str, part: str) -> None:
        self.drawer.close()
        self.desk.chosen = None
        self._window.places.go(place, part)

    def _export(self, row: HistoryRow) -> None:
        self.drawer.close()
        self.desk.chosen = row
        self._window.places.go("history", "export")

    def _removed(self, removal: Removal | None) -> None:
        self.undo.show_removal(removal)

    def _changed(self, exchange: PendingTurn) -> None:
        """A turn that ends elsewhere is news."""
        place = exchange.place
        over = exchange.turn.status is not None and not exchange.waiting
        elsewhere = place is not self._window.session.open and not self.is_seen(exchange)
        if over and place.id and elsewhere and not place.unkept:
            self._unread.add(place.id)

    def _switched(self) -> None:
        session = self._window.session
        self._unread.discard(session.open.id or "")
        self.sign.setVisible(session.open.unkept)
        self._mark()

    def _mark(self) -> None:
        session = self._window.session
        running = session.running
        self.sidebar.show_open(
            session.open.id or "",
            running={running.place.id or ""} if running else (),
            unread=self._unread,
        )
        title = self.sidebar.list.lines.find(session.open.id or "").data(ROW)
        if title:  # the person may have written it
            self._window.header.show_title(title.name)
        aside = session.aside
        self.sidebar.show_aside(aside is not None, opened=session.open is aside)
