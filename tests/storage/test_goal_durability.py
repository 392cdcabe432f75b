"""A goal that is killed at any moment goes on where it was."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import INVENTORY, START

ROOT = Path(__file__).parents[2]
ROUNDS = [3, pytest.param(12, marks=pytest.mark.exhaustive)]


def started(folder: Path) -> subprocess.Popen[str]:
    """A process that waits, ready, for a line before it opens the database."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.storage.goal_writer", str(folder), "g"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def last_told(run: subprocess.Popen[str], count: int, spin: int) -> int:
    """The last round of which a writer said that it is written, before it was killed."""
    assert run.stdin
    assert run.stdout
    run.stdin.write("go\n")
    run.stdin.flush()
    told = [run.stdout.readline() for _ in range(count)]
    for _ in range(spin):
        pass  # the writer works on; a wait would end at the system's moments, not at any
    run.kill()
    told += run.stdout.readlines()
    run.wait()
    run.stdin.close()
    run.stdout.close()
    return max(int(line) for line in told if line.endswith("\n"))


@pytest.mark.parametrize("rounds", ROUNDS)
def test_no_finished_round_is_lost_or_done_again(tmp_path: Path, rounds: int):
    chance = random.Random(5)
    runs = [started(tmp_path)]
    for number in range(rounds):
        if number + 1 < rounds:
            runs.append(started(tmp_path))
        told = last_told(runs[number], chance.randint(1, 9), chance.randint(0, 200_000))
        history = SqliteHistory(
            tmp_path / "history.db",
            store_root=tmp_path / "store",
            inventory=INVENTORY,
            now=lambda: START,
        )
        log = history.goals.log("g")
        # One more may have been written and not yet told when the kill came.
        assert told <= len(log) <= told + 1
        assert [entry.number for entry in log] == list(range(1, len(log) + 1))
        frames = history.goals.frames("g")
        assert {frame.rounds for frame in frames} == {len(log)}
        assert len(frames) == (1 if len(log) % 3 == 0 else 2)
        history.close()
