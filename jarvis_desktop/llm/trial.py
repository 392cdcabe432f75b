"""Tries an LLM: a short answer, and how long it took."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from jarvis_desktop.core.llm import LLM, Message, Prompt, Role

QUESTION = "Say in one short sentence what you can do."
LONGEST = 96
"""Tokens of the answer."""


@dataclass(frozen=True, slots=True)
class Trial:
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
    tell: Callable[[Trial], None] = lambda trial: None,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> Trial:
    """Ask an LLM something; `tell` is told of each piece of the answer. Raises JarvisError."""
    begin, trial = clock(), Trial()
    async for piece in llm.stream(Prompt((Message(Role.USER, QUESTION),), longest=LONGEST)):
        passed = clock() - begin
        first = trial.first or passed
        trial = Trial(trial.words + piece, first, passed, trial.tokens + 1)
        tell(trial)
    return Trial(trial.words, trial.first, clock() - begin, trial.tokens)
