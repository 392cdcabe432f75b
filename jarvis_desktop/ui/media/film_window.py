"""A film over the whole screen."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.media.screen import Screen


class FilmWindow(QWidget):
    """Borrows the screen and the controls of a card, so that the film plays on without a break."""

    left = Signal()
    """It is closed; what was borrowed is to be taken back."""

    def __init__(self, card: QWidget, canvas: Screen, bar: QWidget, name: str) -> None:
        super().__init__(card, Qt.WindowType.Window)
        self.setWindowTitle(tr("{file}, full screen", file=name))
        foot = QFrame(self)
        foot.setObjectName("card")
        inside = QVBoxLayout(foot)
        inside.setContentsMargins(*[theme.space()] * 4)
        inside.addWidget(bar)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        canvas.fill(True)
        column.addWidget(canvas, 1)
        column.addWidget(foot)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc and F lead back."""
        if event.key() in (Qt.Key.Key_Escape, Qt.Key.Key_F):
            self.close()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Give back what was borrowed."""
        self.left.emit()
        super().closeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Black, as where films are shown."""
        QPainter(self).fillRect(event.rect(), Qt.GlobalColor.black)
