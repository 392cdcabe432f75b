"""A finished plan once more: as it was, changed, or with some of its steps afresh."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.expert import Candidate, Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Call, Ref, Task
from jarvis_desktop.core.turn import Request, Turn
from tests.assistant.conftest import House, names
from tests.types import BLUR, CLOCK, JOIN, SHORTEN

PLAN = Plan(
    (
        Task(0, SHORTEN, {"text": "a"}),
        Task(1, JOIN, {"texts": (Ref(0), "b")}),
        Task(2, CLOCK),
    )
)


@pytest.fixture
def house(house: House) -> House:
    house.backend.does = lambda candidate, call: [text_artifact(f"{call.task}!")]
    house.planner.planned = PLAN
    return house


def ran(house: House) -> list[str]:
    done = [call.task for call in house.backend.calls]
    house.backend.calls.clear()
    return done


async def first(house: House) -> Turn:
    turn = await house.handle(Request(text="join them", files=(house.file("a.txt"),)))
    ran(house)
    house.frontend.events.clear()
    house.journal.written.clear()
    return turn


async def again(house: House, turn: Turn, plan: Plan, *afresh: int) -> Turn:
    return await house.assistant.run_again(
        turn, plan, house.frontend, conversation="c", afresh=frozenset(afresh)
    )


async def test_what_is_unchanged_is_not_done_again(house: House) -> None:
    turn = await first(house)
    other = await again(house, turn, PLAN.with_arg(1, "texts", (Ref(0), "c")))
    assert ran(house) == [JOIN.name]
    assert other.id != turn.id
    assert (other.text, other.attachments) == (turn.text, turn.attachments)
    assert other.results[0] == turn.results[0]
    assert other.status is Status.DONE
    assert other.reply
    assert [item.task_id for item in other.selections] == [0, 2, 1]
    assert [item.id for item in house.history.kept["c"]] == [turn.id, other.id]
    assert names(house)[:5] == [
        "TurnStarted", "PlanAccepted", "ExpertsSelected", "TaskFinished", "TaskFinished",
    ]  # fmt: skip
    (begun, *_) = house.journal.written
    assert begun == f"begin {other.id}"


async def test_all_of_it_may_stay_and_be_answered_once_more(house: House) -> None:
    turn = await first(house)
    other = await again(house, turn, PLAN)
    assert ran(house) == []
    assert other.results == turn.results
    assert other.reply == turn.reply


async def test_a_step_is_done_again_with_what_depends_on_it(house: House) -> None:
    turn = await first(house)
    await again(house, turn, PLAN, 0)
    assert ran(house) == [SHORTEN.name, JOIN.name]
    await again(house, turn, PLAN, 0, 1, 2)
    assert sorted(ran(house)) == sorted([SHORTEN.name, JOIN.name, CLOCK.name])


async def test_what_failed_is_tried_again(house: House) -> None:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        if call.task == SHORTEN.name:
            raise ExpertError("It broke.")
        return [text_artifact("!")]

    works, house.backend.does = house.backend.does, does
    turn = await first(house)
    assert turn.results[1].status is Status.SKIPPED
    house.backend.does = works
    other = await again(house, turn, PLAN)
    assert ran(house) == [SHORTEN.name, JOIN.name]
    assert other.status is Status.DONE


async def test_a_result_whose_file_is_gone_is_made_again(house: House) -> None:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        made = call.workdir / "blurred.png"
        made.write_text("picture")
        return [Artifact(Kind.IMAGE, path=made)]

    house.backend.does = does
    given = Artifact(Kind.IMAGE, path=house.file("a.png"))
    plan = Plan((Task(0, BLUR, {"image": given}), Task(1, BLUR, {"image": Ref(0)})))
    turn = await house.assistant.handle(Request(), house.frontend, plan=plan)
    ran(house)
    assert turn.plan
    await again(house, turn, turn.plan)
    assert ran(house) == []
    (made,) = turn.results[0].artifacts
    assert made.path
    made.path.unlink()
    await again(house, turn, turn.plan)
    assert len(ran(house)) == 2


async def test_a_turn_without_a_plan_of_today_keeps_nothing(house: House) -> None:
    turn = await first(house)
    await again(house, replace(turn, plan=None), PLAN)
    assert len(ran(house)) == 3


async def test_a_file_that_is_gone_ends_it_with_the_reason(house: House) -> None:
    turn = await first(house)
    gone = Artifact(Kind.IMAGE, path=house.folder / "gone.png")
    other = await again(house, turn, PLAN.add(BLUR, {"image": gone}))
    assert other.status is Status.FAILED
    assert "gone.png" in other.reply
    assert ran(house) == []


async def test_it_is_carried_out_as_it_is(house: House) -> None:
    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        raise ExpertError("It broke.")

    turn = await first(house)
    house.backend.does = does
    other = await again(house, turn, PLAN, 2)
    assert other.status is Status.PARTLY
    assert not house.planner.failures
    kinds = {type(item) for item in house.frontend.events}
    assert events.PlanProposed not in kinds  # nobody is asked: it is what they asked for
