"""A step that is run again while the plan runs: it and what builds on it, and nothing else."""

from __future__ import annotations

from tests.assistant.conftest import House
from tests.assistant.gates import GatedBackend
from tests.assistant.test_changing import PLAN, began, texts
from tests.assistant.test_changing import gates as gates
from tests.types import SHORTEN


async def test_a_step_is_run_again_with_all_that_builds_on_it(
    house: House, gates: GatedBackend
) -> None:
    longer = PLAN.add(SHORTEN, {"text": "c"})
    house.planner.planned = longer
    gates.open("a", "b")
    running = began(house)
    await gates.until_started("<a>+<b>", "c")
    assert await house.assistant.change(longer, afresh=frozenset({1}))
    gates.open("<a>+<b>", "c")
    turn = await running
    assert gates.stopped == ["<a>+<b>"], "what builds on it begins anew; the rest goes on"
    assert sorted(gates.started) == ["<a>+<b>", "<a>+<b>", "a", "b", "b", "c"]
    assert texts(turn) == {0: "<a>", 1: "<b>", 2: "<<a>+<b>>", 3: "<c>"}
    assert turn.plan == longer


async def test_a_step_that_runs_is_begun_anew(house: House, gates: GatedBackend) -> None:
    gates.open("b")
    running = began(house)
    await gates.until_started("a", "b")
    assert await house.assistant.change(PLAN, afresh=frozenset({0}))
    gates.open("a", "<a>+<b>")
    assert texts(await running) == {0: "<a>", 1: "<b>", 2: "<<a>+<b>>"}
    assert sorted(gates.started) == ["<a>+<b>", "a", "a", "b"]
