"""Which turn the running code works for. Tasks and threads begun for a turn inherit it, so that
what lies deep below need not be handed the id, or a way to speak, through every layer.

Conversations that nobody is to remember: nothing of them stays on the disk, and nothing is
learned from them. Their ids say so, and whatever keeps something asks here."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime

from jarvis_desktop.core.expert import Spent

current_turn: ContextVar[str] = ContextVar("current_turn", default="")
"""The turn's id; "" outside of any."""


def _discard_note(text: str) -> None:
    """Outside of any turn there is nobody to tell."""


current_note: ContextVar[Callable[[str], None]] = ContextVar("current_note", default=_discard_note)
"""Tells the person something that stops nothing: what was put out of memory, what was deleted."""


def _discard_cost(spent: Spent) -> None:
    """Outside of any task nobody keeps account."""


current_account: ContextVar[Callable[[Spent], None]] = ContextVar(
    "current_account", default=_discard_cost
)
"""Is told what was asked of services behind an API for the task that is carried out."""


PRIVATE_PREFIX = "unkept-"

current_conversation: ContextVar[str] = ContextVar("current_conversation", default="")
"""The id of the conversation that the running code works for; "" outside of any. Tasks and threads
that are begun for a turn inherit it."""


def private_id() -> str:
    """The id of a new one."""
    return f"{PRIVATE_PREFIX}{secrets.token_hex(16)}"


def is_private(conversation_id: str) -> bool:
    """Whether the conversation of this id is one."""
    return conversation_id.startswith(PRIVATE_PREFIX)


def in_private_conversation() -> bool:
    """Whether the running code works for one."""
    return is_private(current_conversation.get())


def local_now() -> datetime:
    """The time by this computer's clock, with its time zone."""
    return datetime.now().astimezone()
