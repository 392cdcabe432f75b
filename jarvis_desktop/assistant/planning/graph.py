"""Decodes scores into a graph of tasks: which are asked for, in which order, and what flows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jarvis_desktop.core.scores import Scores
from jarvis_desktop.core.task import TaskType

LINKED, FURTHER = 0.25, 0.5
"""A task takes one result from the first probability on, and further ones from the second."""


@dataclass(frozen=True, slots=True)
class Node:
    """One task of the graph."""

    type: TaskType
    where: int
    """The character of the request at which it is spoken of."""
    sources: tuple[int, ...]
    """Positions in the graph of the tasks whose results it takes, the likeliest first."""


def decode(scores: Scores, inventory: Sequence[TaskType], *, least: float) -> list[Node]:
    """The tasks that are at least that likely, in running order.

    A link exists only where kinds fit, an input takes one result, and no ring arises.
    """
    chosen = [index for index, value in enumerate(scores.tasks) if value >= least]
    links = _links(scores, inventory, chosen)
    order = _order(scores, chosen, links)
    position = {index: place for place, index in enumerate(order)}
    return [
        Node(
            inventory[index],
            scores.where[index],
            tuple(position[source] for source, target in links if target == index),
        )
        for index in order
    ]


def _links(
    scores: Scores, inventory: Sequence[TaskType], chosen: Sequence[int]
) -> list[tuple[int, int]]:
    """(source, target) pairs, the likeliest first."""
    likely = sorted(
        (
            (-scores.links[source][target], source, target)
            for source in chosen
            for target in chosen
            if source != target and scores.links[source][target] >= LINKED
        ),
    )
    free = {index: list(inventory[index].ports) for index in chosen}
    after: dict[int, set[int]] = {index: {index} for index in chosen}
    links: list[tuple[int, int]] = []
    for unlikely, source, target in likely:
        gives = inventory[source].gives
        port = next((item for item in free[target] if set(item.kinds) & set(gives)), None)
        taken = any(other == target for _, other in links)
        if port is None or source in after[target] or (taken and -unlikely < FURTHER):
            continue
        if not port.many:
            free[target].remove(port)
        links.append((source, target))
        for reached in after.values():
            if source in reached:
                reached |= after[target]
    return links


def _order(scores: Scores, chosen: Sequence[int], links: Sequence[tuple[int, int]]) -> list[int]:
    """A running order: sources first, and otherwise whatever most likely comes first."""
    rank = {
        index: sum(scores.order[index][other] for other in chosen if other != index)
        for index in chosen
    }
    order: list[int] = []
    while len(order) < len(chosen):
        waiting = {target for source, target in links if source not in order}
        ready = [index for index in chosen if index not in order and index not in waiting]
        order.append(max(ready, key=rank.__getitem__))
    return order
