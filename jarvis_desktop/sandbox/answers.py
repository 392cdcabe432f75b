"""Reads what the process in the sandbox says: a script's own word, taken for data and no more."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass

from jarvis_desktop.core.code import Ending
from jarvis_desktop.sandbox.printed import plain

MOST = 1 << 19
"""Bytes of a message, which takes some tens of milliseconds to read; the kernel's own are smaller,
whatever signs they are made of."""

LONGEST = 24_000
"""Characters of a value or an error."""

_MODULE = re.compile(r"[^\W\d]\w{0,99}")
_ENDINGS = {each.value: each for each in (Ending.DONE, Ending.ERROR, Ending.MEMORY)}


class GarbledError(Exception):
    """What was said breaks the rules of the channel."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a script ended, in its own words."""

    ending: Ending
    value: str = ""
    error: str = ""
    missing: str = ""


async def next_message(source: asyncio.StreamReader) -> dict[str, object] | None:
    """The next message; None at the end. Raises GarbledError."""
    try:
        length = int.from_bytes(await source.readexactly(4))
        if not 0 < length <= MOST:
            raise GarbledError
        body = await source.readexactly(length)
    except (asyncio.IncompleteReadError, OSError):
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise GarbledError from error
    if not isinstance(message, dict):
        raise GarbledError
    return message


def packed(message: dict[str, object]) -> bytes:
    """A message as it is sent."""
    body = json.dumps(message).encode()
    return len(body).to_bytes(4) + body


def answer_of(message: dict[str, object], mark: str) -> Answer:
    """The answer to the run of that mark. Raises GarbledError for all else."""
    ending = message.get("ending")
    if message.get("mark") != mark or not isinstance(ending, str) or ending not in _ENDINGS:
        raise GarbledError
    texts = [message.get(key, "") for key in ("value", "error", "missing")]
    value, error, missing = (text[:LONGEST] if isinstance(text, str) else "" for text in texts)
    if not _MODULE.fullmatch(missing):
        missing = ""
    return Answer(_ENDINGS[ending], plain(value), plain(error), missing)
