"""Runs turns without end, telling what is written once it is; killed by the test."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import INVENTORY, START, full_turn, stored_file


def main(folder: Path, name: str) -> None:
    """Journal and save turns of a conversation of this name, once a line comes from stdin."""
    sys.stdin.readline()
    store = folder / "store"
    history = SqliteHistory(
        folder / "history.db", store_root=store, inventory=INVENTORY, now=lambda: START
    )
    given, made = stored_file(store, "aa11.png"), stored_file(store, "bb22.wav")
    number = 0
    while True:
        number += 1
        whole = full_turn(f"{name}-{number}", given, made, minutes=number)
        history.journal.begin(Unfinished(name, replace(whole, results={})))
        _tell("begun", number)
        done: list[int] = []
        for task_id in (1, 2, 3):
            result = replace(whole.results[3], task_id=task_id)
            history.journal.finished(whole.id, result)
            done.append(task_id)
            _tell("done", number, *done)
        history.save(name, whole)
        _tell("saved", number)


def _tell(*what: object) -> None:
    sys.stdout.write(" ".join(map(str, what)) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
