"""Stop: the branch that runs ends, and control goes to its caller with what the person says."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class StoppedError(Exception):
    """The person stopped the branch that ran."""

    def __init__(self, result: Any = None) -> None:
        """`result` is what the branch gave, where it was done at that very moment."""
        super().__init__("stopped")
        self.result = result


class Interrupts:
    """The branches under way, the innermost last.

    An inner controller runs within the branch that called it: while it thinks, that branch is the
    innermost. What the outermost controller thinks counts as a branch of its own.
    """

    def __init__(self) -> None:
        self._branches: list[asyncio.Task[Any]] = []
        self._stopped: asyncio.Task[Any] | None = None

    def stop(self) -> bool:
        """End the innermost branch; False where none runs, or one was stopped and the person has
        not been heard yet: then the turn itself is to end. Called on the event loop."""
        if self._stopped or not self._branches:
            return False
        self._stopped = self._branches[-1]
        self._stopped.cancel()
        return True

    def heard(self) -> None:
        """The person was heard: the next stop is for the branch that runs then."""
        self._stopped = None

    async def branch(self, work: Coroutine[Any, Any, T]) -> T:
        """Do a branch's work. Raises StoppedError where it was stopped and was innermost; then
        `heard` is to be called once the person was asked."""
        task = asyncio.create_task(work)
        self._branches.append(task)
        try:
            result = await task
        except asyncio.CancelledError:
            own = asyncio.current_task()
            # Where this task is cancelled as well, it is the turn that ends.
            if task is self._stopped and own and not own.cancelling():
                raise StoppedError from None
            raise
        except BaseException:
            if task is self._stopped:  # it failed at the very moment
                raise StoppedError from None
            raise
        finally:
            self._branches.remove(task)
        if task is self._stopped:
            raise StoppedError(result)
        return result
