"""How many plans end right when experts fail, and what that costs.

Real are the executor, the selector's order, the checks of results and the LLM's backend; the
experts fail by dice, on a clock that does not wait. Every call fails with the same probability,
whichever candidate makes it; what it fails of is one of `FAULTS`, each as likely as the others.

Run: python -m tests.benchmarks.faults [--plans 10000] [--seed 1]
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from jarvis_desktop.assistant.execution.task_runner import RetryLimits
from jarvis_desktop.assistant.selection.selector import Selector
from jarvis_desktop.core.expert import Candidate, Expert, Selection, Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.task import Ref, Task
from tests.benchmarks.executor import yes
from tests.benchmarks.faulty import REWRITE, SORT, TYPES, Dice, Down, World, working
from tests.fakes import FakeCatalogue
from tests.virtual import VirtualLoop, run

STEPS = 4
GOALS = {0.1: 0.999, 0.3: 0.99}


def candidates_of(task: str) -> tuple[Candidate, ...]:
    """Two experts on this computer, the LLM, a service, the built-in way: a realistic list.

    Those that differ most come first.
    """
    local, other = (Candidate(Expert(f"{task}-{size}", task), "local") for size in "ab")
    llm = Candidate(Expert("llm:7b", task), "llm")
    api = Candidate(Expert(f"{task}-api", task), "api", remote=True, provider="one")
    builtin = Candidate(Expert(f"builtin/{task}", task), "builtin")
    return local, llm, builtin, other, api


def served_of(task: str) -> tuple[Candidate, ...]:
    """Two experts of one service first, for one who prefers it; then those of this computer."""
    served = (
        Candidate(Expert(f"{task}-{size}", task), "api", remote=True, provider="one")
        for size in ("large", "small")
    )
    return *served, *(item for item in candidates_of(task)[:3])


@dataclass(frozen=True, slots=True)
class Shape:
    """A four-step plan, and who may do its tasks."""

    plan: Plan
    selections: tuple[Selection, ...]
    besides: int | None = None
    """A task whose failure is no matter."""


def plans() -> Iterator[Plan]:
    """A chain, a fork that joins nothing, two chains, and four at once."""
    for waits in ((None, 0, 1, 2), (None, 0, 0, 0), (None, 0, None, 2), (None,) * STEPS):
        ends = [number not in waits for number in range(STEPS)]
        tasks = [
            Task(
                number,
                SORT if ends[number] and number % 2 else REWRITE,
                {"text": f"request {number}" if before is None else Ref(before)},
            )
            for number, before in enumerate(waits)
        ]
        yield Plan(tuple(tasks))


async def shapes(of: Callable[[str], Sequence[Candidate]]) -> list[Shape]:
    """The plans with the selector's own lists. Runs on a real loop: it ranks in a thread."""
    listed = {type.name: tuple(of(type.name)) for type in TYPES}
    selector = Selector(FakeCatalogue(listed), Policy(Mode.HYBRID))
    return [Shape(plan, await selector.select(plan)) for plan in plans()]


def cut(shapes: Sequence[Shape], count: int) -> list[Shape]:
    """The same with only the first `count` candidates of each task."""
    return [
        replace(
            shape,
            selections=tuple(
                replace(item, candidates=item.candidates[:count]) for item in shape.selections
            ),
        )
        for shape in shapes
    ]


def without_a_way_round(shapes: Sequence[Shape]) -> list[Shape]:
    """The same with a task of its own added that only the service does."""
    made = []
    for shape in shapes:
        task = Task(STEPS, REWRITE, {"text": "only there"})
        served = tuple(item for item in shape.selections[0].candidates if item.remote)
        made.append(
            Shape(
                Plan((*shape.plan.tasks, task)),
                (*shape.selections, Selection(STEPS, served, "")),
                besides=STEPS,
            )
        )
    return made


def is_right(shape: Shape, results: dict[int, TaskResult]) -> bool:
    """Whether every task was done and gave what it was to give."""
    for task in shape.plan:
        if task.id == shape.besides:
            continue
        if results[task.id].status is not Status.DONE:
            return False
        item = task.args["text"]
        text = results[item.task_id].artifacts[0].text if isinstance(item, Ref) else str(item)
        wanted = f"{text}+" if task.type is REWRITE else "a: 97%"
        if results[task.id].artifacts[0].text != wanted:
            return False
    return True


@dataclass
class Tally:
    """What became of the plans."""

    plans: int = 0
    ended: int = 0
    """Whose every task was done, right or wrong."""
    right: int = 0
    calls: int = 0
    seconds: list[float] = field(default_factory=list)

    @property
    def share(self) -> float:
        return self.right / self.plans

    def late(self, share: float) -> float:
        """The seconds within which that share of the plans ended."""
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(share * len(self.seconds)))]


async def tally(world: World, shapes: Sequence[Shape], count: int) -> Tally:
    """Run so many plans, one after the other; half a minute of the clock lies between them."""
    found = Tally()
    loop = world.clock
    for number in range(count):
        shape = shapes[number % len(shapes)]
        began, calls = loop.time(), world.attempts
        results = await world.executor.run(
            shape.plan, shape.selections, show=world.show, confirm=yes
        )
        found.plans += 1
        found.calls += world.attempts - calls
        found.ended += all(item.status is Status.DONE for item in results.values())
        found.right += is_right(shape, results)
        found.seconds.append(loop.time() - began)
        await asyncio.sleep(30.0)
    return found


NO_PATIENCE = RetryLimits(tries=0, in_all=-1.0)
"""No further try of anything."""


def measure(
    shapes: Sequence[Shape],
    plans: int,
    *,
    probability: float,
    seed: int,
    unseen: float = 0.0,
    reference: bool = False,
    down: Down = working,
) -> Tally:
    """One row. `reference` is the other way: no further try of anything."""
    loop = VirtualLoop()
    world = World(
        Dice(probability, seed, unseen=unseen),
        loop,
        patience=NO_PATIENCE if reference else RetryLimits(),
        down=down,
        seed=seed,
    )
    return run(tally(world, shapes, plans), loop)


TROUBLES: dict[str, Down] = {
    "nothing": working,
    "the service, which is silent": lambda item: "silent" if item.remote else "",
    "the network": lambda item: "network" if item.remote else "",
    "the GPU": lambda item: "gpu" if item.backend == "local" else "",
    "the server of the LLM": lambda item: "network" if item.backend == "llm" else "",
    "the network and the GPU": lambda item: (
        "network" if item.remote else "gpu" if item.backend == "local" else ""
    ),
}


HEADER = f"{'':34}{'right':>9}{'goal':>8}{'ended':>9}{'calls':>7}{'median':>8}{'p99':>8}{'most':>8}"


def row(name: str, found: Tally, goal: float | None = None) -> str:
    """A line of the table; times in seconds of the virtual clock, per plan."""
    return (
        f"{name:34}{found.share:9.3%}{f'{goal:.1%}' if goal else '':>8}"
        f"{found.ended / found.plans:9.3%}{found.calls / found.plans:7.2f}"
        f"{found.late(0.5):7.0f}s{found.late(0.99):7.0f}s{found.late(1.0):7.0f}s"
    )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--plans", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    count, seed = given.plans, given.seed
    usual = asyncio.run(shapes(candidates_of))
    for probability, goal in GOALS.items():
        print(f"\nEach call fails with probability {probability}; {count:,} four-step plans")
        print(HEADER)
        bare = measure(cut(usual, 1), count, probability=probability, seed=seed, reference=True)
        print(row("one expert, no further try", bare))
        for most in range(1, 6):
            found = measure(cut(usual, most), count, probability=probability, seed=seed)
            name = f"{most} candidate{'s' if most > 1 else ''}"
            print(row(name, found, goal if most == 3 else None))
    print("\nOf the failures a share looks right (3 candidates, probability 0.1)")
    print(HEADER)
    for unseen in (0.02, 0.05, 0.1):
        found = measure(cut(usual, 3), count, probability=0.1, seed=seed, unseen=unseen)
        print(row(f"{unseen:.0%}", found))
    served = asyncio.run(shapes(served_of))
    alone = without_a_way_round(served)
    for made, title in (
        (served, "What is gone for good (5 candidates, the service first, probability 0.1)"),
        (alone, "The same with a fifth task that only the service does; the other four"),
    ):
        print(f"\n{title}")
        print(HEADER)
        for name, down in TROUBLES.items():
            found = measure(made, count // 10, probability=0.1, seed=seed, down=down)
            print(row(name, found, GOALS[0.1]))


if __name__ == "__main__":
    main()
