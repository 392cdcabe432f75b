"""A key where the system calls back on, or must be waited for in, a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.hearing import HotkeyStatus
from jarvis_desktop.core.wording import tr
from jarvis_desktop.hotkeys.pressing import Changed, Pressing

PATIENCE = 5.0
"""Seconds in which the system must have given the key."""
JOINING = 1.0
"""Seconds that a thread has to end; on a system that hangs it does not."""


class Told:
    """What a thread tells the loop."""

    def __init__(self, keys: Pressing, problem: Callable[[str], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._keys = keys
        self._problem = problem
        self.bound: asyncio.Future[None] = self._loop.create_future()

    def is_bound(self) -> None:
        """The key is had."""
        self._tell(self._settle, None)

    def fails(self, error: UnavailableError) -> None:
        """It cannot be had."""
        self._tell(self._settle, error)

    def down(self) -> None:
        """It was pressed, or repeats itself."""
        self._tell(self._keys.down)

    def up(self) -> None:
        """It was let go."""
        self._tell(self._keys.up)

    def problem(self, words: str) -> None:
        """It is had no more; "" where it is had again."""
        if words:
            self._tell(self._keys.up)
        self._tell(self._problem, words)

    def _settle(self, error: UnavailableError | None) -> None:
        if self.bound.done():
            return
        if error:
            self.bound.set_exception(error)
        else:
            self.bound.set_result(None)

    def _tell(self, function: Callable[..., object], *arguments: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(function, *arguments)


class ThreadedKey(ABC):
    """Implements pressing.Way with a thread that does `_work` until `_wake`."""

    def __init__(self, status: HotkeyStatus, changed: Changed) -> None:
        self._status = status
        self._changed = changed
        self._thread: threading.Thread | None = None

    async def bind(self, keys: Pressing) -> HotkeyStatus:
        """Ask the system for the key. Raises UnavailableError."""
        told = Told(keys, self._now)
        self._thread = threading.Thread(target=self._run, args=(told,), name="hotkey", daemon=True)
        self._thread.start()
        try:
            async with asyncio.timeout(PATIENCE):
                await told.bound
        except TimeoutError as error:
            raise UnavailableError(
                tr("The system does not answer when asked for the key.")
            ) from error
        return self._status

    async def close(self) -> None:
        """Let it go."""
        thread, self._thread = self._thread, None
        if thread:
            self._wake(thread)
            await asyncio.to_thread(thread.join, JOINING)

    def _run(self, told: Told) -> None:
        try:
            self._work(told)
        except UnavailableError as error:
            told.fails(error)

    @abstractmethod
    def _work(self, told: Told) -> None:
        """Get the key, say so, and tell what happens with it. Runs in the thread."""

    @abstractmethod
    def _wake(self, thread: threading.Thread) -> None:
        """Let this thread end."""

    def _now(self, problem: str) -> None:
        if self._thread:
            self._changed(HotkeyStatus(why=problem) if problem else self._status)
