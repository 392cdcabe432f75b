"""Another plan where tasks failed on all their candidates; nothing is done a second time."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert, Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import PlanRejected
from jarvis_desktop.core.task import Call, Ref, Task
from jarvis_desktop.core.turn import Request
from tests.assistant.conftest import House
from tests.types import CLOCK, JOIN, SHORTEN

FIRST = Plan((Task(0, CLOCK), Task(1, SHORTEN, {"text": Ref(0)})))
SECOND = Plan((Task(0, CLOCK), Task(2, JOIN, {"texts": (Ref(0),)})))


@pytest.fixture
def house(house: House) -> House:
    """Its summarisation breaks."""

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        if call.task == "summarization":
            raise ExpertError("It\nbroke.")
        return [text_artifact(f"{call.task} done")]

    house.backend.does = does
    house.planner.planned = FIRST
    return house


def ran(house: House) -> list[str]:
    return [call.task for call in house.backend.calls]


def replanned(house: House) -> list[str]:
    return [item.reason for item in house.frontend.events if isinstance(item, events.Replanned)]


async def test_another_plan_keeps_what_was_done(house: House) -> None:
    house.planner.other_plans = [SECOND]
    turn = await house.handle(Request(text="shorten the time"))
    assert (turn.reply, turn.status) == ("join done", Status.DONE)
    assert turn.plan == SECOND
    assert ran(house) == ["clock", "summarization", "join"]
    assert replanned(house) == ["summarization failed: It broke."]
    plan, results = house.planner.failures[0]
    assert plan == FIRST
    assert (results[1].status, results[1].reason) == (Status.FAILED, "It\nbroke.")


async def test_a_task_that_only_took_the_number_of_another_is_run(house: House) -> None:
    house.planner.other_plans = [Plan((Task(0, JOIN, {"texts": ("a",)}),))]
    turn = await house.handle(Request(text="shorten the time"))
    assert turn.reply == "join done"
    assert ran(house) == ["clock", "summarization", "join"]


async def test_after_two_rounds_the_reason_is_stated(house: House) -> None:
    house.planner.other_plans = [FIRST, FIRST, FIRST]
    turn = await house.handle(Request(text="shorten the time"))
    assert len(replanned(house)) == 2
    assert ran(house).count("summarization") == 3
    assert ran(house).count("clock") == 1
    assert turn.status is Status.PARTLY
    assert "Not done: Summarization. It\nbroke." in turn.reply
    assert turn.notes == ("2 other plans were tried, and failed as well.",)


@pytest.mark.parametrize("other", [PlanRejected("No idea."), UnavailableError("No idea.")])
async def test_without_another_plan_it_ends_with_the_reason(
    house: House, other: PlanRejected | Exception
) -> None:
    house.planner.other_plans = [other]
    turn = await house.handle(Request(text="shorten the time"))
    assert turn.status is Status.PARTLY
    assert turn.trace[-1] == "There is no other plan: No idea."
    assert turn.notes == ()


async def test_the_new_plan_is_shown_to_the_person_too(house: House) -> None:
    house.planner.other_plans = [SECOND]
    seen: list[Plan] = []

    def edit(plan: Plan) -> Plan | None:
        seen.append(plan)
        return plan if plan == FIRST else None

    house.frontend.edit = edit
    turn = await house.handle(Request(text="shorten the time"))
    assert seen == [FIRST, SECOND]
    assert turn.plan == FIRST
    assert turn.notes == ("The new plan was not accepted, so it ends with the results so far.",)
    assert replanned(house) == []


async def test_what_no_plan_can_mend_is_not_planned_again(house: House) -> None:
    house.catalogue.listed["summarization"] = ()
    turn = await house.handle(Request(text="shorten the time"))
    assert turn.status is Status.PARTLY
    assert house.planner.failures == []


async def test_what_the_person_refused_is_neither_done_another_way_nor_asked_again(
    house: House,
) -> None:
    house.backend.ask = "May I?"
    house.frontend.consent = False
    await house.handle(Request(text="shorten the time"))
    assert house.planner.failures == []
    house.backend.ask = ""
    expert = Expert("big", "join", download_mb=10)
    house.catalogue.listed["join"] = ()
    house.catalogue.to_fetch["join"] = (expert,)
    joined = Task(3, JOIN, {"texts": ("a",)})
    house.planner.planned = FIRST.with_task(joined)
    house.planner.other_plans = [FIRST.with_task(joined)]
    house.frontend.questions.clear()
    await house.handle(Request(text="shorten the time"))
    assert len(replanned(house)) == 1
    assert house.frontend.questions == [
        "This needs big (about 10 MB to download). Download it now?"
    ]


async def test_a_plan_that_was_given_runs_as_it_is(house: House) -> None:
    house.planner.other_plans = [SECOND]
    turn = await house.assistant.handle(Request(), house.frontend, plan=FIRST)
    assert turn.status is Status.PARTLY
    assert house.planner.failures == []


async def test_experts_are_selected_for_what_is_left_only(house: House) -> None:
    house.planner.other_plans = [SECOND]
    turn = await house.handle(Request(text="shorten the time"))
    first, second = (
        item.selections
        for item in house.frontend.events
        if isinstance(item, events.ExpertsSelected)
    )
    assert [item.task_id for item in first] == [0, 1]
    assert [item.task_id for item in second] == [0, 2]
    assert second[0] is first[0]
    assert turn.selections == second
