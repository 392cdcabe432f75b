"""A virtual list of turns: only turns near the visible ones have widgets. The others are
represented by their measured or estimated height, so that the scroll bar spans them all."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QFrame, QWidget

from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.engine import EngineQuestion
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.labels import FIRST_CHARACTERS
from jarvis_desktop.ui.widgets.layout import discard, thread
from jarvis_desktop.ui.widgets.page import MAX_TEXT_WIDTH
from jarvis_desktop.ui.widgets.timers import new_timer

if TYPE_CHECKING:
    from jarvis_desktop.ui.conversation.turn_view import TurnView


class TurnHeights:
    """Heights with fast prefix sums (Fenwick, "A new data structure for ... tables", 1994)."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = list(heights)
        self._sums: list[int] = []
        self._add_up()

    def _add_up(self) -> None:
        self._sums = [0, *self._heights]
        for place in range(1, len(self._sums)):
            parent = place + (place & -place)
            if parent < len(self._sums):
                self._sums[parent] += self._sums[place]

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def __setitem__(self, index: int, height: int) -> None:
        by = height - self._heights[index]
        self._heights[index] = height
        place = index + 1
        while by and place < len(self._sums):
            self._sums[place] += by
            place += place & -place

    def append(self, height: int) -> None:
        """Add one at the end."""
        place = len(self._sums)
        self._heights.append(height)
        begins = place - (place & -place)
        self._sums.append(height + self.before(place - 1) - self.before(begins))

    def insert(self, index: int, height: int) -> None:
        """Insert one."""
        self._heights.insert(index, height)
        self._add_up()

    def pop(self, index: int) -> None:
        """Remove one."""
        del self._heights[index]
        self._add_up()

    def before(self, index: int) -> int:
        """The position of an item: the sum of the heights above."""
        total = 0
        while index:
            total += self._sums[index]
            index -= index & -index
        return total

    @property
    def total(self) -> int:
        """The sum of all heights."""
        return self.before(len(self._heights))

    def at(self, y: int) -> int:
        """The index of the item at that position; the first or last if it is outside."""
        index, step = 0, 1 << len(self._heights).bit_length()
        while step:
            if index + step < len(self._sums) and self._sums[index + step] <= y:
                index += step
                y -= self._sums[index]
            step >>= 1
        return max(0, min(index, len(self._heights) - 1))


BUILD_BUDGET_S = 0.016
SCROLL_END_MS = 60  # milliseconds after scrolling ends before the surroundings are built
NEAR_END_PX = 40  # pixels from the end that still count as being there
OFF_SCREEN = -20_000
"""The off-screen position, in pixels, of turns that are built but not yet measured."""


class TurnEntry(Protocol):
    """A turn and its state in the window."""

    turn: Turn
    waiting: str
    question: EngineQuestion | None


class TurnList(QAbstractScrollArea):
    """Follows the end, or keeps the turn at its upper edge in place whatever is inserted above."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self._entries: list[TurnEntry] = []
        self._heights = TurnHeights()
        self._views: dict[int, TurnView] = {}  # by the index of the entry
        self._threaded: list[TurnView] = []  # the views in tab order
        self._follow = True
        self._from_request = False
        """Whether the newest turn was asked for here and is read from its beginning: the view
        follows its answer only as far as the request stays in sight."""
        self._held: tuple[int, QWidget | None, int] = (0, None, 0)
        """The turn at the upper edge, the part of it there, and how far that reaches above."""
        self._arranging = self._scrolls = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setObjectName("scrolled")
        self.verticalScrollBar().setSingleStep(48)
        self._soon = new_timer(self, self._arrange)
        self._rest = new_timer(self, self._settle, SCROLL_END_MS)

    def stays(self, index: int) -> bool:
        """Whether to keep the widget of a turn that is out of reach."""
        return self._entries[index].question is not None

    def arranged(self) -> None:
        """Called when everything is in place."""

    # building

    def _arrange(self) -> None:
        """Build what is in reach as far as time allows, and position it."""
        if self._arranging or not self.isVisible() or self.viewport().width() < 20:
            return
        self._arranging = True
        try:
            complete = self._fill(time.perf_counter() + BUILD_BUDGET_S)
            self._place()
            self._forget()
            self._order()
            self.arranged()
        finally:
            self._arranging = False
        if not complete:
            self._soon.start()

    def _fill(self, until: float) -> bool:
        """Build and measure the turns in reach. Return whether all of them are done."""
        for index in list(self._views):
            self._measure(index)
        while True:
            missing = next((i for i in self._wanted() if i not in self._views), None)
            if missing is None:
                return True
            # at least one: on a busy computer, measuring alone may take longer than there is
            self._build(missing)
            self._measure(missing)
            if time.perf_counter() > until:
                return False

    def _wanted(self) -> Iterator[int]:
        """The turns that need widgets: the visible ones, then a screen around them."""
        if not self._entries:
            return
        top, room = self._top(), self.viewport().height()
        first, last = self._heights.at(top), self._heights.at(top + room)
        yield from range(first, last + 1)
        if self._scrolls:
            return
        yield from range(last + 1, self._heights.at(top + 2 * room) + 1)
        yield from range(first - 1, self._heights.at(max(0, top - room)) - 1, -1)

    def _build(self, index: int) -> TurnView:
        from jarvis_desktop.ui.conversation.turn_view import TurnView

        view = TurnView(self._actions)
        view.setParent(self.viewport())
        self._views[index] = view
        self._draw(index)
        view.setGeometry(self._left(), OFF_SCREEN, self._width(), 400)
        view.show()
        return view

    def _draw(self, index: int) -> None:
        entry, view = self._entries[index], self._views[index]
        view.draw(entry.turn, waiting=entry.waiting, question=entry.question)
        view.look_at(newest=index == len(self._entries) - 1)

    def _measure(self, index: int) -> None:
        view, width = self._views[index], self._width()
        if view.isHidden():
            return
        if view.width() != width:
            view.resize(width, view.height())
        # the height depends on all pending layout requests, however deep
        QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
        self._heights[index] = view.height_at(width)

    def _forget(self) -> None:
        """Drop the widgets that are out of reach and need not stay."""
        top, room = self._top(), self.viewport().height()
        first, last = self._heights.at(max(0, top - room)), self._heights.at(top + 2 * room)
        for index in [index for index in self._views if not first <= index <= last]:
            if not self.stays(index):
                self._drop(self._views.pop(index))

    def _drop(self, view: TurnView) -> None:
        discard(view)

    def _order(self) -> None:
        """Set the tab order from turn to turn, in whatever order they were built."""
        shown = [view for _, view in sorted(self._views.items()) if not view.isHidden()]
        if shown != self._threaded:
            self._threaded = shown
            stop: QWidget = self
            for view in shown:
                stop = thread(stop, view)

    # positioning

    def _top(self) -> int:
        """The scroll position."""
        end = max(0, self._heights.total + 2 * self._margin() - self.viewport().height())
        if self._follow or not self._entries:
            if self._from_request and self._entries:
                newest = self._entries[-1]
                if not (newest.question or newest.turn.agentic):
                    return min(end, self._heights.before(len(self._entries) - 1))
            return end
        index, part, by = self._held
        inner = part.y() if part is not None and index in self._views else 0
        return max(0, min(self._margin() + self._heights.before(index) + inner + by, end))

    def _hold(self, top: int) -> None:
        """Remember what is at the upper edge, so that it stays there."""
        down = top - self._margin()
        index = self._heights.at(max(0, down))
        by = down - self._heights.before(index) if self._entries else 0
        view = self._views.get(index)
        part = view.part_at(by) if view else None
        self._held = (index, part, by - part.y() if part else by)

    def _place(self) -> None:
        top, room = self._top(), self.viewport().height()
        bar = self.verticalScrollBar()
        blocked = bar.blockSignals(True)
        bar.setPageStep(room)
        bar.setRange(0, max(0, self._heights.total + 2 * self._margin() - room))
        bar.setValue(top)
        bar.blockSignals(blocked)
        bar.update()
        if not self._follow:
            self._hold(top)
        width, left = self._width(), self._left()
        for index, view in self._views.items():
            y = self._margin() + self._heights.before(index) - top
            reached = y < 2 * room and y + self._heights[index] > -room
            # hiding the focused widget would make Qt focus any other
            held = view.hasFocus() or view.isAncestorOf(QApplication.focusWidget() or self)
            if reached or held:
                view.setGeometry(left, y if reached else OFF_SCREEN, width, self._heights[index])
            view.setVisible(reached or held)

    def _margin(self) -> int:
        return theme.space("two")

    def _width(self) -> int:
        room = self.viewport().width() - 2 * theme.space("three")
        return max(20, min(MAX_TEXT_WIDTH, room) + 2 * theme.space())

    def _left(self) -> int:
        # the text stays centred whether or not there is a scroll bar
        bar = self.verticalScrollBar()
        taken = bar.sizeHint().width() if bar.maximum() > 0 else 0
        left = (self.viewport().width() + taken - self._width()) // 2
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        return left - taken if mirrored else left

    # Qt events

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        bar = self.verticalScrollBar()
        self._follow = bar.value() >= bar.maximum() - NEAR_END_PX
        self._from_request = False
        if not self._follow:
            self._hold(bar.value())
        self._scrolls = True
        self._rest.start()
        self._arrange()

    def _settle(self) -> None:
        self._scrolls = False
        self._arrange()

    def viewportEvent(self, event: QEvent) -> bool:
        """Some turn has another height now."""
        if event.type() == QEvent.Type.LayoutRequest and not self._arranging:
            self._soon.start()
        return bool(super().viewportEvent(event))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._arrange()

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        redressed = change.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange)
        if redressed and hasattr(self, "_soon"):
            self._soon.start()


def estimate_height(turn: Turn, width: int) -> int:
    """Estimate the height of a turn before it is drawn, in pixels."""
    across = max(20, width // 8)

    def lines(text: str) -> int:
        return (
            text.count("\n", 0, FIRST_CHARACTERS) + min(len(text), FIRST_CHARACTERS) // across + 1
        )

    height = 96 + 20 * lines(turn.text) + 24 * lines(turn.reply)
    height += 44 * bool(turn.attachments) + 22 * len(turn.notes)
    if turn.plan and not turn.agentic:
        height += 60 + 28 * min(len(turn.plan), 40)
    return height + 60 * bool(turn.rounds)
