"""Carries plans out over the backends, within the lanes that bound them all together.

A plan under way: each task starts the moment its own inputs exist, whatever becomes of the
others. It may become another plan meanwhile.

What becomes of a plan while it is carried out: the person may change it at any moment."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Any, TypeVar

from jarvis_desktop.assistant.execution.retry import Breakers, RetryLimits
from jarvis_desktop.assistant.execution.task_runner import (
    CallDependencies,
    Confirm,
    Inspect,
    Scene,
    Show,
    carry_out,
)
from jarvis_desktop.core.events import Event, PlanChanged, TaskFinished
from jarvis_desktop.core.expert import Selection, Status, TaskResult
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import ArtifactStore, Backend, TrackRecord
from jarvis_desktop.core.task import Task

Choose = Callable[[Sequence[Task]], Awaitable[Iterable[Selection]]]
"""Finds out who does these tasks. Stopped where one of them is no longer wanted as it was."""


class Execution:
    """Carries one plan out, once."""

    def __init__(
        self,
        plan: Plan,
        choose: Choose,
        means: CallDependencies,
        *,
        show: Show,
        confirm: Confirm,
        folder: Path | None,
        results: Mapping[int, TaskResult],
    ) -> None:
        """`results` are there already."""
        self._plan = plan
        self._choose = choose
        self._means = means
        self._show = show
        self._confirm = confirm
        self._folder = folder
        self._results = dict(results)
        self._waiting: dict[int, set[int]] = {}
        """For each task that has not ended, those it still waits for."""
        self._dependants: dict[int, list[Task]] = {}
        self._ready: list[Task] = []
        """The tasks that have their inputs, and were not started."""
        self._selections: dict[int, Selection | None] = {}
        self._working: dict[int, asyncio.Task[None]] = {}
        """What runs, by the tasks' ids; what was stopped is gone, even before it has ended."""
        self._choosing: asyncio.Task[None] | None = None
        self._nobody_yet: tuple[Task, ...] = ()
        """The tasks for which somebody is to be chosen, or is being chosen."""
        self._moved = asyncio.Event()
        self._lay_out()

    async def finish(self) -> dict[int, TaskResult]:
        """A result for every task of the plan, as it is in the end.

        A failed task is a value. Raises what choosing raises; that and cancelling end all that
        runs, and every unfinished task is shown as cancelled.
        """
        try:
            while self._waiting:
                # It ends with the last of its tasks; one that was stopped may take a moment to.
                async with asyncio.TaskGroup() as group:
                    while self._waiting:
                        self._go_on(group)
                        await self._moved.wait()
                        self._moved.clear()
        except asyncio.CancelledError:
            self._give_up()
            raise
        except ExceptionGroup as failures:
            self._give_up()
            raise failures.exceptions[0] from None
        return self._results

    def change(self, plan: Plan, *, afresh: Collection[int] = ()) -> None:
        """Carry out that one from now on. What is unchanged goes on, or stays as it ended, but for
        the tasks `afresh` and all that builds on them."""
        same = plan.unchanged(self._plan, afresh=afresh)
        self._plan = plan
        for task_id in self._working.keys() - same:
            self._working.pop(task_id).cancel()
        for task_id in self._results.keys() - same:
            del self._results[task_id]
        for task_id in self._selections.keys() - same:
            del self._selections[task_id]
        if self._choosing and not same.issuperset(task.id for task in self._nobody_yet):
            self._choosing.cancel()
            self._choosing = None
        self._lay_out()
        # Not from here: what starts now would seem to be begun by whoever changed the plan.
        self._moved.set()

    def _lay_out(self) -> None:
        """See what is left of the plan, and what that waits for; skip what can never start."""
        left = [task for task in self._plan if task.id not in self._results]
        self._waiting, self._dependants, lost = {}, {}, []
        for task in left:
            self._waiting[task.id] = {*task.depends_on} - self._results.keys()
            for task_id in task.depends_on:
                self._dependants.setdefault(task_id, []).append(task)
                ended = self._results.get(task_id)
                if ended and ended.status is not Status.DONE:
                    lost.append(self._skipped(task, task_id))
        self._end(*lost)
        self._ready = [
            task
            for task in left
            if self._waiting.get(task.id) == set() and task.id not in self._working
        ]
        self._look_for_nobody()

    def _look_for_nobody(self) -> None:
        if self._choosing is None:
            self._nobody_yet = tuple(
                task
                for task in self._plan
                if task.id in self._waiting and task.id not in self._selections
            )

    def _go_on(self, group: asyncio.TaskGroup) -> None:
        """Start what can start."""
        if self._nobody_yet and self._choosing is None:
            self._choosing = group.create_task(self._select(self._nobody_yet))
        ready, self._ready = self._ready, []
        for task in ready:
            if task.id in self._selections:
                self._working[task.id] = group.create_task(self._perform(task))
            else:
                self._ready.append(task)

    async def _select(self, tasks: Sequence[Task]) -> None:
        this = asyncio.current_task()

        def end(selections: Iterable[Selection]) -> None:
            if self._choosing is this:  # else it was stopped
                chosen = {item.task_id: item for item in selections}
                self._selections.update({task.id: chosen.get(task.id) for task in tasks})
                self._choosing = None
                self._look_for_nobody()
                self._moved.set()

        end(await self._choose(tasks))

    async def _perform(self, task: Task) -> None:
        this = asyncio.current_task()

        def counts() -> bool:
            """Whether it was not stopped; one that was may still tell of itself, and even end."""
            return self._working.get(task.id) is this

        def show(event: Event) -> None:
            if counts():
                self._show(event)

        def end(result: TaskResult) -> None:
            if counts():
                del self._working[task.id]
                self._end(result)
                self._moved.set()

        scene = Scene(self._results, show, self._confirm, self._folder)
        end(await carry_out(task, self._selections[task.id], scene, self._means))

    def _end(self, *ended: TaskResult) -> None:
        """Let go what waited for these, or skip it where they give nothing."""
        ending = list(ended)
        while ending:
            result = ending.pop()
            if self._waiting.pop(result.task_id, None) is None:
                continue  # for want of another result
            self._results[result.task_id] = result
            self._show(TaskFinished(result))
            for task in self._dependants.pop(result.task_id, ()):
                if result.status is not Status.DONE:
                    ending.append(self._skipped(task, result.task_id))
                elif waiting := self._waiting.get(task.id):
                    waiting.discard(result.task_id)
                    if not waiting:
                        self._ready.append(task)

    def _skipped(self, task: Task, needed: int) -> TaskResult:
        title = self._plan.task(needed).type.called
        reason = tr("It needs the result of “{step}”, which there is not.", step=title)
        return TaskResult(task.id, Status.SKIPPED, reason=reason)

    def _give_up(self) -> None:
        for task in self._plan:
            if self._waiting.pop(task.id, None) is not None:
                result = TaskResult(task.id, Status.CANCELLED, reason=tr("It was stopped."))
                self._results[task.id] = result
                self._show(TaskFinished(result))


class Executor:
    """Runs plans over the backends. One executor serves all turns, so lanes bound them together,
    and what one turn learns of an expert that fails spares the others."""

    def __init__(
        self,
        backends: Mapping[str, Backend],
        store: ArtifactStore,
        *,
        lanes: Mapping[str, int],
        timeout: float = 24 * 3600.0,
        record: TrackRecord | None = None,
        inspect: Inspect | None = None,
        patience: RetryLimits | None = None,
        clock: Callable[[], float] = monotonic,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """`lanes` gives how many calls of a lane run at once; a lane not in it has no limit.

        How long a call may take is its backend's business, which knows what it does; `timeout`,
        in seconds, is the last resort against one that never ends. `record` is told of every call
        how long it took and whether it worked, but for skills, between which there is no choice;
        for those nothing is given to `inspect` either. `clock` gives seconds that never go
        backwards, `jitter` numbers from 0 to 1.
        """
        self._means = CallDependencies(
            backends,
            store,
            {name: asyncio.Semaphore(width) for name, width in lanes.items()},
            timeout,
            record,
            inspect,
            patience or RetryLimits(),
            clock,
            jitter,
            Breakers(clock=clock),
        )

    async def run(
        self,
        plan: Plan,
        selections: Iterable[Selection],
        *,
        show: Show,
        confirm: Confirm,
        folder: Path | None = None,
        done: Mapping[int, TaskResult] | None = None,
    ) -> dict[int, TaskResult]:
        """A result for every task of the plan, done by those of `selections`.

        `folder` is where the person wants named results. `done` holds results of an earlier run:
        what was done there is kept, the rest is tried again. A failed task is a value; only
        cancelling raises, after every unfinished task was shown as cancelled.
        """
        stands = tuple(selections)
        kept = {key: item for key, item in (done or {}).items() if item.status is Status.DONE}

        async def choose(tasks: Sequence[Task]) -> Iterable[Selection]:
            return stands

        execution = self.begin(
            plan, choose, show=show, confirm=confirm, folder=folder, results=kept
        )
        return await execution.finish()

    def begin(
        self,
        plan: Plan,
        choose: Choose,
        *,
        show: Show,
        confirm: Confirm,
        folder: Path | None = None,
        results: Mapping[int, TaskResult] = MappingProxyType({}),
    ) -> Execution:
        """The same for those who choose as it goes, and for plans that may change.

        Tasks that have one of these `results` have ended already.
        """
        return Execution(
            plan, choose, self._means, show=show, confirm=confirm, folder=folder, results=results
        )


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
