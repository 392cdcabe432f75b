"""Cards never overlap, arrows point forward, and the same plan always looks the same."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.ui.plan.graph_layout import (
    GraphLayout,
    LayoutBox,
    LayoutSizes,
    assign_layers,
    lay_out,
)

SIZES = LayoutSizes()
Graph = dict[int, tuple[int, ...]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Any plan: each step takes results of earlier ones, under ids in any order."""
    count = draw(st.integers(1, 24))
    names = draw(st.permutations(range(count)))
    graph: Graph = {}
    for place in range(count):
        earlier = st.sampled_from(names[:place]) if place else st.nothing()
        sources = draw(st.lists(earlier, max_size=min(place, 4), unique=True))
        graph[names[place]] = tuple(sources)
    return graph


widths = st.sampled_from([340.0, 420.0, 560.0, 730.0, 1500.0])


def apart(one: LayoutBox, other: LayoutBox) -> bool:
    return (
        one.right <= other.x + 0.01
        or other.right <= one.x + 0.01
        or one.bottom <= other.y + 0.01
        or other.bottom <= one.y + 0.01
    )


def order(layout: GraphLayout) -> dict[int, int]:
    return {task: number for number, task in enumerate(layout.cards)}


@settings(deadline=None)
@given(graphs(), widths)
def test_no_card_covers_another_and_all_have_room(graph: Graph, width: float) -> None:
    layout = lay_out(graph, width, SIZES)
    assert set(layout.cards) == set(graph)
    assert all(apart(*pair) for pair in combinations(layout.cards.values(), 2))
    for box in layout.cards.values():
        assert box.x >= -0.01
        assert box.right <= width + 0.01
        assert box.y >= -0.01
        assert box.bottom <= layout.height + 0.01


@settings(deadline=None)
@given(graphs(), widths)
def test_arrows_go_from_card_to_card_and_forward(graph: Graph, width: float) -> None:
    layout = lay_out(graph, width, SIZES)
    assert set(layout.arrows) == {(one, task) for task in graph for one in graph[task]}
    at = order(layout)
    for (source, target), points in layout.arrows.items():
        assert at[source] < at[target]
        begins, ends = layout.cards[source], layout.cards[target]
        if layout.stacked:
            assert ends.y > begins.bottom
        else:
            assert points[0] == (begins.right, begins.middle)
            assert points[-1][0] == ends.x
            assert ends.x > begins.right or ends.y > begins.bottom
        assert ends.y - 0.01 <= points[-1][1] <= ends.bottom + 0.01
        assert all(-0.01 <= x <= width + 0.01 for x, _ in points)


@settings(deadline=None)
@given(graphs(), widths)
def test_the_same_plan_looks_the_same(graph: Graph, width: float) -> None:
    assert lay_out(graph, width, SIZES) == lay_out(dict(graph), width, SIZES)


@settings(deadline=None)
@given(graphs(), st.integers(1, 9))
def test_layers_are_forward_and_no_higher_than_allowed(graph: Graph, tallest: int) -> None:
    layers = assign_layers(graph, tallest)
    depth = {spot.task: spot.layer for row in layers.rows for spot in row if not spot.passing}
    assert set(depth) == set(graph)
    for task, sources in graph.items():
        assert all(depth[source] < depth[task] for source in sources)
    for row in layers.rows:
        assert sum(not spot.passing for spot in row) <= tallest
    for (source, target), route in layers.routes.items():
        assert (route[0].task, route[-1].task) == (source, target)
        assert [spot.layer for spot in route] == list(range(depth[source], depth[target] + 1))


def test_a_chain_is_a_straight_line() -> None:
    layout = lay_out({0: (), 1: (0,), 2: (1,)}, 730, SIZES)
    assert len({box.y for box in layout.cards.values()}) == 1
    assert [len(points) for points in layout.arrows.values()] == [2, 2]
    assert layout.height == SIZES.height


def test_arrows_that_need_not_cross_do_not() -> None:
    # Drawn in the order of the plan, 0 to 3 and 1 to 2 would cross.
    layout = lay_out({0: (), 1: (), 2: (1,), 3: (0,)}, 730, SIZES)
    higher = layout.cards[0].y < layout.cards[1].y
    assert (layout.cards[3].y < layout.cards[2].y) == higher


def test_what_does_not_fit_goes_on_in_the_next_band() -> None:
    chain: Graph = {number: (number - 1,) if number else () for number in range(7)}
    layout = lay_out(chain, 600, SIZES)
    assert len({box.x for box in layout.cards.values()}) == 3
    assert len({box.y for box in layout.cards.values()}) == 3
    turning = layout.arrows[2, 3]
    assert len(turning) == 6
    assert layout.cards[2].bottom < turning[2][1] < layout.cards[3].y


@pytest.mark.parametrize("width", [120.0, 340.0])
def test_a_narrow_place_has_cards_below_each_other(width: float) -> None:
    layout = lay_out({0: (), 1: (0,), 2: (0,), 3: (1, 2)}, width, SIZES)
    assert layout.stacked
    assert len({box.x for box in layout.cards.values()}) == 1
    assert len(layout.arrows[0, 1]) == 2, "the next card is reached at once"
    assert layout.arrows[0, 2][1][0] < layout.cards[0].x, "others past the side"


def test_a_plan_without_steps_takes_no_room() -> None:
    assert lay_out({}, 730, SIZES).cards == {}


def test_many_steps_beside_each_other_use_the_width() -> None:
    layout = lay_out(dict.fromkeys(range(60), ()), 730, SIZES)
    assert len({box.x for box in layout.cards.values()}) > 1
    assert layout.height < 60 * SIZES.height / 2
