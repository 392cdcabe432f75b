"""What the LLM in use takes of this computer's memory, and how it gives it back for a while.

Tries an LLM: a short answer, and how long it took.

How LLMs of Ollama come to this computer, for the list of downloads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM, Message, MessageRole, Prompt
from jarvis_desktop.core.placement import MemorySize
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.llm.ollama import OllamaLLM
from jarvis_desktop.llm.shipped import MB
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

    async def memory(self) -> MemorySize:
        """What it takes now; nothing where it is not loaded, or not on this computer."""
        await self._llms.current()  # an earlier run may have left it in memory
        llm = self._llms.in_use
        if isinstance(llm, OllamaLLM) and not self._llms.ollama.server.remote:
            try:
                loaded = await self._llms.ollama.in_memory()
            except JarvisError:
                return MemorySize()
            whole, on_card = loaded.get(llm.name, (0, 0))
            return MemorySize(max(0, whole - on_card), on_card)
        if isinstance(llm, TransformersLLM) and llm.pid is not None:
            weights = await asyncio.to_thread(_size, llm.folder)
            graphics = (await self._llms.measured()).graphics
            return MemorySize(0, weights) if graphics else MemorySize(2 * weights)
        return MemorySize()

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
                    while await self.memory() != MemorySize():  # noqa: ASYNC110 - Ollama tells nobody
                        await asyncio.sleep(OFTEN)
        except TimeoutError as error:
            raise UnavailableError(
                tr("{name} did not leave the memory in time.", name=name)
            ) from error
        return name


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.safetensors"))


QUESTION = "Say in one short sentence what you can do."
LONGEST = 96
"""Tokens of the answer."""


@dataclass(frozen=True, slots=True)
class LLMTrial:
    """An answer as far as it has come."""

    words: str = ""
    first: float = 0.0
    """Seconds until its first word; 0 before it."""
    whole: float = 0.0
    """Seconds since the question."""
    tokens: int = 0
    """About how many tokens it has: servers send one at a time, or nearly so."""

    @property
    def speed(self) -> float:
        """Tokens per second after the first one; 0 where there were too few to tell."""
        rest = self.whole - self.first
        return (self.tokens - 1) / rest if self.tokens > 2 and rest > 0 else 0.0


async def tried(
    llm: LLM,
    tell: Callable[[LLMTrial], None] = lambda trial: None,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> LLMTrial:
    """Ask an LLM something; `tell` is told of each piece of the answer. Raises JarvisError."""
    begin, trial = clock(), LLMTrial()
    async for piece in llm.stream(Prompt((Message(MessageRole.USER, QUESTION),), longest=LONGEST)):
        passed = clock() - begin
        first = trial.first or passed
        trial = LLMTrial(trial.words + piece, first, passed, trial.tokens + 1)
        tell(trial)
    return LLMTrial(trial.words, trial.first, clock() - begin, trial.tokens)


class OllamaDownloader:
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
