"""Builds the history, with what is not to be kept beside it, and keeps it tidy. Part of compose."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.unkept import works_unkept
from jarvis_desktop.paths import Paths
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.storage.unkept import Unkept, UnkeptStore

log = logging.getLogger(__name__)

HOUR = 60 * 60.0
"""Seconds between two looks at what is to be forgotten."""


@dataclass(frozen=True)
class Records:
    """The history and its files."""

    history: SqliteHistory
    store: UnkeptStore
    unkept: Unkept
    goals: Path

    def goal_folder(self, goal_id: str) -> Path:
        """Where the code of a goal works."""
        return (self.unkept.folder if works_unkept() else self.goals) / goal_id


def build_records(
    paths: Paths, inventory: Mapping[str, TaskType], now: Callable[[], datetime]
) -> Records:
    """The history of this person."""
    unkept = Unkept(paths.unkept, inventory)
    store = UnkeptStore(paths.artifacts, unkept)
    history = SqliteHistory(
        paths.database, store_root=paths.artifacts, inventory=inventory, now=now, unkept=unkept
    )
    return Records(history, store, unkept, paths.goals)


async def keep_tidy(history: SqliteHistory, days: Callable[[], int]) -> None:
    """Remove what a killed run left behind, and every hour what is to be forgotten by now.

    `days` says after how many. What cannot be done now is tried again.
    """
    while True:
        try:
            await history.tidy()
            await history.forget(days())
        except JarvisError as error:
            log.info("The history was not tidied up: %s", error.message)
        await asyncio.sleep(HOUR)
