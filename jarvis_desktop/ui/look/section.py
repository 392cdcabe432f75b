"""The pieces of pages on which something is chosen: a card with a title, rows in it, and a line for
what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QStyle,
    QStyleOptionButton,
    QVBoxLayout,
    QWidget,
)

from jarvis_desktop.core.shown import one_line
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.text import Label

LABELS = 120
"""Pixels of the names before what is chosen."""
LONGEST = 600
"""Characters of a reason that are shown."""


class Section(QFrame):
    """One subject."""

    def __init__(self, title: str, told: str = "") -> None:
        super().__init__()
        self.setObjectName("card")
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(theme.space("two"), 12, theme.space("two"), 14)
        self.column.setSpacing(theme.space())
        self.column.addWidget(Label(title, role="strong"))
        if told:
            self.column.addWidget(Label(told, role="small", wrap=True))
        self.trouble = Label(role="warning", wrap=True)
        self.trouble.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.trouble.hide()

    def row(self, name: str, *widgets: QWidget) -> None:
        """A name, and what belongs to it; the first takes the room, and the name."""
        row = QHBoxLayout()
        row.setSpacing(theme.space())
        label = Label(name)
        label.setFixedWidth(LABELS)
        label.setBuddy(widgets[0])
        if not widgets[0].accessibleName():
            widgets[0].setAccessibleName(name)
        row.addWidget(label)
        for index, widget in enumerate(widgets):
            row.addWidget(widget, 0 if index else 1)
        self.column.addLayout(row)

    def end(self) -> None:
        """Nothing comes after this but what is wrong."""
        self.column.addWidget(self.trouble)

    def complain(self, trouble: str) -> None:
        """Say what is wrong; "" takes it back."""
        shown = one_line(trouble, limit=LONGEST)
        self.trouble.setText(shown)
        self.trouble.setAccessibleName(shown)
        self.trouble.setVisible(bool(shown))


class Choice(QComboBox):
    """One of several values, each with words for it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)
        unmoved(self)

    def offer(self, values: Sequence[tuple[str, str]], chosen: str) -> None:
        """Offer values with their words; tells nobody."""
        before = self.blockSignals(True)
        self.clear()
        for value, words in values:
            self.addItem(one_line(words, limit=90), value)
        self.setCurrentIndex(max(0, self.findData(chosen)))
        self.blockSignals(before)

    def choose(self, value: str) -> None:
        """Show a value; tells nobody."""
        before = self.blockSignals(True)
        self.setCurrentIndex(max(0, self.findData(value)))
        self.blockSignals(before)

    @property
    def value(self) -> Any:
        """The value that is chosen."""
        return self.currentData()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw an arrow, which style sheets have as a picture only."""
        super().paintEvent(event)
        x, y = 16.0 if self.isRightToLeft() else self.width() - 16.0, self.height() / 2
        _draw(self, "muted", (x - 4, y - 2), (x, y + 2), (x + 4, y - 2))


class Tick(QCheckBox):
    """On or off."""

    def __init__(self, text: str, told: str) -> None:
        super().__init__(text)
        self.setAccessibleName(text)
        self.setAccessibleDescription(told)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the tick, which style sheets have as a picture only."""
        super().paintEvent(event)
        if self.isChecked():
            option = QStyleOptionButton()
            self.initStyleOption(option)
            part = QStyle.SubElement.SE_CheckBoxIndicator
            middle = self.style().subElementRect(part, option, self).toRectF().center()
            x, y = middle.x(), middle.y()
            _draw(self, "on_accent", (x - 3.5, y), (x - 1, y + 2.5), (x + 3.5, y - 2.5))


def button(text: str, name: str = "", *, kind: str = "", tip: str = "") -> QPushButton:
    """A button; `name` is what a screen reader says where its words are few."""
    made = QPushButton(text)
    made.setAccessibleName(name or text)
    made.setProperty("kind", kind)
    made.setToolTip(tip)
    made.setAutoDefault(False)
    return made


def _draw(widget: QWidget, colour: str, *corners: tuple[float, float]) -> None:
    painter = QPainter(widget)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.colour(colour), 1.8, c=Qt.PenCapStyle.RoundCap))
    painter.drawPolyline([QPointF(*corner) for corner in corners])
    painter.end()


def unmoved(widget: QWidget) -> None:
    """Leave the wheel to the page, which it scrolls: nothing is changed by passing over it."""
    widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    widget.installEventFilter(_Wheel(widget))


class _Wheel(QObject):
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel:
            event.ignore()
            return True
        return super().eventFilter(watched, event)
