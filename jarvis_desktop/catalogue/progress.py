"""Says how far a download is, how fast it goes and how long it will take."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from jarvis_desktop.core.call import Report

WINDOW = 5.0
"""Seconds over which the speed is taken: long enough to be calm, short enough to be true."""

TELLING = 0.1
"""Seconds between two reports."""


class Pace:
    """How fast something arrives: the mean of the last `WINDOW` seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._seen: deque[tuple[float, int]] = deque()

    def note(self, have: int) -> None:
        """So many bytes are here now."""
        now = self._clock()
        self._seen.append((now, have))
        while now - self._seen[0][0] > WINDOW:
            self._seen.popleft()

    @property
    def speed(self) -> float:
        """Bytes per second; 0 where that is not known yet."""
        if not self._seen:
            return 0.0
        (began, first), (now, last) = self._seen[0], self._seen[-1]
        return (last - first) / (now - began) if last > first and now > began else 0.0


class Progress:
    """Tells how many bytes of all files are here; called with those of the current file."""

    def __init__(
        self,
        report: Report,
        total: int,
        *,
        files: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._report = report
        self._total = max(1, total)
        self._files = files
        self._clock = clock
        self._file = 1
        self._before = 0
        self._had = 0
        self._told = float("-inf")
        self._pace = Pace(clock)

    def had(self, count: int) -> None:
        """So many bytes of the current file are here from an earlier fetch: they are no speed."""
        self._had += count

    def __call__(self, count: int) -> None:
        """`count` bytes of the current file are here."""
        have, now = self._before + count, self._clock()
        if now - self._told < TELLING and have != self._total:
            return
        self._told = now
        self._pace.note(have - self._had)
        self._report(min(1.0, have / self._total), self._words(have))

    def next_file(self, size: int) -> None:
        """The current file, of so many bytes, is done."""
        self._before += size
        self._file = min(self._file + 1, self._files)

    def _words(self, have: int) -> str:
        unit, of = ("MB", 1e6) if self._total >= 1e6 else ("kB", 1e3)
        words = f"{have / of:.0f} of {self._total / of:.0f} {unit}"
        if self._files > 1:
            words += f" (file {self._file} of {self._files})"
        speed = self._pace.speed
        if not speed or have >= self._total:
            return words
        return f"{words}, {speed / of:.1f} {unit}/s, {_time((self._total - have) / speed)} left"


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
