"""Folders of goals stay for as long as somebody may come back to them."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from jarvis_desktop.app.application import Application
from jarvis_desktop.app.build import build
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import ControllerFrame, Goal, Terms
from jarvis_desktop.paths import Paths
from jarvis_desktop.settings import Settings
from jarvis_desktop.storage.goals import sweep
from tests.fake_goals import FakeGoalMemory

NOW = datetime(2026, 6, 1, tzinfo=UTC)


def folder(root: Path, name: str, *, used: float | None = None) -> Path:
    made = root / name
    (made / "files").mkdir(parents=True)
    (made / "files" / "prices.csv").write_text("1")
    if used is not None:
        os.utime(made, (used, used))
    return made


def begun(memory: FakeGoalMemory, name: str, days: int, status: Status | None = None) -> None:
    goal = Goal(name, "c", "Plot", Terms(), NOW - timedelta(days=days))
    memory.begin(goal, [ControllerFrame("assistant", "Plot")])
    if status:
        memory.end(name, status, "")


async def test_folders_that_nobody_comes_back_to_are_removed(tmp_path: Path) -> None:
    memory, root = FakeGoalMemory(), tmp_path / "goals"
    assert await sweep(root, memory, NOW) == 0
    begun(memory, "cut off long ago", 400)
    begun(memory, "over lately", 29, Status.DONE)
    begun(memory, "over long ago", 31, Status.FAILED)
    for name in ("cut off long ago", "over lately", "over long ago", "forgotten lately"):
        folder(root, name)
    folder(root, "forgotten", used=0)
    (root / "note.txt").write_text("no folder")
    elsewhere = folder(tmp_path, "elsewhere", used=0)
    (root / "link").symlink_to(elsewhere)
    assert await sweep(root, memory, NOW) == 2
    left = {"cut off long ago", "over lately", "forgotten lately", "note.txt", "link"}
    assert {path.name for path in root.iterdir()} == left
    assert (elsewhere / "files" / "prices.csv").exists()


async def test_a_memory_that_cannot_be_read_removes_nothing(tmp_path: Path) -> None:
    class Unreadable(FakeGoalMemory):
        def goal(self, goal_id: str) -> Goal | None:
            raise StorageError("The history cannot be read.")

    kept = folder(tmp_path, "forgotten", used=0)
    assert await sweep(tmp_path, Unreadable(), NOW) == 0
    assert kept.exists()


async def test_the_application_does_so_when_it_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = Paths(*(tmp_path / name for name in ("config", "data", "cache", "logs")))
    forgotten = folder(paths.goals, "forgotten", used=0)
    app = build(Settings(processes=1), paths)
    monkeypatch.setattr(Application, "_warm", lambda self: asyncio.sleep(0))
    try:
        await app.start()
        _, sweeping, *_ = app._background
        await sweeping
    finally:
        await app.close()
    assert not forgotten.exists()
