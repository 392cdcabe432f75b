"""The line below an answer: how it ended, what can be done with it, and how it came about."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from jarvis_desktop.core.turn import Turn
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.conversation.turn_menu import copy_answer
from jarvis_desktop.ui.conversation.turn_words import ending
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.icons import IconButton, Symbol
from jarvis_desktop.ui.look.text import ElidedLabel


class TurnFoot(QWidget):
    """Its buttons show while somebody looks at the turn."""

    menu_wanted = Signal()
    closer_wanted = Signal()

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self._turn: Turn | None = None
        self._buttons: QWidget | None = None
        self._looked_at = self._read = False
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(theme.space())
        self._pinned: Symbol | None = None
        self.ending = ElidedLabel(role="small", widest=420)
        self.closer = IconButton(
            "right", tr("Show how this was answered"), kind="quiet", text=tr("Details")
        )
        self.closer.clicked.connect(self.closer_wanted)
        keep = QSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        keep.setRetainSizeWhenHidden(True)  # the line is as high without it
        self.closer.setSizePolicy(keep)
        row.addWidget(self.ending)
        row.addStretch(1)
        row.addWidget(self.closer)

    def draw(self, turn: Turn, *, closer: bool) -> None:
        """Show a turn; `closer` where there is more to be told of it."""
        self._turn = turn
        self.setVisible(bool(turn.status or turn.reply or closer))
        self.ending.setVisible(turn.status is not None)
        self.ending.show_text(ending(turn))
        self.closer.setVisible(closer)
        if turn.pinned and self._pinned is None:
            self._pinned = Symbol("pin", "accent", size=14)
            self._pinned.setAccessibleName(tr("Pinned"))
            self._row.insertWidget(0, self._pinned)
        if self._pinned:
            self._pinned.setVisible(turn.pinned)
        self._show_buttons()

    def look_at(self, looked_at: bool) -> None:
        """Show what can be done, or hide it."""
        if looked_at != self._looked_at:
            self._looked_at = looked_at
            self._show_buttons()

    def show_reading(self, read: bool) -> None:
        """Say whether the answer is being read aloud."""
        self._read = read
        if self._buttons:
            icon, name = ("stop", tr("Stop reading")) if read else ("speaker", tr("Read aloud"))
            self.speak.show_icon(icon, name)

    def show_closer(self, shown: bool) -> None:
        """Say whether what is to be told is shown."""
        name = tr("Hide how this was answered") if shown else tr("Show how this was answered")
        self.closer.show_icon("down" if shown else "right", name)

    def _show_buttons(self) -> None:
        turn = self._turn
        if turn is None:
            return
        wanted = self._looked_at and (turn.status is not None or bool(turn.reply))
        if wanted and self._buttons is None:
            self._make()
        if self._buttons:
            self._buttons.setVisible(wanted)
            for button in (self.copy, self.speak):
                button.setVisible(bool(turn.reply))
            self.again.setVisible(turn.status is not None)
            self.edit.setVisible(bool(turn.text) and turn.status is not None)

    def _make(self) -> None:
        """Make the buttons when they are first looked at: most turns are only read."""
        self._buttons = QWidget()
        row = QHBoxLayout(self._buttons)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(2)
        actions = self._actions
        self.copy = self._button("copy", tr("Copy the answer"), lambda t: copy_answer(t, actions))
        self.speak = self._button("speaker", tr("Read aloud"), actions.read_aloud.emit)
        self.again = self._button("refresh", tr("Answer again"), actions.answer_again.emit)
        self.edit = self._button("edit", tr("Edit and send again"), actions.edit_turn.emit)
        name = tr("More that can be done with this message")
        self.more = self._button("more", name, lambda _: self.menu_wanted.emit())
        for button in (self.copy, self.speak, self.again, self.edit, self.more):
            row.addWidget(button)
        self._row.insertWidget(self._row.indexOf(self.ending) + 1, self._buttons)
        self.show_reading(self._read)

    def _button(self, icon: str, name: str, act: Callable[[Turn], object]) -> IconButton:
        button = IconButton(icon, name, kind="tiny")
        button.setIconSize(QSize(15, 15))
        button.clicked.connect(lambda: act(self._turn) if self._turn else None)
        return button
