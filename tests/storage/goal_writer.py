"""Works on a goal without end, telling each round once it is written; killed by the test."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import ControllerFrame, Goal, LogEntry, Terms
from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import INVENTORY, START, stored_file


def main(folder: Path, name: str) -> None:
    """Begin a goal of this name, or go on with it where it was cut off."""
    sys.stdin.readline()
    store = folder / "store"
    history = SqliteHistory(
        folder / "history.db", store_root=store, inventory=INVENTORY, now=lambda: START
    )
    made = stored_file(store, "aa11.png")
    memory = history.goals
    if memory.goal(name) is None:
        memory.begin(
            Goal(name, "c", "Count", Terms(), START), [ControllerFrame("assistant", "Count")]
        )
    frames = list(memory.frames(name))
    number = max((entry.number for entry in memory.log(name)), default=0)
    while True:
        number += 1
        frames = [replace(frame, rounds=number) for frame in frames]
        coder = ControllerFrame("coder", "Count", rounds=number, observation="x" * 5000)
        frames = [frames[0]] if number % 3 == 0 else [frames[0], coder]
        entry = LogEntry(number, "assistant", "coder", "", Status.DONE, "", START, (made,))
        memory.keep(name, frames, [entry])
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
