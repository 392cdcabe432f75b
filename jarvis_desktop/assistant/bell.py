"""Rings for timers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.voice import Player


class Bell:
    """Rings for a timer: the sound, and whoever wants to be told."""

    def __init__(self, player: Player, sound: Path, on_ring: Callable[[Timer], None]) -> None:
        self._player = player
        self._sound = sound
        self._on_ring = on_ring
        self._ringing: set[asyncio.Task[None]] = set()

    async def finished(self) -> None:
        """Return when no bell sounds any more."""
        if self._ringing:
            await asyncio.wait(self._ringing)

    def __call__(self, timer: Timer) -> None:
        """Ring."""
        self._on_ring(timer)
        ringing = asyncio.get_running_loop().create_task(self._ring())
        self._ringing.add(ringing)
        ringing.add_done_callback(self._ringing.discard)

    async def _ring(self) -> None:
        # No sound device is no reason to fail: the person is told in words as well.
        with suppress(JarvisError):
            await self._player.play(self._sound)
