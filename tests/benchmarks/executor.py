"""How close the executor comes to the critical path, and what a task costs it.

Run: python -m tests.benchmarks.executor
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from jarvis_desktop.assistant.execution.executor import Executor
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.events import Event
from jarvis_desktop.core.expert import Candidate, Expert, Selection
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Call, Ref, Report, Task
from tests.types import CLOCK, JOIN

SECONDS = 0.1
LIMIT_RATIO = 1.05
LIMIT_COST = 100e-6
NOWHERE = Path("nowhere")
CANDIDATE = Candidate(Expert("bench", "any"), "builtin")


class Sleeping:
    """A backend whose calls last a fixed time; 0 returns at once."""

    name = "builtin"
    lane = "instant"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def question(self, call: Call) -> str:
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        if self.seconds:
            await asyncio.sleep(self.seconds)
        return (text_artifact("x"),)


class NoStore:
    """A store that touches no disk: the executor is measured, not the file system."""

    def take_in(self, path: Path) -> Artifact:
        raise NotImplementedError

    def holds(self, path: Path) -> bool:
        return False

    def keep(self, artifact: Artifact) -> Artifact:
        return artifact

    def lend(self, artifact: Artifact) -> Path:
        raise NotImplementedError

    def workdir(self) -> Path:
        return NOWHERE

    def discard(self, workdir: Path) -> None:
        pass


def chain(count: int) -> Plan:
    """Each task waits for the one before."""
    return joined([[] if number == 0 else [number - 1] for number in range(count)])


def fan(count: int) -> Plan:
    """One task, many that wait for it, one that waits for all of those."""
    middle = [[0] for _ in range(count)]
    return joined([[], *middle, list(range(1, count + 1))])


def skewed() -> Plan:
    """A long branch beside short ones that meet at the end: a barrier would cost whole tasks."""
    waits: list[list[int]] = [[], [0], [1], [2], [3]]  # the long branch: 0 to 4
    waits += [[], [5], [0], [7], [5, 7]]  # short ones: 5 to 9
    return joined([*waits, [4, 6, 8, 9]])


def joined(waits: list[list[int]]) -> Plan:
    """A plan from, for each task, the ids it waits for."""
    tasks = []
    for number, ids in enumerate(waits):
        args = {"texts": tuple(Ref(item) for item in ids)}
        tasks.append(Task(number, JOIN, args) if ids else Task(number, CLOCK))
    return Plan(tuple(tasks))


def depth(plan: Plan) -> int:
    """Tasks on the longest path."""
    depths: dict[int, int] = {}
    for task in plan:
        depths[task.id] = 1 + max((depths[item] for item in task.depends_on), default=0)
    return max(depths.values())


def ignore(event: Event) -> None:
    """A front end that shows nothing."""


async def yes(question: str) -> bool:
    """A front end that agrees."""
    return True


async def makespan(
    plan: Plan, seconds: float, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Seconds of one run by `clock`."""
    executor = Executor({"builtin": Sleeping(seconds)}, NoStore(), lanes={})
    selections = [Selection(task.id, (CANDIDATE,), "") for task in plan]
    started = clock()
    results = await executor.run(plan, selections, show=ignore, confirm=yes)
    assert len(results) == len(plan)
    return clock() - started


async def median(plan: Plan, seconds: float, clock: Callable[[], float]) -> float:
    """The median of five runs."""
    return statistics.median([await makespan(plan, seconds, clock) for _ in range(5)])


async def main() -> None:
    """Print the table."""
    shapes: list[tuple[str, Callable[[], Plan]]] = [
        ("chain of 4", lambda: chain(4)),
        ("chain of 10", lambda: chain(10)),
        ("fan of 8", lambda: fan(8)),
        ("fan of 50", lambda: fan(50)),
        ("skewed, 11 tasks", skewed),
    ]
    print(f"{'plan of 0.1 s tasks':24}{'makespan':>10}{'critical':>10}{'ratio':>8}{'limit':>8}")
    for name, make in shapes:
        plan = make()
        critical = depth(plan) * SECONDS
        spent = await median(plan, SECONDS, time.perf_counter)
        ratio = spent / critical
        print(f"{name:24}{spent:9.3f}s{critical:9.1f}s{ratio:8.3f}{LIMIT_RATIO:8.2f}")
    print(f"\n{'plan of instant tasks':24}{'a task':>10}{'limit':>10}{'ratio':>8}")
    for name, plan in (("chain of 1,000", chain(1000)), ("fan of 1,000", fan(998))):
        # Processor time: what the executor itself takes, whatever else the computer does.
        cost = await median(plan, 0.0, time.process_time) / len(plan)
        print(f"{name:24}{cost * 1e6:8.1f}us{LIMIT_COST * 1e6:8.0f}us{cost / LIMIT_COST:8.2f}")


if __name__ == "__main__":
    asyncio.run(main())
