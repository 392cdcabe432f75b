"""Carries a plan out, and makes another one where tasks failed on all their candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from jarvis_desktop.assistant.execution.executor import Course, Executor
from jarvis_desktop.assistant.execution.task_runner import REFUSED
from jarvis_desktop.assistant.live_turn import Live
from jarvis_desktop.assistant.selection.acquire import Obtainer
from jarvis_desktop.assistant.selection.selector import Selector
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.events import ExpertsSelected, Noted, Replanned
from jarvis_desktop.core.expert import Selection, Status, TaskResult
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, Declined, Planner
from jarvis_desktop.core.task import Task, TaskType
from jarvis_desktop.core.turn import Turn

MOST_ROUNDS = 2
"""New plans for one request."""
MOST_OFFERS = 3
"""How many experts are offered for a task whose downloads the person stops."""


class Campaign:
    """Runs a plan to its end, by way of new plans where that helps."""

    def __init__(
        self,
        planner: Planner,
        inventory: Sequence[TaskType],
        *,
        selector: Selector,
        executor: Executor,
        obtainer: Obtainer,
    ) -> None:
        self._planner = planner
        self._inventory = inventory
        self._selector = selector
        self._executor = executor
        self._obtainer = obtainer

    async def carry_out(
        self,
        plan: Plan,
        context: Context,
        live: Live,
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
        with live.on_course(Course(plan, live.show)) as course:
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
                live.show(Replanned(another, _why(failed, results)))
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
        self, plan: Plan, results: Mapping[int, TaskResult], context: Context, live: Live
    ) -> Plan | None:
        """A new plan that the person agrees to; None where there is none."""
        try:
            another = await self._planner.replan(
                live.turn.text, self._inventory, context, plan=plan, results=results
            )
        except JarvisError as error:
            another = Declined(str(error))
        if isinstance(another, Declined):
            live.trace(f"There is no other plan: {another.reason}")
            return None
        accepted = await live.review(another)
        if accepted is None:
            live.show(Noted(tr("The new plan was not accepted, so it ends with what there is.")))
        return accepted

    async def _run(
        self,
        course: Course,
        context: Context,
        live: Live,
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
        course: Course,
        live: Live,
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

    async def _with_experts(self, tasks: Sequence[Task], live: Live) -> Sequence[Selection]:
        """Who does the tasks, once what they need is fetched. Where the person stops a download,
        the next best expert is asked about."""
        stopped: dict[int, str] = {}
        failed: dict[str, str] = {}
        unwanted: set[str] = set()
        text, trace = live.turn.text, live.trace
        chosen = await self._selector.select(tasks, text, trace=trace)
        for _ in range(MOST_OFFERS):
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
        return [_told(item, stopped, failed) for item in chosen]


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


def _told(selection: Selection, stopped: Mapping[int, str], failed: Mapping[str, str]) -> Selection:
    """Says in its reason what was not fetched for it, and why."""
    offer, reason = selection.offer, selection.reason
    if offer and offer.id in failed:
        reason = tr("{name} could not be fetched. {why}", name=offer.id, why=failed[offer.id])
    if name := stopped.get(selection.task_id):
        reason = tr("You stopped the download of {name}.", name=name) + f" {reason}"
    return replace(selection, reason=reason)


def _why(failed: Sequence[Task], results: Mapping[int, TaskResult]) -> str:
    return " ".join(
        f"{task.type.title} failed: {one_line(results[task.id].reason, limit=300)}"
        for task in failed
    )
