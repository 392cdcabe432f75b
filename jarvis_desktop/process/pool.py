"""A pool of child processes: started on demand, kept warm, one call each at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child import Child


@dataclass(eq=False)
class _Worker:
    child: Child
    ending: asyncio.TimerHandle | None = field(default=None)

    def stay(self) -> None:
        if self.ending:
            self.ending.cancel()
            self.ending = None


class Pool:
    """Up to `width` processes from `make`; each ends after `idle` idle seconds."""

    def __init__(self, make: Callable[[], Child], *, width: int, idle: float) -> None:
        self._make = make
        self._idle_seconds = idle
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._turns = asyncio.Semaphore(width)

    async def call(
        self,
        *args: object,
        timeout: float,
        report: Report | None = None,
        spent: Callable[[Any], bool] = lambda result: False,
    ) -> Any:
        """Call a free process, as Child.call does, when there is one.

        `spent` decides by the result whether its process uses too much memory to be kept.
        """
        async with self._turns:
            worker = self._take()
            try:
                result = await worker.child.call(*args, timeout=timeout, report=report)
                if spent(result):
                    worker.child.kill()
            finally:
                self._give_back(worker)
        return result

    async def warm(self) -> None:
        """Start one process in advance, so that the first call need not wait for it."""
        if not self._idle and not self._busy:
            worker = self._take()
            try:
                await worker.child.start()
            finally:
                self._give_back(worker)

    def dismiss(self, reason: str) -> None:
        """End all processes and fail waiting calls with this reason; the next call starts one."""
        for worker in (*self._idle, *self._busy):
            worker.child.dismiss(reason)

    async def close(self) -> None:
        """End all processes."""
        workers = (*self._idle, *self._busy)
        self._idle.clear()
        self._busy.clear()
        for worker in workers:
            worker.stay()
        await asyncio.gather(*(worker.child.close() for worker in workers))

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of the running processes."""
        workers = (*self._idle, *self._busy)
        return tuple(worker.child.pid for worker in workers if worker.child.pid)

    def _take(self) -> _Worker:
        if self._idle:
            worker = self._idle.pop()  # the last used one is the warmest
            worker.stay()
        else:
            worker = _Worker(self._make())
        self._busy.add(worker)
        return worker

    def _give_back(self, worker: _Worker) -> None:
        if worker not in self._busy:  # closed in the meantime
            return
        self._busy.discard(worker)
        if worker.child.pid is None:  # ended just now, timed out, cancelled or crashed
            return
        loop = asyncio.get_running_loop()
        worker.ending = loop.call_later(self._idle_seconds, self._end, worker)
        self._idle.append(worker)

    def _end(self, worker: _Worker) -> None:
        if worker in self._idle:
            self._idle.remove(worker)
            worker.child.kill()
