"""Runs the cyclic garbage collector on the main thread only.

Python collects on whichever thread made the last object, and destroys what it finds there. A widget
that is destroyed on the wrong thread crashes the window. A full collection also blocks every
thread: with a long conversation for up to a tenth of a second, and possibly while the user scrolls
or an answer streams. Here it waits until nothing moves.
"""

from __future__ import annotations

import gc
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer

CHECK_INTERVAL_MS = 1000
"""Milliseconds between two checks."""
MIN_NEW_OBJECTS = 700
"""The number of new objects below which no collection is worthwhile, as in Python."""
FULL_COLLECTION_OBJECTS = 7_000
"""The number of new objects after which a full collection is worthwhile. Python waits for ten
times as many, since it may collect at a bad moment. Collecting sooner frees memory for reuse, so
that memory grows half as much."""
MIN_CHECKS_BETWEEN = 5
"""The least number of checks between two full collections."""
MAX_POSTPONED_CHECKS = 120
"""The number of checks for which a full collection is put off while something runs, so that
memory does not grow without bound."""


class GarbageCollection(QObject):
    """Collects in place of Python: new objects at every check, which takes microseconds, and all
    objects when that delays nobody."""

    def __init__(
        self,
        is_busy: Callable[[], bool],
        parent: QObject | None = None,
        every: int = CHECK_INTERVAL_MS,
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
        """Exclude everything that exists after the start from collections. Further calls do
        nothing: by then a closed window may exist, which must be collected."""
        if not self._begun:
            self._begun = True
            gc.freeze()

    def _look(self) -> None:
        self._passed += 1
        made = gc.get_count()[0]
        if made >= MIN_NEW_OBJECTS:
            self._made += made
            gc.collect(1)
        if (
            not self._begun
            or self._made < FULL_COLLECTION_OBJECTS
            or self._passed < MIN_CHECKS_BETWEEN
        ):
            return
        if self._is_busy() and self._passed < MAX_POSTPONED_CHECKS:
            return
        self._made = self._passed = 0
        gc.collect()
