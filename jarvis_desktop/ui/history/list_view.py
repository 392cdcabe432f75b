"""The side list as one uses it: with the mouse, the keyboard and a menu."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QItemSelectionModel, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QListView, QMenu

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.history.rows import ROW, HistoryModel, HistoryRow, RowDelegate
from jarvis_desktop.ui.widgets import icons


class HistoryList(QListView):
    """Opens, renames, pins, exports and deletes; whoever listens does it."""

    chosen = Signal(object)
    """Carries the Row that the person wants to see."""
    pin_wanted = Signal(object)
    """Carries the Row that is to be pinned, or is to be no more."""
    delete_wanted = Signal(object)
    """Carries the Row whose conversation, or turn, is to be deleted."""
    export_wanted = Signal(object)
    """Carries the Row whose conversation is to be written to a file."""
    left = Signal()
    """The person goes up from the first line."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("history")
        self.setAccessibleName(tr("Conversations"))
        self.lines = HistoryModel(self)
        self.setModel(self.lines)
        self.drawing = RowDelegate(self)
        self.setItemDelegate(self.drawing)
        self.setUniformItemSizes(True)
        self.setMouseTracking(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)

    def row(self) -> HistoryRow | None:
        """The conversation or find that the keyboard is at."""
        found: HistoryRow | None = self.currentIndex().data(ROW)
        return found

    def show_passages(self, passages: bool) -> None:
        """Show passages below the titles, or titles alone."""
        if passages != self.drawing.passages:
            self.drawing.passages = passages
            self.scheduleDelayedItemsLayout()

    def go_to(self, index: QModelIndex, *, scroll: bool = True) -> None:
        """Put the keyboard at a line, without opening it."""
        mode = QItemSelectionModel.SelectionFlag.ClearAndSelect
        self.selectionModel().setCurrentIndex(index, mode)
        if scroll and index.isValid():
            self.scrollTo(index)

    def enter(self) -> None:
        """The keyboard comes from the search field: to the first line, where it is at none."""
        self.setFocus()
        if self.row() is None:
            self.go_to(self._next(-1, 1))

    def rename(self) -> None:
        """Let the person write another title."""
        if self.currentIndex().flags() & Qt.ItemFlag.ItemIsEditable:
            self.edit(self.currentIndex())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens, F2 renames, Delete deletes, and up from the first line leaves."""
        row, at = self.row(), self.currentIndex().row()
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter if row:
                self.chosen.emit(row)
            case Qt.Key.Key_F2:
                self.rename()
            case Qt.Key.Key_Delete if row:
                self.delete_wanted.emit(row)
            case Qt.Key.Key_Up | Qt.Key.Key_Down if not event.modifiers():
                by = 1 if event.key() == Qt.Key.Key_Down else -1
                there = self._next(at, by)
                if there.isValid():
                    self.go_to(there)
                elif by < 0:
                    self.left.emit()
            case _:
                super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click opens."""
        super().mouseReleaseEvent(event)
        row: HistoryRow | None = self.indexAt(event.position().toPoint()).data(ROW)
        if event.button() == Qt.MouseButton.LeftButton and row:
            self.chosen.emit(row)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What can be done with a line."""
        by_mouse = event.reason() == QContextMenuEvent.Reason.Mouse
        index = self.indexAt(event.pos()) if by_mouse else self.currentIndex()
        if index.data(ROW):
            self.go_to(index, scroll=False)
            place = event.pos() if by_mouse else self.visualRect(index).center()
            self.open_menu(place)

    def open_menu(self, place: QPoint) -> QMenu:
        """Show the menu of the line that the keyboard is at."""
        row = self.row()
        assert row
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.setAccessibleName(tr("What can be done with this conversation"))

        def offer(icon: str, words: str, keys: str, act: Callable[[], object]) -> None:
            shown = f"{words}\t{keys}" if keys else words
            menu.addAction(icons.icon(icon, "muted"), shown).triggered.connect(lambda: act())

        offer("open", tr("Open"), tr("Enter"), lambda: self.chosen.emit(row))
        if not row.turn_id:
            offer("edit", tr("Rename"), "F2", self.rename)
            pin = tr("Unpin") if row.pinned else tr("Pin")
            offer("pin", pin, "", lambda: self.pin_wanted.emit(row))
        offer("save", tr("Export…"), "", lambda: self.export_wanted.emit(row))
        menu.addSeparator()
        offer("trash", tr("Delete"), tr("Del"), lambda: self.delete_wanted.emit(row))
        menu.popup(self.viewport().mapToGlobal(place))
        return menu

    def _next(self, at: int, by: int) -> QModelIndex:
        """The next line that is no heading; an invalid one at the end."""
        at += by
        while 0 <= at < self.lines.rowCount():
            index = self.lines.index(at)
            if index.data(ROW):
                return index
            at += by
        return QModelIndex()
