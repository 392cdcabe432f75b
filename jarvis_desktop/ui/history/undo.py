"""What was deleted just now, and a button that brings it back."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.history.desk import UNDO, Removal
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import ElidedLabel

ABOVE = 128
"""Pixels between it and the lower edge of the window: the input stays free."""
WIDEST = 460
RING = 18
"""Pixels of the ring that shows how much time is left."""


class UndoBar(QFrame):
    """Floats over the lower end of the window for as long as a deletion can be undone."""

    undone = Signal()

    def __init__(self, parent: QWidget, over: QWidget) -> None:
        """`over` is what it floats over, within `parent`."""
        super().__init__(parent)
        self._over = over
        self.setObjectName("undo")
        row = QHBoxLayout(self)
        row.setContentsMargins(theme.space("two"), theme.space(), theme.space(), theme.space())
        row.setSpacing(theme.space())
        self._ring = _Ring()
        row.addWidget(self._ring)
        self.words = ElidedLabel()
        row.addWidget(self.words, 1)
        self.button = button(tr("Undo"), tr("Undo the deletion"), tip=tr("Undo (Ctrl+Z)"))
        self.button.clicked.connect(self.undone)
        row.addWidget(self.button)
        over.installEventFilter(self)
        self.hide()

    def show_removal(self, removal: Removal | None) -> None:
        """Offer to undo it; None takes the offer back."""
        self.setVisible(removal is not None)
        if removal:
            self.words.show_text(removal.words)
            self.setAccessibleName(removal.words)
            self._ring.begin()
            self._place()
            self.raise_()
            QAccessible.updateAccessibility(QAccessibleEvent(self, QAccessible.Event.Alert))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay where it belongs."""
        if event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        return False

    def _place(self) -> None:
        room = self._over.geometry()
        width = min(WIDEST, room.width() - 2 * theme.space("two"))
        height = self.sizeHint().height()
        self.setGeometry(
            room.center().x() - width // 2, room.bottom() - ABOVE - height, width, height
        )


class _Ring(QWidget):
    """Empties as time runs out; without motion it stays full."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(RING, RING)
        self._left = 1.0
        self._beat = QTimer(self, interval=100)
        self._beat.timeout.connect(self._step)

    def begin(self) -> None:
        """All of the time is left."""
        self._left = 1.0
        if theme.duration():
            self._beat.start()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw what is left."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        painter.setPen(QPen(theme.colour("border"), 2))
        painter.drawEllipse(box)
        painter.setPen(QPen(theme.colour("accent"), 2, c=Qt.PenCapStyle.RoundCap))
        painter.drawArc(box, 90 * 16, round(self._left * 360 * 16))
        painter.end()

    def _step(self) -> None:
        self._left = max(0.0, self._left - self._beat.interval() / UNDO)
        if not self._left or not self.isVisible():
            self._beat.stop()
        self.update()
