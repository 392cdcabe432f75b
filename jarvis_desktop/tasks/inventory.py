"""Reads an inventory of tasks from a file, so that the planner can be measured on any of them."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.registry import INVENTORY

_kinds = {kind.value: kind for kind in Kind} | {"url": Kind.TEXT, "audio/video": Kind.AUDIO}


def load_tools(path: Path) -> tuple[TaskType, ...]:
    """The task types of a file in TaskBench's `tool_desc.json` form.

    Each node has `id`, `desc`, `input-type` and `output-type`. A tool whose name is that of one
    of our own tasks brings its cues along. Raises InputError that names the file.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        nodes = document["nodes"] if isinstance(document, dict) else document
        return tuple(_task_type(node) for node in nodes)
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}.") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path} is not an inventory of tools: {error}.") from error


def _task_type(node: dict[str, Any]) -> TaskType:
    name = str(node["id"])
    own = next((item for item in INVENTORY if item.name == _plain(name)), None)
    counts: Counter[str] = Counter()
    ports = []
    given = [_kind(item) for item in node.get("input-type", [])]
    for kind in given:
        counts[kind] += 1
        suffix = f"_{counts[kind]}" if given.count(kind) > 1 else ""
        ports.append(Port(f"{kind}{suffix}", (kind,)))
    gives = tuple(_kind(item) for item in node.get("output-type", [])) or (Kind.TEXT,)
    cues = own.cues if own else _cues(name)
    return TaskType(name, str(node.get("desc", "")), tuple(ports), gives, cues=cues)


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", "-", name.strip().lower())


def _kind(name: str) -> Kind:
    return _kinds.get(name.strip().lower(), Kind.TEXT)


def _cues(name: str) -> tuple[str, ...]:
    """The words of a name, and its verb and noun the other way round: "audio splicer" is also
    heard in "splice the audio"."""
    words = re.findall(r"[a-z]+", name.lower())
    stems = [re.sub(r"(?:izer|iser|ation|tion|ing|er|or|ion|ment|s)$", "", word) for word in words]
    turned = f"{stems[-1]}* ... {stems[0]}*" if len(stems) > 1 else f"{stems[0]}*"
    return (" ".join(words), turned)
