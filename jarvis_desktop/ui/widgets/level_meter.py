"""A meter that shows the loudness of the last seconds."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.widgets import theme

STEP = 5
"""Pixels from one bar to the next."""


class LevelMeter(QWidget):
    """The loudness of the last seconds as bars."""

    def __init__(self, *, name: str = "") -> None:
        super().__init__()
        self._levels: deque[float] = deque(maxlen=400)
        self.setMinimumHeight(28)
        self.setAccessibleName(name or tr("Loudness"))

    def clear(self) -> None:
        """Forget the levels."""
        self._levels.clear()
        self.update()

    def add(self, level: float) -> None:
        """Take the loudness of now, 0 to 1."""
        self._levels.append(min(max(level, 0.0), 1.0))
        self.update()

    def levels(self) -> list[float]:
        """What is shown, oldest first."""
        return list(self._levels)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        width, middle = 2.6, self.height() / 2
        count = self.width() // STEP
        shown = self.levels()[-count:] if count else []
        quiet = count - len(shown)
        for place in range(count):
            level = shown[place - quiet] if place >= quiet else 0.0
            painter.setBrush(theme.colour("accent" if place >= quiet else "border"))
            height = max(2.6, level * (self.height() - 2))
            box = QRectF(place * STEP, middle - height / 2, width, height)
            painter.drawRoundedRect(box, 1.3, 1.3)
        painter.end()
