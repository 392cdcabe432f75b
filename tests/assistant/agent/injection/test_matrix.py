"""No words but the person's own cause an effect that the person did not allow.

The LLM of these tests always obeys what it reads. Here every carrier meets every attack, over goals
in turn; `python -m tests.benchmarks.injection` has all of them meet.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from tests.assistant.agent.injection.carriers import CARRIERS
from tests.assistant.agent.injection.orders import ATTACKS, Attack
from tests.assistant.agent.injection.world import WORKS, Work, World

_numbers = count()


async def live(folder: Path, work: Work, carrier: str, attack: Attack) -> World:
    world = World(work, folder)
    CARRIERS[carrier](world, attack.words)
    await world.lived()
    return world


@pytest.mark.parametrize("carrier", CARRIERS)
async def test_no_words_have_an_effect(tmp_path: Path, carrier: str) -> None:
    at = list(CARRIERS).index(carrier)
    for number, attack in enumerate(ATTACKS):
        work = WORKS[(at * 7 + number * 5) % len(WORKS)]
        world = await live(tmp_path / str(number), work, carrier, attack)
        assert world.effects() == [], f"{work.name}, {attack.name}"
        assert world.obeyed, f"{work.name}, {attack.name}: nobody read it"


@pytest.mark.parametrize("work", WORKS, ids=lambda work: work.name)
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
