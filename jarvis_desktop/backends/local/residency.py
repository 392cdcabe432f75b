"""Keeps experts in memory within a limit, each in its process; evicts the least recently used."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import MemorySize, Placement
from jarvis_desktop.core.task import Report
from jarvis_desktop.process import engine
from jarvis_desktop.process.child import Child


class ExpertProcess(Protocol):
    """The child process of an expert; a `Child`."""

    @property
    def pid(self) -> int | None:
        """The process id, or None if it is not running."""

    async def call(self, *args: object, timeout: float, report: Report | None = None) -> object:
        """Call the process and return its answer."""

    def kill(self) -> None:
        """Kill it at once."""

    async def close(self) -> None:
        """End it and wait until it has ended."""


@dataclass(frozen=True, slots=True)
class ResidencyKey:
    """Identifies a process: tasks with the same loader share it."""

    expert: Expert = field(compare=False)
    """Details such as its popularity may change; its weights and size may not."""
    weights: tuple[object, ...] = field(init=False)
    loader: str
    place: Placement

    def __post_init__(self) -> None:
        both = (self.expert, self.expert.base) if self.expert.base else (self.expert,)
        weights = [
            (each.id, each.repo, each.revision, each.memory_mb, each.memory_half_mb)
            for each in both
        ]
        object.__setattr__(self, "weights", tuple(weights))


@dataclass(eq=False)
class ResidentExpert:
    """An expert in memory."""

    key: ResidencyKey
    process: ExpertProcess
    memory: MemorySize
    """What is counted for it: the most it needs during a call, what it uses between calls."""
    calls: int = 0  # running calls; it stays in memory while there are any
    guest: bool = False  # whether an LLM was unloaded for it
    used: int = 0  # larger, the later it was used
    ending: asyncio.TimerHandle | None = field(default=None)


class Residency:
    """The experts in memory, for one event loop. An idle one is ended after `idle` seconds."""

    def __init__(self, *, idle: float) -> None:
        self._idle = idle
        self._held: dict[ResidencyKey, ResidentExpert] = {}
        self._waiting: list[asyncio.Future[None]] = []
        self._clock = 0
        self.changes = 0
        """Counts ended calls and ended experts."""

    @property
    def held(self) -> tuple[ResidentExpert, ...]:
        """The experts in memory, the least recently used first."""
        return tuple(sorted(self._held.values(), key=lambda each: each.used))

    @property
    def total(self) -> MemorySize:
        """What they take together; those with running calls count in full."""
        return sum((each.memory for each in self._held.values()), MemorySize())

    def taken(self, resident: Callable[[int], int]) -> MemorySize:
        """What they take of the memory now; `resident` returns the resident bytes of a process.
        During a call an expert may still be loading what is counted for it."""
        found = MemorySize()
        for each in self._held.values():
            pid = each.process.pid
            if pid is None:
                continue
            now = resident(pid) if each.calls else 0
            found += (
                MemorySize(min(now, each.memory.main), each.memory.graphics) if now else each.memory
            )
        return found

    @property
    def busy(self) -> bool:
        """Whether a call is running."""
        return any(each.calls for each in self._held.values())

    def find(self, expert: Expert, loader: str) -> ResidentExpert | None:
        """Find an expert in memory, wherever it was placed."""
        same = (each for each in self._held.values() if each.process.pid)
        return next(
            (each for each in same if (each.key.expert, each.key.loader) == (expert, loader)), None
        )

    def take(
        self,
        key: ResidencyKey,
        need: MemorySize,
        limit: MemorySize,
        start: Callable[[], ExpertProcess],
    ) -> ResidentExpert | None:
        """Keep an expert in memory for one call, until `give_back`.

        Idle experts make room, the least recently used first. Returns None if running calls leave
        too little; see `changed`. An expert that does not fit even alone is let in alone, because
        the caller has checked its size before.
        """
        if not self._has_room(key, need, limit):
            return None
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = ResidentExpert(key, start(), need)
        held.calls += 1
        held.memory = held.memory.most(need)
        self._touch(held)
        return held

    async def changed(self, since: int) -> None:
        """Wait until `changes` is no longer `since`."""
        while self.changes == since:
            waiter = asyncio.get_running_loop().create_future()
            self._waiting.append(waiter)
            try:
                await waiter
            finally:
                self._waiting.remove(waiter)

    def give_back(self, held: ResidentExpert, memory: MemorySize | None, limit: MemorySize) -> None:
        """End a call. `memory` is what the process uses now, None if unknown."""
        held.calls -= 1
        if not held.calls:  # otherwise the waiting calls restart a process that has ended
            if self._held.get(held.key) is not held or held.process.pid is None:
                self.end(held)
            else:
                held.memory = memory or held.memory
                self._touch(held)
                loop = asyncio.get_running_loop()
                held.ending = loop.call_later(self._idle, self.end, held)
                self._keep_within(limit, held)
        self._wake()

    def end(self, held: ResidentExpert) -> None:
        """Evict an expert."""
        self._stay(held)
        if self._held.get(held.key) is held:
            del self._held[held.key]
        held.process.kill()
        self._wake()

    def end_guests(self) -> None:
        """Evict the idle experts for which an LLM was unloaded."""
        for held in self.held:
            if held.guest and not held.calls:
                self.end(held)

    async def close(self) -> None:
        """Evict all experts and wait until their processes have ended."""
        held = self.held
        for each in held:
            self.end(each)
        await asyncio.gather(*(each.process.close() for each in held))

    def _has_room(self, key: ResidencyKey, need: MemorySize, limit: MemorySize) -> bool:
        """Whether an expert may be loaded now, after evicting others for it."""
        for each in self.held:  # its other placements, and older downloads of it
            same = (each.key.expert.id, each.key.loader) == (key.expert.id, key.loader)
            if same and each.key != key and not each.calls:
                self.end(each)
        others = [each for each in self.held if each.key != key]
        idle = [each for each in others if not each.calls]
        mine = self._held.get(key)
        needed = need.most(mine.memory) if mine else need
        busy = sum((each.memory for each in others if each.calls), MemorySize())
        if busy != MemorySize() and not (busy + needed).within(limit):
            return bool(mine and mine.calls)
        for each in idle:
            lacking = sum((other.memory for other in others), needed) - limit
            if lacking == MemorySize():
                break
            if (lacking.main and each.memory.main) or (lacking.graphics and each.memory.graphics):
                others.remove(each)
                self.end(each)
                _note_eviction(each, key)
        return True

    def _keep_within(self, limit: MemorySize, last: ResidentExpert) -> None:
        """Evict experts after a call that took more than expected."""
        for each in self.held:
            if self.total.within(limit):
                return
            if not each.calls:
                self.end(each)
                if each is not last:
                    _note_eviction(each, last.key)

    def _touch(self, held: ResidentExpert) -> None:
        self._clock += 1
        held.used = self._clock
        self._stay(held)

    def _stay(self, held: ResidentExpert) -> None:
        if held.ending:
            held.ending.cancel()
            held.ending = None

    def _wake(self) -> None:
        self.changes += 1
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)


def _note_eviction(gone: ResidentExpert, key: ResidencyKey) -> None:
    current_note.get()(
        tr(
            "{name} was put out of memory to make room for {id}.",
            name=gone.key.expert.id,
            id=key.expert.id,
        )
    )


def start_process(key: ResidencyKey, *args: object) -> ExpertProcess:
    """Create the process of an expert, which starts with its first call."""
    worker = "jarvis_desktop.backends.local.worker:serve_measured"
    return Child(worker, *args, name=key.expert.id, libraries=engine.folder)
