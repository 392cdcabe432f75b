"""An LLM whose failures are noticed, and which the mode may forbid while it is in use."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from jarvis_desktop.core.errors import Fault, JarvisError, UnavailableError
from jarvis_desktop.core.llm import Prompt, Think
from jarvis_desktop.llm.ollama import OllamaLLM
from jarvis_desktop.llm.openai_compatible import OpenAICompatibleLLM
from jarvis_desktop.llm.transformers_local import TransformersLLM

Real = OllamaLLM | OpenAICompatibleLLM | TransformersLLM


class Watched:
    """Stands for the LLM wherever one is used."""

    def __init__(
        self,
        llm: Real,
        think: Think,
        on_failure: Callable[[], None],
        on_use: Callable[[], None],
        *,
        objection: Callable[[], str],
    ) -> None:
        self.name = llm.name
        self.provider: str = llm.provider
        self.remote = llm.remote
        self.window = llm.window
        self.sees = llm.sees
        self._llm = llm
        self._think = think
        self._on_failure = on_failure
        self._on_use = on_use
        self._objection = objection

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """The answer, piece by piece. Raises JarvisError."""
        if prompt.think is Think.OFF and prompt.schema is None:
            # Reasoning before JSON makes some servers forget the schema.
            prompt = replace(prompt, think=self._think)
        try:
            self._check()
            self._on_use()
            async with aclosing(self._llm.stream(prompt)) as pieces:
                async for piece in pieces:
                    self._check()
                    yield piece
        except JarvisError:
            self._on_failure()
            raise

    def _check(self) -> None:
        if objection := self._objection():  # the mode may have changed since it was found
            raise UnavailableError(objection, fault=Fault.NETWORK)
