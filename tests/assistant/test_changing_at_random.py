"""Random plans, changed at random moments: the end is that of the last plan from nothing."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.expert import Candidate, Expert, Selection, Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Call, Ref, Report, Task
from jarvis_desktop.core.turn import Request, Turn
from tests.assistant.conftest import NOON, House
from tests.types import JOIN
from tests.virtual import VirtualLoop, run

Edit = Callable[[Plan], tuple[Plan, frozenset[int]]]
"""Gives the plan, and what of it is to be done once more."""


@dataclass
class Sleeping:
    """Takes some virtual seconds for each call, and fails where "!" is among its own words."""

    name: str = "builtin"
    lane: str = "cpu"
    stopped: list[str] = field(default_factory=list)

    def question(self, call: Call) -> str:
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        texts = call.texts("texts")
        await asyncio.sleep(1 + len(texts[0]) % 4)
        if "!" in texts[0]:
            raise ExpertError("It failed.")
        return [text_artifact(f"{candidate.expert.id}({', '.join(texts)})")]


async def chosen(tasks: Sequence[Task], text: str = "", **more: object) -> tuple[Selection, ...]:
    """Who does it, after some thought, and in no thread: those do not wait for the clock."""
    await asyncio.sleep(0.3)
    return tuple(
        Selection(task.id, (Candidate(Expert(task.expert or "any", JOIN.name), "builtin"),), "")
        for task in tasks
    )


def built(folder: str, plan: Plan) -> House:
    house = House(Path(folder))
    house.planner.planned = plan
    house.assistant._dependencies.selector.select = chosen  # type: ignore[method-assign,assignment]
    house.assistant._dependencies.executor._dependencies.backends["builtin"] = Sleeping()  # type: ignore[index]
    return house


def words(at: int) -> st.SearchStrategy[str]:
    return st.sampled_from([f"t{at}" + tail for tail in ("", "a", "bb", "ccc", "!")])


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    tasks: list[Task] = []
    for at in range(draw(st.integers(2, 6))):
        refs = draw(st.sets(st.integers(0, at - 1))) if at else set()
        tasks.append(Task(at, JOIN, {"texts": (draw(words(at)), *map(Ref, sorted(refs)))}))
    return Plan(tuple(tasks))


@st.composite
def edits(draw: st.DrawFn) -> Edit:
    first, second = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    said = draw(words(9))

    def edit(plan: Plan) -> tuple[Plan, frozenset[int]]:
        """One of the edits, for two tasks that are there."""
        ids = [task.id for task in plan] or [0]
        which, other = ids[first % len(ids)], ids[second % len(ids)]
        if kind == "again":
            return plan, frozenset({which})
        return edited(plan, which, other), frozenset()

    def edited(plan: Plan, which: int, other: int) -> Plan:
        match kind:
            case "another text":
                refs = plan.task(which).depends_on
                return plan.with_arg(which, "texts", (said, *map(Ref, refs)))
            case "rewired":
                return plan.with_arg(which, "texts", (said, Ref(other)))
            case "without":
                return plan.without(which, cascade=True)
            case "added":
                return plan.add(JOIN, {"texts": (said, Ref(which), Ref(other))})
            case "pinned":
                return plan.pinned(which, f"other-{second}")
        return plan.moved(which, before=other)

    kind = draw(st.sampled_from("another text,rewired,without,added,pinned,moved,again".split(",")))
    return edit


moments = st.integers(0, 60).map(lambda quarter: quarter / 4)


async def changes(house: House, running: asyncio.Task[Turn], edits: Mapping[float, Edit]) -> None:
    """Make the edits, each at its moment; those that cannot be are left out."""
    for moment in sorted(edits):
        await asyncio.sleep(max(0.0, moment - asyncio.get_running_loop().time()))
        told = reduce(Turn.apply, house.frontend.events, Turn("", NOON))
        if told.plan is None or running.done():
            continue
        try:
            plan, afresh = edits[moment](told.plan)
            await house.assistant.change(plan, afresh=afresh)
        except InputError:
            continue


def outcome(turn: Turn) -> dict[int, tuple[Status, tuple[str | None, ...]]]:
    return {
        number: (item.status, tuple(artifact.text for artifact in item.artifacts))
        for number, item in turn.results.items()
    }


def in_time(work: Callable[[str], Awaitable[Turn]]) -> Turn:
    async def within() -> Turn:
        with tempfile.TemporaryDirectory() as folder:
            return await work(folder)

    return run(within(), VirtualLoop())


def from_nothing(plan: Plan) -> Turn:
    return in_time(lambda folder: built(folder, plan).handle(Request(text="join")))


def begun_once(told: Sequence[events.Event]) -> bool:
    """Whether nothing was begun again that was as it was when it was begun before."""
    begun: set[int] = set()
    plan = Plan(())
    for event in told:
        match event:
            case events.PlanAccepted(plan=accepted):
                plan = accepted
            case events.PlanChanged(plan=changed, afresh=afresh):
                begun &= changed.unchanged(plan, afresh=afresh)
                plan = changed
            case events.TaskStarted(task_id=task_id):
                if task_id in begun:
                    return False
                begun.add(task_id)
    return True


EXAMPLES = [30, pytest.param(200, marks=pytest.mark.exhaustive)]


def the_end_is_that_of_the_last_plan(plan: Plan, edits: dict[float, Edit]) -> None:
    told: list[events.Event] = []

    async def work(folder: str) -> Turn:
        house = built(folder, plan)
        house.frontend.events = told
        running = asyncio.create_task(house.handle(Request(text="join")))
        await changes(house, running, edits)
        return await running

    turn = in_time(work)
    assert turn.plan is not None
    assert outcome(turn) == outcome(from_nothing(turn.plan))
    assert begun_once(told)
    assert turn.reply
    assert turn.status is not None
    assert reduce(Turn.apply, told, Turn(turn.id, turn.started)) == turn


def a_kill_resumes_the_changed_plan(plan: Plan, edits: dict[float, Edit], killed: float) -> None:
    left: list[tuple[Plan, Mapping[int, TaskResult]]] = []

    async def work(folder: str) -> Turn:
        house = built(folder, plan)
        running = asyncio.create_task(house.handle(Request(text="join")))
        await changes(house, running, {at: edit for at, edit in edits.items() if at < killed})
        await asyncio.sleep(max(0.0, killed - asyncio.get_running_loop().time()))
        kept = dict(house.journal.kept)
        told = reduce(Turn.apply, house.frontend.events, Turn("", NOON))
        if not kept:
            return await running
        assert told.plan is not None
        left.append((told.plan, told.results))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        house.journal.has_ended = True
        after = built(f"{folder}/after", plan)
        after.journal.kept.update(kept)
        (unfinished,) = after.assistant.unfinished()
        assert unfinished.turn.plan == told.plan
        turn = await after.assistant.resume(unfinished, after.frontend)
        done = {number for number, item in told.results.items() if item.status is Status.DONE}
        again = [it.task_id for it in after.frontend.events if isinstance(it, events.TaskStarted)]
        assert not done & {*again}
        return turn

    turn = in_time(work)
    assert turn.plan is not None
    assert not left or turn.plan == left[0][0]
    assert outcome(turn) == outcome(from_nothing(turn.plan))


@pytest.mark.no_cover
@pytest.mark.parametrize("examples", EXAMPLES)
def test_the_end_is_that_of_the_last_plan(examples: int) -> None:
    changed = st.dictionaries(moments, edits(), min_size=1, max_size=5)
    check = given(plans(), changed)(the_end_is_that_of_the_last_plan)
    settings(max_examples=examples, deadline=None)(check)()


@pytest.mark.no_cover
@pytest.mark.parametrize("examples", EXAMPLES)
def test_a_kill_resumes_the_changed_plan(examples: int) -> None:
    changed = st.dictionaries(moments, edits(), min_size=1, max_size=4)
    check = given(plans(), changed, moments)(a_kill_resumes_the_changed_plan)
    settings(max_examples=examples, deadline=None)(check)()
