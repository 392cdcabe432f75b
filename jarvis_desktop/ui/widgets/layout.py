"""Rows and columns, a layout that wraps, and the Tab order that follows the layouts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QStyle,
    QVBoxLayout,
    QWidget,
)

Box = TypeVar("Box", QHBoxLayout, QVBoxLayout)
Margins = int | tuple[int, int, int, int]
Entry = QWidget | QLayout | tuple[QWidget | QLayout, int | Qt.AlignmentFlag] | None
"""What goes into a row or column. A number is the stretch of an entry; None is empty space."""


def hbox(
    *entries: Entry, parent: QWidget | None = None, margins: Margins = 0, spacing: int | None = None
) -> QHBoxLayout:
    """Return a row of widgets and layouts. Sizes are in pixels; `spacing` defaults to the
    style's."""
    return _fill(QHBoxLayout(), entries, parent, margins, spacing)


def vbox(
    *entries: Entry, parent: QWidget | None = None, margins: Margins = 0, spacing: int | None = None
) -> QVBoxLayout:
    """Return a column of widgets and layouts. Sizes are in pixels; `spacing` defaults to the
    style's."""
    return _fill(QVBoxLayout(), entries, parent, margins, spacing)


def _fill(
    layout: Box,
    entries: Iterable[Entry],
    parent: QWidget | None,
    margins: Margins,
    spacing: int | None,
) -> Box:
    if parent:
        parent.setLayout(layout)
    layout.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        layout.setSpacing(spacing)
    for entry in entries:
        item, extra = entry if isinstance(entry, tuple) else (entry, 0)
        alignment = extra if isinstance(extra, Qt.AlignmentFlag) else Qt.AlignmentFlag(0)
        stretch = 0 if isinstance(extra, Qt.AlignmentFlag) else extra  # a flag is a number too
        if item is None:
            layout.addStretch(1)
        elif isinstance(item, QLayout):
            layout.addLayout(item, stretch)
        else:
            layout.addWidget(item, stretch, alignment)
    return layout


def discard(widget: QWidget) -> None:
    """Hide a widget now, and delete it in the event loop."""
    widget.hide()
    widget.deleteLater()


def clear(layout: QLayout) -> None:
    """Remove everything from a layout, and delete its widgets."""
    while item := layout.takeAt(0):
        if widget := item.widget():
            discard(widget)


class FlowLayout(QLayout):
    """A layout that puts widgets side by side and wraps like text."""

    def __init__(self, parent: QWidget | None = None, *, gap: int = 8, right: bool = False) -> None:
        """`right` aligns each line with the edge at which lines end."""
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = gap
        self._right = right
        self.setContentsMargins(QMargins(0, 0, 0, 0))

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, move=True)

    def sizeHint(self) -> QSize:
        hints = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(hint.width() + self._gap for hint in hints)
        return QSize(width, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:
        result = QSize()
        for item in self._items:
            result = result.expandedTo(item.minimumSize())
        return result

    def _arrange(self, rect: QRect, *, move: bool) -> int:
        y, height = rect.y(), 0
        line: list[tuple[QLayoutItem, QSize]] = []
        used = 0
        for item in self._items:
            if item.isEmpty():
                continue
            hint = item.sizeHint().boundedTo(QSize(rect.width(), 16_777_215))
            if line and used + self._gap + hint.width() > rect.width():
                if move:
                    self._place(line, rect, y, used)
                y += height + self._gap
                line, used, height = [], 0, 0
            used += hint.width() + (self._gap if line else 0)
            line.append((item, hint))
            height = max(height, hint.height())
        if move:
            self._place(line, rect, y, used)
        return y + height - rect.y()

    def _place(self, line: list[tuple[QLayoutItem, QSize]], rect: QRect, y: int, used: int) -> None:
        parent = self.parentWidget()
        direction = parent.layoutDirection() if parent else Qt.LayoutDirection.LeftToRight
        x = rect.right() + 1 - used if self._right else rect.x()
        for item, hint in line:
            item.setGeometry(QStyle.visualRect(direction, rect, QRect(QPoint(x, y), hint)))
            x += hint.width() + self._gap


def reached(widget: QWidget) -> Iterator[QWidget]:
    """Yield the widgets that the Tab key reaches now, in the order of their layouts."""
    if widget.isHidden():
        return
    if widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    if isinstance(widget, QScrollArea):
        if inner := widget.widget():
            yield from reached(inner)
    elif layout := widget.layout():
        yield from _of_layout(layout)


def _of_layout(layout: QLayout) -> Iterator[QWidget]:
    for index in range(layout.count()):
        item = layout.itemAt(index)
        if item is None:
            continue
        if widget := item.widget():
            yield from reached(widget)
        elif inner := item.layout():
            yield from _of_layout(inner)


def go_round(frame: QWidget, *, forwards: bool) -> None:
    """Focus the next widget of an overlay, and wrap around at its end."""
    order, focused = list(reached(frame)), frame.window().focusWidget()
    step = 1 if forwards else -1
    if not order:
        return
    place = order.index(focused) + step if focused in order else min(step, 0)
    order[place % len(order)].setFocus(_reason(forwards))


def go_on(page: QWidget, *, forwards: bool) -> bool:
    """Focus the next widget of the page, or the one after the page. Return False if there is
    none."""
    order = list(reached(page))
    focused = page.focusWidget()
    if focused not in order:
        return False
    place = order.index(focused) + (1 if forwards else -1)
    following: QWidget | None = None
    if 0 <= place < len(order):
        following = order[place]
    else:
        following = _beyond(page, focused, forwards=forwards)
    if following is None:
        return False
    following.setFocus(_reason(forwards))
    return True


def _reason(forwards: bool) -> Qt.FocusReason:
    return Qt.FocusReason.TabFocusReason if forwards else Qt.FocusReason.BacktabFocusReason


def _beyond(page: QWidget, start: QWidget, *, forwards: bool) -> QWidget | None:
    """Return the next widget of the window outside the page, in Qt's own order."""
    each = start
    while True:
        following = each.nextInFocusChain() if forwards else each.previousInFocusChain()
        if following is None or following is start:
            return None
        each = following
        able = (
            each.isVisible() and each.isEnabled() and each.focusPolicy() & Qt.FocusPolicy.TabFocus
        )
        if able and not page.isAncestorOf(each):
            return each


def thread(after: QWidget, widget: QWidget) -> QWidget:
    """Make Tab go from `after` through all of `widget`, and return the last stop."""
    for stop in stops(widget):
        QWidget.setTabOrder(after, stop)
        after = stop
    return after


def stops(widget: QWidget) -> Iterator[QWidget]:
    """Yield the stops of the Tab key in a widget, itself first."""
    if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
        yield widget
    if layout := widget.layout():
        yield from _in_layout(layout)
    else:
        for child in widget.findChildren(QWidget):
            if child.focusPolicy() & Qt.FocusPolicy.TabFocus:
                yield child


def _in_layout(layout: QLayout) -> Iterator[QWidget]:
    for number in range(layout.count()):
        item = layout.itemAt(number)
        if item and (inner := item.widget()):
            yield from stops(inner)
        elif item and (nested := item.layout()):
            yield from _in_layout(nested)


def bring_into_view(widget: QWidget) -> None:
    """Scroll all parents to a widget, once it has its size."""
    holder = widget.parentWidget()
    while holder is not None:
        if isinstance(holder, QScrollArea):
            holder.ensureWidgetVisible(widget, 0, 16)
        holder = holder.parentWidget()
