"""What happened with a key, in order, for tests that wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from jarvis_desktop.core.speech import HotkeyStatus

PATIENCE = 60.0
"""Seconds after which something never happens."""


class Pressed:
    """Collects "press" and "release", and the changes of a status."""

    def __init__(self) -> None:
        self.told: asyncio.Queue[str] = asyncio.Queue()
        self.statuses: asyncio.Queue[HotkeyStatus] = asyncio.Queue()

    def press(self) -> None:
        self.told.put_nowait("press")

    def release(self) -> None:
        self.told.put_nowait("release")

    async def next(self) -> str:
        """The next that is told."""
        async with asyncio.timeout(PATIENCE):
            return await self.told.get()

    def so_far(self) -> list[str]:
        """What was told and not asked for yet."""
        return [self.told.get_nowait() for _ in range(self.told.qsize())]

    async def status(self, wanted: Callable[[HotkeyStatus], bool]) -> HotkeyStatus:
        """The next status of this kind."""
        async with asyncio.timeout(PATIENCE):
            while not wanted(status := await self.statuses.get()):
                pass
            return status
