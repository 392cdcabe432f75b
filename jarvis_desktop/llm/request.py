"""What all providers do with prompts (schema, images, token budget) and thinking."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path

from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import MAX_IMAGE_TOKENS, Message, Prompt, Think
from jarvis_desktop.text.thinking import ThinkingFilter

THINKING_TOKENS = {Think.OFF: 0, Think.LOW: 1024, Think.MEDIUM: 4096, Think.HIGH: 8192}
"""Tokens for thinking, besides those of the answer, if there is room."""


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """The tokens of a request."""

    whole: int
    """Of the prompt and all that the LLM may write."""
    written: int
    """All that the LLM may write, thinking included."""


def sendable(prompt: Prompt, *, schema_in_text: bool = True) -> Prompt:
    """Return the prompt as it can be encoded.

    Its schema is also in the last message, unless the server enforces it: there it would only
    double the tokens to read.
    """
    messages = [replace(each, text=encodable(each.text)) for each in prompt.messages]
    if prompt.schema is not None and schema_in_text:
        schema = json.dumps(prompt.schema, ensure_ascii=False, separators=(",", ":"))
        text = f"{messages[-1].text}\n\nAnswer with JSON alone, by this JSON Schema:\n{schema}"
        messages[-1] = replace(messages[-1], text=encodable(text))
    return replace(prompt, messages=tuple(messages))


def room(prompt: Prompt, window: int, *, name: str, sees: bool, think: Think) -> TokenBudget:
    """Return the budget of a sendable prompt.

    Raises ExpertError if it does not fit, or has images that the LLM cannot see: nothing is ever
    cut silently.
    """
    pictures = sum(len(message.images) for message in prompt.messages)
    if pictures and not sees:
        raise ExpertError(
            tr("{name} does not accept pictures.", name=name), hint=tr("Choose an LLM that does.")
        )
    asked = prompt.tokens + pictures * MAX_IMAGE_TOKENS
    if asked + prompt.longest > window:
        raise ExpertError(
            tr(
                "The prompt is too long for {name}: about {asked} tokens, but only {max} fit.",
                name=name,
                asked=asked,
                max=max(0, window - prompt.longest),
            ),
            hint=tr("Ask for less at once, or choose an LLM with a larger context."),
        )
    thought = min(THINKING_TOKENS[think], window - asked - prompt.longest)
    return TokenBudget(asked + prompt.longest + thought, prompt.longest + thought)


async def pictures(message: Message) -> list[str]:
    """Return a message's images in base64. Raises InputError that names the file."""
    return [await asyncio.to_thread(_picture, path) for path in message.images]


def _picture(path: Path) -> str:
    try:
        return base64.b64encode(path.read_bytes()).decode("ascii")
    except OSError as error:
        raise InputError(
            tr("The picture {name} cannot be read.", name=one_line(path.name))
        ) from error


class Thinking:
    """Removes the thinking from one LLM's answers.

    Some templates open the thinking themselves, so that only its end is marked. Once that was seen,
    answers are held back until the mark, until one has none. An answer in JSON is always held back,
    since nobody watches it arrive.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._opens_unmarked = False

    async def removed(
        self, pieces: AsyncGenerator[str, None], *, hold: bool
    ) -> AsyncGenerator[str, None]:
        """Return the pieces without thinking. Raises ExpertError if nothing else is in them."""
        reader = ThinkingFilter(hold or self._opens_unmarked)
        spoken = False
        async with aclosing(pieces):
            async for piece in pieces:
                if text := reader.feed(piece):
                    spoken = True
                    yield text
        if text := reader.rest():
            spoken = True
            yield text
        if not hold or reader.opens_unmarked:
            self._opens_unmarked = reader.opens_unmarked
        if not spoken:
            raise ExpertError(
                tr("{name} gave no answer.", name=self._name),
                hint=tr("It may have thought for too long: let it think less, or choose another."),
            )
