"""The history's part of the window: the sidebar beside the conversation, or over it in a narrow
window, and the offer to undo a deletion."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import (
    QEasingCurve,
    QEvent,
    QObject,
    QPoint,
    QPropertyAnimation,
    QRectF,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QWidget

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui import shortcuts
from jarvis_desktop.ui.history.controller import UNDO_MS, HistoryController, Removal
from jarvis_desktop.ui.history.list_view import ROW, HistoryRow
from jarvis_desktop.ui.history.sidebar import AsideSign, Sidebar
from jarvis_desktop.ui.pending_turn import PendingTurn
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import button
from jarvis_desktop.ui.widgets.labels import ElidedLabel
from jarvis_desktop.ui.widgets.layout import hbox
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.ui.main_window import MainWindow


MIN_CONVERSATION_WIDTH = 488
"""Pixels that the conversation needs beside the sidebar."""


class HistoryDrawer(QObject):
    """Moves the sidebar over the conversation if there is no room for both; a button opens it."""

    def __init__(
        self, stage: QWidget, row: QHBoxLayout, sidebar: Sidebar, button: QPushButton
    ) -> None:
        """`row` has the list at its beginning, and fills `stage`."""
        super().__init__(stage)
        self._stage = stage
        self._row = row
        self._sidebar = sidebar
        self._button = button
        self._scrim = _Scrim(stage)
        self._scrim.pressed = self.close
        self.narrow = False
        button.hide()
        button.clicked.connect(self.open)
        stage.installEventFilter(self)
        sidebar.installEventFilter(self)
        self._slide = QPropertyAnimation(sidebar, b"pos", self)
        self._slide.setEasingCurve(QEasingCurve.Type.OutCubic)

    @property
    def is_open(self) -> bool:
        """Whether the list stands over the conversation."""
        return self.narrow and self._sidebar.isVisible()

    def open(self) -> None:
        """Show the list over the conversation."""
        if not self.narrow:
            return
        self._scrim.setGeometry(self._stage.rect())
        self._scrim.show()
        self._scrim.raise_()
        self._place()
        self._sidebar.show()
        self._sidebar.raise_()
        self._sidebar.search.setFocus()
        if duration := theme.duration():
            there = self._sidebar.pos()
            width = self._sidebar.width()
            self._slide.setDuration(duration)
            self._slide.setStartValue(there + QPoint(width if self._mirrored() else -width, 0))
            self._slide.setEndValue(there)
            self._slide.start()

    def close(self) -> None:
        """Hide the sidebar if it is over the conversation."""
        if self.is_open:
            self._slide.stop()
            self._sidebar.hide()
            self._scrim.hide()
            self._button.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the size of the window and of the list; Esc puts the list away."""
        if event.type() == QEvent.Type.Resize and watched is self._stage:
            self._fit()
        elif event.type() == QEvent.Type.Resize:
            # The row is being laid out: what is in it must not change now.
            QTimer.singleShot(0, self, self._fit)
        elif isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Escape and self.is_open:
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()
            elif event.type() == QEvent.Type.KeyPress:
                self.close()
                return True
        return False

    def _fit(self) -> None:
        narrow = self._stage.width() < self._sidebar.width() + MIN_CONVERSATION_WIDTH
        if narrow != self.narrow:
            self.narrow = narrow
            self._button.setVisible(narrow)
            self._slide.stop()
            self._scrim.hide()
            if narrow:
                self._row.removeWidget(self._sidebar)
                self._sidebar.hide()
            else:
                self._row.insertWidget(0, self._sidebar)
                self._sidebar.show()
        elif self.is_open:
            self._slide.stop()
            self._scrim.setGeometry(self._stage.rect())
            self._place()

    def _place(self) -> None:
        width = self._sidebar.width()
        left = self._stage.width() - width if self._mirrored() else 0
        self._sidebar.setGeometry(left, 0, width, self._stage.height())

    def _mirrored(self) -> bool:
        return self._stage.layoutDirection() == Qt.LayoutDirection.RightToLeft


class _Scrim(QWidget):
    """Darkens the conversation under the list; a press on it puts the list away."""

    def __init__(self, stage: QWidget) -> None:
        super().__init__(stage)
        self.pressed: Callable[[], None] = lambda: None
        self.hide()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(0, 0, 0, 110))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.pressed()


BOTTOM_OFFSET = 128
"""Pixels above the lower edge of the window, so that the input stays visible."""
MAX_WIDTH = 460
RING = 18
"""Pixels of the ring that shows the time left."""


class UndoBar(QFrame):
    """Floats at the bottom of the window while a deletion can be undone."""

    undone = Signal()

    def __init__(self, parent: QWidget, over: QWidget) -> None:
        """`over` is what it floats over, within `parent`."""
        super().__init__(parent)
        self._over = over
        self.setObjectName("undo")
        self._ring = _Ring()
        self.words = ElidedLabel()
        self.button = button(tr("Undo"), tr("Undo the deletion"), tip=tr("Undo (Ctrl+Z)"))
        self.button.clicked.connect(self.undone)
        hbox(
            self._ring,
            (self.words, 1),
            self.button,
            parent=self,
            margins=(theme.space("two"), theme.space(), theme.space(), theme.space()),
            spacing=theme.space(),
        )
        over.installEventFilter(self)
        self.hide()

    def show_removal(self, removal: Removal | None) -> None:
        """Offer to undo a deletion; None hides the offer."""
        self.setVisible(removal is not None)
        if removal:
            self.words.show_text(removal.words)
            self.setAccessibleName(removal.words)
            self._ring.begin()
            self._place()
            self.raise_()
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False

    def _place(self) -> None:
        room = self._over.geometry()
        width = min(MAX_WIDTH, room.width() - 2 * theme.space("two"))
        height = self.sizeHint().height()
        self.setGeometry(
            room.center().x() - width // 2, room.bottom() - BOTTOM_OFFSET - height, width, height
        )


class _Ring(QWidget):
    """Empties as time runs out; stays full if motion is off."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(RING, RING)
        self._left = 1.0
        self._beat = new_timer(self, self._step, 100, repeat=True)

    def begin(self) -> None:
        """Start full."""
        self._left = 1.0
        if theme.duration():
            self._beat.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        painter.setPen(QPen(theme.colour("border"), 2))
        painter.drawEllipse(box)
        painter.setPen(QPen(theme.colour("accent"), 2, c=Qt.PenCapStyle.RoundCap))
        painter.drawArc(box, 90 * 16, round(self._left * 360 * 16))
        painter.end()

    def _step(self) -> None:
        self._left = max(0.0, self._left - self._beat.interval() / UNDO_MS)
        if not self._left or not self.isVisible():
            self._beat.stop()
        self.update()


class HistoryPanel(QObject):
    """The sidebar, the undo bar, and the notice about a private conversation."""

    def __init__(self, window: MainWindow, controller: HistoryController) -> None:
        super().__init__(window)
        self._window = window
        self.controller = controller
        self.sidebar = Sidebar()
        self.sign = AsideSign()
        self._unread: set[str] = set()
        self.is_seen: Callable[[PendingTurn], bool] = lambda pending: False
        """Whether the user sees the turn elsewhere, such as in the quick box."""

    def connect_parts(self) -> None:
        """Connect the parts once the window is complete."""
        window, controller, sidebar, session = (
            self._window,
            self.controller,
            self.sidebar,
            self._window.session,
        )
        stage = window.centralWidget()
        row = stage.layout() if stage else None
        assert stage
        assert isinstance(row, QHBoxLayout)
        self.undo = UndoBar(stage, window.places)
        self.drawer = HistoryDrawer(stage, row, sidebar, window.header.lists)
        sidebar.opened.connect(self._open)
        sidebar.new_wanted.connect(self.begin)
        sidebar.private_wanted.connect(lambda: self.begin(kept=False))
        sidebar.place_wanted.connect(self._go)
        sidebar.search.searched.connect(controller.look)
        sidebar.search.experts_wanted.connect(
            lambda: controller.experts(sidebar.search.menu.offer_experts)
        )
        lines = sidebar.list
        lines.lines.more_wanted.connect(controller.more)
        lines.lines.renamed.connect(controller.rename)
        lines.pin_wanted.connect(controller.pin)
        lines.delete_wanted.connect(controller.delete)
        lines.export_wanted.connect(self._export)
        controller.read.connect(sidebar.show_batch)
        controller.read.connect(lambda batch: self._mark())
        controller.removed.connect(self.undo.show_removal)
        window.turns.follow(controller)
        controller.message.connect(lambda text, good: window.banner.say(text, calm=good))
        self.undo.undone.connect(controller.undo)
        self.sign.forget_wanted.connect(session.forget_aside)
        session.changed.connect(self._changed)
        session.switched.connect(self._switched)
        window.places.gone.connect(self._mark)
        session.busy_changed.connect(self._mark)
        session.asked.connect(self._mark)
        shortcuts.bind(
            window,
            shortcuts.WINDOW,
            begin=lambda: self.begin(kept=True),
            aside=lambda: self.begin(kept=False),
            search=self.search,
            undo=controller.undo,
        )

    def begin(self, kept: bool) -> None:
        """Open an empty or a private conversation."""
        self.drawer.close()
        self._window.session.new_conversation(kept=kept)
        self._window.composer.field.setFocus()

    def search(self) -> None:
        """Focus the search field."""
        self.drawer.open()
        self.sidebar.search.setFocus()
        self.sidebar.search.field.selectAll()

    def _open(self, conversation_id: str, turn_id: str) -> None:
        self.drawer.close()
        self._window.places.back()
        self._window.session.open_conversation(conversation_id, turn_id)

    def _go(self, place: str, part: str) -> None:
        self.drawer.close()
        self.controller.chosen = None
        self._window.places.go(place, part)

    def _export(self, row: HistoryRow) -> None:
        self.drawer.close()
        self.controller.chosen = row
        self._window.places.go("history", "export")

    def _changed(self, pending: PendingTurn) -> None:
        """Mark a conversation as unread if a turn ends there unseen."""
        place = pending.place
        over = pending.turn.status is not None and not pending.waiting
        elsewhere = place is not self._window.session.open and not self.is_seen(pending)
        if over and place.id and elsewhere and not place.private:
            self._unread.add(place.id)

    def _switched(self) -> None:
        session = self._window.session
        self._unread.discard(session.open.id or "")
        self.sign.setVisible(session.open.private)
        self._mark()

    def _mark(self) -> None:
        session = self._window.session
        covered = bool(self._window.places.here)  # then the row of that page is highlighted
        self.sidebar.list.show_states(
            opened="" if covered else session.open.id or "",
            running={item.place.id or "" for item in session.active},
            asking={item.place.id or "" for item in session.active if item.question},
            unread=self._unread,
        )
        title = self.sidebar.list.lines.find(session.open.id or "").data(ROW)
        if title:  # the user may have renamed it
            self._window.header.show_title(title.name)
        private = session.private
        self.sidebar.show_private(
            private is not None, opened=session.open is private and not covered
        )
