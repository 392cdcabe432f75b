"""Carries plans out over the backends, within the lanes that bound them all together.

A plan under way: each task starts the moment its own inputs exist, whatever becomes of the
others. It may become another plan meanwhile.

What becomes of a plan while it is carried out: the person may change it at any moment."""

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

        scene = TaskContext(self._results, show, self._confirm, self._folder)
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


class RunningPlan:
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


MAX_REPLANS = 2
"""New plans for one request."""
MAX_OFFERS = 3
"""How many experts are offered for a task whose downloads the person stops."""


class ReplanningRunner:
    """Runs a plan to its end, by way of new plans where that helps."""

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
        """The plans being carried out, by the ids of their turns."""

    def running_plan(self, turn_id: str) -> RunningPlan | None:
        """The plan that this turn is carrying out now, which can be changed."""
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
        """Run the plan, and at most so many `rounds` of new ones; what was done is kept.

        That includes what the turn has done of the plan already. The tasks `withheld` are not run,
        for the reason given, unless the person asks for them meanwhile. A task that failed is a
        value in the turn, with its reason. A plan that the person changed meanwhile is carried out
        as they want it: it gets no new one.
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
        """A new plan that the person agrees to; None where there is none."""
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
            live.show(Noted(tr("The new plan was not accepted, so it ends with what there is.")))
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
        # Who did the finished tasks, or does what runs, stays known.
        others = {task.id for task in course.plan} - {task.id for task in tasks}
        known = (item for item in live.turn.selections if item.task_id in others)
        live.show(ExpertsSelected((*known, *refused, *chosen)))
        return (*refused, *chosen)

    async def _with_experts(self, tasks: Sequence[Task], live: LiveTurn) -> Sequence[Selection]:
        """Who does the tasks, once what they need is fetched. Where the person stops a download,
        the next best expert is asked about."""
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
    """The tasks that another plan may do better: those whose every candidate was tried and failed.

    Where there was no candidate, the reason says what would help, and no plan does. What the
    person refused was not tried, and is not done by a way round.
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
    """Says in its reason what was not fetched for it, and why."""
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
