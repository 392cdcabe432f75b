"""The training text of the embedded planner: inventories with requests, and what each asks for."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from jarvis_desktop.backends.task_encoder import condense

HERE = Path(__file__).parent
INVENTORIES = HERE / "inventories"
ANNOTATIONS = HERE / "annotations.txt"
BENCHMARK = "benchmark"
WORDINGS = ("user_request", "instruction")
"""Of a gold record: the one the paper measured on, and a freer one."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """Tasks by their descriptions, and a table of whose result fits whom."""

    name: str
    texts: tuple[str, ...]
    fits: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """A request and its graph; tasks by their places in the inventory."""

    inventory: str
    text: str
    order: tuple[int, ...]
    """The tasks asked for, each once, in running order; empty where none of them is."""
    links: frozenset[tuple[int, int]]

    def within(self, kept: list[int]) -> Sample:
        """The same in an inventory of only those tasks, all of its own among them."""
        place = {task: index for index, task in enumerate(kept)}
        links = frozenset((place[one], place[other]) for one, other in self.links)
        return replace(self, order=tuple(place[task] for task in self.order), links=links)


def inventory(name: str, tools: list[dict[str, Any]]) -> Inventory:
    """An inventory in TaskBench's form: id, desc, input-type, output-type."""
    takes = [{str(kind).lower() for kind in tool["input-type"]} for tool in tools]
    gives = [{str(kind).lower() for kind in tool["output-type"]} for tool in tools]
    titles = [re.sub(r"[-_]", " ", tool["id"]) for tool in tools]
    return Inventory(
        name,
        tuple(f"{title}: {tool['desc']}" for title, tool in zip(titles, tools, strict=True)),
        tuple(tuple(float(bool(give & take)) for take in takes) for give in gives),
    )


def own() -> tuple[dict[str, Inventory], list[Sample]]:
    """The inventories and requests of our own, from `inventories/`."""
    found, samples = {}, []
    for path in sorted(INVENTORIES.glob("*.json")):
        tools = json.loads(path.read_text(encoding="utf-8"))["tools"]
        found[path.stem] = inventory(path.stem, tools)
        for line in path.with_suffix(".txt").read_text(encoding="utf-8").splitlines():
            text, _, graph = line.partition("\t")
            samples.append(_sample(path.stem, text, graph))
    return found, samples


def benchmark(folder: Path) -> tuple[Inventory, list[Sample]]:
    """TaskBench's inventory, and its unlabelled requests with the graphs of `annotations.txt`.

    What is also the request of a gold record is left out, so that every gold record can measure.
    """
    tools = json.loads((folder / "tools_huggingface.json").read_text(encoding="utf-8"))["nodes"]
    gold = _lines(folder / "gold_dev.jsonl")
    known = {condense(record[wording]).text for record in gold for wording in WORDINGS}
    requests = {
        record["id"]: record["text"] for record in _lines(folder / "requests_unlabelled.jsonl")
    }
    samples = []
    for line in ANNOTATIONS.read_text(encoding="utf-8").splitlines():
        key, _, graph = line.partition(" ")
        if key in requests:
            samples.append(_sample(BENCHMARK, requests[key], graph))
    samples = [sample for sample in samples if sample.text not in known]
    return inventory(BENCHMARK, tools), samples


def _sample(name: str, text: str, graph: str) -> Sample:
    """`graph` is "4:f 9:n1": the 4th tool on a file, the 9th on the result of the first node."""
    nodes = [] if graph.strip() == "-" else [node.partition(":") for node in graph.split()]
    tasks = [int(number) - 1 for number, _, _ in nodes]
    links = {
        (tasks[int(arg[1:]) - 1], task)
        for task, (_, _, args) in zip(tasks, nodes, strict=True)
        for arg in args.split(",")
        if arg.startswith("n")
    }
    links = {(one, other) for one, other in links if one != other}
    return Sample(name, condense(text).text, tuple(dict.fromkeys(tasks)), frozenset(links))


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
