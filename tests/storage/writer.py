"""Saves turns without end, telling the id of each once it is saved; killed by the test."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import INVENTORY, START, full_turn, stored_file


def main(folder: Path, name: str) -> None:
    """Write to the history in `folder`, in a conversation of this name."""
    store = folder / "store"
    history = SqliteHistory(
        folder / "history.db", store_root=store, inventory=INVENTORY, now=lambda: START
    )
    given, made = stored_file(store, "aa11.png"), stored_file(store, "bb22.wav")
    number = 0
    while True:
        number += 1
        history.save(name, full_turn(f"{name}-{number}", given, made, minutes=number))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
        # SQLite's lock is not fair: one that never pauses can keep another out until it gives up.
        time.sleep(0.005)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
