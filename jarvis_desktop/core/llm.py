"""Prompts for LLMs, and the port that every provider implements."""

from __future__ import annotations

import string
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.i18n import tr

MAX_IMAGE_TOKENS = 2000
"""An upper estimate of the tokens of an image."""

MAX_TOKEN_CHARS = 16
"""An upper bound on the average characters of a token, in any language."""

_SINGLE = string.digits.encode()


class MessageRole(StrEnum):
    """The author of a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Think(StrEnum):
    """How long an LLM may reason before it answers."""

    OFF = "off"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Ability(StrEnum):
    """How much an LLM can be asked to do."""

    ANSWERS = "answers"
    """It answers in words and does not plan, as LLMs of about half a billion parameters."""
    SHORT_PLANS = "short plans"
    """It plans from a short list of tasks, as LLMs of one to three billion parameters."""
    FULL_PLANS = "full plans"
    """It plans from all tasks, as larger LLMs and those of services."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: MessageRole
    text: str
    images: tuple[Path, ...] = ()
    """Images that belong to it, for an LLM with vision."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What an LLM is asked."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    """A JSON Schema for the answer. Providers ask for it; callers must not rely on it."""
    longest: int = 2048
    """The maximum number of tokens of the answer."""
    temperature: float = 0.0
    think: Think = Think.OFF

    @property
    def tokens(self) -> int:
        """An estimate of the tokens of the messages."""
        return sum(estimated_tokens(message.text) + 8 for message in self.messages)


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one call and the seconds that they took."""

    read: int
    """Tokens of the prompt that were computed."""
    cached: int
    """Tokens of the prompt that the server had in its cache; 0 if it does not report them."""
    written: int
    reading_s: float
    writing_s: float

    @property
    def summary(self) -> str:
        """One line for the trace of a turn."""
        return (
            f"Read {self.read} tokens, {self.cached} from the cache; wrote {self.written} "
            f"in {self.reading_s + self.writing_s:.1f} s."
        )


class LLM(Protocol):
    """A large language model that answers prompts."""

    name: str
    """The provider's name for it, such as "qwen3.5:4b"."""
    provider: str
    """What runs it: "ollama", "openai" or "transformers"."""
    remote: bool
    """Whether the prompt leaves this computer."""
    window: int
    """The context window: tokens of the prompt and its answer together."""
    sees: bool
    """Whether it accepts images."""

    @property
    def ability(self) -> Ability:
        """Up to which plans it is useful: measured, else by its number of parameters."""

    @property
    def enforces_schema(self) -> bool:
        """Whether it is known that the server makes each answer follow the prompt's schema."""

    def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        """Stream the answer in pieces, without the LLM's reasoning.

        At the end the usage is passed to `core.context.current_usage`, if the server reports it.
        Raises UnavailableError if it cannot be reached, ExpertError if it fails or the answer
        breaks off. Closing the iterator, or cancelling, also stops the work on the server.
        """


class LLMs(Protocol):
    """Knows which LLM to use."""

    async def current(self) -> LLM | None:
        """Return the configured LLM if it is available and the mode allows it, else None."""


def estimated_tokens(text: str) -> int:
    """Return an upper estimate of a text's tokens in the vocabularies of current LLMs.

    A token is four English letters, or one Chinese character of three bytes; a third of the bytes
    covers both. A digit can be a token of its own.
    """
    whole = text.encode(errors="replace")
    others = len(whole.translate(None, _SINGLE))
    return len(whole) - others + others // 3 + 1


async def answer(
    llm: LLM, prompt: Prompt, *, take: Callable[[str], None] = lambda piece: None
) -> str:
    """Return the whole answer. `take` is called with each piece as it comes.

    Raises what `stream` raises, and ExpertError if the LLM ignores the maximum length and never
    ends.
    """
    pieces = llm.stream(prompt)
    whole, left = [], prompt.longest * MAX_TOKEN_CHARS
    try:
        async for piece in pieces:
            whole.append(piece)
            left -= len(piece)
            if left < 0:
                raise ExpertError(
                    tr("The answer of {name} does not end.", name=llm.name),
                    hint=tr("Choose another LLM."),
                )
            take(piece)
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()
    return "".join(whole)
