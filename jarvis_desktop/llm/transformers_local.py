"""A chat LLM of the Hub, run by transformers in a child process: no server to install."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from jarvis_desktop.core.context import current_usage
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import Prompt, Think, Usage
from jarvis_desktop.llm.profile import assumed_ability, parameters_in
from jarvis_desktop.llm.request import Thinking, TokenBudget, room, sendable
from jarvis_desktop.llm.transformers_worker import PromptMessage
from jarvis_desktop.process import engine
from jarvis_desktop.process.background import Idling
from jarvis_desktop.process.child import Child

WORKER = "jarvis_desktop.llm.transformers_worker:serve"
DEFAULT_WINDOW = 2048
"""The assumed window if the LLM's settings do not state it."""


class TransformersLLM:
    """One installed LLM.

    `most_context` bounds its window, in tokens. Its process ends after `idle` seconds without a
    prompt, which really frees the memory, and if an answer, with loading, takes longer than
    `time_limit`. One that does not stop within `grace` seconds is killed.
    """

    provider = "transformers"
    remote = False
    sees = False
    enforces_schema = False

    def __init__(
        self,
        name: str,
        folder: Path,
        *,
        most_context: int = 8192,
        time_limit: float = 900.0,
        idle: float = 300.0,
        grace: float = 5.0,
    ) -> None:
        self.name = name
        self.window = min(most_context, _longest(folder))
        self.ability = assumed_ability(parameters_in(name), remote=False)
        self.folder = folder
        """The folder of its weights."""
        self._time_limit = time_limit
        self._grace = grace
        # Without a lock, which a killed process would hold for ever.
        self._stopped = multiprocessing.get_context("spawn").RawValue("q", 0)
        self._child = Child(
            *(WORKER, name, folder, self.window, self._stopped),
            name=name,
            libraries=engine.folder,
        )
        self._idling = Idling(idle, self._child.kill)
        self._count = 0
        self._thinking = Thinking(name)
        self._turn = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        """Its process, if it is loaded."""
        return self._child.pid

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """Return the answer in pieces, one prompt at a time; see `core.llm.LLM`."""
        asked = sendable(prompt)
        given = room(asked, self.window, name=self.name, sees=self.sees, think=asked.think)
        pieces = self._pieces(asked, given)
        async with self._turn:
            said = self._thinking.removed(pieces, hold=asked.schema is not None)
            async with aclosing(said):
                async for piece in said:
                    yield piece

    async def close(self) -> None:
        """End the process and free its memory."""
        self._idling.close()
        await self._child.close()

    async def retire(self) -> None:
        """Close it after the answers that were asked for."""
        async with self._turn:
            await self.close()

    async def _pieces(self, prompt: Prompt, given: TokenBudget) -> AsyncGenerator[str, None]:
        if not (self.folder / "config.json").is_file():
            raise UnavailableError(
                tr("{name} is no longer on this computer.", name=self.name),
                hint=tr("Fetch it with: jarvis-desktop llm pull {name}.", name=self.name),
            )
        self._count += 1
        question = PromptMessage(
            number=self._count,
            messages=[{"role": each.role.value, "content": each.text} for each in prompt.messages],
            longest=given.written,
            temperature=prompt.temperature,
            think=prompt.think is not Think.OFF,
        )
        heard: asyncio.Queue[str | None] = asyncio.Queue()
        call = asyncio.create_task(
            self._child.call(
                question,
                timeout=self._time_limit,
                report=lambda fraction, piece: heard.put_nowait(piece),
            )
        )
        call.add_done_callback(lambda done: heard.put_nowait(None))
        self._idling.begin()
        begun = first = time.monotonic()
        try:
            while (piece := await heard.get()) is not None:
                if first == begun:
                    first = time.monotonic()
                yield piece
            read, written = await call
            current_usage.get()(Usage(read, 0, written, first - begun, time.monotonic() - first))
        finally:
            self._wind_up(call, question.number)

    def _wind_up(self, call: asyncio.Task[tuple[int, int]], number: int) -> None:
        """Stop an answer that is being written; the weights stay loaded for the next prompt."""
        loop = asyncio.get_running_loop()
        self._idling.end()
        if call.done():
            if not call.cancelled():
                call.exception()  # raised at the await; here it is only marked as seen
            return
        self._stopped.value = number
        kill = loop.call_later(self._grace, call.cancel)

        def ended(call: asyncio.Task[tuple[int, int]]) -> None:
            kill.cancel()
            if not call.cancelled():
                call.exception()  # nobody waits for it

        call.add_done_callback(ended)


def _longest(folder: Path) -> int:
    """How many tokens the LLM reads, by its settings."""
    try:
        settings = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return DEFAULT_WINDOW
    while isinstance(settings, dict):
        found = settings.get("max_position_embeddings")
        if isinstance(found, int) and found > 0:
            return found
        settings = settings.get("text_config")  # in LLMs that accept images
    return DEFAULT_WINDOW
