"""How the application itself carries out a task type; and inventories of tasks read from a file.

The inventories let the planner be measured on tasks that are not ours.

A *method* is native or heavy code and runs in a child process; a *skill* is something that the
application itself does, on the engine's loop. A task type brings its own words along, so that a new
task is one file.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import ArtifactStore, Desktop, Facts, Lists, Timers
from jarvis_desktop.core.speech import Transcriber, Voice
from jarvis_desktop.core.task import Call, Port, Preset, Report, TaskOption, TaskType, Value


@dataclass(frozen=True, slots=True)
class Services:
    """What a skill may use of the running application."""

    recogniser: Transcriber
    voice: Voice
    timers: Timers
    desktop: Desktop
    now: Callable[[], datetime]
    stop_others: Callable[[], int]
    """Stops the other turns and their speech; returns the number of turns stopped."""
    facts: Facts
    lists: Lists
    store: ArtifactStore
    definitions: Sequence[Definition]  # all tasks, for the help


Method = Callable[[Call, Report], Iterable[Artifact]]
"""Runs in a child process: native code, large inputs, anything that may crash or hang."""

Skill = Callable[[Call, Report, Services], Awaitable[Iterable[Artifact]]]
"""Runs on the engine's loop: quick, or waiting for one of the services."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A task type and its built-in method or skill; neither if no honest one exists."""

    type: TaskType
    method: Method | None = None
    skill: Skill | None = None
    question: Callable[[Call], str] | None = None  # what to ask before a call runs; "" if nothing
    patience: int = 1
    """How many times longer than usual the method may take: films are written for minutes."""
    note: str = ""  # for the help: how the built-in way works, or what is needed for one


def presets(*groups: tuple[Mapping[str, Value], Iterable[str] | str]) -> tuple[Preset, ...]:
    """Presets from groups of options and the phrases that set them, as a list or as "a|b|c"."""
    return tuple(
        Preset(phrase, tuple(options.items()))
        for options, phrases in groups
        for phrase in (phrases.split("|") if isinstance(phrases, str) else phrases)
    )


def define(
    *,
    name: str,
    label: str,
    summary: str,
    ports: tuple[Port, ...] = (),
    gives: tuple[Kind, ...] = (Kind.TEXT,),
    options: tuple[TaskOption, ...] = (),
    cues: tuple[str, ...] = (),
    presets: tuple[Preset, ...] = (),
    exact: str = "",
    acts: bool = False,
    guarded: bool = False,
    hears: Callable[[str], object] | None = None,
    method: Method | None = None,
    skill: Skill | None = None,
    question: Callable[[Call], str] | None = None,
    patience: int = 1,
    reads: Callable[[str], Mapping[str, Value] | None] | None = None,
    note: str,
) -> Definition:
    """Build a task type and its definition; the fields are those of `TaskType` and `Definition`."""
    type = TaskType(
        name,
        summary,
        ports,
        gives,
        options,
        cues,
        presets,
        exact,
        acts=acts,
        guarded=guarded,
        label=label,
        reads=reads,
        hears=hears,
    )
    return Definition(type, method, skill, question, patience, note)


_kinds = {kind.value: kind for kind in Kind} | {"url": Kind.TEXT, "audio/video": Kind.AUDIO}


def load_tools(path: Path) -> tuple[TaskType, ...]:
    """Load the task types of a file in TaskBench's `tool_desc.json` form. Each node has `id`,
    `desc`, `input-type` and `output-type`. The task types have no cues: they are recognised by
    their descriptions. Raises InputError, which names the file."""
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
        # Nobody can be asked for what a request leaves open, so no input is required.
        ports.append(Port(f"{kind}{suffix}", (kind,), required=False))
    gives = tuple(_kind(item) for item in node.get("output-type", [])) or (Kind.TEXT,)
    return TaskType(name, str(node.get("desc", "")), tuple(ports), gives)


def _kind(name: str) -> Kind:
    return _kinds.get(name.strip().lower(), Kind.TEXT)
