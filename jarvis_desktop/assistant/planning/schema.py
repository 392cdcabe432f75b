"""The JSON Schema of an LLM's plan: only tasks that can run now, and only files that are there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jarvis_desktop.assistant.planning.named import Named
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Option, Port, TaskType

MOST_NAMES = 40
"""File names that a schema lists; where there are more, it takes any."""

_types = {bool: "boolean", int: "integer", float: "number", str: "string"}


def plan_schema(
    inventory: Sequence[TaskType], named: Named, *, agent: bool = False
) -> dict[str, Any]:
    """An object with "direct" and "plan", where each task takes its own arguments only.

    With `agent` it may also say that the request is a goal for agent mode. Tasks with the same
    arguments share one entry, for a schema is part of every prompt.
    """
    groups: dict[str, tuple[list[str], dict[str, Any]]] = {}
    for task_type in inventory:
        args = _args(task_type)
        groups.setdefault(repr(args), ([], args))[0].append(task_type.name)
    kinds = {port.kinds for task_type in inventory for port in task_type.ports}
    inputs = {_definition(each): _input(each, named) for each in sorted(kinds)}
    task = {"anyOf": [_task(*group) for group in groups.values()]}
    return _answer(task, agent=agent) | {"$defs": inputs}


def short_schema(inventory: Sequence[TaskType], *, agent: bool = False) -> dict[str, Any]:
    """The same without the arguments of each task, about a tenth as long; any name for none."""
    names = [task_type.name for task_type in inventory]
    return _answer(_task(names, {"type": "object"}), agent=agent)


def _answer(task: dict[str, Any], *, agent: bool) -> dict[str, Any]:
    plan = {"type": "array", "items": task}
    third = {"agent": {"type": "boolean"}} if agent else {}
    return _object(third | {"direct": {"type": "boolean"}, "plan": plan}, ["direct", "plan"])


def _task(names: list[str], args: dict[str, Any]) -> dict[str, Any]:
    which = {"enum": names} if names else {"type": "string"}
    properties = {"task": which, "id": {"type": "integer"}, "args": args}
    return _object(properties | {"wanted": {"type": "boolean"}}, list(properties))


def _args(task_type: TaskType) -> dict[str, Any]:
    ports = {port.name: _port(port) for port in task_type.ports}
    options = {option.name: _option(option) for option in task_type.options}
    return _object(ports | options, [port.name for port in task_type.ports if port.required])


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}


def _port(port: Port) -> dict[str, Any]:
    one = {"$ref": f"#/$defs/{_definition(port.kinds)}"}
    return {"type": "array", "items": one} if port.many else one


def _option(option: Option) -> dict[str, Any]:
    if option.choices:
        return {"enum": list(option.choices)}
    return {"type": _types[type(option.default)]}


def _definition(kinds: Iterable[Kind]) -> str:
    return "_".join(kinds)


def _input(kinds: Sequence[Kind], named: Named) -> dict[str, Any]:
    names = named.listed(kinds)
    if Kind.TEXT in kinds or len(names) > MOST_NAMES:
        return {"type": "string"}
    result = {"type": "string", "pattern": "^<GENERATED>-[0-9]{1,3}$"}
    return {"anyOf": [{"enum": names}, result]} if names else result
