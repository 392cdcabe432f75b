"""A plan that is changed while it runs: what is unchanged goes on, the rest begins anew."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

import pytest

from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError, StorageError
from jarvis_desktop.core.expert import Candidate, Expert, Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, PlanRejected
from jarvis_desktop.core.task import Call, Ref, Task, TaskType
from jarvis_desktop.core.turn import Request, Turn
from tests.assistant.conftest import House
from tests.assistant.gates import GatedBackend
from tests.types import CLOCK, JOIN, READ, SHORTEN

PLAN = Plan(
    (
        Task(0, SHORTEN, {"text": "a"}),
        Task(1, SHORTEN, {"text": "b"}),
        Task(2, JOIN, {"texts": (Ref(0), Ref(1))}),
    )
)


@pytest.fixture
def gates(house: House) -> GatedBackend:
    gates = GatedBackend()
    house.assistant._dependencies.executor._dependencies.backends["builtin"] = gates  # type: ignore[index]
    house.planner.planned = PLAN
    return gates


def began(house: House, place: str = "c") -> asyncio.Task[Turn]:
    return asyncio.create_task(house.handle(Request(text="join them"), place))


def texts(turn: Turn) -> dict[int, str | None]:
    return {number: item.artifacts[0].text for number, item in sorted(turn.results.items())}


async def test_what_is_unchanged_goes_on_and_what_is_not_begins_anew(
    house: House, gates: GatedBackend
) -> None:
    running = began(house)
    await gates.until_started("a", "b")
    assert await house.assistant.change(PLAN.with_arg(1, "text", "c"))
    await gates.until_started("c")
    assert gates.stopped == ["b"]
    gates.open("a", "c", "<a>+<c>")
    turn = await running
    assert gates.started == ["a", "b", "c", "<a>+<c>"]
    assert texts(turn) == {0: "<a>", 1: "<c>", 2: "<<a>+<c>>"}
    assert turn.status is Status.DONE
    assert "<<a>+<c>>" in turn.reply
    assert [item.task_id for item in turn.selections] == [0, 1, 2]


async def test_what_is_done_stays_done_and_new_steps_start(
    house: House, gates: GatedBackend
) -> None:
    gates.open("a", "b", "<<a>+<b>>")
    running = began(house)
    await gates.until_started("<a>+<b>")
    longer = PLAN.add(SHORTEN, {"text": Ref(2)}).add(CLOCK, {})
    assert await house.assistant.change(longer, turn_id="")
    await gates.until_started("clock")
    gates.open("clock", "<a>+<b>")
    turn = await running
    assert gates.started == ["a", "b", "<a>+<b>", "clock", "<<a>+<b>>"]
    assert not gates.stopped
    assert turn.plan == longer


async def test_what_is_taken_out_is_stopped_and_vanishes(house: House, gates: GatedBackend) -> None:
    running = began(house)
    await gates.until_started("a", "b")
    assert await house.assistant.change(PLAN.without(1))
    gates.open("a", "<a>")
    turn = await running
    assert texts(turn) == {0: "<a>", 2: "<<a>>"}
    assert gates.stopped == ["b"]
    seen = [item for item in house.frontend.events if isinstance(item, events.TaskFinished)]
    assert [item.result.task_id for item in seen] == [0, 2]


async def test_a_plan_without_a_step_is_answered_too(house: House, gates: GatedBackend) -> None:
    running = began(house)
    await gates.until_started("a", "b")
    assert await house.assistant.change(Plan(()))
    turn = await running
    assert turn.status is Status.CANCELLED
    assert turn.reply == "No step is left in the plan, so there was nothing to do."


async def test_one_that_ends_all_the_same_counts_no_more(house: House, gates: GatedBackend) -> None:
    gates.stubborn = True
    running = began(house)
    await gates.until_started("a", "b")
    assert await house.assistant.change(PLAN.with_arg(1, "text", "c"))
    await gates.until_started("c")
    gates.reports[1](0.9, "nearly")
    gates.open("a", "c", "<a>+<c>")
    turn = await running
    assert texts(turn)[1] == "<c>"
    assert not turn.progress


async def test_a_change_while_a_stopped_step_takes_its_time_to_end(
    house: House, gates: GatedBackend
) -> None:
    slowly = asyncio.Event()

    async def run(candidate: Candidate, call: object, report: object) -> Sequence[Artifact]:
        gates.started.append("slow")
        try:
            await asyncio.Event().wait()
        finally:
            await slowly.wait()
        return ()

    gates.run = run  # type: ignore[method-assign]
    running = began(house)
    while len(gates.started) < 2:
        await asyncio.sleep(0)
    assert await house.assistant.change(Plan(()))
    await asyncio.sleep(0)
    del gates.run
    assert await house.assistant.change(Plan((Task(7, CLOCK),)))
    gates.open("clock")
    slowly.set()
    assert texts(await running) == {7: "<clock>"}


async def test_another_expert_does_it_over_again(house: House, gates: GatedBackend) -> None:
    other = Candidate(Expert("other", SHORTEN.name), "builtin")
    house.catalogue.listed[SHORTEN.name] = (*house.catalogue.candidates(SHORTEN.name), other)
    gates.open("a", "b")
    running = began(house)
    await gates.until_started("<a>+<b>")
    assert await house.assistant.change(PLAN.pinned(0, "other"))
    gates.open("<a>+<b>")
    turn = await running
    assert gates.started == ["a", "b", "<a>+<b>", "a", "<a>+<b>"]
    assert gates.experts[3] == "other"
    assert "You chose other." in [item.reason for item in turn.selections]


async def test_there_is_nothing_to_change_before_and_after(
    house: House, gates: GatedBackend
) -> None:
    asked: list[bool] = []

    async def review(plan: Plan) -> Plan:
        asked.append(await house.assistant.change(plan))
        return plan

    house.frontend.review = review  # type: ignore[method-assign]
    gates.open("a", "b", "<a>+<b>")
    turn = await house.handle(Request(text="join them"))
    assert asked == [False]
    assert not await house.assistant.change(PLAN)
    assert texts(turn)[2] == "<<a>+<b>>"


async def test_only_the_turn_that_is_meant(house: House, gates: GatedBackend) -> None:
    first, second = (began(house, place) for place in ("c", "d"))
    while len(gates.started) < 4:
        await asyncio.sleep(0)
    ids = [it.turn_id for it in house.frontend.events if isinstance(it, events.TurnStarted)]
    assert await house.assistant.change(Plan((Task(0, CLOCK),)), turn_id=ids[0])
    assert await house.assistant.change(PLAN.without(2))
    assert not await house.assistant.change(PLAN, turn_id="nosuch")
    gates.open("a", "b", "clock")
    assert [len((await turn).results) for turn in (first, second)] == [1, 2]


async def test_agent_mode_keeps_its_own_plans(house: House, gates: GatedBackend) -> None:
    running = began(house)
    await gates.until_started("a", "b")
    (live,) = house.assistant._lives
    live.turn = replace(live.turn, agentic=True)
    assert not await house.assistant.change(PLAN.without(2))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_the_files_of_a_changed_plan_are_taken_in(house: House, gates: GatedBackend) -> None:
    running = began(house)
    await gates.until_started("a", "b")
    picture = Artifact(Kind.IMAGE, path=house.file("a.png"))
    missing = replace(picture, path=house.folder / "nosuch.png")
    with pytest.raises(InputError, match="no file nosuch"):
        await house.assistant.change(PLAN.add(READ, {"image": missing}))
    assert await house.assistant.change(PLAN.without(2).add(READ, {"image": picture}))
    gates.open("a", "b", "")
    gates.open("image-to-text")
    turn = await running
    assert turn.plan
    (image,) = turn.plan.task(2).args.values()
    assert isinstance(image, Artifact)
    assert image.path
    assert house.store.holds(image.path)


async def test_a_turn_that_ends_meanwhile_is_not_changed(house: House, gates: GatedBackend) -> None:
    running = began(house)
    await gates.until_started("a", "b")

    async def settled(plan: Plan, folder: object) -> Plan:
        gates.open("a", "b", "<a>+<b>")
        await running
        return plan

    house.assistant._dependencies.intake.settled = settled  # type: ignore[method-assign]
    assert not await house.assistant.change(PLAN.without(2))


async def test_a_choice_of_experts_begins_anew_only_where_it_must(
    house: House, gates: GatedBackend
) -> None:
    chosen: list[list[int]] = []
    go = asyncio.Event()
    select = house.assistant._dependencies.selector.select

    async def slowly(tasks: Sequence[Task], text: str = "", **more: object) -> object:
        chosen.append([task.id for task in tasks])
        await go.wait()
        return await select(tasks, text)

    house.assistant._dependencies.selector.select = slowly  # type: ignore[method-assign,assignment]
    running = began(house)
    while not chosen:
        await asyncio.sleep(0)
    assert await house.assistant.change(PLAN.add(CLOCK, {}))
    assert await house.assistant.change(PLAN.without(2))
    go.set()
    gates.open("a", "b")
    turn = await running
    assert chosen == [[0, 1, 2], [0, 1]]
    assert texts(turn) == {0: "<a>", 1: "<b>"}


async def test_a_choice_that_was_stopped_counts_no_more(house: House, gates: GatedBackend) -> None:
    select = house.assistant._dependencies.selector.select
    begun: list[asyncio.Event] = []

    async def stubborn(tasks: Sequence[Task], text: str = "", **more: object) -> object:
        begun.append(asyncio.Event())
        if len(begun) == 1:
            with suppress(asyncio.CancelledError):
                await begun[0].wait()
            return ()
        return await select(tasks, text)

    house.assistant._dependencies.selector.select = stubborn  # type: ignore[method-assign,assignment]
    running = began(house)
    while not begun:
        await asyncio.sleep(0)
    assert await house.assistant.change(PLAN.without(2))
    gates.open("a", "b")
    assert texts(await running) == {0: "<a>", 1: "<b>"}
    assert len(begun) == 2


async def test_a_choice_that_fails_ends_all_and_says_why(house: House, gates: GatedBackend) -> None:
    running = began(house)
    await gates.until_started("a", "b")

    async def fails(*_: object, **more: object) -> object:
        raise StorageError("The catalogue is gone.")

    house.assistant._dependencies.selector.select = fails  # type: ignore[method-assign,assignment]
    assert await house.assistant.change(PLAN.add(CLOCK, {}))
    turn = await running
    assert turn.status is Status.FAILED
    assert turn.reply == "The catalogue is gone."
    assert {item.status for item in turn.results.values()} == {Status.CANCELLED}
    assert sorted(gates.stopped) == ["a", "b"]


class Broken(GatedBackend):
    async def run(self, candidate: Candidate, call: object, report: object) -> Sequence[Artifact]:
        self.started.append("broken")
        raise ExpertError("It broke.")


async def test_a_change_takes_the_place_of_a_new_plan_by_the_planner(house: House) -> None:
    thinking, changed = asyncio.Event(), asyncio.Event()

    async def replan(*_: object, **more: object) -> Plan | PlanRejected:
        thinking.set()
        await changed.wait()
        return PlanRejected("Never said.")

    house.planner.replan = replan  # type: ignore[method-assign]
    house.planner.planned = Plan((Task(0, SHORTEN, {"text": "a"}), Task(1, CLOCK)))
    calls: list[str] = []

    def does(candidate: Candidate, call: object) -> Sequence[Artifact]:
        task = call.task  # type: ignore[attr-defined]
        calls.append(task)
        if task == SHORTEN.name:
            raise ExpertError("It broke.")
        return [text_artifact(task)]

    house.backend.does = does
    running = began(house)
    await thinking.wait()
    assert await house.assistant.change(house.planner.planned.add(JOIN, {"texts": (Ref(1),)}))
    turn = await running
    assert calls == [SHORTEN.name, CLOCK.name, JOIN.name]
    assert {number: item.status for number, item in turn.results.items()} == {
        0: Status.FAILED, 1: Status.DONE, 2: Status.DONE,
    }  # fmt: skip
    assert not [item for item in house.frontend.events if isinstance(item, events.Replanned)]


async def test_a_changed_plan_gets_no_other_one(house: House, gates: GatedBackend) -> None:
    running = began(house)
    await gates.until_started("a", "b")
    assert await house.assistant.change(PLAN.without(2))
    house.assistant._dependencies.executor._dependencies.backends["builtin"] = Broken()  # type: ignore[index]
    assert await house.assistant.change(PLAN.with_arg(0, "text", "c").without(2))
    gates.open("b")
    turn = await running
    assert turn.results[0].status is Status.FAILED
    assert not house.planner.failures


async def test_a_turn_that_is_stopped_while_it_thinks_of_another_plan(house: House) -> None:
    thinking = asyncio.Event()

    async def replan(
        text: str,
        inventory: Sequence[TaskType],
        context: Context,
        *,
        plan: Plan,
        results: Mapping[int, TaskResult],
    ) -> Plan | PlanRejected:
        thinking.set()
        await asyncio.Event().wait()
        raise AssertionError

    house.planner.replan = replan  # type: ignore[method-assign]
    house.planner.planned = Plan((Task(0, SHORTEN, {"text": "a"}),))
    house.assistant._dependencies.executor._dependencies.backends["builtin"] = Broken()  # type: ignore[index]
    running = began(house)
    await thinking.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (turn,) = house.history.kept["c"]
    assert turn.status is Status.CANCELLED


async def test_a_step_that_now_waits_for_what_failed_is_skipped(house: House) -> None:
    house.planner.planned = Plan((Task(0, SHORTEN, {"text": "a"}), Task(1, CLOCK)))
    working = asyncio.Event()

    async def run(candidate: Candidate, call: Call, report: object) -> Sequence[Artifact]:
        if call.task == SHORTEN.name:
            raise ExpertError("It broke.")
        working.set()
        await asyncio.Event().wait()
        raise AssertionError

    house.backend.run = run  # type: ignore[method-assign]
    running = began(house)
    await working.wait()
    waits = house.planner.planned.without(1).add(JOIN, {"texts": (Ref(0),)})
    assert await house.assistant.change(waits.add(JOIN, {"texts": (Ref(1), Ref(0))}))
    turn = await running
    assert [item.status for item in turn.results.values()] == [
        Status.FAILED, Status.SKIPPED, Status.SKIPPED,
    ]  # fmt: skip
    assert turn.results[2].reason == "It needs the result of “Summarization”, which is missing."
