"""The encoder of the planner in a process of its own: 100 MB that the window does without."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jarvis_desktop.apart import Apart
from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.scores import Scores
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.scoring.encoder import Described, described


class ApartScorer:
    """Implements TaskScorer; each call waits for the other process. May be used from any thread."""

    def __init__(self, apart: Apart, folder: Path) -> None:
        """`folder` holds the weights, as TaskEncoder takes them."""
        self._apart = apart
        self._folder = folder
        self._last: tuple[tuple[TaskType, ...], Described] | None = None

    def warm(self, inventory: Sequence[TaskType]) -> None:
        """Load, and read the descriptions of an inventory. Raises UnavailableError."""
        self._call("warm_of", self._described(inventory))

    def score(self, text: str, inventory: Sequence[TaskType]) -> Scores:
        """What a request asks of an inventory. Raises UnavailableError."""
        scores: Scores = self._call("score_of", text, self._described(inventory))
        return scores

    def directions(self, texts: Sequence[str]) -> list[list[float]]:
        """See TaskEncoder. Raises UnavailableError."""
        # One by one: who waits for a plan gets in between.
        return [self._call("direction_of", text) for text in texts]

    def _described(self, inventory: Sequence[TaskType]) -> Described:
        """To compare all with all takes milliseconds, and it is mostly the same inventory."""
        tasks, last = tuple(inventory), self._last
        if last is None or last[0] != tasks:
            last = self._last = tasks, described(tasks)
        return last[1]

    def _call(self, function: str, *args: object) -> Any:
        try:
            return self._apart.call(
                f"jarvis_desktop.scoring.encoder:{function}", self._folder, *args
            )
        except ExpertError as error:
            raise UnavailableError(error.message, hint=error.hint) from error
