"""Lets Python look for unreachable circles of objects while nothing moves on the screen.

Such a look at all objects holds up every thread. In a window with a long conversation it takes up
to a tenth of a second, and Python takes it whenever enough objects were made: while somebody
scrolls, or while an answer streams.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer

EVERY = 5000
"""Milliseconds between two moments at which it may be done."""
WORTH = 2
"""Looks at the young objects alone, after which there is something to find among all of them.
Python waits for ten, as it looks while somebody waits; what is found sooner leaves its room to what
comes next, and memory grows half as much."""
PATIENCE = 24
"""How many moments may pass in which something runs, so that nothing grows without end."""
NEVER = 1_000_000


class Tidying(QObject):
    """Does it in place of Python; young objects are looked at as ever, which takes microseconds."""

    def __init__(
        self, is_busy: Callable[[], bool], parent: QObject | None = None, every: int = EVERY
    ) -> None:
        super().__init__(parent)
        self._is_busy = is_busy
        self._passed = 0
        self._before = gc.get_threshold()
        gc.set_threshold(*self._before[:2], NEVER)
        self._timer = QTimer(self, interval=every, timerType=Qt.TimerType.CoarseTimer)
        self._timer.timeout.connect(self._look)

    def begin(self) -> None:
        """The start is over: what is there now stays, and is not looked at again. A second time
        changes nothing: by then there is a window that is gone, and it is to go."""
        if not self._timer.isActive():
            gc.freeze()
            self._timer.start()

    def end(self) -> None:
        """Leave it to Python again."""
        self._timer.stop()
        gc.set_threshold(*self._before)
        gc.unfreeze()

    def _look(self) -> None:
        if gc.get_count()[2] < WORTH:
            return
        self._passed += 1
        if self._is_busy() and self._passed < PATIENCE:
            return
        self._passed = 0
        gc.collect()
