from __future__ import annotations

from jarvis_desktop.assistant.planning.planner import ConfiguredPlanner
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from tests.assistant.conftest import FakePlanner


async def test_the_setting_of_the_moment_picks_the_planner() -> None:
    first, second = FakePlanner(planned=Plan(())), FakePlanner(revised=Plan(()))
    kind = "first"
    planner = ConfiguredPlanner({"first": first, "second": second}, lambda: kind)
    context = Context()
    assert await planner.plan("x", (), context) == Plan(())
    await planner.replan("x", (), context, plan=Plan(()), results={})
    assert first.failures == [(Plan(()), {})]
    kind = "second"
    assert await planner.revise("y", (), context, plan=Plan(())) == Plan(())
    assert [first.asked, second.asked] == [[("x", context)], [("y", context)]]
