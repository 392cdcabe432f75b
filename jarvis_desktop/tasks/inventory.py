"""Reads an inventory of tasks from a file, so that the planner can be measured on any of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.core.wording import tr

_kinds = {kind.value: kind for kind in Kind} | {"url": Kind.TEXT, "audio/video": Kind.AUDIO}


def load_tools(path: Path) -> tuple[TaskType, ...]:
    """The task types of a file in TaskBench's `tool_desc.json` form.

    Each node has `id`, `desc`, `input-type` and `output-type`. The task types have no cues: they
    are known by their descriptions. Raises InputError that names the file.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        nodes = document["nodes"] if isinstance(document, dict) else document
        return tuple(_task_type(node) for node in nodes)
    except FileNotFoundError as error:
        raise InputError(tr("There is no file {path}.", path=path)) from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            tr("{path} is not an inventory of tools: {error}.", path=path, error=error)
        ) from error


def _task_type(node: dict[str, Any]) -> TaskType:
    name = str(node["id"])
    counts: Counter[str] = Counter()
    ports = []
    given = [_kind(item) for item in node.get("input-type", [])]
    for kind in given:
        counts[kind] += 1
        suffix = f"_{counts[kind]}" if given.count(kind) > 1 else ""
        # What a request leaves open cannot be asked for here, so no input is required.
        ports.append(Port(f"{kind}{suffix}", (kind,), required=False))
    gives = tuple(_kind(item) for item in node.get("output-type", [])) or (Kind.TEXT,)
    return TaskType(name, str(node.get("desc", "")), tuple(ports), gives)


def _kind(name: str) -> Kind:
    return _kinds.get(name.strip().lower(), Kind.TEXT)
