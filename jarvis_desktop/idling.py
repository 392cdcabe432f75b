"""Lets go of what takes memory when nobody has used it for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Idling:
    """Calls `leave` on the running loop once nobody was at work for `seconds`."""

    def __init__(self, seconds: float, leave: Callable[[], None]) -> None:
        self._seconds = seconds
        self._leave = leave
        self._working = 0
        self._leaving: asyncio.TimerHandle | None = None

    @contextmanager
    def work(self) -> Iterator[None]:
        """Nothing leaves meanwhile."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def begin(self) -> None:
        """Somebody works, until they `end`."""
        self._working += 1
        self.close()

    def end(self) -> None:
        """They do no longer."""
        self._working -= 1
        if not self._working:
            self._leaving = asyncio.get_running_loop().call_later(self._seconds, self._leave)

    def close(self) -> None:
        """Do not leave, be it only until the next work ends."""
        if self._leaving:
            self._leaving.cancel()
            self._leaving = None
