"""The line on which one sees how far something has played, and jumps; with the waves of a sound."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QSlider

from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import phrases, theme
from jarvis_desktop.ui.media.found import Peaks

STEP, LEAP = 5.0, 30.0
"""Seconds that an arrow key jumps, and Page Up and Down."""
BAR, GAP = 2.0, 1.0
"""Pixels."""
TALL, FLAT = 40, 20


class Timeline(QSlider):
    """Counts in milliseconds; time runs from the left in all languages, as on every player."""

    seen = Signal()
    """It is on the screen for the first time."""
    sought = Signal(float)
    """Carries the second that somebody jumped to."""
    held = Signal(bool)
    """Somebody drags it, or has let go."""

    def __init__(self, name: str, *, waves: bool) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self.setAccessibleName(name)
        self.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedHeight(TALL if waves else FLAT)
        self.setMinimumWidth(60)
        self.setEnabled(False)
        self._waves = waves
        self._seen = False
        self._peaks: Peaks | None = None

    def show_length(self, seconds: float) -> None:
        """It is that long; 0 where nobody knows, and nobody can jump."""
        self.setRange(0, round(seconds * 1000))
        self.setEnabled(seconds > 0)
        self.show_place(self.value() / 1000)

    def show_peaks(self, peaks: Peaks) -> None:
        """Draw the waves of a sound, which is as long as they are."""
        self.show_waves(peaks)
        self.show_length(peaks.length)

    def show_waves(self, peaks: Peaks | None) -> None:
        """Draw waves in the place of the line; None where they are not known yet."""
        self._waves, self._peaks = True, peaks
        self.setFixedHeight(TALL)
        self.update()

    def show_place(self, seconds: float) -> None:
        """It is there now."""
        self.setValue(round(seconds * 1000))
        at, length = phrases.clock(seconds), phrases.clock(self.maximum() / 1000)
        self.setAccessibleDescription(tr("{at} of {length}", at=at, length=length))

    def sizeHint(self) -> QSize:
        """As wide as there is room."""
        return QSize(240, self.height())

    def minimumSizeHint(self) -> QSize:
        """Any width will do."""
        return QSize(60, self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Jump by the keys of a slider."""
        place = self.value() / 1000
        leaps = {
            Qt.Key.Key_Left: place - STEP,
            Qt.Key.Key_Right: place + STEP,
            Qt.Key.Key_PageUp: place - LEAP,
            Qt.Key.Key_PageDown: place + LEAP,
            Qt.Key.Key_Home: 0.0,
            Qt.Key.Key_End: self.maximum() / 1000,
        }
        if event.key() in leaps:
            to = leaps[Qt.Key(event.key())]
            self.sought.emit(min(max(to, 0.0), self.maximum() / 1000))
        else:
            event.ignore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Jump there."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self.held.emit(True)
            self._seek_to(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow."""
        if self.isSliderDown():
            self._seek_to(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Stay there."""
        if self.isSliderDown():
            self.setSliderDown(False)
            self.held.emit(False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave scrolling to the conversation."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the waves or the line, in two colours."""
        if not self._seen:
            self._seen = True
            self.seen.emit()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        share = self.value() / self.maximum() if self.maximum() else 0.0
        if self._waves:
            self._paint_waves(painter, share)
        else:
            self._paint_line(painter, share)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(theme.colour("accent"), 1.5))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)

    def _seek_to(self, event: QMouseEvent) -> None:
        share = event.position().x() / max(self.width(), 1)
        self.sought.emit(min(max(share, 0.0), 1.0) * self.maximum() / 1000)

    def _paint_waves(self, painter: QPainter, share: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        count = max(1, int((self.width() - 4) / (BAR + GAP)))
        middle, tallest = self.height() / 2, self.height() - 8
        played, ahead = theme.colour("accent"), theme.colour("control")
        for index, level in enumerate(_levels(self._peaks, count)):
            height = max(BAR, level * tallest)
            painter.setBrush(played if (index + 0.5) / count < share else ahead)
            x = 2 + index * (BAR + GAP)
            painter.drawRoundedRect(QRectF(x, middle - height / 2, BAR, height), 1, 1)

    def _paint_line(self, painter: QPainter, share: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        middle, width = self.height() / 2, self.width() - 12
        for length, name in ((width, "border"), (width * share, "accent")):
            painter.setBrush(theme.colour(name))
            painter.drawRoundedRect(QRectF(6, middle - 2, length, 4), 2, 2)
        if self.isEnabled():
            painter.drawEllipse(QRectF(width * share, middle - 6, 12, 12))


def _levels(peaks: Peaks | None, count: int) -> list[float]:
    """How tall each of so many bars is, 0 to 1; the loudest place fills the height."""
    if peaks is None or not peaks.values:
        return [0.0] * count
    values = peaks.values
    loudest = max(*values, 25) if len(values) > 1 else max(values[0], 25)
    known = max(1, round(count * peaks.share))
    levels = []
    for index in range(known):
        first = index * len(values) // known
        last = max(first + 1, (index + 1) * len(values) // known)
        levels.append(max(values[first:last]) / loudest)
    return levels + [0.0] * (count - known)
