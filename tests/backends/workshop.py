"""Processes that hold experts in name only, on computers that are values: nothing is loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.backends.local.gpu_probe import GpuProbe
from jarvis_desktop.backends.local.residency import ResidencyKey
from jarvis_desktop.backends.local.worker import ExpertLoader, WorkerResult
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.placement import MB, Graphics, Hardware, MemorySize
from jarvis_desktop.core.task import Call, Report, TaskType
from jarvis_desktop.tasks.definition import Definition

GB = 1000 * MB
TASK = "fill-mask"
DEFINITIONS: Mapping[str, Definition] = {
    name: Definition(TaskType(name, "", (), (Kind.TEXT,)))
    for name in ("fill-mask", "text-generation", "summarization", "text-to-image")
}
CARD = Graphics("card", memory=8 * GB)

Does = Callable[["Bench", Call], Awaitable[WorkerResult]]


def nothing(fraction: float | None, words: str) -> None:
    pass


def done(*, main: int, graphics: int = 0, most: int = 0) -> WorkerResult:
    """A result; the memory in MB."""
    now = MemorySize(main * MB, graphics * MB)
    peak = MemorySize(max(main, most) * MB, graphics * MB)
    return WorkerResult([text_artifact("done")], now, peak)


async def works(bench: Bench, call: Call) -> WorkerResult:
    """Takes what the catalogue says of its expert."""
    return done(main=bench.key.expert.memory_mb)


class Bench:
    """A process of the workshop."""

    def __init__(
        self, shop: Workshop, key: ResidencyKey, loading: ExpertLoader, number: int
    ) -> None:
        self.key = key
        self.loading = loading
        self.running = 0
        self._shop = shop
        self._number = number
        self._lives = False
        self._lock = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        return self._number if self._lives else None

    async def call(self, *args: object, timeout: float, report: Report | None = None) -> object:
        (call,) = args
        assert isinstance(call, Call)
        async with self._lock:
            if not self._lives:
                self._lives = True
                self._shop.loads.append(self.key.expert.id)
            self.running += 1
            try:
                return await self._shop.does(self, call)
            except asyncio.CancelledError:
                self.kill()  # as a Child does
                raise
            finally:
                self.running -= 1

    def kill(self) -> None:
        self._lives = False

    def revive(self) -> None:
        """A process is there again, as where it takes a while to start."""
        self._lives = True

    async def close(self) -> None:
        self.kill()


class Workshop:
    """Starts them, and says what they do."""

    def __init__(self) -> None:
        self.does: Does = works
        self.benches: list[Bench] = []
        self.loads: list[str] = []
        """The experts that were loaded, in turn."""

    def start(self, key: ResidencyKey, loading: ExpertLoader, most: int, card: str) -> Bench:
        bench = Bench(self, key, loading, number=10**9 + len(self.benches))  # no real process's
        self.benches.append(bench)
        return bench

    def bench(self, name: str) -> Bench:
        """The newest process of an expert."""
        return next(each for each in reversed(self.benches) if each.key.expert.id == name)


class Seen(GpuProbe):
    """Says that this computer is the given one."""

    def __init__(self, *hardware: Hardware) -> None:
        """One after the other, each time after it was forgotten; the last one stays."""
        super().__init__()
        self.now = list(hardware)

    async def hardware(self) -> Hardware:
        return self.now[0]

    def guess(self) -> Hardware:
        return self.now[0]

    def forget(self) -> None:
        if len(self.now) > 1:
            self.now.pop(0)


class Folders:
    """Everything is installed."""

    def folder(self, expert: Expert) -> Path | None:
        return Path(expert.id)

    def used(self, expert: Expert) -> None:
        """Nobody cleans up here."""


class Room:
    """A local backend over the workshop."""

    def __init__(self, *hardware: Hardware, **settings: Any) -> None:
        self.shop = Workshop()
        self.notes: list[str] = []
        self.backend = LocalBackend(
            DEFINITIONS,
            Folders(),
            probe=Seen(*(hardware or (computer(16),))),
            start=self.shop.start,
            **settings,
        )

    async def run(self, name: str, megabytes: int = 1000, *, task: str = TASK) -> Iterable[str]:
        """What an expert of that name and need says."""
        return await self.ask(expert(name, megabytes), task=task)

    async def ask(self, expert: Expert, *, task: str = TASK) -> Iterable[str]:
        call = Call(task, {}, {}, Path("work"))
        current_note.set(self.notes.append)
        results: Iterable[Artifact] = await self.backend.run(
            Candidate(expert, "local"), call, nothing
        )
        return [item.text or "" for item in results]

    @property
    def holding(self) -> Sequence[str]:
        return self.backend.holding

    @property
    def places(self) -> list[str]:
        """Where each process was put, in turn."""
        return [str(bench.key.place) for bench in self.shop.benches]


def expert(name: str, megabytes: int = 1000, *, half: int = 0, task: str = TASK) -> Expert:
    return Expert(name, task, memory_mb=megabytes, memory_half_mb=half)


def computer(gigabytes: int, graphics: Graphics | None = None, **more: Any) -> Hardware:
    return Hardware(gigabytes * GB, graphics=graphics, **more)
