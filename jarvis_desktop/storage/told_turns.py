"""Turns as the JSON of an export tells them. It may come from anybody: what reads is strict about
each value that it knows, and passes over those that it does not."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import Fault, PlanError
from jarvis_desktop.core.expert import Candidate, Expert, Selection
from jarvis_desktop.core.outline import Outline
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.result import Attempt, Spent, Status, TaskResult
from jarvis_desktop.core.task import Arg, Item, Task, TaskType
from jarvis_desktop.core.turn import Round, Turn
from jarvis_desktop.core.wire import plan_from_wire
from jarvis_desktop.core.wording import tr
from jarvis_desktop.storage.documents import (
    DamagedError,
    Values,
    number,
    outline_of,
    round_of,
    seconds_of,
    text,
    texts,
)

ID = 200
"""Characters of an id."""
COUNTS = ("calls", "tokens")
TEXT = 20_000_000
"""Characters of a text."""

Place = Callable[[str, Kind], tuple[Kind, Path]]
"""Where a file that the JSON names lies, and of what kind it is. Raises InputError."""


def turn_of(values: object, inventory: Mapping[str, TaskType], place: Place) -> Turn:
    """A turn. Raises DamagedError where it is none."""
    entry = mapping(values)
    artifact = partial(_artifact, place=place)
    results = [_result(item, artifact) for item in _members(entry, "results")]
    rounds = [_round(item, artifact) for item in _members(entry, "rounds")]
    outlines = mapping(entry.get("inner_outlines", {}))
    return Turn(
        id=name(entry, "id"),
        started=moment(entry, "started"),
        text=_bounded(entry, "text"),
        heard_by=_bounded(entry, "heard_by"),
        attachments=tuple(artifact(item) for item in entries(entry, "attachments")),
        plan=_plan(entry.get("plan"), inventory, place),
        selections=tuple(_selection(item) for item in entries(entry, "selections")),
        results={item.task_id: item for item in results},
        agentic=entry.get("agentic") is True,
        outline=_outline(entry.get("outline")),
        inner_outlines={
            str(path): outline for path, item in outlines.items() if (outline := _outline(item))
        },
        rounds={item.number: item for item in rounds},
        notes=texts(entry, "notes"),
        reply=_bounded(entry, "reply"),
        status=None if entry.get("status") is None else _one_of(Status, entry, "status"),
        finished=None if entry.get("finished") is None else moment(entry, "finished"),
        pinned=entry.get("pinned") is True,
    )


def mapping(value: object) -> dict[str, Any]:
    """An object of the JSON."""
    if isinstance(value, dict):
        return value
    raise DamagedError(tr("There is no object where one should be."))


def entries(entry: Values, key: str) -> list[Any]:
    """A list of an object."""
    value = entry.get(key)
    if isinstance(value, list):
        return value
    raise DamagedError(tr("There is no list of {key}.", key=key))


def name(entry: Values, key: str) -> str:
    """An id: short, and of signs that can be seen."""
    value = text(entry, key)
    if 0 < len(value) <= ID and value.isprintable():
        return value
    raise DamagedError(tr("There is no valid {key}.", key=key))


def moment(entry: Values, key: str) -> datetime:
    """A date with its time."""
    try:
        found = datetime.fromisoformat(text(entry, key))
        found.astimezone()  # which years at the end of time cannot
    except (ValueError, OverflowError) as error:
        raise DamagedError(tr("There is no valid {key}.", key=key)) from error
    return found


def _bounded(entry: Values, key: str) -> str:
    value = text(entry, key)
    if len(value) > TEXT:
        raise DamagedError(tr("The {key} is too long.", key=key))
    return value


def _members(entry: Values, key: str) -> list[Any]:
    return list(mapping(entry.get(key)).values())


def _one_of(kind: Any, entry: Values, key: str) -> Any:
    value = text(entry, key)
    if value in set(kind):
        return kind(value)
    raise DamagedError(tr("There is no valid {key}.", key=key))


def _artifact(values: object, *, place: Place) -> Artifact:
    entry = mapping(values)
    kind, made_by = _one_of(Kind, entry, "kind"), entry.get("made_by")
    if made_by is not None and (not isinstance(made_by, int) or isinstance(made_by, bool)):
        raise DamagedError(tr("There is no valid made_by."))
    title = text(entry, "name")
    if entry.get("path") is None:
        return Artifact(kind, _bounded(entry, "text"), None, title, made_by)
    if entry.get("text") is not None:
        raise DamagedError(tr("An artifact is a text and a file at once."))
    kind, path = place(text(entry, "path"), kind)
    return Artifact(kind, None, path, title, made_by)


def _result(values: object, artifact: Callable[[object], Artifact]) -> TaskResult:
    entry = mapping(values)
    return TaskResult(
        number(entry, "task_id"),
        _one_of(Status, entry, "status"),
        tuple(artifact(item) for item in entries(entry, "artifacts")),
        tuple(_attempt(item) for item in entries(entry, "attempts")),
        _bounded(entry, "reason"),
    )


def _attempt(values: object) -> Attempt:
    entry = mapping(values)
    candidate = mapping(entry.get("candidate"))
    known = mapping(candidate.get("expert"))
    expert = Expert(text(known, "id"), text(known, "task"), revision=text(known, "revision"))
    # Exports of earlier versions tell nothing of where it ran and what it cost.
    provider = candidate.get("provider")
    return Attempt(
        Candidate(
            expert,
            text(candidate, "backend"),
            remote=candidate.get("remote") is True,
            provider=provider[:ID] if isinstance(provider, str) else "",
        ),
        seconds_of(entry),
        _bounded(entry, "error"),
        fault=_one_of(Fault, entry, "fault"),
        spent=_spent(entry.get("spent")),
    )


def _spent(values: object) -> Spent:
    entry = mapping({} if values is None else values)
    dollars = entry.get("dollars")
    known = isinstance(dollars, int | float) and 0 <= dollars < float("inf")
    calls, tokens = (max(0, number(entry, key)) if key in entry else 0 for key in COUNTS)
    return Spent(calls, tokens, float(dollars) if known and dollars is not None else None)


def _selection(values: object) -> Selection:
    entry = mapping(values)
    return Selection(number(entry, "task_id"), (), text(entry, "reason"))


def _round(values: object, artifact: Callable[[dict[str, Any]], Artifact]) -> Round:
    for item in entries(mapping(values), "artifacts"):
        artifact(item)  # `round_of` would leave out a damaged one without a word
    return round_of(values, artifact)


def _outline(values: object) -> Outline | None:
    return None if values is None else outline_of(values)


def _plan(values: object, inventory: Mapping[str, TaskType], place: Place) -> Plan | None:
    """A plan; None where the task types of today do not fit it."""
    if values is None:
        return None
    try:
        plan = plan_from_wire(values, inventory)
        return Plan(tuple(_placed(task, place) for task in plan))
    except PlanError:
        return None


def _placed(task: Task, place: Place) -> Task:
    """The task with the files of its arguments where they lie."""

    def moved(item: Item) -> Item:
        if not isinstance(item, Artifact) or item.path is None:
            return item
        return replace(item, path=place(str(item.path), item.kind)[1])

    def each(arg: Arg) -> Arg:
        return tuple(map(moved, arg)) if isinstance(arg, tuple) else moved(arg)

    return replace(task, args={key: each(arg) for key, arg in task.args.items()})
