"""How an LLM is spoken to: the words of a prompt, and the port that every provider fills."""

from __future__ import annotations

import string
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.i18n import tr

MAX_IMAGE_TOKENS = 2000
"""Tokens that a picture may be, on the safe side."""

MAX_TOKEN_CHARS = 16
"""Characters that a token of an answer has at the most on the average, in any language."""

_SINGLE = string.digits.encode()


class MessageRole(StrEnum):
    """Who says a message."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"


class Think(StrEnum):
    """How long an LLM that can reason first may do so."""

    OFF = "off"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt."""

    role: MessageRole
    text: str
    images: tuple[Path, ...] = ()
    """Pictures that belong to it, for an LLM that sees."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What an LLM is asked."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None = None
    """A JSON Schema for the answer. A provider asks for it; nobody relies on it being kept."""
    longest: int = 2048
    """The most tokens of the answer."""
    temperature: float = 0.0
    think: Think = Think.OFF

    @property
    def tokens(self) -> int:
        """About how many tokens the messages are."""
        return sum(estimated_tokens(message.text) + 8 for message in self.messages)


class LLM(Protocol):
    """A large language model that answers prompts."""

    name: str
    """What the provider calls it, such as "qwen3.5:4b"."""
    provider: str
    """Who runs it: "ollama", "openai" or "transformers"."""
    remote: bool
    """Whether the prompt leaves this computer."""
    window: int
    """How many tokens the prompt and its answer may have together."""
    sees: bool
    """Whether it takes pictures."""

    def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        """The answer in pieces as it is written, without the LLM's own reasoning.

        Raises UnavailableError where it cannot be reached, ExpertError where it fails or its
        answer breaks off. Closing the iterator, or cancelling, stops the work where it runs.
        """
        ...


class LLMs(Protocol):
    """Knows which LLM is to be used."""

    async def current(self) -> LLM | None:
        """The LLM of the settings that is there now and that the mode allows, or None."""
        ...


def estimated_tokens(text: str) -> int:
    """How many tokens a text is at the most, in the vocabularies of today's LLMs.

    A token is four letters of English, or one character of three bytes in Chinese; a third of
    the bytes is therefore on the safe side of both. A digit may be one of its own.
    """
    whole = text.encode(errors="replace")
    others = len(whole.translate(None, _SINGLE))
    return len(whole) - others + others // 3 + 1


async def answer(llm: LLM, prompt: Prompt) -> str:
    """The whole answer. Raises what `stream` raises, and ExpertError where an LLM that ignores
    how long its answer may be does not come to an end."""
    pieces = llm.stream(prompt)
    whole, left = [], prompt.longest * MAX_TOKEN_CHARS
    try:
        async for piece in pieces:
            whole.append(piece)
            left -= len(piece)
            if left < 0:
                raise ExpertError(
                    tr("{name} writes on without an end.", name=llm.name),
                    hint=tr("Choose another LLM."),
                )
    finally:
        if isinstance(pieces, AsyncGenerator):
            await pieces.aclose()
    return "".join(whole)
