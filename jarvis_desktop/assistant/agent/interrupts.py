"""Stop: the branch that runs ends, and control goes to its caller with what the person says."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class StoppedError(Exception):
    """The person stopped the branch that ran."""


class Interrupts:
    """The branches under way, the innermost last."""

    def __init__(self) -> None:
        self._branches: list[asyncio.Task[Any]] = []

    def stop(self) -> bool:
        """End the innermost branch; False where none runs, or one was stopped and the person has
        not been heard yet: then the turn itself is to end."""
        raise NotImplementedError

    async def branch(self, work: Coroutine[Any, Any, T]) -> T:
        """Do a branch's work. Raises the interruption where it was stopped and was innermost."""
        raise NotImplementedError
