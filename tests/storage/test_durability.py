import random
import subprocess
import sys
from pathlib import Path

import pytest

from jarvis_desktop.core.turn import Conversation
from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import INVENTORY, START, full_turn, stored_file

ROOT = Path(__file__).parents[2]
ROUNDS = [6, pytest.param(40, marks=pytest.mark.exhaustive)]


def started(folder: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.storage.writer", str(folder), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def killed_after(run: subprocess.Popen[str], count: int, spin: int) -> int:
    """How many turns the writer told it had saved when it was killed, in the middle of its work."""
    assert run.stdout is not None
    told = [run.stdout.readline() for _ in range(count)]
    for _ in range(spin):
        pass  # the writer works on; a wait would end at the system's moments, not at any
    run.kill()
    told += run.stdout.readlines()
    run.wait()
    run.stdout.close()
    # A last line cut by the kill was not told.
    return sum(line.endswith("\n") for line in told)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_writer_killed_at_any_moment_loses_no_turn_that_was_saved(tmp_path: Path, rounds: int):
    chance = random.Random(7)
    store = tmp_path / "store"
    given, made = stored_file(store, "aa11.png"), stored_file(store, "bb22.wav")
    acknowledged: dict[str, int] = {}
    runs = [started(tmp_path, "w0")]
    for number in range(rounds):
        if number + 1 < rounds:
            runs.append(started(tmp_path, f"w{number + 1}"))  # another one writes meanwhile
        told = killed_after(runs[number], chance.randint(1, 12), chance.randint(0, 200_000))
        acknowledged[f"w{number}"] = told

    history = SqliteHistory(
        tmp_path / "history.db", store_root=store, inventory=INVENTORY, now=lambda: START
    )
    assert history.notice == ""
    assert history._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert history._db.execute("PRAGMA foreign_key_check").fetchall() == []
    history._db.execute("INSERT INTO search(search) VALUES ('integrity-check')")
    (indexed,) = history._db.execute("SELECT count(*) FROM search").fetchone()
    total = 0
    for name, count in acknowledged.items():
        shown = history.show(name)
        assert isinstance(shown, Conversation)
        kept = shown.turns
        total += len(kept)
        # One more may have been saved and not yet told when the kill came.
        assert count <= len(kept) <= count + 1
        expected = (
            full_turn(f"{name}-{place}", given, made, minutes=place)
            for place in range(1, len(kept) + 1)
        )
        assert kept == tuple(expected)
    assert indexed == total
    history.close()
