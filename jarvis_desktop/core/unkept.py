"""Conversations that nobody is to remember: nothing of them stays on the disk, and nothing is
learned from them. Their ids say so, and whatever keeps something asks here."""

from __future__ import annotations

import secrets
from contextvars import ContextVar

PREFIX = "unkept-"

current_conversation: ContextVar[str] = ContextVar("current_conversation", default="")
"""The id of the conversation that the running code works for; "" outside of any. Tasks and threads
that are begun for a turn inherit it."""


def unkept_id() -> str:
    """The id of a new one."""
    return f"{PREFIX}{secrets.token_hex(16)}"


def is_unkept(conversation_id: str) -> bool:
    """Whether the conversation of this id is one."""
    return conversation_id.startswith(PREFIX)


def works_unkept() -> bool:
    """Whether the running code works for one."""
    return is_unkept(current_conversation.get())
