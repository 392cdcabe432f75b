"""Calls functions in one child process, for threads that wait for the answer.

Large shared parts such as the planner's weights live there, so that the window's process stays
light. An idle timeout ends the process when it is not used.

Without it they would take 180 MB of the window's process. The event loop never waits for a plan;
threads do.
"""

from __future__ import annotations

import asyncio
import importlib
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Any

from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child import Child
from jarvis_desktop.process.child_main import Handler


class Idling:
    """Idle timeout: calls `leave` on the running loop after `seconds` without work."""

    def __init__(self, seconds: float, leave: Callable[[], None]) -> None:
        self._seconds = seconds
        self._leave = leave
        self._working = 0
        self._leaving: asyncio.TimerHandle | None = None

    @contextmanager
    def work(self) -> Iterator[None]:
        """Prevent the timeout within this block."""
        self.begin()
        try:
            yield
        finally:
            self.end()

    def begin(self) -> None:
        """Start one unit of work."""
        self._working += 1
        self.close()

    def end(self) -> None:
        """End one unit of work; start the timer when none is left."""
        self._working -= 1
        if not self._working:
            self._leaving = asyncio.get_running_loop().call_later(self._seconds, self._leave)

    def close(self) -> None:
        """Stop the timer until the next work ends."""
        if self._leaving:
            self._leaving.cancel()
            self._leaving = None


TIMEOUT_S = 30.0
"""Time limit of a call: the first one waits for libraries and weights."""
IDLE_S = 600.0
"""Time without a call after which the process ends, to free its memory."""
JOIN_TIMEOUT_S = 5.0
"""Time limit for the process to end, longer than a child needs."""


class BackgroundProcess:
    """A process that starts at the first call and ends after `idle` seconds without one.

    Thread-safe.
    """

    def __init__(self, name: str, *, patience: float = TIMEOUT_S, idle: float = IDLE_S) -> None:
        self._name = name
        self._child = Child("jarvis_desktop.process.background:serve", name=name)
        self._patience = patience
        self._idling = Idling(idle, self._leave)
        self.left = False
        """Whether it has ended because it was idle: the next call waits for a restart."""
        self._lock = threading.Lock()
        self._closed = False
        # A separate loop: the waiting thread may be the one that another loop runs on.
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def call(self, function: str, *args: object) -> Any:
        """Run the function named "package.module:function" with `args` in the process.

        Raises JarvisError as the function raised it, or if there is no answer.
        """
        try:
            return self._submit(self._call(function, args)).result()
        except CancelledError as error:
            raise self._ended() from error

    def close(self) -> None:
        """End the process and wait for its end. It does not start again."""
        with self._lock:
            self._closed = True
            loop, self._loop = self._loop, None
        if loop is None or self._thread is None:
            return
        closing = asyncio.run_coroutine_threadsafe(self._child.close(), loop)
        try:
            closing.result(JOIN_TIMEOUT_S)
        finally:
            loop.call_soon_threadsafe(loop.stop)
            self._thread.join(JOIN_TIMEOUT_S)

    async def _call(self, function: str, args: tuple[object, ...]) -> Any:
        with self._idling.work():
            self.left = False
            return await self._child.call(function, *args, timeout=self._patience)

    def _leave(self) -> None:
        self.left = True
        self._child.kill()

    def _submit(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        with self._lock:
            if self._closed:
                work.close()
                raise self._ended()
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=_run, args=(self._loop,), name="apart", daemon=True
                )
                self._thread.start()
            return asyncio.run_coroutine_threadsafe(work, self._loop)

    def _ended(self) -> ExpertError:
        return ExpertError(
            tr("The {name} was ended while it started.", name=self._name), fault=Fault.CRASH
        )


def serve() -> Handler:
    """Return the child's handler."""

    def handle(report: Report, function: str, *args: object) -> Any:
        module, _, name = function.partition(":")
        return getattr(importlib.import_module(module), name)(*args)

    return handle


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        loop.run_until_complete(_settled())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


async def _settled() -> None:
    """Fail the waiting futures: their answer will never come."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
