"""The downloads as the window knows them, and the mark beside the way to their page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QRectF, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from jarvis_desktop.core.wording import trn
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Outcome
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.session import Session

if TYPE_CHECKING:
    from jarvis_desktop.catalogue.download import Download

SIZE, PEN = 16, 2.2
"""Pixels."""


class DownloadsWatch(QObject):
    """Hears from the engine of every change."""

    changed = Signal(object)
    """Carries the downloads, in their order."""

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.listed: Sequence[Download] = ()
        self._session = session
        self._watches = False
        session.ready.connect(self._ready)
        if session.app:
            self._ready(session.app)

    def _ready(self, app: App) -> None:
        if self._watches:
            return  # a window that is made anew is greeted besides
        self._watches = True
        engine = self._session.engine

        async def watch() -> None:
            app.shelf.downloads.watch(lambda listed: engine.post(self._hear, listed))
            await app.shelf.downloads.restore()

        engine.run(watch, _ended)

    def _hear(self, listed: Sequence[Download]) -> None:
        self.listed = listed
        self.changed.emit(listed)


def _ended(outcome: Outcome) -> None:
    pass


class DownloadMark(QWidget):
    """A ring at the trailing edge of a button, filled as far as what is fetched is here."""

    def __init__(self, button: QPushButton, session: Session) -> None:
        super().__init__(button)
        self.setFixedSize(SIZE, SIZE)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._fraction: float | None = None
        self._button = button
        self._described = button.accessibleDescription()
        row = QVBoxLayout(button)
        row.setContentsMargins(theme.space(), 0, theme.space(), 0)
        row.addWidget(self, 0, Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter)
        self.hide()
        self._watch = DownloadsWatch(session, self)
        self._watch.changed.connect(self._show)

    def _show(self, listed: Sequence[Download]) -> None:
        coming = [each for each in listed if each.under_way]
        size = sum(each.size for each in coming)
        self._fraction = sum(each.have for each in coming) / size if size else None
        said = trn("{count} download under way", "{count} downloads under way", len(coming))
        self.setToolTip(said)
        self._button.setAccessibleDescription(said if coming else self._described)
        self.setVisible(bool(coming))
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(PEN / 2, PEN / 2, SIZE - PEN, SIZE - PEN)
        painter.setPen(QPen(theme.colour("control"), PEN))
        painter.drawEllipse(box)
        pen = QPen(theme.colour("accent"), PEN)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawArc(box, 90 * 16, -round(360 * 16 * (self._fraction or 0.05)))
        painter.end()
