"""Which turn the running code works for. Tasks and threads begun for a turn inherit it, so that
what lies deep below need not be handed the id through every layer."""

from __future__ import annotations

from contextvars import ContextVar

current_turn: ContextVar[str] = ContextVar("current_turn", default="")
"""The turn's id; "" outside of any."""
