"""What the window says where it is to be closed for good while timers run."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr, trn
from jarvis_desktop.ui.look.notices import Card


class LeavingNotice(Card):
    """They would not ring before the next start: whoever set them may have forgotten that."""

    agreed = Signal()
    """JARVIS is to end all the same."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("clock", parent)
        self.quit = self.offer(tr("Quit JARVIS"), kind="quiet")
        self.quit.clicked.connect(self.agreed)
        self.stay = self.offer(tr("Stay"), kind="primary")
        self.stay.clicked.connect(self.hide)

    def ask(self, timers: Sequence[Timer]) -> bool:
        """Ask, where timers run; whether that was new to the person, who asks twice to have it."""
        if not timers or self.isVisible():
            return False
        self._tell(timers)
        return True

    def follow(self, timers: Sequence[Timer]) -> None:
        """Keep what is asked true, where it is: there are other timers now, or none."""
        if not timers:
            self.hide()
        elif self.isVisible():
            self._tell(timers)

    def _tell(self, timers: Sequence[Timer]) -> None:
        label = one_line(timers[0].label, limit=60)
        runs = trn("A timer runs.", "{count} timers run.", len(timers))
        self.say(
            tr("A timer runs: {label}", label=label) if label and len(timers) == 1 else runs,
            tr("It rings only while JARVIS is open, or late, at its next start."),
        )
