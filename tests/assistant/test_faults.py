"""Plans end right although experts fail: the benchmark's tables, short and with fixed dice."""

from __future__ import annotations

import asyncio

import pytest

from tests.benchmarks.faults import (
    GOALS,
    TROUBLES,
    Shape,
    candidates_of,
    cut,
    measure,
    served_of,
    shapes,
    without_a_way_round,
)

# Hundreds of plans, which take twice as long where coverage is measured, and cover nothing more.
pytestmark = pytest.mark.no_cover

SEED = 20


@pytest.fixture(scope="module")
def usual() -> list[Shape]:
    return cut(asyncio.run(shapes(candidates_of)), 3)


@pytest.fixture(scope="module")
def served() -> list[Shape]:
    return asyncio.run(shapes(served_of))


def test_without_the_ladder_a_third_of_the_plans_fail(usual: list[Shape]) -> None:
    bare = measure(cut(usual, 1), 400, probability=0.1, seed=SEED, reference=True)
    assert 0.61 < bare.share < 0.71, "0.9 to the power of 4 is 66 %"


@pytest.mark.parametrize(
    ("probability", "plans"),
    [
        (0.0, 20),
        (0.1, 100),
        (0.3, 100),
        pytest.param(0.1, 600, marks=pytest.mark.exhaustive),
        pytest.param(0.3, 300, marks=pytest.mark.exhaustive),
    ],
)
def test_with_it_they_end_right(usual: list[Shape], probability: float, plans: int) -> None:
    found = measure(usual, plans, probability=probability, seed=SEED)
    assert found.share >= GOALS.get(probability, 1.0)
    assert found.right == found.ended, "what is wrong is never taken for right"
    assert found.calls / plans < 4 / (1 - probability) + 0.5


def test_the_same_dice_give_the_same_table(usual: list[Shape]) -> None:
    first, second = (measure(usual, 40, probability=0.3, seed=SEED) for _ in range(2))
    assert first == second


def test_a_wrong_result_that_looks_right_is_counted_as_wrong(usual: list[Shape]) -> None:
    found = measure(usual, 200, probability=0.3, seed=SEED, unseen=0.2)
    assert found.right < found.ended


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_is_gone_for_good_is_done_without(served: list[Shape], trouble: str) -> None:
    found = measure(served, 40, probability=0.1, seed=SEED, down=TROUBLES[trouble])
    assert found.share == 1
    # The time-out of what is silent is paid until it is known, and not by each task.
    assert found.late(0.5) < 15


@pytest.mark.parametrize("trouble", TROUBLES)
def test_the_rest_of_a_plan_is_done_where_one_task_cannot_be(
    served: list[Shape], trouble: str
) -> None:
    alone = without_a_way_round(served)
    found = measure(alone, 40, probability=0.0, seed=SEED, down=TROUBLES[trouble])
    assert found.share == 1
    assert found.ended == (0 if TROUBLES[trouble](alone[0].selections[-1].candidates[0]) else 40)
