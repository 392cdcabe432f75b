"""What becomes of a plan while it is carried out: the person may change it at any moment."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from jarvis_desktop.assistant.attempting import Show
from jarvis_desktop.assistant.execution import Execution
from jarvis_desktop.core.events import PlanChanged
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.result import TaskResult

T = TypeVar("T")


class Course:
    """A plan on its way to its end."""

    def __init__(self, plan: Plan, show: Show) -> None:
        self.plan = plan
        """As it is by now."""
        self.changed = False
        """Whether the person changed it."""
        self.asked_for: frozenset[int] = frozenset()
        """The tasks that the person wanted to be done once more, as they are."""
        self._show = show
        self._execution: Execution | None = None
        self._meanwhile: asyncio.Task[Any] | None = None

    def change(self, plan: Plan, *, afresh: frozenset[int] = frozenset()) -> None:
        """Go on with that one; the tasks `afresh` and all that builds on them begin anew."""
        self.plan, self.changed = plan, True
        self.asked_for |= afresh
        self._show(PlanChanged(plan, afresh))
        if self._execution:
            self._execution.change(plan, afresh=afresh)
        if self._meanwhile:
            self._meanwhile.cancel()

    async def run(self, execution: Execution) -> dict[int, TaskResult]:
        """Carry it out, in all the forms that it takes."""
        self._execution = execution
        try:
            return await execution.finish()
        finally:
            self._execution = None

    async def unless_changed(self, work: Coroutine[Any, Any, T]) -> T | None:
        """What the work gives; None where it was stopped because the plan was changed."""
        async with asyncio.TaskGroup() as group:
            self._meanwhile = meanwhile = group.create_task(work)
            meanwhile.add_done_callback(self._forget)
        return None if meanwhile.cancelled() else meanwhile.result()

    def _forget(self, meanwhile: asyncio.Task[Any]) -> None:
        self._meanwhile = None
