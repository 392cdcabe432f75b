"""Plans, frames and rounds of agent mode as JSON values, and back.

What reads is strict about each value that it knows and passes over those that it does not: a file
may be damaged, and a newer version may write more. Readers raise DamagedError and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import encodable
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import (
    BranchChoice,
    CodeTerms,
    ControllerFrame,
    Outline,
    OutlineStep,
    StepState,
    Terms,
)
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.turn import Round

Values = Mapping[str, Any]
E = TypeVar("E", bound=StrEnum)


class DamagedError(Exception):
    """These are not the values that were written."""


def text_of(values: object) -> str:
    """Values as they lie in the database."""
    return encodable(json.dumps(values, ensure_ascii=False))


def values_of(text: object) -> Any:
    """What was written so."""
    try:
        return json.loads(text) if isinstance(text, str) else _damaged("text")
    except (ValueError, RecursionError) as error:
        raise DamagedError(tr("It is no JSON.")) from error


def outline_values(outline: Outline) -> Values:
    """A plan as it is written."""
    return {
        "steps": [
            {"id": step.id, "text": step.text, "state": step.state.value, "note": step.note}
            for step in outline
        ],
        "highest": outline.highest,
    }


def outline_of(values: object) -> Outline:
    """The plan that was written so."""
    whole = _mapping(values)
    entries = [_mapping(item) for item in _list(whole, "steps")]
    try:
        return Outline(
            tuple(
                OutlineStep(
                    number(entry, "id"),
                    text(entry, "text"),
                    _one_of(StepState, entry, "state"),
                    text(entry, "note"),
                )
                for entry in entries
            ),
            highest=number(whole, "highest"),
        )
    except PlanError as error:
        raise DamagedError(error.message) from error


def frame_values(frame: ControllerFrame) -> Values:
    """A controller as it is written."""
    pending = frame.pending
    return {
        "role": frame.role,
        "task": frame.task,
        "outline": frame.outline and outline_values(frame.outline),
        "rounds": frame.rounds,
        "tokens": frame.tokens,
        "summary": frame.summary,
        "summed": frame.summed,
        "notices": list(frame.notices),
        "observation": frame.observation,
        "last": frame.last,
        "pending": pending
        and {"branch": pending.branch, "args": dict(pending.args), "why": pending.why},
        "tainted": frame.tainted,
        "kept": dict(frame.kept),
    }


def frame_of(values: object) -> ControllerFrame:
    """The controller that was written so."""
    entry = _mapping(values)
    outline, pending = entry.get("outline"), entry.get("pending")
    kept = _mapping(entry.get("kept"))
    return ControllerFrame(
        role=text(entry, "role"),
        task=text(entry, "task"),
        outline=None if outline is None else outline_of(outline),
        rounds=number(entry, "rounds"),
        tokens=number(entry, "tokens"),
        summary=text(entry, "summary"),
        summed=number(entry, "summed"),
        notices=texts(entry, "notices"),
        observation=text(entry, "observation"),
        last=text(entry, "last"),
        pending=None if pending is None else _choice_of(_mapping(pending)),
        tainted=_yes_or_no(entry, "tainted"),
        kept={key: text(kept, key) for key in kept},
    )


def terms_values(terms: Terms) -> Values:
    """What was agreed to, as it is written."""
    return {
        "plan_accepted": terms.plan_accepted,
        "code": terms.code and terms.code.value,
        "hosts": list(terms.hosts),
    }


def terms_of(values: object) -> Terms:
    """What was agreed to; where that cannot be told, the person is asked about everything."""
    try:
        entry = _mapping(values)
        code = None if entry.get("code") is None else _one_of(CodeTerms, entry, "code")
        return Terms(_yes_or_no(entry, "plan_accepted"), code, texts(entry, "hosts"))
    except DamagedError:
        return Terms(code=CodeTerms.ASK)


def round_values(item: Round, artifact_values: Callable[[Artifact], Values]) -> Values:
    """A round as it is written."""
    return {
        "number": item.number,
        "path": item.path,
        "branch": item.branch,
        "what": item.what,
        "code": item.code,
        "printed": item.printed,
        "status": item.status and item.status.value,
        "observation": item.observation,
        "artifacts": [artifact_values(made) for made in item.artifacts],
        "seconds": item.seconds,
    }


def round_of(values: object, artifact: Callable[[dict[str, Any]], Artifact]) -> Round:
    """The round that was written so."""
    entry = _mapping(values)
    return Round(
        number(entry, "number"),
        text(entry, "path"),
        text(entry, "branch"),
        text(entry, "what"),
        text(entry, "code"),
        text(entry, "printed"),
        None if entry.get("status") is None else status_of(entry.get("status")),
        text(entry, "observation"),
        artifacts_of(_list(entry, "artifacts"), artifact),
        seconds_of(entry),
    )


def artifacts_of(
    values: object, artifact: Callable[[dict[str, Any]], Artifact]
) -> tuple[Artifact, ...]:
    """The artifacts that were written so; one that is damaged is left out."""
    found = []
    for item in values if isinstance(values, list) else ():
        try:
            found.append(artifact(item))
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
    return tuple(found)


def status_of(value: object) -> Status:
    """How something ended; what is not known did not end well."""
    known = isinstance(value, str) and value in set(Status)
    return Status(str(value)) if known else Status.FAILED


def text(entry: Values, key: str) -> str:
    """A text of an entry."""
    value = entry.get(key)
    return value if isinstance(value, str) else _damaged(key)


def texts(entry: Values, key: str) -> tuple[str, ...]:
    """A list of texts of an entry."""
    items = _list(entry, key)
    return tuple(items) if all(isinstance(item, str) for item in items) else _damaged(key)


def number(entry: Values, key: str) -> int:
    """A whole number of an entry."""
    value = entry.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else _damaged(key)


def seconds_of(entry: Values) -> float:
    """How long something took; 0 where that was not written, or makes no sense."""
    value = entry.get("seconds")
    known = isinstance(value, int | float) and 0 <= value < float("inf")
    return float(value) if known and value is not None else 0.0


def _choice_of(entry: Values) -> BranchChoice:
    return BranchChoice(text(entry, "branch"), _mapping(entry.get("args")), text(entry, "why"))


def _yes_or_no(entry: Values, key: str) -> bool:
    value = entry.get(key)
    return value if isinstance(value, bool) else _damaged(key)


def _one_of(kind: type[E], entry: Values, key: str) -> E:
    value = text(entry, key)
    return kind(value) if value in set(kind) else _damaged(key)


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else _damaged("object")


def _list(entry: Values, key: str) -> list[Any]:
    value = entry.get(key)
    return value if isinstance(value, list) else _damaged(key)


def _damaged(what: str) -> Any:
    raise DamagedError(tr("There is no valid {what}.", what=what))
