"""Prints how long the embedded planner takes to load and to plan, on one core.

Run: python -m tests.benchmarks.planner
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time

from jarvis_desktop.app.application import embedded_planner
from jarvis_desktop.backends.task_encoder import TaskEncoder, describe_inventory
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.registry import INVENTORY

LOAD_LIMIT, PLAN_LIMIT = 250.0, 20.0
"""Milliseconds."""
ROUNDS = 15
SHORT = "Please read the text in this picture, then say it in French."
LONG = (
    "I have a recording of our last meeting and a photo of the board. I would like to have the "
    "recording cleaned of its noise, written down, made shorter and put into Spanish; the text on "
    "the board should be read, compared with what was said, and spoken aloud at the end. "
)
LOADING = """
import time
began = time.perf_counter()
import numpy, onnxruntime, tokenizers
imported = time.perf_counter()
from jarvis_desktop.paths import shipped
from jarvis_desktop.backends.task_encoder import _EncoderWeights
_EncoderWeights(shipped("models", "planner"))
print((imported - began) * 1000, (time.perf_counter() - imported) * 1000)
"""


def middle(values: list[float]) -> float:
    """The median."""
    return sorted(values)[len(values) // 2]


def load() -> tuple[float, float]:
    """Milliseconds of the libraries, and of the weights, each in a fresh interpreter."""
    runs = [
        subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True, check=True)
        for _ in range(5)
    ]
    pairs = [tuple(map(float, run.stdout.split())) for run in runs]
    return middle([pair[0] for pair in pairs]), middle([pair[1] for pair in pairs])


def plan(text: str, inventory: tuple[TaskType, ...]) -> float:
    """Milliseconds of a plan by scores, once the inventory is known."""
    planner = embedded_planner()
    taken = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        asyncio.run(planner.plan(text, inventory, Context()))
        taken.append((time.perf_counter() - began) * 1000)
    return middle(taken[1:])


def main() -> None:
    """Measure and print."""
    libraries, weights = load()
    print(f"libraries              {libraries:7.1f} ms")
    print(f"weights                {weights:7.1f} ms   {weights / LOAD_LIMIT:.2f} of the limit")
    encoder = TaskEncoder(shipped("models", "planner"))
    began = time.perf_counter()
    encoder.warm(describe_inventory(INVENTORY))
    taken = (time.perf_counter() - began) * 1000 - weights
    print(f"reading {len(INVENTORY)} descriptions {taken:7.1f} ms   once, behind the person's back")
    bare = tuple(TaskType(item.name, item.summary, item.ports, item.gives) for item in INVENTORY)
    for name, text in (("short request", SHORT), ("110 words", LONG * 2)):
        taken = plan(text, bare)
        print(f"{name:22} {taken:7.1f} ms   {taken / PLAN_LIMIT:.2f} of the limit")


if __name__ == "__main__":
    main()
