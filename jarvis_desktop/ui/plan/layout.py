"""Where the cards of a plan stand and which way its arrows go. Plain geometry, without Qt.

The layers follow each other in the direction of reading, as many beside each other as there is room
for, and go on in the next band, as words do. So a plan is never wider than its place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from jarvis_desktop.ui.plan.layers import Graph, Layers, Spot, layered

TALLEST = 8
"""Steps below each other, before those that could begin beside them move on to the next layer."""
LEAST_COLUMNS = 3
"""Bands of fewer are harder to follow than cards below each other."""
SWEEPS = 7
"""How often what stands in a band is moved; the last time from the first column to the last."""
MOST_LANES = 6
"""Arrows that turn beside each other; more of them share their lanes."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its far edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height

    @property
    def middle(self) -> float:
        """Half way down."""
        return self.y + self.height / 2


Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Measures:
    """The sizes that a layout keeps to, in pixels."""

    narrowest: float = 148
    widest: float = 240
    height: float = 72
    between: float = 34
    """From one layer to the next: room for the arrows."""
    apart: float = 12
    """Between what stands in one layer."""
    lane: float = 7
    """Between arrows that run beside each other."""
    margin: float = 20
    """Where arrows turn into the next band."""


@dataclass(frozen=True, slots=True)
class Layout:
    """All places. An arrow is a line through points; where it is neither level nor upright, it
    swings from one level to the other."""

    cards: Mapping[int, Box]
    arrows: Mapping[tuple[int, int], tuple[Point, ...]]
    """By (source, target)."""
    width: float
    height: float
    stacked: bool = False
    """Whether there is one card beside another nowhere: arrows leave at the bottom then."""


def laid_out(graph: Graph, width: float, measures: Measures) -> Layout:
    """The places of all steps within that width."""
    room = width - 2 * measures.margin
    step = measures.narrowest + measures.between
    fitting = int((room + measures.between) // step)
    layers = layered(graph, max(TALLEST, ceil(len(graph) / max(fitting, 1))))
    if len(layers.rows) * step - measures.between <= width:
        fitting, room = len(layers.rows), width  # one band, whose arrows turn nowhere
    if fitting < LEAST_COLUMNS and len(layers.rows) > fitting:
        return _Stack(graph, layers, width, measures).layout()
    return _Bands(layers, max(fitting, 1), room, width, measures).layout()


class _Bands:
    """Layers as columns, and as many bands of them as it takes."""

    def __init__(
        self, layers: Layers, fitting: int, room: float, width: float, measures: Measures
    ) -> None:
        self.layers, self.measures, self.width = layers, measures, width
        count = max(1, ceil(len(layers.rows) / fitting))
        self.columns = max(1, ceil(len(layers.rows) / count))
        self.margin = measures.margin if count > 1 else 0.0
        free = room - (self.columns - 1) * measures.between
        self.card = min(measures.widest, free / self.columns)
        self.boxes: dict[Spot, Box] = {}
        self.bands = [
            layers.rows[start : start + self.columns]
            for start in range(0, len(layers.rows), self.columns)
        ]
        self.gutters: list[float] = []
        """The middle of the room below each band."""
        self.turning: list[list[Spot]] = []
        """What goes on from each band into the next one, from above to below."""

    def layout(self) -> Layout:
        """All places."""
        top = 0.0
        for number, band in enumerate(self.bands):
            bottom = self._place(band, top)
            self.turning.append(self._leaving(number))
            lanes = min(len(self.turning[number]), MOST_LANES)
            gutter = 2 * self.measures.apart + self.measures.lane * lanes
            self.gutters.append(bottom + gutter / 2)
            top = bottom + gutter
        height = max((box.bottom for box in self.boxes.values()), default=0.0)
        ends = self._ends()
        arrows = {ends_of: self._arrow(road, ends) for ends_of, road in self.layers.roads.items()}
        cards = {spot.task: box for spot, box in self.boxes.items() if not spot.passing}
        return Layout(cards, arrows, self.width, height)

    def _place(self, band: Sequence[Sequence[Spot]], top: float) -> float:
        """Give the spots of a band their boxes; its lower edge."""
        sizes = self.measures
        at: dict[Spot, float] = {}
        for row in band:
            at.update(zip(row, self._spread(row, [0.0] * len(row)), strict=True))
        beside = self._beside(band)
        for sweep in range(SWEEPS):
            last = sweep == SWEEPS - 1
            for row in band if sweep % 2 == 0 else reversed(band):
                wanted = [self._wish(spot, at, beside, straight=last) for spot in row]
                at.update(zip(row, self._spread(row, wanted), strict=True))
        first = min(at[spot] - self._tall(spot) / 2 for row in band for spot in row)
        for column, row in enumerate(band):
            x = self.margin + column * (self.card + sizes.between)
            for spot in row:
                tall = self._tall(spot)
                self.boxes[spot] = Box(x, top + at[spot] - tall / 2 - first, self.card, tall)
        return max(self.boxes[spot].bottom for row in band for spot in row)

    def _wish(
        self,
        spot: Spot,
        at: Mapping[Spot, float],
        beside: Mapping[Spot, Sequence[Spot]],
        *,
        straight: bool,
    ) -> float:
        """Where a spot would stand: in the middle of what it is joined with. In the end cards stay,
        and what passes by goes straight on."""
        joined = beside.get(spot, ())
        if straight:
            before = (other for other in joined if other.layer < spot.layer)
            return at[next(before, spot) if spot.passing else spot]
        return sum(at[other] for other in joined) / len(joined) if joined else at[spot]

    def _beside(self, band: Sequence[Sequence[Spot]]) -> dict[Spot, list[Spot]]:
        """The spots of the same band with which each is joined."""
        there = {spot for row in band for spot in row}
        beside: dict[Spot, list[Spot]] = {}
        for road in self.layers.roads.values():
            for one, other in pairwise(road):
                if one in there and other in there:
                    beside.setdefault(one, []).append(other)
                    beside.setdefault(other, []).append(one)
        return beside

    def _tall(self, spot: Spot) -> float:
        return self.measures.lane if spot.passing else self.measures.height

    def _spread(self, row: Sequence[Spot], wanted: Sequence[float]) -> list[float]:
        """Middles in their order and far enough apart, as near to those wanted as can be.

        Blocks of spots that push each other are merged and stand at the mean of their wishes
        (isotonic regression by pooling).
        """
        offsets, reached = [0.0], 0.0
        for one, other in pairwise(row):
            gap = 0.0 if one.passing and other.passing else self.measures.apart
            reached += (self._tall(one) + self._tall(other)) / 2 + gap
            offsets.append(reached)
        blocks: list[tuple[float, int]] = []  # the sum of wishes, and how many
        for offset, wish in zip(offsets, wanted, strict=False):
            total, count = wish - offset, 1
            while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
                before = blocks.pop()
                total, count = total + before[0], count + before[1]
            blocks.append((total, count))
        starts = [total / count for total, count in blocks for _ in range(count)]
        return [start + offset for start, offset in zip(starts, offsets, strict=False)]

    def _leaving(self, band: int) -> list[Spot]:
        last = self.bands[band][-1][0].layer
        leaving = {
            one
            for road in self.layers.roads.values()
            for one, other in pairwise(road)
            if one.layer == last and other.layer == last + 1
        }
        return sorted(leaving, key=lambda spot: self.boxes[spot].middle)

    def _ends(self) -> dict[tuple[Spot, Spot], float]:
        """At which height an arrow reaches a card: several do so beside each other."""
        entering: dict[Spot, list[Spot]] = {}
        for road in self.layers.roads.values():
            entering.setdefault(road[-1], []).append(road[-2])
        ends: dict[tuple[Spot, Spot], float] = {}
        for target, sources in entering.items():
            box = self.boxes[target]
            space = min(16.0, box.height / (len(sources) + 1))
            sources.sort(key=lambda spot: (spot.layer // self.columns, self.boxes[spot].middle))
            first = box.middle - space * (len(sources) - 1) / 2
            ends |= {(spot, target): first + space * i for i, spot in enumerate(sources)}
        return ends

    def _arrow(
        self, road: Sequence[Spot], ends: Mapping[tuple[Spot, Spot], float]
    ) -> tuple[Point, ...]:
        start = self.boxes[road[0]]
        points: list[Point] = [(start.right, start.middle)]
        for one, other in pairwise(road):
            box = self.boxes[other]
            y = ends.get((one, other), box.middle)
            if other.layer % self.columns == 0:
                points += self._turn(one, y)
            points.append((box.x, y))
            if other.passing:
                points.append((box.right, y))
        return tuple(points)

    def _turn(self, spot: Spot, y: float) -> list[Point]:
        """Down beside the last column, back below the band, and down to where it goes on.

        Whoever leaves above goes round whoever leaves below.
        """
        band = spot.layer // self.columns
        leaving = self.turning[band]
        lane = min(len(leaving) - 1 - leaving.index(spot), MOST_LANES - 1)
        count = min(len(leaving), MOST_LANES)
        box, sizes = self.boxes[spot], self.measures
        away = min(sizes.lane, sizes.margin / (2 * count))
        right = box.right + sizes.margin / 2 + (lane - (count - 1) / 2) * away
        left = self.margin - sizes.margin * 0.75 + lane * away
        below = self.gutters[band] + (lane - (count - 1) / 2) * sizes.lane
        return [(right, box.middle), (right, below), (left, below), (left, y)]


class _Stack:
    """One card below the other, in the order of the layers, with the arrows beside them."""

    def __init__(self, graph: Graph, layers: Layers, width: float, measures: Measures) -> None:
        self.graph, self.width, self.measures = graph, width, measures
        self.order = [spot.task for row in layers.rows for spot in row if not spot.passing]
        self.at = {task: number for number, task in enumerate(self.order)}

    def layout(self) -> Layout:
        """All places."""
        sizes = self.measures
        lanes = self._lanes()
        used = min(1 + max(lanes.values(), default=-1), MOST_LANES)
        side = sizes.margin / 2 + sizes.lane * used if used else 0.0
        step = sizes.height + 2 * sizes.apart
        wide = min(self.width - side, 2 * sizes.widest)
        cards = {
            task: Box(side, number * step, wide, sizes.height) for task, number in self.at.items()
        }
        arrows: dict[tuple[int, int], tuple[Point, ...]] = {}
        for task, sources in self.graph.items():
            for number, source in enumerate(dict.fromkeys(sources)):
                start, end = cards[source], cards[task]
                if self.at[task] == self.at[source] + 1:
                    middle = start.x + start.width / 2
                    arrows[source, task] = ((middle, start.bottom), (middle, end.y))
                    continue
                x = side - sizes.margin / 2 - sizes.lane * min(lanes[source], MOST_LANES - 1)
                y = end.middle + 10 * (number - (len(sources) - 1) / 2)
                arrows[source, task] = (
                    (start.x, start.middle),
                    (x, start.middle),
                    (x, y),
                    (end.x, y),
                )
        return Layout(cards, arrows, self.width, len(cards) * step - 2 * sizes.apart, stacked=True)

    def _lanes(self) -> dict[int, int]:
        """A lane for each step whose result goes past the next card; nearest first."""
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
