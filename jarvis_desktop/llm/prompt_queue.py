"""The order in which prompts reach an LLM that writes one answer at a time.

A server with one slot would take them in the order in which they arrive: a question would wait
behind the next round of a goal, and nobody could say for what.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from jarvis_desktop.core.context import Urgency, current_turn, current_urgency, current_wait


class PromptQueue:
    """Lets one prompt through at a time: the most urgent first, then in the order of asking."""

    def __init__(self) -> None:
        self._taken = False
        self._writes_for = ""
        """The turn whose answer is being written."""
        self._waiting: list[tuple[Urgency, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None]:
        """Wait until it is this prompt's turn, and hold the LLM until the block ends. An answer
        that is being written is never interrupted."""
        if self._taken:
            await self._wait()
        self._taken, self._writes_for = True, current_turn.get()
        try:
            yield
        finally:
            self._release()

    async def _wait(self) -> None:
        ours = asyncio.get_running_loop().create_future()
        urgency, writes_for, show = current_urgency.get(), self._writes_for, current_wait.get()
        heapq.heappush(self._waiting, (urgency, next(self._numbers), ours))
        if urgency is not Urgency.BACKGROUND:  # for which nobody waits
            show(True, writes_for)
        try:
            await ours
        except asyncio.CancelledError:
            if not ours.cancelled():  # it was let through at the same moment
                self._release()
            raise
        finally:
            if urgency is not Urgency.BACKGROUND:
                show(False, writes_for)

    def _release(self) -> None:
        while self._waiting:
            _, _, next_one = heapq.heappop(self._waiting)
            if not next_one.done():  # otherwise it was cancelled
                next_one.set_result(None)
                return  # the LLM is taken by that one, which only has to wake up
        self._taken = False
