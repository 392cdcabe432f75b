"""What all providers do with prompts (schema, images, token budget) and thinking."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from enum import Enum, auto
from pathlib import Path

from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import MAX_IMAGE_TOKENS, Message, Prompt, Think

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


THINKING_MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<|channel|>analysis<|message|>", "<|channel|>final<|message|>"),
)
"""The marks of thinking in LLMs of DeepSeek, Qwen and others, Mistral, and OpenAI."""


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
        reader = _ThinkingFilter(hold or self._opens_unmarked)
        spoken = False
        async with aclosing(pieces):
            async for piece in pieces:
                if text := reader.read(piece):
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


class _FilterState(Enum):
    BEGINNING = auto()
    THINKING = auto()
    HELD = auto()
    """It may be thinking whose beginning was not marked."""
    SPEAKING = auto()
    OVER = auto()
    """No marks are expected any more."""


class _ThinkingFilter:
    """Filters one answer piece by piece."""

    def __init__(self, hold: bool) -> None:
        self._hold = hold
        self._state = _FilterState.BEGINNING
        self._end = ""
        self._unread = ""
        self._said = ""
        self.opens_unmarked = False

    def read(self, piece: str) -> str:
        """Add a piece; return what is certainly part of the answer by now."""
        self._unread += piece
        text, before = "", None
        while self._state is not before:
            before = self._state
            text += self._step()
        self._said += text
        return text

    def rest(self) -> str:
        """Return the rest after the last piece."""
        thinking = self._state is _FilterState.THINKING
        return "" if thinking or not self._unread.strip() else self._unread

    def _step(self) -> str:
        match self._state:
            case _FilterState.BEGINNING:
                self._begin()
            case _FilterState.THINKING:
                self._think()
            case _FilterState.HELD | _FilterState.SPEAKING:
                return self._speak()
            case _FilterState.OVER:
                return self._take(len(self._unread))
        return ""

    def _begin(self) -> None:
        self._unread = self._unread.lstrip()
        for start, end in THINKING_MARKS:
            if self._unread.startswith(start):
                self._state, self._end = _FilterState.THINKING, end
                self._take(len(start))
                return
        if not any(start.startswith(self._unread) for start, _ in THINKING_MARKS):
            self._state = _FilterState.HELD if self._hold else _FilterState.SPEAKING

    def _think(self) -> None:
        place = self._unread.find(self._end)
        if place >= 0:
            self._state = _FilterState.BEGINNING
            self._take(place + len(self._end))
        else:
            self._take(max(0, len(self._unread) - len(self._end)))

    def _speak(self) -> str:
        found = [
            (place, *pair) for pair in THINKING_MARKS if (place := self._unread.find(pair[1])) >= 0
        ]
        if not found:
            return "" if self._state is _FilterState.HELD else self._take(self._certain())
        place, start, end = min(found)
        so_far = self._said + self._unread[:place]
        # An answer about such marks names both, the first one first, or quotes them.
        if start in so_far or so_far.count("`") % 2:
            self._state = _FilterState.OVER
            return ""
        before = self._take(place)
        self._take(len(end))
        # What was returned cannot be taken back; what was held is dropped.
        said = "" if self._state is _FilterState.HELD else before
        self.opens_unmarked = self._state is _FilterState.HELD or "`" not in so_far
        self._state, self._hold = _FilterState.BEGINNING, False
        return said

    def _certain(self) -> int:
        """How much of the unread text cannot begin a mark."""
        longest = max(len(end) for _, end in THINKING_MARKS)
        for place in range(max(0, len(self._unread) - longest + 1), len(self._unread)):
            if any(end.startswith(self._unread[place:]) for _, end in THINKING_MARKS):
                return place
        return len(self._unread)

    def _take(self, count: int) -> str:
        taken, self._unread = self._unread[:count], self._unread[count:]
        return taken
