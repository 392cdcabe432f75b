"""Runs fetched experts on this computer, one at a time, in a child process that holds it."""

from __future__ import annotations

import asyncio
import importlib.util
import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from jarvis_desktop.backends.loaders import LOADERS, NEEDS
from jarvis_desktop.backends.loading import Loading, Place
from jarvis_desktop.backends.outcome import checked, portable, seconds_for
from jarvis_desktop.child import Child
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.tasks.definition import Definition


class Disk(Protocol):
    """Where an installed expert's files are; the catalogue's Weights."""

    def folder(self, expert: Expert) -> Path | None:
        """The folder, None where it is not installed."""
        ...


class LocalBackend:
    """The "local" backend. One expert is held in memory; another one ends its process.

    `lane` is "gpu" where the experts run on a graphics card, see `usual_lane`. A process is ended
    when it was idle for `idle` seconds: that is how memory is really given back.
    """

    name = "local"

    def __init__(
        self,
        definitions: Mapping[str, Definition],
        weights: Disk,
        *,
        lane: str = "cpu",
        time_limit: float = 900.0,
        idle: float = 300.0,
    ) -> None:
        self.lane = lane
        self._definitions = definitions
        self._weights = weights
        self._time_limit = time_limit
        self._idle = idle
        self._turn = asyncio.Lock()
        self._holding: Expert | None = None
        self._child: Child | None = None
        self._ending: asyncio.TimerHandle | None = None

    @staticmethod
    def can_run(expert: Expert) -> bool:
        """Whether experts of this task run here, with the libraries that are installed."""
        needed = NEEDS.get(expert.task)
        return expert.task in LOADERS and (
            needed is None or importlib.util.find_spec(needed) is not None
        )

    @property
    def holding(self) -> str:
        """The handle of the expert that is in memory; "" where none is."""
        return self._holding.id if self._child and self._child.pid and self._holding else ""

    def question(self, call: Call) -> str:
        """Experts only read and write in the call's own folder: nothing to ask."""
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """The expert's results. Raises JarvisError; cancelling ends its process."""
        expert = candidate.expert
        folder = self._weights.folder(expert)
        if folder is None or not self.can_run(expert):
            raise UnavailableError(
                f"{expert.id} is not on this computer."
                if folder is None
                else f"{expert.id} cannot be run by this version.",
                hint=f"Fetch it with: jarvis-desktop experts pull {expert.id}."
                if folder is None
                else "Choose another expert: jarvis-desktop experts list.",
            )
        async with self._turn:
            child = self._child_for(expert, folder)
            try:
                results = await child.call(
                    portable(call), timeout=seconds_for(call, self._time_limit), report=report
                )
            finally:
                loop = asyncio.get_running_loop()
                self._ending = loop.call_later(self._idle, self._end)
        return checked(results, self._definitions[expert.task].type)

    async def close(self) -> None:
        """End the process."""
        child = self._child
        self._end()
        if child:
            await child.close()

    def _child_for(self, expert: Expert, folder: Path) -> Child:
        if self._ending:
            self._ending.cancel()
            self._ending = None
        if self._child is None or self._holding != expert:
            self._end()
            place = Place("cuda" if self.lane == "gpu" else "cpu", half=self.lane == "gpu")
            base = self._weights.folder(expert.base) if expert.base else None
            loading = Loading(expert, folder, place, base)
            self._child = Child("jarvis_desktop.backends.worker:serve", loading, name=expert.id)
            self._holding = expert
        return self._child

    def _end(self) -> None:
        if self._ending:
            self._ending.cancel()
            self._ending = None
        if self._child:
            self._child.kill()
        self._child, self._holding = None, None


def usual_lane() -> str:
    """ "gpu" where this computer seems to have a graphics card that torch can use, else "cpu".

    torch itself would know better, but must not be imported here.
    """
    if sys.platform == "darwin":
        return "gpu" if platform.machine() == "arm64" else "cpu"
    return "gpu" if Path("/dev/nvidiactl").exists() or _windows_driver().exists() else "cpu"


def _windows_driver() -> Path:
    return Path("C:/Windows/System32/nvcuda.dll")
