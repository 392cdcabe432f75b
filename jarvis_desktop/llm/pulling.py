"""How LLMs of Ollama come to this computer, for the list of downloads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.llm.shipped import MB


class OllamaRoad:
    """Ollama fetches, and keeps what arrived to go on from; it clears it away itself when it is
    started anew, and lets nobody else do so."""

    def __init__(self, llms: LLMChoice) -> None:
        self._llms = llms
        self._arrived: dict[str, tuple[int, int]] = {}

    async def fetch(self, name: str, told: Callable[[float | None, int], None]) -> None:
        """Fetch it. Raises JarvisError."""

        def counted(have: int, size: int) -> None:
            self._arrived[name] = size, have
            told(have / size, size)

        told(None, 0)
        await self._llms.ollama.pull(name, lambda fraction, words: None, counted=counted)
        self._llms.forget()

    async def measure(self, name: str) -> tuple[int, int]:
        """What was seen of it, else the size of the shipped list."""
        listed = (each for each in self._llms.shipped if name in (each.id, each.ollama))
        size = next((each.download_mb * MB for each in listed), 0)
        return self._arrived.get(name, (size, 0))

    async def free(self) -> int:
        """What is free on the disk, where Ollama is on this computer."""
        return 0 if self._llms.ollama.server.remote else (await self._llms.measured()).disk

    async def drop(self, name: str) -> None:
        """Forget it."""
        await asyncio.sleep(0)
        self._arrived.pop(name, None)
