"""Timers that ring, even after a restart of the application."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.ports import Timer, TimerRecords
from jarvis_desktop.core.speech import Player

MAX_WAIT_S = 20.0
"""The wall clock is checked at least this often."""


class RingingTimers:
    """Implements core.ports.Timers on the engine's loop."""

    def __init__(
        self,
        records: TimerRecords,
        *,
        ring: Callable[[Timer], None],
        now: Callable[[], datetime],
    ) -> None:
        """`ring` is called once on the loop when a timer is due."""
        self._records = records
        self._ring = ring
        self._now = now
        self._waiting: dict[str, tuple[Timer, asyncio.TimerHandle]] = {}
        self._none_left = asyncio.Event()
        self.on_change: Callable[[], None] = lambda: None
        """Called on the loop when a timer was set, was cancelled or has rung."""

    async def all_rung(self) -> None:
        """Return when no timer is left."""
        while self._waiting:
            self._none_left.clear()
            await self._none_left.wait()

    def restore(self) -> None:
        """Restore the timers of earlier runs. Overdue ones ring at once."""
        for timer in self._records.pending():
            if timer.id not in self._waiting:
                self._wait_for(timer)
        self.on_change()

    def set(self, seconds: float, label: str) -> Timer:
        """Start a timer."""
        due = self._now() + timedelta(seconds=seconds)
        timer = Timer(secrets.token_hex(4), label, due)
        self._records.add(timer)
        self._wait_for(timer)
        self.on_change()
        return timer

    def pending(self) -> Sequence[Timer]:
        """The timers that have not rung, the next one first. It may be called from any thread."""
        waiting = list(self._waiting.values())  # a copy: the loop may change it
        return sorted((timer for timer, _ in waiting), key=lambda item: item.due)

    def cancel_all(self) -> int:
        """Cancel all timers. Return how many there were."""
        count = len(self._waiting)
        for timer, handle in self._waiting.values():
            handle.cancel()
            self._records.remove(timer.id)
        self._waiting.clear()
        self._none_left.set()
        self.on_change()
        return count

    def cancel(self, timer_id: str) -> None:
        """Cancel one timer, if it has not rung yet."""
        if found := self._waiting.pop(timer_id, None):
            found[1].cancel()
            self._records.remove(timer_id)
            if not self._waiting:
                self._none_left.set()
            self.on_change()

    def close(self) -> None:
        """Stop waiting; the records stay for the next start."""
        for _, handle in self._waiting.values():
            handle.cancel()
        self._waiting.clear()

    def _wait_for(self, timer: Timer) -> None:
        # The loop's clock stops while the computer sleeps, so the wall clock is checked regularly.
        delay = max(0.0, (timer.due - self._now()).total_seconds())
        handle = asyncio.get_running_loop().call_later(min(delay, MAX_WAIT_S), self._look, timer)
        self._waiting[timer.id] = (timer, handle)

    def _look(self, timer: Timer) -> None:
        if timer.due > self._now():
            self._wait_for(timer)
            return
        del self._waiting[timer.id]
        self._ring(timer)
        self.on_change()
        # It has rung, which is what matters; a record that stays rings again at the next start.
        with contextlib.suppress(JarvisError):
            self._records.remove(timer.id)
        if not self._waiting:
            self._none_left.set()


class Bell:
    """Rings for a timer: plays the sound and calls `on_ring`."""

    def __init__(self, player: Player, sound: Path, on_ring: Callable[[Timer], None]) -> None:
        self._player = player
        self._sound = sound
        self._on_ring = on_ring
        self._ringing: set[asyncio.Task[None]] = set()

    async def finished(self) -> None:
        """Return when no bell is ringing."""
        if self._ringing:
            await asyncio.wait(self._ringing)

    def __call__(self, timer: Timer) -> None:
        """Ring."""
        self._on_ring(timer)
        ringing = asyncio.get_running_loop().create_task(self._ring())
        self._ringing.add(ringing)
        ringing.add_done_callback(self._ringing.discard)

    async def _ring(self) -> None:
        # A missing sound device is not an error: the user is notified in words as well.
        with suppress(JarvisError):
            await self._player.play(self._sound)
