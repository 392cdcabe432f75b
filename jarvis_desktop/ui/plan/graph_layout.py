"""The layout of a plan's graph: positions of cards and arrows. Plain geometry, without Qt.

Steps are sorted into layers so that all arrows point forward and few of them cross. Layers follow
each other in reading direction, and wrap into bands like words, so a plan is never wider than its
view.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise
from math import ceil

ORDERING_PASSES = 8  # passes that improve the order within the layers; more hardly help

Graph = Mapping[int, Sequence[int]]
"""Each step, in plan order, and the steps whose results it takes."""


@dataclass(frozen=True, slots=True)
class LayerSlot:
    """A position in a layer: a step, or an arrow of one passing through."""

    task: int
    layer: int
    passing: bool = False


@dataclass(frozen=True, slots=True)
class Layers:
    """The slots of each layer in order, and the route of each arrow through them."""

    rows: tuple[tuple[LayerSlot, ...], ...]
    routes: Mapping[tuple[int, int], tuple[LayerSlot, ...]]
    """By (source, target): from the source's slot to the target's, one in every layer between."""


def assign_layers(graph: Graph, tallest: int) -> Layers:
    """Put each step in the first layer after its sources that has fewer than `tallest` steps. An
    arrow across layers has a slot in each, shared by all arrows of its source."""
    place = {task: number for number, task in enumerate(graph)}
    depth = _depths(graph, place, tallest)
    reach: dict[int, int] = {}
    for task, sources in graph.items():
        for source in sources:
            reach[source] = max(reach.get(source, 0), depth[task])
    rows: list[list[LayerSlot]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for task in graph:
        rows[depth[task]].append(LayerSlot(task, depth[task]))
        for layer in range(depth[task] + 1, reach.get(task, 0)):
            rows[layer].append(LayerSlot(task, layer, passing=True))
    for row in rows:
        row.sort(key=lambda spot: place[spot.task])
    routes = {
        (source, task): (
            LayerSlot(source, depth[source]),
            *(
                LayerSlot(source, layer, passing=True)
                for layer in range(depth[source] + 1, depth[task])
            ),
            LayerSlot(task, depth[task]),
        )
        for task, sources in graph.items()
        for source in sources
    }
    steps = {pair for route in routes.values() for pair in pairwise(route)}
    return Layers(tuple(map(tuple, _ordered(rows, steps))), routes)


def _depths(graph: Graph, place: Mapping[int, int], tallest: int) -> dict[int, int]:
    """The layer of each step; earlier steps of the plan are placed first."""
    waits = {task: len(set(sources)) for task, sources in graph.items()}
    users: dict[int, list[int]] = {}
    for task, sources in graph.items():
        for source in set(sources):
            users.setdefault(source, []).append(task)
    ready = [(place[task], task) for task, count in waits.items() if not count]
    heapify(ready)
    depth: dict[int, int] = {}
    taken: Counter[int] = Counter()
    while ready:
        task = heappop(ready)[1]
        layer = 1 + max((depth[source] for source in graph[task]), default=-1)
        while taken[layer] >= tallest:
            layer += 1
        depth[task] = layer
        taken[layer] += 1
        for user in users.get(task, ()):
            waits[user] -= 1
            if not waits[user]:
                heappush(ready, (place[user], user))
    return depth


def _ordered(
    rows: list[list[LayerSlot]], steps: Iterable[tuple[LayerSlot, LayerSlot]]
) -> list[list[LayerSlot]]:
    """Order each layer near the slots it is connected to (barycentre heuristic)."""
    before: dict[LayerSlot, list[LayerSlot]] = {}
    after: dict[LayerSlot, list[LayerSlot]] = {}
    for source, target in steps:
        after.setdefault(source, []).append(target)
        before.setdefault(target, []).append(source)
    best, fewest = rows, _crossings(rows, after)
    for sweep in range(ORDERING_PASSES):
        if not fewest:
            break
        rows = [list(row) for row in rows]
        downwards = sweep % 2 == 0
        joined = before if downwards else after
        numbers = range(1, len(rows)) if downwards else range(len(rows) - 2, -1, -1)
        for number in numbers:
            beside = rows[number - 1 if downwards else number + 1]
            at = {spot: index for index, spot in enumerate(beside)}
            middles = {
                spot: sum(at[other] for other in joined[spot]) / len(joined[spot])
                if spot in joined
                else index
                for index, spot in enumerate(rows[number])
            }
            rows[number].sort(key=middles.__getitem__)
        crossings = _crossings(rows, after)
        if crossings < fewest:
            best, fewest = rows, crossings
    return best


def _crossings(rows: list[list[LayerSlot]], after: Mapping[LayerSlot, Sequence[LayerSlot]]) -> int:
    """The number of crossing arrows between neighbouring layers."""
    found = 0
    for row, following in pairwise(rows):
        at = {spot: index for index, spot in enumerate(following)}
        seen: list[int] = []
        for spot in row:
            ends = sorted(at[other] for other in after.get(spot, ()))
            found += sum(len(seen) - bisect_left(seen, end + 1) for end in ends)
            for end in ends:
                insort(seen, end)
    return found


MAX_LAYER_STEPS = 8  # steps in a layer before further ones move to the next layer
MIN_COLUMNS = 3  # bands of fewer columns are harder to follow than a single column
ALIGNMENT_PASSES = 7
"""Passes that align a band; the last one goes from the first column to the last."""
MAX_LANES = 6  # parallel lanes for turning arrows; more arrows share lanes


@dataclass(frozen=True, slots=True)
class LayoutBox:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The x of its far edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The y of its lower edge."""
        return self.y + self.height

    @property
    def middle(self) -> float:
        """The y of its middle."""
        return self.y + self.height / 2


Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class LayoutSizes:
    """The sizes that a layout uses, in pixels."""

    narrowest: float = 148
    widest: float = 240
    height: float = 72
    between: float = 34  # between layers, for the arrows
    apart: float = 12  # between cards of a layer
    lane: float = 7  # between parallel arrows
    margin: float = 20  # at the sides, where arrows turn into the next band


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """All positions. An arrow is a polyline; its slanted segments are drawn as curves."""

    cards: Mapping[int, LayoutBox]
    arrows: Mapping[tuple[int, int], tuple[Point, ...]]  # by (source, target)
    width: float
    height: float
    stacked: bool = False  # whether all cards are in one column: then arrows leave at the bottom


def lay_out(graph: Graph, width: float, measures: LayoutSizes) -> GraphLayout:
    """Lay out all steps within that width."""
    room = width - 2 * measures.margin
    step = measures.narrowest + measures.between
    fitting = int((room + measures.between) // step)
    layers = assign_layers(graph, max(MAX_LAYER_STEPS, ceil(len(graph) / max(fitting, 1))))
    if len(layers.rows) * step - measures.between <= width:
        fitting, room = len(layers.rows), width  # a single band, without turning arrows
    if fitting < MIN_COLUMNS and len(layers.rows) > fitting:
        return _StackLayout(graph, layers, width, measures).layout()
    return _BandLayout(layers, max(fitting, 1), room, width, measures).layout()


class _BandLayout:
    """Layers as columns, in as many bands as needed."""

    def __init__(
        self, layers: Layers, fitting: int, room: float, width: float, measures: LayoutSizes
    ) -> None:
        self.layers, self.measures, self.width = layers, measures, width
        count = max(1, ceil(len(layers.rows) / fitting))
        self.columns = max(1, ceil(len(layers.rows) / count))
        self.margin = measures.margin if count > 1 else 0.0
        free = room - (self.columns - 1) * measures.between
        self.card = min(measures.widest, free / self.columns)
        self.boxes: dict[LayerSlot, LayoutBox] = {}
        self.bands = [
            layers.rows[start : start + self.columns]
            for start in range(0, len(layers.rows), self.columns)
        ]
        self.gutters: list[float] = []  # the middle of the gap below each band
        self.turning: list[list[LayerSlot]] = []
        """The slots whose arrows continue in the next band, from top to bottom."""

    def layout(self) -> GraphLayout:
        top = 0.0
        for number, band in enumerate(self.bands):
            bottom = self._place(band, top)
            self.turning.append(self._leaving(number))
            lanes = min(len(self.turning[number]), MAX_LANES)
            gutter = 2 * self.measures.apart + self.measures.lane * lanes
            self.gutters.append(bottom + gutter / 2)
            top = bottom + gutter
        height = max((box.bottom for box in self.boxes.values()), default=0.0)
        ends = self._ends()
        arrows = {
            ends_of: self._arrow(route, ends) for ends_of, route in self.layers.routes.items()
        }
        cards = {spot.task: box for spot, box in self.boxes.items() if not spot.passing}
        return GraphLayout(cards, arrows, self.width, height)

    def _place(self, band: Sequence[Sequence[LayerSlot]], top: float) -> float:
        """Set the boxes of a band's slots; return its lower edge."""
        sizes = self.measures
        at: dict[LayerSlot, float] = {}
        for row in band:
            at.update(zip(row, self._spread(row, [0.0] * len(row)), strict=True))
        beside = self._beside(band)
        for sweep in range(ALIGNMENT_PASSES):
            last = sweep == ALIGNMENT_PASSES - 1
            for row in band if sweep % 2 == 0 else reversed(band):
                wanted = [self._preferred(spot, at, beside, straight=last) for spot in row]
                at.update(zip(row, self._spread(row, wanted), strict=True))
        first = min(at[spot] - self._tall(spot) / 2 for row in band for spot in row)
        for column, row in enumerate(band):
            x = self.margin + column * (self.card + sizes.between)
            for spot in row:
                tall = self._tall(spot)
                self.boxes[spot] = LayoutBox(x, top + at[spot] - tall / 2 - first, self.card, tall)
        return max(self.boxes[spot].bottom for row in band for spot in row)

    def _preferred(
        self,
        spot: LayerSlot,
        at: Mapping[LayerSlot, float],
        beside: Mapping[LayerSlot, Sequence[LayerSlot]],
        *,
        straight: bool,
    ) -> float:
        """The preferred position of a slot: the middle of its connected ones. In the last pass
        cards stay, and passing arrows continue straight."""
        joined = beside.get(spot, ())
        if straight:
            before = (other for other in joined if other.layer < spot.layer)
            return at[next(before, spot) if spot.passing else spot]
        return sum(at[other] for other in joined) / len(joined) if joined else at[spot]

    def _beside(self, band: Sequence[Sequence[LayerSlot]]) -> dict[LayerSlot, list[LayerSlot]]:
        """The connected slots within the same band."""
        there = {spot for row in band for spot in row}
        beside: dict[LayerSlot, list[LayerSlot]] = {}
        for route in self.layers.routes.values():
            for one, other in pairwise(route):
                if one in there and other in there:
                    beside.setdefault(one, []).append(other)
                    beside.setdefault(other, []).append(one)
        return beside

    def _tall(self, spot: LayerSlot) -> float:
        return self.measures.lane if spot.passing else self.measures.height

    def _spread(self, row: Sequence[LayerSlot], wanted: Sequence[float]) -> list[float]:
        """Positions in order and far enough apart, as near to the wanted ones as possible: blocks
        that push each other are merged at the mean of their preferences (isotonic regression by
        pooling)."""
        offsets, reached = [0.0], 0.0
        for one, other in pairwise(row):
            gap = 0.0 if one.passing and other.passing else self.measures.apart
            reached += (self._tall(one) + self._tall(other)) / 2 + gap
            offsets.append(reached)
        blocks: list[tuple[float, int]] = []  # the sum of preferences, and how many
        for offset, preferred in zip(offsets, wanted, strict=False):
            total, count = preferred - offset, 1
            while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
                before = blocks.pop()
                total, count = total + before[0], count + before[1]
            blocks.append((total, count))
        starts = [total / count for total, count in blocks for _ in range(count)]
        return [start + offset for start, offset in zip(starts, offsets, strict=False)]

    def _leaving(self, band: int) -> list[LayerSlot]:
        last = self.bands[band][-1][0].layer
        leaving = {
            one
            for route in self.layers.routes.values()
            for one, other in pairwise(route)
            if one.layer == last and other.layer == last + 1
        }
        return sorted(leaving, key=lambda spot: self.boxes[spot].middle)

    def _ends(self) -> dict[tuple[LayerSlot, LayerSlot], float]:
        """The heights at which arrows enter each card, side by side."""
        entering: dict[LayerSlot, list[LayerSlot]] = {}
        for route in self.layers.routes.values():
            entering.setdefault(route[-1], []).append(route[-2])
        ends: dict[tuple[LayerSlot, LayerSlot], float] = {}
        for target, sources in entering.items():
            box = self.boxes[target]
            space = min(16.0, box.height / (len(sources) + 1))
            sources.sort(key=lambda spot: (spot.layer // self.columns, self.boxes[spot].middle))
            first = box.middle - space * (len(sources) - 1) / 2
            ends |= {(spot, target): first + space * i for i, spot in enumerate(sources)}
        return ends

    def _arrow(
        self, route: Sequence[LayerSlot], ends: Mapping[tuple[LayerSlot, LayerSlot], float]
    ) -> tuple[Point, ...]:
        start = self.boxes[route[0]]
        points: list[Point] = [(start.right, start.middle)]
        for one, other in pairwise(route):
            box = self.boxes[other]
            y = ends.get((one, other), box.middle)
            if other.layer % self.columns == 0:
                points += self._turn(one, y)
            points.append((box.x, y))
            if other.passing:
                points.append((box.right, y))
        return tuple(points)

    def _turn(self, spot: LayerSlot, y: float) -> list[Point]:
        """Go down beside the last column, back below the band, and down; upper arrows outside."""
        band = spot.layer // self.columns
        leaving = self.turning[band]
        lane = min(len(leaving) - 1 - leaving.index(spot), MAX_LANES - 1)
        count = min(len(leaving), MAX_LANES)
        box, sizes = self.boxes[spot], self.measures
        away = min(sizes.lane, sizes.margin / (2 * count))
        right = box.right + sizes.margin / 2 + (lane - (count - 1) / 2) * away
        left = self.margin - sizes.margin * 0.75 + lane * away
        below = self.gutters[band] + (lane - (count - 1) / 2) * sizes.lane
        return [(right, box.middle), (right, below), (left, below), (left, y)]


class _StackLayout:
    """One card below the other, with the arrows beside them."""

    def __init__(self, graph: Graph, layers: Layers, width: float, measures: LayoutSizes) -> None:
        self.graph, self.width, self.measures = graph, width, measures
        self.order = [spot.task for row in layers.rows for spot in row if not spot.passing]
        self.at = {task: number for number, task in enumerate(self.order)}

    def layout(self) -> GraphLayout:
        sizes = self.measures
        lanes = self._lanes()
        used = min(1 + max(lanes.values(), default=-1), MAX_LANES)
        side = sizes.margin / 2 + sizes.lane * used if used else 0.0
        step = sizes.height + 2 * sizes.apart
        wide = min(self.width - side, 2 * sizes.widest)
        cards = {
            task: LayoutBox(side, number * step, wide, sizes.height)
            for task, number in self.at.items()
        }
        arrows: dict[tuple[int, int], tuple[Point, ...]] = {}
        for task, sources in self.graph.items():
            for number, source in enumerate(dict.fromkeys(sources)):
                start, end = cards[source], cards[task]
                if self.at[task] == self.at[source] + 1:
                    middle = start.x + start.width / 2
                    arrows[source, task] = ((middle, start.bottom), (middle, end.y))
                    continue
                x = side - sizes.margin / 2 - sizes.lane * min(lanes[source], MAX_LANES - 1)
                y = end.middle + 10 * (number - (len(sources) - 1) / 2)
                arrows[source, task] = (
                    (start.x, start.middle),
                    (x, start.middle),
                    (x, y),
                    (end.x, y),
                )
        return GraphLayout(
            cards, arrows, self.width, len(cards) * step - 2 * sizes.apart, stacked=True
        )

    def _lanes(self) -> dict[int, int]:
        """A lane for each step whose result skips the next card; nearest first."""
        last = {
            source: self.at[task]
            for task in self.order
            for source in self.graph[task]
            if self.at[task] > self.at[source] + 1
        }
        until: list[int] = []
        lanes: dict[int, int] = {}
        for source in sorted(last, key=self.at.__getitem__):
            free = [lane for lane, end in enumerate(until) if end <= self.at[source]]
            lane = free[0] if free else len(until)
            until[lane : lane + 1] = [last[source]]
            lanes[source] = lane
        return lanes
