"""The Tab key goes through a page in the order in which it is read, whatever came there when.

Tab goes through widgets as they stand in their layouts, in whatever order they were made."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLayout, QScrollArea, QWidget


def reached(widget: QWidget) -> Iterator[QWidget]:
    """The widgets in it that the Tab key reaches now, in the order of their layouts."""
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
    """Give the keyboard to the next one in what covers the rest: after the last comes the first."""
    order, focused = list(reached(frame)), frame.window().focusWidget()
    step = 1 if forwards else -1
    if not order:
        return
    place = order.index(focused) + step if focused in order else min(step, 0)
    order[place % len(order)].setFocus(_reason(forwards))


def go_on(page: QWidget, *, forwards: bool) -> bool:
    """Give the keyboard to the next one in the page, or to what comes after the page; whether there
    was one."""
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
    """The next one of the window that is not in the page, in Qt's own order."""
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
    """Let Tab go from `after` through all of `widget`; gives the last stop."""
    for stop in stops(widget):
        QWidget.setTabOrder(after, stop)
        after = stop
    return after


def stops(widget: QWidget) -> Iterator[QWidget]:
    """Where Tab stops in a widget, itself first."""
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
