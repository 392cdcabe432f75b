"""What a turn of agent mode has besides: its plans and its rounds, as columns of its row."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.outline import Outline
from jarvis_desktop.core.turn import Round, Turn
from jarvis_desktop.storage.documents import (
    DamagedError,
    Values,
    outline_of,
    outline_values,
    round_of,
    round_values,
    text_of,
    values_of,
)

log = logging.getLogger(__name__)

OWN = ""
"""Stands for the path of the plan of the goal itself."""


def values(turn: Turn, artifact_values: Callable[[Artifact], Values]) -> dict[str, object]:
    """The columns of a turn."""
    plans = {OWN: turn.outline, **turn.inner_outlines}
    outlines = {path: outline_values(item) for path, item in plans.items() if item is not None}
    rounds = [round_values(item, artifact_values) for item in turn.rounds.values()]
    return {
        "agentic": int(turn.agentic),
        "outline": text_of(outlines) if outlines else None,
        "rounds": text_of(rounds) if rounds else None,
    }


def fields(
    row: Mapping[str, Any], artifact: Callable[[dict[str, Any]], Artifact]
) -> dict[str, Any]:
    """The fields of the turn that has these columns. What cannot be read is left out."""
    plans, written = _read(values_of, row["outline"]), _read(values_of, row["rounds"])
    found = plans.items() if isinstance(plans, dict) else ()
    outlines = {path: outline for path, item in found if (outline := _read(outline_of, item))}
    rounds: list[Round | None] = [
        _read(lambda each: round_of(each, artifact), item)
        for item in (written if isinstance(written, list) else ())
    ]
    own: Outline | None = outlines.pop(OWN, None)
    return {
        "agentic": bool(row["agentic"]),
        "outline": own,
        "inner_outlines": outlines,
        "rounds": {item.number: item for item in rounds if item is not None},
    }


def _read(reader: Callable[[Any], Any], value: object) -> Any:
    try:
        return None if value is None else reader(value)
    except DamagedError as error:
        log.info("A plan or a round of a turn was not read: %s", error)
        return None
