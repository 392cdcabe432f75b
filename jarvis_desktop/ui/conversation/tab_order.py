"""Tab goes through widgets as they stand in their layouts, in whatever order they were made."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLayout, QWidget


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
