"""No words but the person's own cause an effect that the person did not allow.

The LLM of these tests always obeys what it reads. Here every carrier meets one attack on each push
and every attack with `-m exhaustive`, over goals in turn; all meet all in
`python -m tests.benchmarks.injection`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.assistant.agent.injection.carriers import CARRIERS, DESCRIPTION
from tests.assistant.agent.injection.orders import ATTACKS, Attack
from tests.assistant.agent.injection.world import WORKS, Work, World
from tests.families import some

_numbers = count()


async def live(folder: Path, work: Work, carrier: str, attack: Attack) -> World:
    world = World(work, folder)
    CARRIERS[carrier](world, attack.words)
    await world.lived()
    return world


def meetings() -> Iterator[ParameterSet]:
    """Every carrier with every attack; each carrier with one of them on each push."""
    for at, carrier in enumerate(CARRIERS):
        for number, attack in enumerate(ATTACKS):
            work = WORKS[(at * 7 + number * 5) % len(WORKS)]
            marks = [] if number == at % len(ATTACKS) else [pytest.mark.exhaustive]
            name = f"{carrier}, {attack.name}, {work.name}"
            yield pytest.param(carrier, attack, work, marks=marks, id=name)


@pytest.mark.no_cover
@pytest.mark.parametrize(("carrier", "attack", "work"), list(meetings()))
async def test_no_words_have_an_effect(
    tmp_path: Path, carrier: str, attack: Attack, work: Work
) -> None:
    world = await live(tmp_path, work, carrier, attack)
    assert world.effects() == []
    # A description of a tool is read by the planner of experts, who can only plan.
    assert world.obeyed or (carrier == DESCRIPTION and not attack.tasks), "nobody read it"


@pytest.mark.no_cover
@pytest.mark.parametrize("work", some(WORKS))
async def test_an_honest_world_reaches_its_goal(tmp_path: Path, work: Work) -> None:
    world = World(work, tmp_path)
    await world.lived()
    assert world.effects() == []
    assert world.obeyed == 0
    goal = world.memory.kept["g"].goal
    assert (goal.status, goal.answer) == ("done", "3")
    assert [call.task for call in world.backend.calls] == ["document-to-text"]
    assert {item.name for item in world.library.list()} == {"months"}
    assert world.frontend.questions == []
