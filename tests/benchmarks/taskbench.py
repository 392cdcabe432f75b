"""Prints a planner's figures on TaskBench beside the published ones.

Run: python -m tests.benchmarks.taskbench FOLDER [--planner embedded|llm] [--first N]

FOLDER holds gold_dev.jsonl (records with user_request, instruction, task_nodes) and
tools_huggingface.json. The shipped weights were trained on no gold record; what they were trained
on is in models/planner/README.md.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import time
from pathlib import Path
from typing import Any

from jarvis_desktop import settings
from jarvis_desktop.app.build import build
from jarvis_desktop.cli.commands.plan import as_if_given
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, Planner
from jarvis_desktop.core.serialization import plan_to_wire
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.paths import user_paths
from jarvis_desktop.tasks.definition import load_tools
from tests.benchmarks import graph_scores

PUBLISHED = {
    "GPT-4": (81.5, 54.7, 77.3, 60.9),
    "GPT-3.5-turbo": (69.5, 33.4, 55.9, 36.3),
    "text-davinci-003": (59.4, 29.4, 52.5, 36.0),
    "CodeLlama-13B": (53.2, 14.6, math.nan, math.nan),
}
WORDINGS = ("user_request", "instruction")


async def measure(
    planner: Planner,
    records: list[dict[str, Any]],
    wording: str,
    inventory: tuple[TaskType, ...],
    gives: dict[str, str],
) -> tuple[dict[str, float], float, int]:
    """The four measures, the median milliseconds of a plan, and how many plans are the
    embedded planner's because the LLM made none."""
    pairs, taken = [], []
    given_up: list[str] = []

    def trace(text: str) -> None:
        if "made no plan" in text or "could not plan" in text:
            given_up.append(text)

    for record in records:
        text = record[wording]
        began = time.perf_counter()
        planned = await planner.plan(text, inventory, Context(as_if_given(text), trace=trace))
        taken.append(time.perf_counter() - began)
        wire = plan_to_wire(planned) if isinstance(planned, Plan) else []
        steps = graph_scores.planned_steps(wire)
        gold = graph_scores.graph(graph_scores.gold_steps(record), gives)
        pairs.append((gold, graph_scores.graph(steps, gives)))
    return graph_scores.f1(pairs), sorted(taken)[len(taken) // 2] * 1000, len(given_up)


def row(name: str, figures: tuple[float, ...], note: str = "") -> str:
    """A line of the table."""
    return f"{name:26}" + "".join(f"{figure:16.1f}" for figure in figures) + f"   {note}"


async def table(args: argparse.Namespace) -> None:
    """Measure both wordings and print the lines."""
    tools = args.folder / "tools_huggingface.json"
    inventory = load_tools(tools)
    gives = graph_scores.outputs(json.loads(tools.read_text(encoding="utf-8")))
    lines = (args.folder / "gold_dev.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines[: args.first]]
    paths = user_paths()
    app = build(settings.load(paths.settings)[0], paths)
    try:
        for wording in WORDINGS:
            planner = app.planner.planners[args.planner]
            figures, middle, lost = await measure(planner, records, wording, inventory, gives)
            note = f"{len(records)} records, {middle:.1f} ms a plan"
            if lost:
                note += f", {lost} of them not by the LLM"
            print(row(f"{args.planner}, {wording}", tuple(figures.values()), note))
    finally:
        await app.close()


def main() -> None:
    """Print the published lines, then ours."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--planner", choices=("embedded", "llm"), default="embedded")
    parser.add_argument("--first", type=int, help="only the first N records")
    args = parser.parse_args()
    print(" " * 26 + "".join(f"{name:>16}" for name in graph_scores.MEASURES))
    for name, figures in PUBLISHED.items():
        print(row(name, figures))
    asyncio.run(table(args))


if __name__ == "__main__":
    main()
