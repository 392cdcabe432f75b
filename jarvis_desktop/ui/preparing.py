"""Imports what the first turn is drawn with, piece by piece once the window is painted: the first
paint does not wait for it, and neither does who sends the first request."""

from __future__ import annotations

import importlib

from PySide6.QtCore import QObject, QTimer

PIECES = (
    "markdown_it",
    "jarvis_desktop.ui.conversation.markdown",
    "jarvis_desktop.ui.conversation.prose",
    "jarvis_desktop.ui.conversation.results",
    "jarvis_desktop.ui.plan.plan_view",
    "jarvis_desktop.ui.conversation.turn_view",
)
"""The inner ones first, so that none keeps the event loop for long."""
PAUSE = 20
"""Milliseconds between two, in which the person comes first."""


class Preparing(QObject):
    """Imports one piece after the other."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._left = list(PIECES)
        self._timer = QTimer(self, interval=PAUSE)
        self._timer.timeout.connect(self._next)

    def begin(self) -> None:
        """From now on."""
        self._timer.start()

    def _next(self) -> None:
        if self._left:
            importlib.import_module(self._left.pop(0))
        else:
            self._timer.stop()
