"""An event loop whose clock runs ahead instead of waiting: an hour of back-off takes no time.

Only what waits for the loop's own clock is hurried. A loop that waits for threads or sockets as
well must not be used this way.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """`time()` gives the virtual seconds since its beginning."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_Hurried(self))

    def time(self) -> float:
        return self.now


class _Hurried(selectors.DefaultSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout:
            self._loop.now += timeout
        return super().select(0 if timeout is not None else None)


def run(work: Coroutine[Any, Any, T], loop: VirtualLoop) -> T:
    """Run it to its end, and close the loop."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(work)
