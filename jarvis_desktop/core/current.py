"""Which turn the running code works for. Tasks and threads begun for a turn inherit it, so that
what lies deep below need not be handed the id, or a way to speak, through every layer."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar

from jarvis_desktop.core.result import Spent

current_turn: ContextVar[str] = ContextVar("current_turn", default="")
"""The turn's id; "" outside of any."""


def _unheard(text: str) -> None:
    """Outside of any turn there is nobody to tell."""


current_note: ContextVar[Callable[[str], None]] = ContextVar("current_note", default=_unheard)
"""Tells the person something that stops nothing: what was put out of memory, what was deleted."""


def _unasked(spent: Spent) -> None:
    """Outside of any task nobody keeps account."""


current_account: ContextVar[Callable[[Spent], None]] = ContextVar(
    "current_account", default=_unasked
)
"""Is told what was asked of services behind an API for the task that is carried out."""
