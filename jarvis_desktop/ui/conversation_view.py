"""The conversation in the middle of the window: its newest turns, and the rest on demand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from jarvis_desktop.core.turn import Turn
from jarvis_desktop.ui import theme
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.bridge import Question
from jarvis_desktop.ui.questions import Panel
from jarvis_desktop.ui.turn_view import TurnView

AT_ONCE = 50
"""Turns that get widgets when a conversation is opened, and more with each "Show earlier"."""
SLICE = 6
"""Turns that are built in one go; more would stall the window."""
WIDEST = 780
"""Pixels; longer lines are hard to read."""


class Entry(Protocol):
    """A turn with its place in the window."""

    turn: Turn
    waiting: str
    question: Question | None


class ConversationView(QScrollArea):
    """Scrolls; stays at the end while it is there and something new comes."""

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self._entries: list[Entry] = []
        self._views: dict[int, TurnView] = {}
        self._first = 0
        self._wanted = 0
        self._anchor: int | None = None
        self._follow = True
        self._stale: set[int] = set()
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAccessibleName("Conversation")
        scrolled = QWidget()
        scrolled.setObjectName("scrolled")
        self._row = row = QHBoxLayout(scrolled)
        column = QWidget()
        column.setMaximumWidth(WIDEST)
        self._column = QVBoxLayout(column)
        self._column.setContentsMargins(0, 0, 0, 0)
        self.earlier = QPushButton("Show earlier")
        self.earlier.setProperty("kind", "quiet")
        self.earlier.setAccessibleName("Show earlier turns")
        self.earlier.clicked.connect(self._show_earlier)
        self.earlier.hide()
        self._column.addWidget(self.earlier, alignment=Qt.AlignmentFlag.AlignHCenter)
        self._column.addStretch(1)
        row.addStretch(1)
        row.addWidget(column, 1000)
        row.addStretch(1)
        self.setWidget(scrolled)
        bar = self.verticalScrollBar()
        bar.rangeChanged.connect(self._range_changed)
        self._range_changed()
        bar.valueChanged.connect(self._scrolled)
        # Events come faster than the eye sees; each widget is drawn at most once per beat.
        self._beat = QTimer(self)
        self._beat.setSingleShot(True)
        self._beat.setInterval(30)
        self._beat.timeout.connect(self.draw_now)
        self._filling = QTimer(self)
        self._filling.setSingleShot(True)
        self._filling.timeout.connect(self._fill)

    def show_entries(self, entries: Sequence[Entry]) -> None:
        """Show another conversation."""
        for view in self._views.values():
            view.hide()
            view.deleteLater()
        self._views.clear()
        self._stale.clear()
        self._entries = list(entries)
        self._first = len(self._entries)
        self._wanted = max(0, self._first - AT_ONCE)
        self._anchor = None
        self._fill()
        self.to_end()

    def append(self, entry: Entry) -> None:
        """Show one more turn at the end."""
        self._entries.append(entry)
        self._add(len(self._entries) - 1)
        self.to_end()

    def refresh(self, entry: Entry) -> None:
        """Draw a turn again soon."""
        for index in range(len(self._entries) - 1, -1, -1):
            if self._entries[index] is entry:
                self._stale.add(index)
                if not self._beat.isActive():
                    self._beat.start()
                return

    def draw_now(self) -> None:
        """Draw what changed."""
        stale, self._stale = self._stale, set()
        for index in stale:
            if index in self._views:
                self._draw(index)

    def view(self, entry: Entry) -> TurnView | None:
        """The widget of a turn, if it has one."""
        for index, view in self._views.items():
            if self._entries[index] is entry:
                return view
        return None

    def views(self) -> list[TurnView]:
        """All widgets of turns, oldest first."""
        return [self._views[index] for index in sorted(self._views)]

    def panels(self) -> list[Panel]:
        """What waits for an answer here."""
        return [view.panel for view in self.views() if view.panel]

    def to_end(self) -> None:
        """Scroll to the newest turn and stay there."""
        self._follow = True
        self._range_changed()

    def _add(self, index: int, place: int = -1) -> None:
        view = TurnView(self._actions)
        self._views[index] = view
        self._draw(index)
        at = self._column.count() - 1 if place < 0 else place
        self._column.insertWidget(at, view)

    def _draw(self, index: int) -> None:
        entry = self._entries[index]
        self._views[index].draw(entry.turn, waiting=entry.waiting, question=entry.question)

    def _show_earlier(self) -> None:
        self._follow = False
        self._wanted = max(0, self._first - AT_ONCE)
        self._fill()

    def _fill(self) -> None:
        """Build earlier turns up to the wanted one, a slice at a time."""
        start = max(self._wanted, self._first - SLICE)
        bar = self.verticalScrollBar()
        self._anchor = None if self._follow else bar.maximum() - bar.value()
        for place, index in enumerate(range(start, self._first)):
            self._add(index, place + 1)
        self._first = start
        self.earlier.setVisible(start > 0 and start == self._wanted)
        if start > self._wanted:
            self._filling.start()

    def _range_changed(self) -> None:
        bar = self.verticalScrollBar()
        if self._anchor is not None:  # what is read stays in its place when something is put above
            anchor, self._anchor = self._anchor, None
            bar.setValue(bar.maximum() - anchor)
        side = theme.space("three")
        # The text stays in the middle of the window whether or not there is a scroll bar.
        taken = bar.sizeHint().width() if bar.maximum() else 0
        self._row.setContentsMargins(side, side, max(side - taken, 0), 0)
        if self._follow:
            bar.setValue(bar.maximum())

    def _scrolled(self, value: int) -> None:
        self._follow = value >= self.verticalScrollBar().maximum() - 40
