"""What is understood while one speaks: words that stay are drawn as text, the rest lighter."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import (
    QColor,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from jarvis_desktop.core.hearing import Partial
from jarvis_desktop.core.shown import encodable, printable
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import theme

LINES = 2
MOST = 20_000
"""Characters that are laid out; nobody speaks longer at a time."""


class PartialText(QWidget):
    """Always as tall as a few lines, of which it shows the last: what is read stays in its place,
    and moves up by whole lines only."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._settled = self._rest = ""
        self._first = 0
        """The first line that is shown; it never goes back."""
        self._hint = ""
        self.clear()

    @property
    def text(self) -> str:
        """All that is shown."""
        return f"{self._settled} {self._rest}".strip()

    def clear(self, hint: str = "") -> None:
        """Begin anew; `hint` stands there, lightly, until the first word."""
        self._settled = self._rest = ""
        self._hint = hint
        self._first = 0
        self.setAccessibleName(hint or tr("Nothing was understood yet"))
        self.update()

    def show_partial(self, partial: Partial) -> None:
        """Show what was understood so far."""
        self._settled, self._rest = (_plain(part) for part in (partial.settled, partial.rest))
        self.setAccessibleName(tr("Understood so far: {words}", words=self.text[-400:]))
        self.update()

    def sizeHint(self) -> QSize:
        """A few lines."""
        return QSize(200, LINES * self.fontMetrics().lineSpacing() + 2)

    def minimumSizeHint(self) -> QSize:
        """Any width will do."""
        return QSize(40, self.sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Other lines: those that were scrolled away may be back."""
        self._first = 0
        super().resizeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the last lines."""
        layout = QTextLayout(self.text or self._hint, self.font(), self)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        layout.setFormats([self._lighter()])
        height = self.fontMetrics().lineSpacing()
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(self.width())
            line.setPosition(QPointF(0, (layout.lineCount() - 1) * height))
        layout.endLayout()
        self._first = max(self._first, layout.lineCount() - LINES)
        painter = QPainter(self)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        layout.draw(painter, QPointF(0, -self._first * height))
        painter.end()

    def _lighter(self) -> QTextLayout.FormatRange:
        part = QTextLayout.FormatRange()
        part.start = len(f"{self._settled} ") if self._settled else 0
        part.length = len(self._rest) if self.text else len(self._hint)
        light = QTextCharFormat()
        colour: QColor = theme.colour("muted")
        light.setForeground(colour)
        part.format = light
        return part


def _plain(words: str) -> str:
    return " ".join(printable(encodable(words[:MOST])).split())
