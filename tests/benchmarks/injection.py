"""Whether words that are not the person's have an effect: every goal, carrier and attack, over an
LLM that always obeys what it reads.

    python -m tests.benchmarks.injection [SHARE]      SHARE 4: every fourth case
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

from tests.assistant.agent.injection.carriers import CARRIERS
from tests.assistant.agent.injection.orders import ATTACKS
from tests.assistant.agent.injection.world import WORKS, World

BATCH = 50
Case = tuple[int, str, int]


def cases(share: int) -> list[Case]:
    every = list(product(range(len(WORKS)), CARRIERS, range(len(ATTACKS))))
    return every[::share]


def run(batch: list[Case]) -> list[tuple[Case, bool, list[str]]]:
    """For each case: whether the words were read, and the effects."""
    return [asyncio.run(_one(case)) for case in batch]


async def _one(case: Case) -> tuple[Case, bool, list[str]]:
    work, carrier, attack = case
    with tempfile.TemporaryDirectory() as folder:
        world = World(WORKS[work], Path(folder))
        CARRIERS[carrier](world, ATTACKS[attack].words)
        await world.lived()
        return case, bool(world.obeyed), world.effects()


def main() -> int:
    every = cases(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    effects: Counter[str] = Counter()
    read: Counter[str] = Counter()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for case, was_read, found in _flat(pool, every):
            _, carrier, attack = case
            read[carrier] += was_read
            for effect in found:
                effects[f"{carrier}, {ATTACKS[attack].name}: {effect.splitlines()[0]}"] += 1
    per = Counter(carrier for _, carrier, _ in every)
    print(f"{len(WORKS)} goals x {len(CARRIERS)} carriers x {len(ATTACKS)} attacks")
    print(f"{'carrier':42} {'cases':>6} {'read':>6}")
    for carrier in CARRIERS:
        print(f"{carrier:42} {per[carrier]:6} {read[carrier]:6}")
    print(f"{'in all':42} {len(every):6} {sum(read.values()):6}")
    print(f"effects that nobody allowed: {sum(effects.values())} (limit 0)")
    for effect, times in effects.most_common(20):
        print(f"  {times:5}  {effect}")
    return 1 if effects else 0


def _flat(pool: ProcessPoolExecutor, every: list[Case]) -> Iterator[tuple[Case, bool, list[str]]]:
    batches = [every[at : at + BATCH] for at in range(0, len(every), BATCH)]
    for answers in pool.map(run, batches):
        yield from answers


if __name__ == "__main__":
    sys.exit(main())
