"""What the LLM in use takes of this computer's memory, and how it gives it back for a while."""

from __future__ import annotations

import asyncio
from pathlib import Path

from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.hardware import Memory
from jarvis_desktop.core.wording import tr
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.llm.ollama import OllamaLLM
from jarvis_desktop.llm.transformers_local import TransformersLLM

PATIENCE = 20.0
"""Seconds in which an LLM should be out of memory, the answer that it is at included."""

OFTEN = 0.2
"""Seconds between two looks at whether it is."""


class LLMInMemory:
    """The neighbour of the experts: both want the same memory. Its next prompt loads it again."""

    def __init__(self, llms: LLMChoice, *, patience: float = PATIENCE) -> None:
        self._llms = llms
        self._patience = patience

    async def memory(self) -> Memory:
        """What it takes now; nothing where it is not loaded, or not on this computer."""
        await self._llms.current()  # an earlier run may have left it in memory
        llm = self._llms.in_use
        if isinstance(llm, OllamaLLM) and not self._llms.ollama.server.remote:
            try:
                loaded = await self._llms.ollama.in_memory()
            except JarvisError:
                return Memory()
            whole, on_card = loaded.get(llm.name, (0, 0))
            return Memory(max(0, whole - on_card), on_card)
        if isinstance(llm, TransformersLLM) and llm.pid is not None:
            weights = await asyncio.to_thread(_size, llm.folder)
            graphics = (await self._llms.measured()).graphics
            return Memory(0, weights) if graphics else Memory(2 * weights)
        return Memory()

    async def leave(self) -> str:
        """Have it give back its memory, after the answer that it is at; its name.

        Raises UnavailableError where it does not go in time, and what Ollama raises.
        """
        llm = self._llms.in_use
        name = llm.name if llm else "The LLM"
        try:
            async with asyncio.timeout(self._patience):
                if isinstance(llm, TransformersLLM):
                    await llm.retire()
                elif isinstance(llm, OllamaLLM):
                    await self._llms.ollama.unload(llm.name)
                    while await self.memory() != Memory():  # noqa: ASYNC110 - Ollama tells nobody
                        await asyncio.sleep(OFTEN)
        except TimeoutError as error:
            raise UnavailableError(
                tr("{name} did not leave the memory in time.", name=name)
            ) from error
        return name


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.safetensors"))
