"""Runs a plan: each task starts the moment its own inputs exist, whatever becomes of the others."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from jarvis_desktop.assistant.attempting import Confirm, Scene, Show, carry_out
from jarvis_desktop.assistant.breakers import Breakers
from jarvis_desktop.assistant.calling import Inspect, Means
from jarvis_desktop.assistant.retrying import Patience
from jarvis_desktop.core.events import TaskFinished
from jarvis_desktop.core.expert import Selection
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import ArtifactStore, Backend, TrackRecord
from jarvis_desktop.core.result import Status, TaskResult
from jarvis_desktop.core.task import Task


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
        patience: Patience | None = None,
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
        self._means = Means(
            backends,
            store,
            {name: asyncio.Semaphore(width) for name, width in lanes.items()},
            timeout,
            record,
            inspect,
            patience or Patience(),
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
        """A result for every task of the plan.

        `folder` is where the person wants named results. `done` holds results of an earlier run:
        what was done there is kept, the rest is tried again. A failed task is a value; only
        cancelling raises, after every unfinished task was shown as cancelled.
        """
        run = _Run(plan, {item.task_id: item for item in selections}, show)
        kept = (item for item in (done or {}).values() if item.status is Status.DONE)
        run.results.update({item.task_id: item for item in kept})
        scene = Scene(run.results, show, confirm, folder)
        try:
            async with asyncio.TaskGroup() as group:
                for task in run.ready():
                    group.create_task(self._perform(task, run, scene, group))
        except asyncio.CancelledError:
            for task in plan:
                if task.id not in run.results:
                    run.finish(TaskResult(task.id, Status.CANCELLED, reason="It was stopped."))
            raise
        return run.results

    async def _perform(self, task: Task, run: _Run, scene: Scene, group: asyncio.TaskGroup) -> None:
        run.finish(await carry_out(task, run.selections.get(task.id), scene, self._means))
        for next_task in run.released_by(task.id):
            group.create_task(self._perform(next_task, run, scene, group))


@dataclass
class _Run:
    """One plan under way."""

    plan: Plan
    selections: Mapping[int, Selection]
    show: Show
    results: dict[int, TaskResult] = field(default_factory=dict)
    waiting: dict[int, set[int]] = field(default_factory=dict)
    """For each task not yet started, the ids it still waits for."""
    dependants: dict[int, list[Task]] = field(default_factory=lambda: defaultdict(list))

    def finish(self, result: TaskResult) -> None:
        self.results[result.task_id] = result
        self.show(TaskFinished(result))

    def ready(self) -> list[Task]:
        """The tasks that can start at once, after those that cannot start at all were skipped."""
        for task in self.plan:
            if task.id in self.results:
                continue
            self.waiting[task.id] = set(task.depends_on)
            for task_id in task.depends_on:
                self.dependants[task_id].append(task)
        ready = [task for task in self.plan if self.waiting.get(task.id) == set()]
        for task_id in list(self.results):
            ready += self.released_by(task_id)
        return ready

    def released_by(self, task_id: int) -> list[Task]:
        """The tasks that wait for nothing more now that this one has ended."""
        released: list[Task] = []
        ended = [task_id]
        while ended:
            current = ended.pop()
            for task in self.dependants.pop(current, ()):
                if task.id in self.results:
                    continue
                if self.results[current].status is not Status.DONE:
                    title = self.plan.task(current).type.title
                    reason = f"It needs the result of “{title}”, which there is not."
                    self.finish(TaskResult(task.id, Status.SKIPPED, reason=reason))
                    ended.append(task.id)
                    continue
                self.waiting[task.id].discard(current)
                if not self.waiting[task.id]:
                    released.append(task)
        return released
