"""TaskBench's four measures of a planned graph (Shen et al. 2023, arXiv 2311.18760, section 4).

Each is an F1 over all records together, of sets: the names of the tools; the (source, target)
pairs of tools that an argument links; the (tool, kind of argument) pairs; and these with the value,
which for a result of another tool is that tool's name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jarvis_desktop.core.artifact import Kind, kind_of_name
from jarvis_desktop.core.serialization import GENERATED

MEASURES = ("node", "edge", "argument type", "argument value")

Step = tuple[str, list["int | str"]]
"""A tool's name and its arguments: the place of another step, or a value."""


@dataclass
class Graph:
    """The four sets of one plan."""

    sets: dict[str, set[tuple[str, ...]]] = field(
        default_factory=lambda: {measure: set() for measure in MEASURES}
    )


def plain(name: str) -> str:
    """A tool's name as names are compared: lower case, with hyphens."""
    return re.sub(r"[\s_]+", "-", name.strip().lower())


def outputs(tools: Mapping[str, Any]) -> dict[str, str]:
    """What each tool of a `tool_desc.json` gives."""
    return {plain(tool["id"]): next(iter(tool["output-type"]), "none") for tool in tools["nodes"]}


def gold_steps(record: Mapping[str, Any]) -> list[Step]:
    """The steps of a gold record."""
    steps: list[Step] = []
    for node in record["task_nodes"]:
        given = node.get("arguments", [])
        values = given.values() if isinstance(given, dict) else given
        arguments: list[int | str] = []
        for value in values:
            text = _text(value)
            link = re.search(r"<node-(\d+)", text)
            arguments.append(int(link[1]) if link else text)
        steps.append((plain(node["task"]), arguments))
    return steps


def planned_steps(plan: Sequence[Mapping[str, Any]]) -> list[Step]:
    """The steps of a plan in its wire form."""
    place = {str(task["id"]): number for number, task in enumerate(plan)}
    steps: list[Step] = []
    for task in plan:
        arguments: list[int | str] = []
        for value in task["args"].values():
            for item in value if isinstance(value, list) else [value]:
                links = GENERATED.findall(str(item))
                arguments += [place.get(link, -1) for link in links] if links else [str(item)]
        steps.append((plain(task["task"]), arguments))
    return steps


def graph(steps: Sequence[Step], gives: Mapping[str, str]) -> Graph:
    """The sets of some steps; tools outside the inventory are no nodes."""
    found = Graph()
    names = [name for name, _ in steps]
    found.sets["node"] = {(name,) for name in names if name in gives}
    for place, (name, arguments) in enumerate(steps):
        for argument in arguments:
            if isinstance(argument, int):
                if argument == place or not 0 <= argument < len(names):
                    continue
                value = names[argument]
                kind = gives.get(value, "other")
                found.sets["edge"].add((value, name))
            else:
                kind, value = _kind(argument), argument
            found.sets["argument type"].add((name, kind))
            found.sets["argument value"].add((name, kind, value))
    return found


def f1(pairs: Iterable[tuple[Graph, Graph]]) -> dict[str, float]:
    """For (gold, planned) pairs each measure in percent."""
    both: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for gold, planned in pairs:
        for measure in MEASURES:
            both[measure] += len(gold.sets[measure] & planned.sets[measure])
            sizes[measure] += len(gold.sets[measure]) + len(planned.sets[measure])
    return {measure: 200 * both[measure] / max(1, sizes[measure]) for measure in MEASURES}


def _text(value: Any) -> str:
    if isinstance(value, dict):
        value = next(iter(value.values()), "")
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def _kind(value: str) -> str:
    """The benchmark knows a file by an ending anywhere in the value."""
    for name in re.findall(r"[\w-]*\.\w+", value):
        kind = kind_of_name(f"file{name[name.rindex('.') :].lower()}")
        if kind in (Kind.IMAGE, Kind.AUDIO, Kind.VIDEO):
            return kind.value
    return "text"
