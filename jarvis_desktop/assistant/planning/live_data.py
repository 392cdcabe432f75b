"""Knows questions whose answers change from day to day: the weather, news, prices, scores, traffic.

A small LLM invents such answers, whatever its prompt says, and no task can look them up. The check
is by meaning: the encoder's direction of a question against weights that were trained on examples
(`packaging/planner/train_live.py`). What it misses is left to the rule in the prompt of the direct
answer.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr

MIN_LOG_ODDS = 0.5
"""How sure it must be: a question that could have been answered is not refused lightly."""


class LiveDataCheck:
    """Why no LLM can answer an English question; it may block for milliseconds."""

    def __init__(
        self, weights: Path, directions: Callable[[Sequence[str]], Sequence[Sequence[float]]]
    ) -> None:
        """`weights` is the file with a weight per number of a direction, and a bias."""
        self._file = weights
        self._directions = directions

    def __call__(self, text: str) -> str:
        """Return the reason if the text asks for live data, else ""."""
        try:
            (direction,) = self._directions([text])
        except UnavailableError:  # `doctor` reports it
            return ""
        weights, bias = self._weights
        length = math.hypot(*direction) or 1.0
        product = sum(weight * value for weight, value in zip(weights, direction, strict=True))
        if product / length + bias < MIN_LOG_ODDS:
            return ""
        return tr(
            "I cannot look that up: nothing here knows the weather, news, prices, scores, traffic "
            "or opening hours of today."
        )

    @cached_property
    def _weights(self) -> tuple[Sequence[float], float]:
        shipped = json.loads(self._file.read_text(encoding="utf-8"))
        return shipped["weights"], shipped["bias"]
