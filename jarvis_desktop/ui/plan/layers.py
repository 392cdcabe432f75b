"""Sorts the steps of a plan into layers, so that all arrows point forward and few of them cross."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import pairwise

SWEEPS = 8
"""How often the order within the layers is improved; more of them hardly find a better one."""

Graph = Mapping[int, Sequence[int]]
"""Each step, in the order of the plan, and the steps whose results it takes."""


@dataclass(frozen=True, slots=True)
class Spot:
    """A place in a layer: a step, or where the result of one passes by on its way."""

    task: int
    layer: int
    passing: bool = False


@dataclass(frozen=True, slots=True)
class Layers:
    """Spots in their order, layer by layer, and the road of each arrow through them."""

    rows: tuple[tuple[Spot, ...], ...]
    roads: Mapping[tuple[int, int], tuple[Spot, ...]]
    """By (source, target): from the source's spot to the target's, one in every layer between."""


def layered(graph: Graph, tallest: int) -> Layers:
    """A step stands in the first layer after those it waits for that has less than `tallest` steps.

    What passes several layers has a spot in each, which the arrows of one source share: the same
    result goes to all of them.
    """
    place = {task: number for number, task in enumerate(graph)}
    depth = _depths(graph, place, tallest)
    reach: dict[int, int] = {}
    for task, sources in graph.items():
        for source in sources:
            reach[source] = max(reach.get(source, 0), depth[task])
    rows: list[list[Spot]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for task in graph:
        rows[depth[task]].append(Spot(task, depth[task]))
        for layer in range(depth[task] + 1, reach.get(task, 0)):
            rows[layer].append(Spot(task, layer, passing=True))
    for row in rows:
        row.sort(key=lambda spot: place[spot.task])
    roads = {
        (source, task): (
            Spot(source, depth[source]),
            *(Spot(source, layer, passing=True) for layer in range(depth[source] + 1, depth[task])),
            Spot(task, depth[task]),
        )
        for task, sources in graph.items()
        for source in sources
    }
    steps = {pair for road in roads.values() for pair in pairwise(road)}
    return Layers(tuple(map(tuple, _ordered(rows, steps))), roads)


def _depths(graph: Graph, place: Mapping[int, int], tallest: int) -> dict[int, int]:
    """The layer of each step; what comes earlier in the plan takes its place first."""
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


def _ordered(rows: list[list[Spot]], steps: Iterable[tuple[Spot, Spot]]) -> list[list[Spot]]:
    """The rows, each spot near the middle of those it is joined with (the barycentre's way)."""
    before: dict[Spot, list[Spot]] = {}
    after: dict[Spot, list[Spot]] = {}
    for source, target in steps:
        after.setdefault(source, []).append(target)
        before.setdefault(target, []).append(source)
    best, fewest = rows, _crossings(rows, after)
    for sweep in range(SWEEPS):
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


def _crossings(rows: list[list[Spot]], after: Mapping[Spot, Sequence[Spot]]) -> int:
    """How many pairs of arrows between neighbouring rows cross."""
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
