"""Runs plans over the backends and replans after failures.

Each task starts as soon as its own inputs exist. Lanes limit how many calls of a kind run at once.
The user may change a plan while it runs.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import (
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic
from types import MappingProxyType
from typing import Any, TypeVar

from jarvis_desktop.assistant.execution.task_runner import (
    REFUSED,
    CallDependencies,
    CircuitBreakers,
    Confirm,
    Inspect,
    RetryLimits,
    Show,
    TaskContext,
    carry_out,
)
from jarvis_desktop.assistant.live_turn import LiveTurn
from jarvis_desktop.assistant.selection.acquire import ExpertAcquirer
from jarvis_desktop.assistant.selection.selector import Selector
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.events import (
    Event,
    ExpertsSelected,
    Noted,
    PlanChanged,
    Replanned,
    TaskFinished,
)
from jarvis_desktop.core.expert import Selection, Status, TaskResult
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import (
    ArtifactStore,
    Backend,
    Context,
    Planner,
    PlanRejected,
    TrackRecord,
)
from jarvis_desktop.core.task import Task, TaskType
from jarvis_desktop.core.turn import Turn

Choose = Callable[[Sequence[Task]], Awaitable[Iterable[Selection]]]
"""Selects experts for tasks. It is cancelled when one of these tasks changes."""


class Execution:
    """Runs one plan, once."""

    def __init__(
        self,
        plan: Plan,
        choose: Choose,
        dependencies: CallDependencies,
        *,
        show: Show,
        confirm: Confirm,
        folder: Path | None,
        results: Mapping[int, TaskResult],
    ) -> None:
        """`results` are those of tasks that have ended already."""
        self._plan = plan
        self._choose = choose
        self._dependencies = dependencies
        self._show = show
        self._confirm = confirm
        self._folder = folder
        self._results = dict(results)
        self._waiting: dict[int, set[int]] = {}
        """For each unfinished task, the tasks it still waits for."""
        self._dependants: dict[int, list[Task]] = {}
        self._ready: list[Task] = []
        """The tasks that have their inputs but have not started."""
        self._selections: dict[int, Selection | None] = {}
        self._working: dict[int, asyncio.Task[None]] = {}
        """The running tasks by id. A cancelled one is removed at once, even before it has ended."""
        self._choosing: asyncio.Task[None] | None = None
        self._nobody_yet: tuple[Task, ...] = ()
        """The tasks without a selection."""
        self._moved = asyncio.Event()
        self._lay_out()

    async def finish(self) -> dict[int, TaskResult]:
        """Run the plan and return a result for every task of its final form.

        A failed task is a value. Raises what choosing raises. That, and cancelling, end everything
        that runs, and every unfinished task is shown as cancelled.
        """
        try:
            while self._waiting:
                # The group ends with its last task; a cancelled one may take a moment.
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
        """Run this plan from now on. Unchanged tasks continue, or stay as they ended, except the
        tasks `afresh` and everything that depends on them."""
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
        # Tasks are not started here: they would run in the context of whoever changed the plan.
        self._moved.set()

    def _lay_out(self) -> None:
        """Work out what is left of the plan and what it waits for. Skip what can never start."""
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
        """Start every task that can start."""
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
            if self._choosing is this:  # otherwise it was cancelled
                chosen = {item.task_id: item for item in selections}
                self._selections.update({task.id: chosen.get(task.id) for task in tasks})
                self._choosing = None
                self._look_for_nobody()
                self._moved.set()

        end(await self._choose(tasks))

    async def _perform(self, task: Task) -> None:
        this = asyncio.current_task()

        def counts() -> bool:
            """Whether this task is still wanted: a cancelled one may still report, and even end."""
            return self._working.get(task.id) is this

        def show(event: Event) -> None:
            if counts():
                self._show(event)

        def end(result: TaskResult) -> None:
            if counts():
                del self._working[task.id]
                self._end(result)
                self._moved.set()

        scene = TaskContext(self._results, show, self._confirm, self._folder)
        end(await carry_out(task, self._selections[task.id], scene, self._dependencies))

    def _end(self, *ended: TaskResult) -> None:
        """Start what waited for these results, or skip it if they failed."""
        ending = list(ended)
        while ending:
            result = ending.pop()
            if self._waiting.pop(result.task_id, None) is None:
                continue  # skipped already because of another result
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
        reason = tr("It needs the result of “{step}”, which is missing.", step=title)
        return TaskResult(task.id, Status.SKIPPED, reason=reason)

    def _give_up(self) -> None:
        for task in self._plan:
            if self._waiting.pop(task.id, None) is not None:
                result = TaskResult(task.id, Status.CANCELLED, reason=tr("It was stopped."))
                self._results[task.id] = result
                self._show(TaskFinished(result))


class Executor:
    """Runs plans over the backends. One executor serves all turns, so that its lanes limit them
    together, and turns learn from each other's failures."""

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
        """`lanes` gives how many calls of a lane run at once; other lanes have no limit.

        Backends limit the time of their calls themselves; `timeout`, in seconds, is the last
        resort. `record` is notified of the duration and outcome of every call except those of
        skills, which have no rivals and are not given to `inspect` either. `clock` returns seconds
        and never goes backwards; `jitter` returns numbers from 0 to 1.
        """
        self._dependencies = CallDependencies(
            backends,
            store,
            {name: asyncio.Semaphore(width) for name, width in lanes.items()},
            timeout,
            record,
            inspect,
            patience or RetryLimits(),
            clock,
            jitter,
            CircuitBreakers(clock=clock),
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
        """Run the plan with these `selections` and return a result for every task.

        `folder` is where the user wants named results. Finished results in `done` are reused, the
        rest is tried again. A failed task is a value; only cancelling raises, after every
        unfinished task was shown as cancelled.
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
        """Like `run`, with experts chosen on the way and a plan that may change.

        Tasks with one of these `results` have ended already.
        """
        return Execution(
            plan,
            choose,
            self._dependencies,
            show=show,
            confirm=confirm,
            folder=folder,
            results=results,
        )


T = TypeVar("T")


class RunningPlan:
    """A plan that is being carried out and may be changed."""

    def __init__(self, plan: Plan, show: Show) -> None:
        self.plan = plan
        """The plan in its current form."""
        self.changed = False
        """Whether the user changed it."""
        self.asked_for: frozenset[int] = frozenset()
        """The unchanged tasks that the user wants to be run again."""
        self._show = show
        self._execution: Execution | None = None
        self._meanwhile: asyncio.Task[Any] | None = None

    def change(self, plan: Plan, *, afresh: frozenset[int] = frozenset()) -> None:
        """Continue with this plan; run the tasks `afresh` again, and everything that depends on
        them."""
        self.plan, self.changed = plan, True
        self.asked_for |= afresh
        self._show(PlanChanged(plan, afresh))
        if self._execution:
            self._execution.change(plan, afresh=afresh)
        if self._meanwhile:
            self._meanwhile.cancel()

    async def run(self, execution: Execution) -> dict[int, TaskResult]:
        """Carry out the execution through all changes of the plan."""
        self._execution = execution
        try:
            return await execution.finish()
        finally:
            self._execution = None

    async def unless_changed(self, work: Coroutine[Any, Any, T]) -> T | None:
        """The result of the work, or None if it was cancelled because the plan changed."""
        async with asyncio.TaskGroup() as group:
            self._meanwhile = meanwhile = group.create_task(work)
            meanwhile.add_done_callback(self._forget)
        return None if meanwhile.cancelled() else meanwhile.result()

    def _forget(self, meanwhile: asyncio.Task[Any]) -> None:
        self._meanwhile = None


MAX_REPLANS = 2
"""New plans for one request."""
MAX_OFFERS = 3
"""Experts that are offered for a task while the user cancels their downloads."""


class ReplanningRunner:
    """Runs a plan to its end, with new plans if tasks fail."""

    def __init__(
        self,
        planner: Planner,
        inventory: Sequence[TaskType],
        *,
        selector: Selector,
        executor: Executor,
        obtainer: ExpertAcquirer,
    ) -> None:
        self._planner = planner
        self._inventory = inventory
        self._selector = selector
        self._executor = executor
        self._obtainer = obtainer
        self._courses: dict[str, RunningPlan] = {}
        """The running plans by turn id."""

    def running_plan(self, turn_id: str) -> RunningPlan | None:
        """The plan that this turn is carrying out, which can be changed."""
        return self._courses.get(turn_id)

    @contextmanager
    def _running(self, live: LiveTurn, course: RunningPlan) -> Iterator[RunningPlan]:
        self._courses[live.turn.id] = course
        try:
            yield course
        finally:
            del self._courses[live.turn.id]

    async def carry_out(
        self,
        plan: Plan,
        context: Context,
        live: LiveTurn,
        *,
        rounds: int,
        withheld: Mapping[int, str] = MappingProxyType({}),
    ) -> None:
        """Run the plan and at most `rounds` new ones, and reuse finished results.

        This includes results that the turn already has. The tasks in `withheld` are not run, for
        the given reason, unless the user asks for them in the meantime. A failed task is a value in
        the turn, with its reason. A plan that the user changed is not replaced by a new one.
        """
        held = {number: (plan.task(number), reason) for number, reason in withheld.items()}
        done = {
            number: item for number, item in live.turn.results.items() if item.status is Status.DONE
        }
        with self._running(live, RunningPlan(plan, live.show)) as course:
            results = await self._run(course, context, live, done, held)
            for _ in range(rounds):
                failed = mendable(live.turn)
                if course.changed or not failed:
                    return
                another = await course.unless_changed(
                    self._another(course.plan, results, context, live)
                )
                if course.changed:
                    await self._run(course, context, live, live.turn.results, held)
                    return
                if another is None:
                    return
                live.show(Replanned(another, _failure_reasons(failed, results)))
                same = {task.id for task in another if task in course.plan.tasks}
                kept = {
                    number: item
                    for number, item in results.items()
                    if number in same and item.status is Status.DONE
                }
                course.plan = another
                results = await self._run(course, context, live, kept, held)
            if rounds and mendable(live.turn):
                live.show(
                    Noted(tr("{count} other plans were tried, and failed as well.", count=rounds))
                )

    async def _another(
        self, plan: Plan, results: Mapping[int, TaskResult], context: Context, live: LiveTurn
    ) -> Plan | None:
        """A new plan that the user accepts, or None."""
        try:
            another = await self._planner.replan(
                live.turn.text, self._inventory, context, plan=plan, results=results
            )
        except JarvisError as error:
            another = PlanRejected(str(error))
        if isinstance(another, PlanRejected):
            live.trace(f"There is no other plan: {another.reason}")
            return None
        accepted = await live.review(another)
        if accepted is None:
            live.show(
                Noted(tr("The new plan was not accepted, so it ends with the results so far."))
            )
        return accepted

    async def _run(
        self,
        course: RunningPlan,
        context: Context,
        live: LiveTurn,
        results: Mapping[int, TaskResult],
        held: Mapping[int, tuple[Task, str]],
    ) -> dict[int, TaskResult]:
        async def choose(tasks: Sequence[Task]) -> Sequence[Selection]:
            return await self._choose(tasks, course, live, held)

        execution = self._executor.begin(
            course.plan,
            choose,
            show=live.show,
            confirm=live.confirm,
            folder=context.folder,
            results=results,
        )
        return await course.run(execution)

    async def _choose(
        self,
        tasks: Sequence[Task],
        course: RunningPlan,
        live: LiveTurn,
        held: Mapping[int, tuple[Task, str]],
    ) -> Sequence[Selection]:
        refused = tuple(
            Selection(task.id, (), held[task.id][1])
            for task in tasks
            if task.id in held and held[task.id][0] == task and task.id not in course.asked_for
        )
        settled = {item.task_id for item in refused}
        left = [task for task in tasks if task.id not in settled]
        chosen = await self._with_experts(left, live)
        # Keep the selections of finished and running tasks.
        others = {task.id for task in course.plan} - {task.id for task in tasks}
        known = (item for item in live.turn.selections if item.task_id in others)
        live.show(ExpertsSelected((*known, *refused, *chosen)))
        return (*refused, *chosen)

    async def _with_experts(self, tasks: Sequence[Task], live: LiveTurn) -> Sequence[Selection]:
        """Select experts and fetch missing ones. If the user cancels a download, the next best
        expert is offered."""
        stopped: dict[int, str] = {}
        failed: dict[str, str] = {}
        unwanted: set[str] = set()
        text, trace = live.turn.text, live.trace
        chosen = await self._selector.select(tasks, text, trace=trace)
        for _ in range(MAX_OFFERS):
            if not any(item.offer for item in chosen):
                break
            obtained = await self._obtainer.obtain(chosen, live, ask=bool(stopped))
            failed |= obtained.failed
            for item in chosen:
                if item.offer and item.offer.id in obtained.stopped:
                    stopped[item.task_id] = item.offer.id
                    unwanted.add(item.offer.id)
            if obtained.fetched or obtained.stopped:
                chosen = await self._selector.select(tasks, text, trace=trace, unwanted=unwanted)
            if not obtained.stopped:
                break
        return [_with_reason(item, stopped, failed) for item in chosen]


def mendable(turn: Turn) -> list[Task]:
    """The tasks that another plan may do better: those that failed on every candidate.

    A task without candidates is not among them: its reason says what would help. Neither is a task
    that the user refused.
    """
    return [
        task
        for task in turn.plan or ()
        if (result := turn.results.get(task.id))
        and result.status is Status.FAILED
        and result.attempts
        and result.reason != tr(REFUSED)
    ]


def _with_reason(
    selection: Selection, stopped: Mapping[int, str], failed: Mapping[str, str]
) -> Selection:
    """Add to the reason which expert was not fetched, and why."""
    offer, reason = selection.offer, selection.reason
    if offer and offer.id in failed:
        reason = tr("{name} could not be fetched. {why}", name=offer.id, why=failed[offer.id])
    if name := stopped.get(selection.task_id):
        reason = tr("You stopped the download of {name}.", name=name) + f" {reason}"
    return replace(selection, reason=reason)


def _failure_reasons(failed: Sequence[Task], results: Mapping[int, TaskResult]) -> str:
    return " ".join(
        f"{task.type.title} failed: {one_line(results[task.id].reason, limit=300)}"
        for task in failed
    )
