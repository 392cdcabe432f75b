"""One row on the screen: what it is, a sentence about it, its control, and the way back to its
default."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QRectF, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.icons import IconButton
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.settings.controls import Entry, Switch, usual_control
from jarvis_desktop.ui.settings.rows import Hands, Row

NARROW = 34
"""Widths of a letter "m"; in a narrower row the control stands below the words."""
FLASH = 1600
"""Milliseconds for which a row that was asked for is marked."""


class SettingRow(QFrame):
    """Tells when the person changes something; shows what holds."""

    changed = Signal(str, object)
    """Carries the key and the new value; None for the default."""

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__()
        self.row = row
        self.setObjectName("setting")
        self.title = Found(tr(row.title))
        self.back = IconButton("undo", "", kind="tiny")
        self.back.setIconSize(self.back.iconSize() * 0.8)
        self.back.hide()
        self.back.clicked.connect(self._reset)
        self.help = Label(tr(row.help), role="small", wrap=True)
        if not row.help:
            self.help.hide()
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.hide()
        self.control = row.make(row, hands) if row.make else usual_control(row)
        self._build()
        if row.field:
            self.control.changed.connect(self._changed)  # type: ignore[attr-defined]
        if isinstance(self.control, Entry):
            self.control.refused.connect(self.complain)
        self._marked = QTimer(self, singleShot=True, interval=FLASH)
        self._marked.timeout.connect(lambda: self._mark(False))

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(theme.space("half"))
        head.addWidget(self.title, 1)
        head.addWidget(self.back)
        words = QVBoxLayout()
        words.setSpacing(1)
        words.addLayout(head)
        words.addWidget(self.help)
        words.addWidget(self.trouble)
        self._line = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._line.setSpacing(theme.space("two"))
        self._line.addLayout(words, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(theme.space("two"), 11, theme.space("two"), 11)
        outer.addLayout(self._line)
        if self.row.whole:
            outer.addWidget(self.control)
        else:
            middle = Qt.AlignmentFlag.AlignVCenter
            self._line.addWidget(self.control, 0, middle)
            self.control.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def show_settings(self, settings: Any) -> None:
        """Show what holds."""
        field = self.row.field
        if field is None:
            return
        value = field.of(settings)
        self.control.show_value(value)  # type: ignore[attr-defined]
        if value == field.default:
            if self.back.hasFocus():
                self.control.setFocus()
            self.back.hide()
        else:
            usual = one_line(self.row.shown(field.default), limit=60)
            self.back.show_icon(
                "undo",
                tr("Reset {name}", name=tr(self.row.title))
                if not usual
                else tr("Reset {name} to: {value}", name=tr(self.row.title), value=usual),
            )
            self.back.show()

    def highlight(self, sought: str) -> None:
        """Mark what was sought in the title."""
        self.title.highlight(sought)

    def flash(self) -> None:
        """Show that this is the one that was asked for."""
        self._mark(True)
        self._marked.start()

    def complain(self, trouble: str) -> None:
        """Say what is wrong; "" takes it back."""
        self.trouble.setText(trouble)
        self.trouble.setVisible(bool(trouble))
        self.control.setAccessibleDescription(trouble or tr(self.row.help))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Go below each other where there is little room."""
        super().resizeEvent(event)
        wide = isinstance(self.control, Switch) or (
            self.width() >= NARROW * self.fontMetrics().horizontalAdvance("m")
        )
        direction = QBoxLayout.Direction
        self._line.setDirection(direction.LeftToRight if wide else direction.TopToBottom)
        self._line.setSpacing(theme.space("two") if wide else theme.space())

    def _changed(self, value: object) -> None:
        self.complain("")
        self.changed.emit(self.row.key, value)

    def _reset(self) -> None:
        self.complain("")
        self.changed.emit(self.row.key, None)

    def _mark(self, on: bool) -> None:
        self.setProperty("marked", on)
        self.style().unpolish(self)
        self.style().polish(self)


class Found(Label):
    """A title in which what was sought is marked."""

    def __init__(self, text: str) -> None:
        super().__init__(text, wrap=True)
        self._sought: tuple[str, ...] = ()

    def highlight(self, sought: str) -> None:
        """Mark these words from now on."""
        self._sought = tuple(sought.casefold().split())
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the marks below the words; a title that breaks into lines has none."""
        metrics, text = self.fontMetrics(), self.text()
        if self._sought and metrics.horizontalAdvance(text) <= self.width():
            painter = QPainter(self)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour("soft"))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for word in self._sought:
                at = text.casefold().find(word)
                if at >= 0 and len(text.casefold()) == len(text):
                    left = metrics.horizontalAdvance(text[:at])
                    width = metrics.horizontalAdvance(text[at : at + len(word)])
                    if self.layoutDirection() == Qt.LayoutDirection.RightToLeft:
                        left = self.width() - left - width
                    top = (self.height() - metrics.height()) / 2
                    painter.drawRoundedRect(
                        QRectF(left - 2, top, width + 4, metrics.height()), 3, 3
                    )
            painter.end()
        super().paintEvent(event)
