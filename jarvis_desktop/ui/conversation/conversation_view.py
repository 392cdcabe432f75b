"""The conversation in the middle of the window, and keyboard navigation through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QWidget

from jarvis_desktop.core.i18n import tr, trn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.approvals import ApprovalPanel
from jarvis_desktop.ui.conversation.virtual_list import (
    TurnEntry,
    TurnHeights,
    TurnList,
    estimate_height,
)
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import reword
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.ui.conversation.turn_view import TurnView

MAX_KEPT_VIEWS = 24  # off-screen turns whose widgets are kept because the user interacted with them


class ConversationView(TurnList):
    """The turns of a conversation; follows the end while it is there, else keeps its place."""

    def __init__(self, actions: Actions) -> None:
        super().__init__(actions)
        self._places: dict[int, int] = {}  # the index of each entry, by its identity
        self._current: TurnView | None = None  # the turn that has the keyboard
        self._touched: list[TurnView] = []  # turns the user interacted with, the latest last
        self._stale: set[int] = set()
        self._unseen: set[int] = set()  # turns that were added or changed below the visible ones
        self.setObjectName("conversation")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAccessibleName(tr("Conversation"))
        self.jump = IconButton("down", tr("Go to the newest message"), kind="jump", parent=self)
        self.jump.clicked.connect(self.to_end)
        self.jump.hide()
        # events are faster than the eye, so each widget is drawn at most once per frame
        self._beat = new_timer(self, self.draw_now, 30)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._focus_changed)
        for keys, by in (("Alt+Up", -1), ("Alt+Down", 1)):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.activated.connect(lambda by=by: self._step(by))

    # content

    def show_entries(self, entries: Sequence[TurnEntry]) -> None:
        """Show another conversation."""
        for view in self._views.values():
            self._drop(view)
        for kept in (self._views, self._touched, self._stale, self._unseen):
            kept.clear()
        self._entries = list(entries)
        self._number()
        width = self._width()
        self._heights = TurnHeights([estimate_height(entry.turn, width) for entry in entries])
        self.to_end()

    def append(self, entry: TurnEntry) -> None:
        """Add a turn at the end."""
        if self._entries and (view := self._views.get(len(self._entries) - 1)):
            view.look_at(newest=False)
        self._places[id(entry)] = len(self._entries)
        self._entries.append(entry)
        self._heights.append(estimate_height(entry.turn, self._width()))
        self._follow = self._from_request = True
        self._arrange()

    def remove(self, entry: TurnEntry) -> None:
        """Remove a turn."""
        gone = self._places.get(id(entry))
        if gone is None:
            return
        if view := self._views.pop(gone, None):
            self._drop(view)
        del self._entries[gone]
        self._heights.pop(gone)
        self._shift(lambda index: index - (index > gone), without=gone)
        self._arrange()

    def insert(self, index: int, entry: TurnEntry) -> None:
        """Insert a turn before others, such as one that was deleted and restored."""
        self._entries.insert(index, entry)
        self._heights.insert(index, estimate_height(entry.turn, self._width()))
        self._shift(lambda number: number + (number >= index))
        self._arrange()

    def refresh(self, entry: TurnEntry) -> None:
        """Redraw a turn soon."""
        index = self._places.get(id(entry))
        if index is None:
            return
        self._stale.add(index)
        if not self._beat.isActive():
            self._beat.start()

    def draw_now(self) -> None:
        """Redraw what changed."""
        stale, self._stale = self._stale, set()
        for index in stale:
            entry = self._entries[index]
            if index in self._views:
                self._draw(index)
            elif entry.question:
                self._build(index)
            else:
                self._heights[index] = estimate_height(entry.turn, self._width())
        if not self._follow:
            self._unseen |= stale
        self._arrange()

    def view(self, entry: TurnEntry) -> TurnView | None:
        """The widget of a turn, if it has one."""
        index = self._places.get(id(entry))
        return None if index is None else self._views.get(index)

    def views(self) -> list[TurnView]:
        """All widgets of turns, oldest first."""
        return [view for _, view in sorted(self._views.items())]

    def panels(self) -> list[ApprovalPanel]:
        """The panels that wait for an answer."""
        return [view.panel for view in self.views() if view.panel]

    # position

    @property
    def at_end(self) -> bool:
        """Whether the view follows the newest turn."""
        return self._follow

    def to_end(self) -> None:
        """Scroll to the end of the newest turn and follow it."""
        self._follow, self._from_request = True, False
        self._arrange()

    def go_to(self, index: int) -> None:
        """Scroll to a turn and focus it."""
        if not self._entries:
            return
        index = max(0, min(index, len(self._entries) - 1))
        view = self._views.get(index) or self._build(index)
        view.show()
        self._measure(index)
        top, height = self._heights.before(index) + self._margin(), self._heights[index]
        begins, room = self._top(), self.viewport().height()
        if top < begins or top + height > begins + room:
            self._follow = False
            self._held = (index, None, -self._margin() if height <= room else 0)
            self._arrange()
        view.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def ensureWidgetVisible(self, widget: QWidget) -> None:
        """Scroll until a widget within a turn is visible."""
        top = widget.mapTo(self.viewport(), QPoint(0, 0)).y()
        bottom, room, margin = top + widget.height(), self.viewport().height(), self._margin()
        by = bottom - room + margin if bottom > room else 0
        if top - by < 0:
            by = top - margin
        if by:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + by)

    def stays(self, index: int) -> bool:
        """Whether the user interacted with a turn, or must answer it."""
        del self._touched[:-MAX_KEPT_VIEWS]
        view = self._views[index]
        return super().stays(index) or view is self._current or view in self._touched

    def arranged(self) -> None:
        """Show the button that goes to the end, unless the view is there."""
        if self._follow:
            self._unseen.clear()
        count = len(self._unseen)
        if count:
            words = trn("{count} new", "{count} new", count)
            name = trn("Go to {count} new message", "Go to {count} new messages", count)
        else:
            words, name = tr("Newest"), tr("Go to the newest message")
        reword(self.jump, words, name)
        self.jump.adjustSize()
        across = (self.width() - self.jump.width()) // 2
        self.jump.move(across, self.height() - self.jump.height() - theme.space("two"))
        self.jump.setVisible(not self._follow)
        self.jump.raise_()

    def _shift(self, moved: Callable[[int], int], *, without: int = -1) -> None:
        """Update all indices after turns moved."""
        self._views = {moved(index): view for index, view in self._views.items()}
        self._stale = {moved(index) for index in self._stale if index != without}
        self._unseen = {moved(index) for index in self._unseen if index != without}
        index, part, by = self._held
        self._held = (index, None, 0) if index == without else (moved(index), part, by)
        self._number()

    def _number(self) -> None:
        self._places = {id(entry): index for index, entry in enumerate(self._entries)}
        for index, view in self._views.items():
            view.look_at(newest=index == len(self._entries) - 1)

    def _drop(self, view: TurnView) -> None:
        if view is self._current:
            self._current = None
        super()._drop(view)

    # keyboard

    def keyPressEvent(self, event: QKeyEvent) -> None:
        bar, key = self.verticalScrollBar(), event.key()
        page = max(40, self.viewport().height() - 64)
        if key == Qt.Key.Key_End:
            self.to_end()
        elif key == Qt.Key.Key_Home:
            bar.setValue(0)
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            bar.setValue(bar.value() + (page if key == Qt.Key.Key_PageDown else -page))
        else:
            event.ignore()

    def focusNextPrevChild(self, following: bool) -> bool:
        """Scroll to whatever Tab reaches."""
        if not super().focusNextPrevChild(following):
            return False
        reached = self.window().focusWidget()
        if reached and self.viewport().isAncestorOf(reached):
            self.ensureWidgetVisible(reached)
        return True

    def _focus_changed(self, _: QWidget | None, now: QWidget | None) -> None:
        view = next((item for item in self._views.values() if now and _holds(item, now)), None)
        if view is self._current:
            return
        if self._current:
            self._current.look_at(held=False)
        self._current = view
        if view:
            view.look_at(held=True)
            self._touched = [item for item in self._touched if item is not view] + [view]

    def _step(self, by: int) -> None:
        """Go to the next turn, from the focused or visible one."""
        here = next((index for index, view in self._views.items() if view is self._current), None)
        if here is None:
            top, room = self._top(), self.viewport().height()
            here = self._heights.at(top + room) + 1 if by < 0 else self._heights.at(top) - 1
        self.go_to(here + by)


def _holds(view: TurnView, widget: QWidget) -> bool:
    return view is widget or view.isAncestorOf(widget)
