"""LLMs that Ollama runs.

Answers are read over its HTTP interface itself: its Python client cannot say that a prompt must
not be cut (`truncate`, `shift`), which Ollama otherwise does without a word.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from jarvis_desktop.core.llm import Prompt, Think
from jarvis_desktop.llm.asking import pictures, room, sendable
from jarvis_desktop.llm.failures import broken_off, cut_short, failed, stranger
from jarvis_desktop.llm.ollama_server import InstalledLLM
from jarvis_desktop.llm.server import USUAL, Patience, Server
from jarvis_desktop.llm.streaming import Post, Sleep
from jarvis_desktop.llm.thinking import Thinking

STEP = 4096
"""Contexts are a multiple of it, so that Ollama need not load the LLM anew for each prompt."""


class OllamaLLM:
    """One LLM of an Ollama server.

    `most_context` bounds the context in tokens, because its memory is taken at once: about 1 GB
    for 8,192 tokens of an LLM of four billion parameters. `keep_alive` is how many seconds it
    stays in memory after an answer.
    """

    provider = "ollama"

    def __init__(
        self,
        llm: InstalledLLM,
        server: Server,
        *,
        most_context: int = 8192,
        keep_alive: float = 600,
        patience: Patience = USUAL,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.name = llm.name
        self.remote = server.remote or not llm.is_local
        self.window = min(most_context, llm.context_length or most_context)
        self.sees = "vision" in llm.capabilities
        self._thinks = "thinking" in llm.capabilities
        self._thinks_always = llm.family.replace("-", "") == "gptoss"
        self._keep_alive = keep_alive
        self._server = server
        self._post = Post(server, "/api/chat", llm.name, patience, sleep=sleep)
        self._thinking = Thinking(llm.name)
        self._context = 0

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """The answer in pieces; raises what the port names."""
        pieces = self._pieces(await self._body(prompt))
        async with aclosing(self._thinking.removed(pieces, hold=prompt.schema is not None)) as said:
            async for piece in said:
                yield piece

    async def _body(self, prompt: Prompt) -> dict[str, Any]:
        prompt = sendable(prompt)
        think = Think.LOW if self._thinks_always and prompt.think is Think.OFF else prompt.think
        if not self._thinks:
            think = Think.OFF
        space = room(prompt, self.window, name=self.name, sees=self.sees, think=think)
        # It only grows: another context, even a smaller one, makes Ollama load the LLM anew.
        self._context = max(self._context, min(self.window, -(-space.whole // STEP) * STEP))
        body: dict[str, Any] = {
            "model": self.name,
            "messages": [
                {"role": each.role, "content": each.text}
                | ({"images": await pictures(each)} if each.images else {})
                for each in prompt.messages
            ],
            "stream": True,
            "truncate": False,
            "shift": False,
            "keep_alive": self._keep_alive,
            "options": {
                "num_ctx": self._context,
                "num_predict": space.written,
                "temperature": prompt.temperature,
            },
        }
        if prompt.schema is not None:
            body["format"] = prompt.schema
        if self._thinks:
            body["think"] = think.value if self._thinks_always else think is not Think.OFF
        return body

    async def _pieces(self, body: dict[str, Any]) -> AsyncGenerator[str, None]:
        """What the LLM writes. Its reasoning is apart, where Ollama knows how it is marked."""
        async with aclosing(self._post.lines(body)) as lines:
            async for line in lines:
                chunk = self._read(line)
                if chunk.get("error"):
                    raise failed(self._server, chunk["error"])
                message = chunk.get("message")
                if isinstance(message, dict) and isinstance(message.get("content"), str):
                    yield message["content"]
                if chunk.get("done"):
                    if chunk.get("done_reason") == "length":
                        raise cut_short(self.name)
                    return
        raise broken_off(self._server)

    def _read(self, line: str) -> dict[str, Any]:
        try:
            chunk = json.loads(line)
        except ValueError as error:
            raise stranger(self._server) from error
        if not isinstance(chunk, dict):
            raise stranger(self._server)
        return chunk
