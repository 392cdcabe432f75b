"""Runs a plan: each task starts the moment its own inputs exist, and falls back on failure."""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod
from pathlib import Path
from time import monotonic

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.call import Call
from jarvis_desktop.core.errors import ExpertError, JarvisError
from jarvis_desktop.core.events import (
    AttemptFailed,
    Event,
    TaskFinished,
    TaskProgress,
    TaskStarted,
)
from jarvis_desktop.core.expert import Candidate, Selection
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import ArtifactStore, Backend, TrackRecord
from jarvis_desktop.core.result import Attempt, Status, TaskResult
from jarvis_desktop.core.shown import frames
from jarvis_desktop.core.task import Item, Port, Ref, Task, Value

log = logging.getLogger(__name__)

Show = Callable[[Event], None]
Confirm = Callable[[str], Awaitable[bool]]

MOST_CALLS = 100
"""A single-item port that is given a list makes one call per item; more than this is refused."""


class Executor:
    """Runs plans over the backends. One executor serves all turns, so lanes bound them together."""

    def __init__(
        self,
        backends: Mapping[str, Backend],
        store: ArtifactStore,
        *,
        lanes: Mapping[str, int],
        timeout: float = 24 * 3600.0,
        record: TrackRecord | None = None,
    ) -> None:
        """`lanes` gives how many calls of a lane run at once; a lane not in it has no limit.

        How long a call may take is its backend's business, which knows what it does; `timeout`,
        in seconds, is the last resort against one that never ends. `record` is told of every call
        how long it took and whether it worked, but for skills, between which there is no choice.
        """
        self._backends = backends
        self._store = store
        self._lanes = {name: asyncio.Semaphore(width) for name, width in lanes.items()}
        self._timeout = timeout
        self._record = record

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
        run = _Run(plan, {item.task_id: item for item in selections}, show, confirm, folder)
        kept = (item for item in (done or {}).values() if item.status is Status.DONE)
        run.results.update({item.task_id: item for item in kept})
        try:
            async with asyncio.TaskGroup() as group:
                for task in run.ready():
                    group.create_task(self._perform(task, run, group))
        except asyncio.CancelledError:
            for task in plan:
                if task.id not in run.results:
                    run.finish(TaskResult(task.id, Status.CANCELLED, reason="It was stopped."))
            raise
        return run.results

    async def _perform(self, task: Task, run: _Run, group: asyncio.TaskGroup) -> None:
        run.finish(await self._attempt_all(task, run))
        for next_task in run.released_by(task.id):
            group.create_task(self._perform(next_task, run, group))

    async def _attempt_all(self, task: Task, run: _Run) -> TaskResult:
        selection = run.selections.get(task.id)
        if selection is None or not selection.candidates:
            reason = selection.reason if selection else "No expert was selected."
            return TaskResult(task.id, Status.FAILED, reason=reason)
        attempts: list[Attempt] = []
        for candidate in selection.candidates:
            run.show(TaskStarted(task.id, candidate))
            started = monotonic()
            try:
                artifacts = await self._attempt(task, candidate, run)
            except _Refused:
                reason = "You did not agree to it, so it was not done."
                return TaskResult(task.id, Status.FAILED, (), tuple(attempts), reason)
            except JarvisError as error:
                failure = Attempt(
                    candidate,
                    monotonic() - started,
                    str(error),
                    kind=error.kind,
                    retryable=error.retryable,
                )
            except Exception as error:  # noqa: BLE001 - a slip here must not end the others
                log.error("A task failed unexpectedly: %s", frames(error))
                slip = "Something went wrong inside JARVIS itself; the log has the details."
                failure = Attempt(candidate, monotonic() - started, slip)
            else:
                attempts.append(Attempt(candidate, monotonic() - started))
                return TaskResult(task.id, Status.DONE, artifacts, tuple(attempts))
            attempts.append(failure)
            run.show(AttemptFailed(task.id, failure))
        return TaskResult(
            task.id, Status.FAILED, attempts=tuple(attempts), reason=attempts[-1].error
        )

    async def _attempt(self, task: Task, candidate: Candidate, run: _Run) -> tuple[Artifact, ...]:
        backend = self._backends[candidate.backend]

        def report(fraction: float | None, message: str) -> None:
            run.show(TaskProgress(task.id, fraction, message))

        made: list[Artifact] = []
        workdir = self._store.workdir()
        try:
            for inputs in _unfold(task, run.results):
                call = Call(task.type.name, inputs, _options(task), workdir, run.folder)
                if (question := backend.question(call)) and not await run.confirm(question):
                    raise _Refused
                made += await self._in_lane(backend, candidate, call, report)
            if not made:
                raise ExpertError(f"{candidate.expert.id} gave no result.")
            return tuple([await self._keep(item, task) for item in made])
        finally:
            self._store.discard(workdir)

    async def _in_lane(
        self,
        backend: Backend,
        candidate: Candidate,
        call: Call,
        report: Callable[[float | None, str], None],
    ) -> Iterable[Artifact]:
        async with self._lanes.get(backend.lane) or nullcontext():
            started = monotonic()
            try:
                made = await self._timed(backend.run(candidate, call, report), candidate)
            except ExpertError:
                self._note(backend, candidate, call, seconds=monotonic() - started, worked=False)
                raise
            self._note(backend, candidate, call, seconds=monotonic() - started, worked=True)
            return made

    async def _timed(
        self, work: Awaitable[Iterable[Artifact]], candidate: Candidate
    ) -> Iterable[Artifact]:
        try:
            async with asyncio.timeout(self._timeout):
                return await work
        except TimeoutError as error:
            raise ExpertError(
                f"{candidate.expert.id} was stopped after {self._timeout:.0f} seconds.",
                retryable=True,
            ) from error

    def _note(
        self, backend: Backend, candidate: Candidate, call: Call, *, seconds: float, worked: bool
    ) -> None:
        """Only its own failures are told: a wrong file or missing weights are not its fault."""
        if self._record and backend.lane != "instant":
            self._record.note(candidate.expert.id, call.task, seconds=seconds, worked=worked)

    async def _keep(self, artifact: Artifact, task: Task) -> Artifact:
        made = replace(artifact, made_by=task.id)
        if made.path is None:
            return made
        return await asyncio.to_thread(self._store.keep, made)


class _Refused(Exception):
    """The person said no."""


@dataclass
class _Run:
    """One plan under way."""

    plan: Plan
    selections: Mapping[int, Selection]
    show: Show
    confirm: Confirm
    folder: Path | None = None
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


def _options(task: Task) -> dict[str, Value]:
    values = {option.name: option.default for option in task.type.options}
    for name, item in task.items():
        if name in values and not isinstance(item, Artifact | Ref):
            values[name] = item
    return values


def _unfold(
    task: Task, results: Mapping[int, TaskResult]
) -> Iterable[dict[str, tuple[Artifact, ...]]]:
    """The inputs of each call: one call, or one per item where a single-item port gets a list."""
    given: dict[str, list[Artifact]] = {port.name: [] for port in task.type.ports}
    for name, item in task.items():
        if port := task.type.port(name):
            given[name] += _artifacts(port, item, results)
    ports = [port for port in task.type.ports if given[port.name]]
    choices = [
        [tuple(given[port.name])] if port.many else [(item,) for item in given[port.name]]
        for port in ports
    ]
    if (count := prod(map(len, choices))) > MOST_CALLS:
        raise ExpertError(f"That would be {count} calls; the most is {MOST_CALLS}.")
    names = [port.name for port in ports]
    return [dict(zip(names, combination, strict=True)) for combination in product(*choices)]


def _artifacts(port: Port, item: Item, results: Mapping[int, TaskResult]) -> tuple[Artifact, ...]:
    if isinstance(item, Artifact):
        return (item,)
    if not isinstance(item, Ref):
        return (text_artifact(str(item)),)
    found = results[item.task_id].of_kind(port.kinds)
    if not found:
        wanted = " or ".join(port.kinds)
        raise ExpertError(f"The task before it gave no {wanted}.")
    return found
