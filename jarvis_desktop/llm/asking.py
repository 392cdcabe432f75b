"""What all providers do to a prompt before it is sent: schema, pictures, and whether it fits."""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import dataclass, replace
from pathlib import Path

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.llm import PICTURE, Message, Prompt, Think
from jarvis_desktop.core.shown import encodable, one_line
from jarvis_desktop.core.wording import tr

THOUGHT = {Think.OFF: 0, Think.LOW: 1024, Think.MEDIUM: 4096, Think.HIGH: 8192}
"""Tokens for thinking, on top of those of the answer, where there is room for them."""


@dataclass(frozen=True, slots=True)
class Room:
    """How many tokens a prompt is given."""

    whole: int
    """The prompt and all that the LLM may write."""
    written: int
    """All that the LLM may write, thinking included."""


def sendable(prompt: Prompt) -> Prompt:
    """The prompt with its schema in the last message too, because some LLMs see only that."""
    messages = [replace(each, text=encodable(each.text)) for each in prompt.messages]
    if prompt.schema is not None:
        schema = json.dumps(prompt.schema, ensure_ascii=False, separators=(",", ":"))
        text = f"{messages[-1].text}\n\nAnswer with JSON alone, by this JSON Schema:\n{schema}"
        messages[-1] = replace(messages[-1], text=encodable(text))
    return replace(prompt, messages=tuple(messages))


def room(prompt: Prompt, window: int, *, name: str, sees: bool, think: Think) -> Room:
    """The tokens for a sendable prompt. Raises ExpertError where it does not fit or has pictures
    for an LLM that sees none: nothing is ever cut silently."""
    pictures = sum(len(message.images) for message in prompt.messages)
    if pictures and not sees:
        raise ExpertError(
            tr("{name} takes no pictures.", name=name), hint=tr("Choose an LLM that does.")
        )
    asked = prompt.tokens + pictures * PICTURE
    if asked + prompt.longest > window:
        raise ExpertError(
            tr(
                "The prompt is too long for {name}: about {asked} tokens, where {max} fit.",
                name=name,
                asked=asked,
                max=max(0, window - prompt.longest),
            ),
            hint=tr("Ask for less at once, or choose an LLM with a longer context."),
        )
    thought = min(THOUGHT[think], window - asked - prompt.longest)
    return Room(asked + prompt.longest + thought, prompt.longest + thought)


async def pictures(message: Message) -> list[str]:
    """The pictures of a message in base64. Raises InputError that names the file."""
    return [await asyncio.to_thread(_picture, path) for path in message.images]


def _picture(path: Path) -> str:
    try:
        return base64.b64encode(path.read_bytes()).decode("ascii")
    except OSError as error:
        raise InputError(
            tr("The picture {name} cannot be read.", name=one_line(path.name))
        ) from error
