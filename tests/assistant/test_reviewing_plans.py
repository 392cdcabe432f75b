"""A plan before it runs: looked at, changed by hand and in words."""

from __future__ import annotations

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import PlanRejected
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import Request
from tests.assistant.conftest import House
from tests.types import CLOCK, JOIN, READ, SHORTEN

PLAN = Plan(
    (
        Task(0, SHORTEN, {"text": "a"}),
        Task(1, SHORTEN, {"text": "b"}),
        Task(2, JOIN, {"texts": (Ref(0), Ref(1))}),
    )
)


async def test_a_plan_is_revised_with_its_files_and_the_conversation(house: House) -> None:
    house.planner.revised = PLAN.without(2)
    picture = Artifact(Kind.IMAGE, path=house.file("a.png"))
    plan = PLAN.add(READ, {"image": picture}).add(READ, {"image": picture})
    assert await house.assistant.revise(plan, "no join", conversation="c") == PLAN.without(2)
    ((words, context),) = house.planner.asked
    assert words == "no join"
    assert context.attachments == (picture,)
    house.planner.revised = PlanRejected("I did not understand that.")
    with pytest.raises(InputError, match="I did not understand that"):
        await house.assistant.revise(plan, "hmm", conversation=None)


async def test_files_that_come_in_while_a_plan_is_looked_at_are_taken_in(house: House) -> None:
    house.planner.planned = Plan((Task(0, CLOCK),))
    picture = Artifact(Kind.IMAGE, path=house.file("a.png"))
    house.frontend.edit = lambda plan: plan.add(READ, {"image": picture})
    house.backend.does = lambda candidate, call: [text_artifact("made")]
    turn = await house.handle(Request(text="what time is it"))
    assert turn.plan
    (image,) = turn.plan.task(1).args.values()
    assert isinstance(image, Artifact)
    assert image.path
    assert house.store.holds(image.path)
