"""JSON forms: plans as HuggingGPT writes them, and every event and value for `--json`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.events import Event
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Arg, Item, Port, Ref, Task, TaskType

GENERATED = re.compile(r"<GENERATED>-(\d{1,9})", re.ASCII)
"""Stands for the result of the task with that id."""


def plan_to_wire(plan: Plan, *, whole: bool = False) -> list[dict[str, Any]]:
    """Return the plan as `[{"task", "id", "dep", "args"}]`; `dep` is [-1] without dependencies.

    An artifact is written as its path or text; with `whole`, as an object with its kind and name,
    without loss. `plan_from_wire` reads both. "wanted" is present if true, "expert" if the user
    chose one.
    """
    return [
        {
            "task": task.type.name,
            "id": task.id,
            "dep": list(task.depends_on) or [-1],
            "args": {name: _arg_to_wire(arg, whole) for name, arg in task.args.items()},
        }
        | ({"wanted": True} if task.wanted else {})
        | ({"expert": task.expert} if task.expert else {})
        for task in plan
    ]


def plan_from_wire(data: object, inventory: Mapping[str, TaskType]) -> Plan:
    """Build the plan that parsed JSON describes, over the task types of `inventory`.

    Raises PlanError, one sentence, if it is not a valid plan. `dep` is ignored: dependencies follow
    from the arguments.
    """
    if not isinstance(data, list):
        raise PlanError(tr("A plan is a list of tasks."))
    return Plan(tuple(_task_from_wire(entry, inventory) for entry in data))


def to_wire(value: object) -> Any:
    """Return any event, turn, result or other core value, ready for JSON.

    An event has its name as the first key, "event". Raises TypeError for other values.
    """
    wired = _wire(value)
    if isinstance(value, Event):
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", type(value).__name__).lower()
        return {"event": name, **wired}
    return wired


def _wire(value: object) -> Any:
    match value:
        case Plan():
            return plan_to_wire(value)
        case Enum():
            return value.value
        case float() if not math.isfinite(value):
            return None  # JSON has neither NaN nor infinity
        case None | bool() | int() | float() | str():
            return value
        case Path():
            return str(value)
        case datetime():
            return value.isoformat()
        case frozenset():
            return sorted(_wire(item) for item in value)
        case tuple() | list():
            return [_wire(item) for item in value]
        case Mapping():
            return {str(key): _wire(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        # Fields without repr, such as the source of a copy, are private.
        shown = (field.name for field in fields(value) if field.repr)
        return {name: _wire(getattr(value, name)) for name in shown}
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _arg_to_wire(arg: Arg, whole: bool) -> Any:
    match arg:
        case tuple():
            return [_arg_to_wire(item, whole) for item in arg]
        case Ref(task_id=task_id):
            return f"<GENERATED>-{task_id}"
        case Artifact() if whole:
            return _wire(arg)
        case Artifact(path=None):
            return arg.text
        case Artifact():
            return str(arg.path)
    return arg


def _task_from_wire(entry: object, inventory: Mapping[str, TaskType]) -> Task:
    if not isinstance(entry, Mapping):
        raise PlanError(tr("A task of a plan is an object with task, id and args."))
    name = entry.get("task")
    if not isinstance(name, str):
        raise PlanError(tr("A task of the plan has no name."))
    if not (kind := inventory.get(name)):
        raise PlanError(tr("There is no task called '{name}'.", name=one_line(name)))
    args = entry.get("args", {})
    if not isinstance(args, Mapping):
        raise PlanError(tr("The args of the task '{name}' are not an object.", name=name))
    return Task(
        _number(entry.get("id"), name),
        kind,
        dict(_args_from_wire(args, kind)),
        wanted=entry.get("wanted") is True,
        expert=_expert(entry.get("expert", ""), name),
    )


def _expert(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise PlanError(tr("Task '{name}': the expert must be a name.", name=name))
    _check_text(value, f"The expert of the task '{name}'")
    return value.strip()


def _number(value: object, name: str) -> int:
    if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value, re.ASCII):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9:
        return value
    raise PlanError(tr("The task '{name}' has no id that is a whole number from 0.", name=name))


def _args_from_wire(args: Mapping[object, object], kind: TaskType) -> Iterator[tuple[str, Arg]]:
    for key, value in args.items():
        name = one_line(str(key))
        where = f"The argument '{name}' of the task '{kind.name}'"
        port = kind.port(name)
        if isinstance(value, list):
            yield name, tuple(_item_from_wire(item, port, where) for item in value)
        else:
            yield name, _item_from_wire(value, port, where)


def _item_from_wire(value: object, port: Port | None, where: str) -> Item:
    match value:
        case str():
            return _string_from_wire(value, port, where)
        case float() if not math.isfinite(value):
            raise PlanError(tr("{where} is not a finite number.", where=where))
        case bool() | int() | float():
            return value
        case Mapping():
            return _artifact_from_wire(value, where)
    raise PlanError(
        tr("{where} is neither text, number, yes or no, nor a list of these.", where=where)
    )


def _string_from_wire(value: str, port: Port | None, where: str) -> Item:
    if generated := GENERATED.fullmatch(value.strip()):
        return Ref(int(generated[1]))
    _check_text(value, where)
    if port is None or Kind.TEXT in port.kinds:
        return value
    if not value.strip():
        raise PlanError(tr("{where} names no file.", where=where))
    promised = kind_of_name(value)
    kind = promised if promised in port.kinds else port.kinds[0]
    path = Path(value)
    return Artifact(kind, path=path, name=path.name)


def _artifact_from_wire(value: Mapping[object, object], where: str) -> Artifact:
    name, made_by = value.get("name", ""), value.get("made_by")
    match value.get("kind"), value.get("text"), value.get("path"), name, made_by:
        case str(kind), str() | None as text, str() | None as path, str(name), int() | None as by:
            if kind in set(Kind) and (text is None) != (path is None) and not isinstance(by, bool):
                _check_text(f"{text}{path}{name}", where)
                file = None if path is None else Path(path)
                return Artifact(Kind(kind), text, file, name, by)
    raise PlanError(tr("{where} is an object, but not an artifact.", where=where))


def _check_text(value: str, where: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise PlanError(tr("{where} has invalid characters.", where=where)) from error
