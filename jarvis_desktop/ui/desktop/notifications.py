"""Tells the person of something while they look at other windows, by whatever their desktop has."""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Signal

from jarvis_desktop.ui.bridge import EngineThread, Outcome
from jarvis_desktop.ui.desktop.bus_notices import DEFAULT, BusNotices, Note


class Notifier(QObject):
    """Nothing here waits for the desktop."""

    acted = Signal(str, str, str)
    """Carries the key of a note, the action that the person chose, and a token of the desktop for
    the window that is shown for it."""

    def __init__(
        self,
        engine: EngineThread,
        by_tray: Callable[[str, str], None],
        parent: QObject | None = None,
    ) -> None:
        """`by_tray` shows a title and a text where the desktop itself shows no notes."""
        super().__init__(parent)
        self._engine = engine
        self._by_tray = by_tray
        self._last = ""
        self._told = _Told()
        self._told.acted.connect(self.acted, Qt.ConnectionType.QueuedConnection)
        self._bus = BusNotices(self._told.acted.emit) if sys.platform == "linux" else None

    def tell(self, note: Note) -> None:
        """Show a note."""
        if self._bus is None:
            self._tell_by_tray(note)
            return
        bus = self._bus

        def told(outcome: Outcome) -> None:
            if outcome.error:
                self._tell_by_tray(note)

        self._engine.run(lambda: bus.tell(note), told)

    def withdraw(self, key: str) -> None:
        """Take a note away: what it told of is seen."""
        if self._bus:
            bus = self._bus
            self._engine.run(lambda: bus.withdraw(key), lambda outcome: None)

    def clicked(self) -> None:
        """What the tray showed was clicked."""
        if self._last:
            self.acted.emit(self._last, DEFAULT, "")

    def close(self) -> None:
        """JARVIS ends, or its window is made anew."""
        if self._bus:
            self._engine.run(self._bus.close, lambda outcome: None)

    def _tell_by_tray(self, note: Note) -> None:
        self._last = note.key
        self._by_tray(note.title, note.body)


class _Told(QObject):
    """Told on the engine's loop."""

    acted = Signal(str, str, str)
