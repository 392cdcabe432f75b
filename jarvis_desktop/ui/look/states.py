"""How something is doing, as a small picture that a screen reader can name."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, QTimer
from PySide6.QtGui import QHideEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.look import icons, theme

_looks = {
    "waiting": ("waiting", "muted"),
    "fetching": ("download", "accent"),
    "done": ("done", "done"),
    "partly": ("done", "warning"),
    "failed": ("failed", "warning"),
    "skipped": ("skipped", "muted"),
    "cancelled": ("cancelled", "muted"),
    "open": ("waiting", "muted"),
    "doing": ("play", "accent"),
    "dropped": ("skipped", "muted"),
}
_names = {
    "waiting": mark("waiting"),
    "running": mark("running"),
    "fetching": mark("its expert is fetched"),
    "done": mark("done"),
    "partly": mark("partly done"),
    "failed": mark("failed"),
    "skipped": mark("left out"),
    "cancelled": mark("stopped"),
    "open": mark("open"),
    "doing": mark("being done"),
    "dropped": mark("dropped"),
}


def draw_state(painter: QPainter, state: str, angle: int, *, ratio: float) -> None:
    """Draw a state, "" for none, 18 pixels large; `angle` is how far what runs has turned."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if state == "running":
        box = QRectF(2.5, 2.5, 13, 13)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(theme.colour("border"), 2.2))
        painter.drawEllipse(box)
        pen = QPen(theme.colour("accent"), 2.2)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawArc(box, -angle * 16, 100 * 16)
    elif state:
        name, colour = _looks[state]
        painter.drawPixmap(0, 0, icons.pixmap(name, colour, size=18, ratio=ratio))


class StateIcon(QWidget):
    """Shows a state; it turns while something runs."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedSize(18, 18)
        self._state = ""
        self._angle = 0
        self._timer = QTimer(self)
        self._timer.setInterval(50)
        self._timer.timeout.connect(self._turn)

    def show_state(self, state: str) -> None:
        """Show another state."""
        if state != self._state:
            self._state = state
            self.setAccessibleName(tr(_names.get(state, "")))
            self._beat()
            self.update()

    def showEvent(self, event: QShowEvent) -> None:
        """Turn only while it can be seen."""
        super().showEvent(event)
        self._beat()

    def hideEvent(self, event: QHideEvent) -> None:
        """Rest while it cannot be seen."""
        super().hideEvent(event)
        self._timer.stop()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
        draw_state(painter, self._state, self._angle, ratio=self.devicePixelRatioF())
        painter.end()

    def _beat(self) -> None:
        if self._state == "running" and self.isVisible():
            self._timer.start()
        else:
            self._timer.stop()

    def _turn(self) -> None:
        self._angle = (self._angle + 18) % 360
        self.update()
