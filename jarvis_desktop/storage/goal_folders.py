"""The folders that the code of goals worked in: what was made there lies in the artifact store as
well, so they go once nobody can come back to the goal."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.goal import GoalMemory
from jarvis_desktop.removing import remove

UNKNOWN = 24 * 3600
"""Seconds that the folder of a goal that the memory does not have stays: the memory may be damaged,
and another process may be about to begin the goal."""
OVER = timedelta(days=30)
"""How long after its beginning the folder of a goal stays that is over."""


async def sweep(root: Path, memory: GoalMemory, now: datetime) -> int:
    """Remove the folders under `root` that nobody comes back to; how many. To be called on the
    thread of the memory; what cannot be looked at or removed stays."""
    gone = 0
    with suppress(StorageError, OSError):
        for folder in await asyncio.to_thread(_folders, root):
            if _is_done_with(folder, memory, now):
                await asyncio.to_thread(remove, folder)
                gone += not folder.exists()
            await asyncio.sleep(0)
    return gone


def _is_done_with(folder: Path, memory: GoalMemory, now: datetime) -> bool:
    goal = memory.goal(folder.name)
    if goal is None:
        return time.time() - folder.lstat().st_mtime > UNKNOWN
    return goal.status is not None and now - goal.started > OVER


def _folders(root: Path) -> list[Path]:
    if not root.is_dir():
        return []
    return [path for path in root.iterdir() if path.is_dir() and not path.is_symlink()]
