"""Plans of six tasks, killed at any moment: whether all are finished, and nothing is done twice.

Each command is a process of its own, killed as `kill -9` does, at a moment drawn at random; what is
left is gone on with, and may be killed again. Prints a table; fails where a goal is missed.

Run: python -m tests.benchmarks.resume [--kills 300]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.cli.cut_off import Running, Told, six_edits

OFFER_SECONDS = 2.0
"""Goal: from the start of a process until it tells what was cut off."""
AGAIN = 0.7
"""How many of the runs that go on with something are killed as well."""


@dataclass
class Count:
    plans: int = 0
    finished: int = 0
    kills: int = 0
    committed_again: int = 0
    """Tasks that were started although they had been told as done."""
    under_way_again: list[int] = field(default_factory=list)
    """For each kill, the tasks that were under way and were started again."""
    results: int = 0
    """Tasks whose result in the end is whole: told, and its file on the disk."""
    offers: list[float] = field(default_factory=list)
    """Seconds."""
    work: list[float] = field(default_factory=list)
    """Seconds of the processor's time in them, which a busy computer does not change."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=5)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    count = Count()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["JARVIS_DESKTOP_HOME"] = str(folder / "home")
        plan = six_edits(folder)
        longest = min(_length(folder, plan) for _ in range(2))
        while count.kills < arguments.kills:
            _one_plan(folder, plan, longest, chance, count)
    return _report(count)


def _length(folder: Path, plan: Path) -> float:
    """Seconds that a plan takes when it is left alone."""
    running = Running(folder, "run", str(plan))
    assert running.until("plan_accepted")
    began = time.monotonic()
    assert running.ended().status == "done"
    return time.monotonic() - began


def _one_plan(
    folder: Path, plan: Path, longest: float, chance: random.Random, count: Count
) -> None:
    count.plans += 1
    runs: list[Told] = []
    command = ["run", str(plan)]
    while not (runs and runs[-1].status):
        running = Running(folder, *command)
        assert running.until("plan_accepted")
        if runs and chance.random() > AGAIN:
            told = running.ended()
        else:
            time.sleep(chance.uniform(0, longest))
            told = running.killed()
            count.kills += not told.status
        if runs:
            _compare(runs, told, count)
        runs.append(told)
        if not told.status and not (left := _offer(folder, count)):
            # It was killed after its end was written down and before that was told.
            break
        command = ["resume", *([] if told.status else [left[0]])]
    count.finished += bool(runs[-1].status == "done" or not _offer(folder, Count()))
    count.results += sum(
        Path(item["path"]).is_file()
        for result in runs[-1].done.values()
        for item in result["artifacts"]
    )


def _compare(runs: list[Told], told: Told, count: Count) -> None:
    done = {number for before in runs for number in before.done}
    count.committed_again += len(told.started & done)
    count.under_way_again.append(len(told.started & runs[-1].started))


def _offer(folder: Path, count: Count) -> list[str]:
    """The ids that a new process offers to go on with."""
    began, worked = time.monotonic(), _worked()
    command = [sys.executable, "-m", "jarvis_desktop", "resume", "--list", "--json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    count.offers.append(time.monotonic() - began)
    count.work.append(_worked() - worked)
    return [str(item["turn"]) for item in json.loads(done.stdout)]


def _worked() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _report(count: Count) -> int:
    most = max(count.under_way_again, default=0)
    offers = sorted(count.offers)
    worst = offers[round(0.95 * (len(offers) - 1))]
    rows = (
        ("plans, kills", f"{count.plans}, {count.kills}", True),
        ("plans finished", f"{count.finished}", count.finished == count.plans),
        ("results with their files", f"{count.results}", True),
        ("tasks done that ran again", f"{count.committed_again}", count.committed_again == 0),
        ("tasks under way that ran again", f"{sum(count.under_way_again)}", True),
        ("the most of these per kill", f"{most}", most <= 1),
        ("until the offer, median", f"{statistics.median(offers):.2f} s", True),
        ("of it work, median", f"{statistics.median(count.work):.2f} s", True),
        ("until the offer, p95", f"{worst:.2f} s", worst <= OFFER_SECONDS),
    )
    for name, value, good in rows:
        print(f"{name:32} {value:>10}{'' if good else '   MISSED'}")
    return 0 if all(good for _, _, good in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
