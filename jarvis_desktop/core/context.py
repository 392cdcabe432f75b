"""The turn and conversation that the running code works for.

Tasks and threads started for a turn inherit these values, so that they need not be passed through
every layer. Private conversations leave nothing on the disk and nothing is learned from them: their
ids say so, and whatever saves something asks here.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from datetime import datetime
from enum import IntEnum

from jarvis_desktop.core.expert import Spent
from jarvis_desktop.core.llm import Usage

current_turn: ContextVar[str] = ContextVar("current_turn", default="")
"""The turn's id; "" outside of a turn."""


def _discard(*values: object) -> None:
    """Outside of a turn nobody reads or counts it."""


current_note: ContextVar[Callable[[str], None]] = ContextVar("current_note", default=_discard)
"""Shows the user a note that stops nothing: an expert was unloaded, a file deleted."""


current_account: ContextVar[Callable[[Spent], None]] = ContextVar(
    "current_account", default=_discard
)
"""Receives the cost of requests to API services for the running task."""


current_draft: ContextVar[Callable[[str], None]] = ContextVar("current_draft", default=_discard)
"""Receives, piece by piece, the text that the running task writes."""


current_detail: ContextVar[Callable[[str], None]] = ContextVar("current_detail", default=_discard)
"""Receives how the running task came to its result, such as a query, for the turn's details."""


current_usage: ContextVar[Callable[[Usage], None]] = ContextVar("current_usage", default=_discard)
"""Receives the tokens and seconds of each call of an LLM."""


async def _nobody(question: str) -> str:
    """Answer a question that nobody is asked."""
    return ""


current_question: ContextVar[Callable[[str], Awaitable[str]]] = ContextVar(
    "current_question", default=_nobody
)
"""Asks the user something in the middle of a task, and returns the words of the answer; "" if there
is none."""


class Urgency(IntEnum):
    """Whose prompts the LLM answers first."""

    REQUEST = 0
    """Somebody waits for the answer."""
    GOAL = 1
    """A round of a goal, one of many."""
    BACKGROUND = 2
    """Nobody waits, as for a summary of older turns."""


current_urgency: ContextVar[Urgency] = ContextVar("current_urgency", default=Urgency.REQUEST)
"""The urgency of prompts to the LLM."""


@contextmanager
def urgency(level: Urgency) -> Iterator[None]:
    """Give the prompts of the block this urgency."""
    before = current_urgency.set(level)
    try:
        yield
    finally:
        current_urgency.reset(before)


current_wait: ContextVar[Callable[[bool, str], None]] = ContextVar("current_wait", default=_discard)
"""Is called when a prompt starts and when it ends to wait for the LLM, with the id of the turn that
the LLM writes for."""


class LLMLimit:
    """The limit that `llm_timeout` sets."""

    def __init__(self, seconds: float | None, limit: asyncio.Timeout) -> None:
        self._time = asyncio.get_running_loop().time
        self._began = self._paused = self._time()
        self._limit = limit
        self._left = seconds

    @property
    def spent(self) -> float:
        """The seconds so far, without those in which the LLM wrote for others."""
        return self._time() - self._began

    def lift(self) -> None:
        """Let the block take as long as it needs from here on."""
        self._left = None
        self._set(None)

    def pause(self, waits: bool) -> None:
        """Stop the clock while a prompt waits for the LLM."""
        if waits:
            self._paused = self._time()
            if (until := self._limit.when()) is not None:
                self._left = until - self._paused
            self._set(None)
        else:
            self._began += self._time() - self._paused
            self._set(None if self._left is None else self._time() + self._left)

    def _set(self, until: float | None) -> None:
        if not self._limit.expired():
            self._limit.reschedule(until)


@asynccontextmanager
async def llm_timeout(seconds: float | None) -> AsyncIterator[LLMLimit]:
    """Like `asyncio.timeout`, but the time in which the LLM writes for others does not count.

    Raises TimeoutError.
    """
    show = current_wait.get()
    async with asyncio.timeout(seconds) as timeout:
        limit = LLMLimit(seconds, timeout)

        def take(waits: bool, writes_for: str) -> None:
            show(waits, writes_for)
            limit.pause(waits)

        before = current_wait.set(take)
        try:
            yield limit
        finally:
            current_wait.reset(before)


PRIVATE_PREFIX = "unkept-"

current_conversation: ContextVar[str] = ContextVar("current_conversation", default="")
"""The id of the conversation that the running code works for; "" outside of any."""


def private_id() -> str:
    """Return an id for a new private conversation."""
    return f"{PRIVATE_PREFIX}{secrets.token_hex(16)}"


def is_private(conversation_id: str) -> bool:
    """Whether the conversation of this id is private."""
    return conversation_id.startswith(PRIVATE_PREFIX)


def in_private_conversation() -> bool:
    """Whether the running code works for a private conversation."""
    return is_private(current_conversation.get())


def local_now() -> datetime:
    """Return the current local time with its time zone."""
    return datetime.now().astimezone()
