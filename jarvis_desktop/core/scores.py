"""How likely each task of an inventory is asked for: what a trained reader of requests tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jarvis_desktop.core.task import TaskType


@dataclass(frozen=True, slots=True)
class Scores:
    """What a request asks of the n tasks of an inventory, as probabilities."""

    tasks: tuple[float, ...]
    """Of each task, that it is asked for."""
    links: tuple[tuple[float, ...], ...]
    """links[i][j]: if both are asked for, that j takes the result of i."""
    order: tuple[tuple[float, ...], ...]
    """order[i][j]: if both are asked for, that i is done before j."""
    where: tuple[int, ...]
    """Of each task, the character of the request at which it is spoken of."""


class TaskScorer(Protocol):
    """Reads a request against the descriptions of tasks."""

    def score(self, text: str, inventory: Sequence[TaskType]) -> Scores:
        """In milliseconds, on a thread that may wait. Raises UnavailableError where it cannot be
        loaded."""
        ...
