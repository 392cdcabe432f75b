"""How experts come to this computer, for the list of downloads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from jarvis_desktop.catalogue.download import Told
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.hardware import MB


class Disk(Protocol):
    """What is asked of the weights."""

    async def fetch(self, expert: Expert, report: Report) -> Path:
        """Bring it here; cancelling keeps what arrived."""
        ...

    def coming(self, expert: Expert) -> int:
        """How many bytes the fetch that is under way will have brought."""
        ...

    def partial(self, expert: Expert) -> int:
        """How many bytes of an interrupted fetch are kept."""
        ...

    def discard(self, expert: Expert) -> int:
        """Delete them."""
        ...


class ExpertRoad:
    """Fetches from the Hub. `find` gives the expert of a handle; `free` is what the disk has."""

    def __init__(
        self, weights: Disk, *, find: Callable[[str], Expert], free: Callable[[], int]
    ) -> None:
        self._weights = weights
        self._find = find
        self._free = free

    async def fetch(self, name: str, told: Told) -> None:
        """Fetch it. Raises JarvisError."""
        expert = await self._expert(name)

        def report(fraction: float | None, words: str) -> None:
            size = self._weights.coming(expert)  # 0 while it is its base that comes
            told(fraction if size else None, size)

        await self._weights.fetch(expert, report)

    async def measure(self, name: str) -> tuple[int, int]:
        """Its listed size, and what is kept of it."""
        expert = await self._expert(name)
        return expert.download_mb * MB, await asyncio.to_thread(self._weights.partial, expert)

    async def free(self) -> int:
        """What is free where experts are kept."""
        return await asyncio.to_thread(self._free)

    async def drop(self, name: str) -> None:
        """Delete what arrived."""
        await asyncio.to_thread(self._weights.discard, await self._expert(name))

    async def _expert(self, name: str) -> Expert:
        return await asyncio.to_thread(self._find, name)
