"""Lets the thread of the screen look for unreachable circles of objects, and none other.

Python looks on whichever thread made the last object, and takes down there what it finds: a widget
that goes on a thread that is not its own brings the window down. And a look at all objects holds up
every thread. In a window with a long conversation it takes up to a tenth of a second, and Python
takes it whenever enough objects were made: while somebody scrolls, or while an answer streams. Here
it waits until nothing moves.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer

EVERY = 1000
"""Milliseconds between two moments at which it may be done."""
FEW = 700
"""New objects for which no look is worth its time; Python waits for as many."""
WORTH = 7_000
"""New objects after which there is something to find among all of them. Python waits for ten times
as many, as it looks while somebody waits; what is found sooner leaves its room to what comes next,
and memory grows half as much."""
REST = 5
"""Moments from one look at all objects to the next, at least."""
PATIENCE = 120
"""How many moments may pass in which something runs, so that nothing grows without end."""


class GarbageCollection(QObject):
    """Does it in place of Python: at the new objects in each moment, which takes microseconds, and
    at all of them where it holds up nobody."""

    def __init__(
        self, is_busy: Callable[[], bool], parent: QObject | None = None, every: int = EVERY
    ) -> None:
        super().__init__(parent)
        self._is_busy = is_busy
        self._begun = False
        self._made = 0
        self._passed = 0
        gc.disable()
        timer = QTimer(self, interval=every, timerType=Qt.TimerType.CoarseTimer)
        timer.timeout.connect(self._look)
        timer.start()

    def begin(self) -> None:
        """The start is over: what is there now stays, and is not looked at again. A second time
        changes nothing: by then there is a window that is gone, and it is to go."""
        if not self._begun:
            self._begun = True
            gc.freeze()

    def _look(self) -> None:
        self._passed += 1
        made = gc.get_count()[0]
        if made >= FEW:
            self._made += made
            gc.collect(1)
        if not self._begun or self._made < WORTH or self._passed < REST:
            return
        if self._is_busy() and self._passed < PATIENCE:
            return
        self._made = self._passed = 0
        gc.collect()
