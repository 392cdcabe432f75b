"""Prints how long the memory of goals takes, beside one bare transaction of the same database.

Run: python -m tests.benchmarks.goals [ROUNDS] [GOALS]
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import ControllerFrame, Goal, LogEntry, Outline, OutlineStep, Terms
from jarvis_desktop.storage.database import writing
from jarvis_desktop.storage.history import SqliteHistory
from tests.benchmarks.history import timed
from tests.benchmarks.wanted_functions import WISHES
from tests.storage.samples import INVENTORY, START


def main(rounds: int, goals: int) -> None:
    """Work on one goal in a temporary folder, then look for others among many."""
    chance = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        history = SqliteHistory(
            Path(folder) / "history.db",
            store_root=Path(folder),
            inventory=INVENTORY,
            now=lambda: START,
        )
        memory = history.goals
        outline = Outline(
            tuple(OutlineStep(number, "Plot the prices " * 5) for number in range(20))
        )
        frames = [
            ControllerFrame(
                role, "Plot", outline, observation="x" * 3000, kept={"source": "y" * 5000}
            )
            for role in ("assistant", "coder", "librarian")
        ]
        memory.begin(Goal("g", "c", "Plot the prices", Terms(), START), frames)

        def bare() -> None:
            with writing(history._db) as db:
                db.execute("INSERT OR REPLACE INTO timers VALUES ('a', 'tea', '2026-01-01')")

        def worked(number: int) -> Callable[[], None]:
            entry = LogEntry(
                number, "assistant/coder", "run_code", "Plot", Status.DONE, "said " * 800, START
            )
            changed = [*frames[:2], replace(frames[2], rounds=number)]
            return lambda: memory.keep("g", changed, [entry])

        calls: dict[str, list[Callable[[], object]]] = {
            "bare write": [bare] * 100,
            "keep a round": [worked(number) for number in range(1, rounds + 1)],
            "frames": [lambda: memory.frames("g")] * 100,
            "whole log": [lambda: memory.log("g")] * 20,
        }
        for label, each in calls.items():
            sys.stdout.write(f"{label:<15}{timed(each)}\n")
        for number in range(goals):
            wishes = " and ".join(wish for wish, _ in chance.sample(WISHES, 3))
            done = Goal(f"g{number}", "c", wishes, Terms(), START, Status.DONE)
            memory.begin(done, frames[:1])
        like = [lambda: memory.like("plot the monthly totals of these prices", 5)] * 50
        sys.stdout.write(f"like {goals:<9} {timed(list(like))}\n")
        sys.stdout.write(f"{'list 50':<15}{timed([memory.list] * 50)}\n")
        history.close()


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:3]]
    main(*(given + [300, 1000][len(given) :]))
