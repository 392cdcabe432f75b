"""Keeps experts in memory, each in its process, within a limit; the least recently used goes."""

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
from jarvis_desktop.process.child import Child


class ExpertProcess(Protocol):
    """What an expert is held in; a Child."""

    @property
    def pid(self) -> int | None:
        """The process, where one is running."""
        ...

    async def call(self, *args: object, timeout: float, report: Report | None = None) -> object:
        """The answer of the process."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...

    async def close(self) -> None:
        """End it, and wait for its end."""
        ...


@dataclass(frozen=True, slots=True)
class ResidencyKey:
    """What one process holds: tasks with the same loader share it."""

    expert: Expert = field(compare=False)
    """What is said of it, such as how popular it is, may change; its weights and size may not."""
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
class Held:
    """An expert in memory."""

    key: ResidencyKey
    process: ExpertProcess
    memory: MemorySize
    """What is counted for it: what it will take during a call, what it takes between calls."""
    calls: int = 0
    """How many are under way; it stays as long as there are any."""
    guest: bool = False
    """Whether an LLM went out of memory for it, which wants to come back."""
    used: int = 0
    """Larger, the later it was used."""
    ending: asyncio.TimerHandle | None = field(default=None)


class Residency:
    """Holds experts of one event loop. One that is not used for `idle` seconds is let go."""

    def __init__(self, *, idle: float) -> None:
        self._idle = idle
        self._held: dict[ResidencyKey, Held] = {}
        self._waiting: list[asyncio.Future[None]] = []
        self._clock = 0
        self.changes = 0
        """Larger, the more calls have ended, and experts with them."""

    @property
    def held(self) -> tuple[Held, ...]:
        """Those in memory, the least recently used first."""
        return tuple(sorted(self._held.values(), key=lambda each: each.used))

    @property
    def total(self) -> MemorySize:
        """What they take together, those under way as much as they may come to take."""
        return sum((each.memory for each in self._held.values()), MemorySize())

    def taken(self, resident: Callable[[int], int]) -> MemorySize:
        """What they have of the memory at this moment, as far as `resident` tells it of a process.

        A call under way may still be loading what is counted for it.
        """
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
        """Whether a call is under way."""
        return any(each.calls for each in self._held.values())

    def find(self, expert: Expert, loader: str) -> Held | None:
        """Where an expert is in memory, wherever it was put."""
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
    ) -> Held | None:
        """Hold an expert for one call; it must be given back.

        Others that are idle make room, the least recently used first. None where those under way
        leave too little; see `changed`. One that does not fit even alone is let in alone: who
        calls has asked before.
        """
        if not self._has_room(key, need, limit):
            return None
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = Held(key, start(), need)
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

    def give_back(self, held: Held, memory: MemorySize | None, limit: MemorySize) -> None:
        """The call is over. `memory` is what the process takes now, None where nobody knows."""
        held.calls -= 1
        if not held.calls:  # others that wait for the same process start it anew where it ended
            if self._held.get(held.key) is not held or held.process.pid is None:
                self.end(held)
            else:
                held.memory = memory or held.memory
                self._touch(held)
                loop = asyncio.get_running_loop()
                held.ending = loop.call_later(self._idle, self.end, held)
                self._keep_within(limit, held)
        self._wake()

    def end(self, held: Held) -> None:
        """Put one out of memory."""
        self._stay(held)
        if self._held.get(held.key) is held:
            del self._held[held.key]
        held.process.kill()
        self._wake()

    def end_guests(self) -> None:
        """Put out the idle ones for which an LLM went."""
        for held in self.held:
            if held.guest and not held.calls:
                self.end(held)

    async def close(self) -> None:
        """Put all of them out, and wait for the ends of their processes."""
        held = self.held
        for each in held:
            self.end(each)
        await asyncio.gather(*(each.process.close() for each in held))

    def _has_room(self, key: ResidencyKey, need: MemorySize, limit: MemorySize) -> bool:
        """Whether it may come now; others were put out for it then."""
        for each in self.held:  # what it was at another place, or before it was fetched anew
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
                _say_it_went(each, key)
        return True

    def _keep_within(self, limit: MemorySize, last: Held) -> None:
        """After a call that took more than was thought."""
        for each in self.held:
            if self.total.within(limit):
                return
            if not each.calls:
                self.end(each)
                if each is not last:
                    _say_it_went(each, last.key)

    def _touch(self, held: Held) -> None:
        self._clock += 1
        held.used = self._clock
        self._stay(held)

    def _stay(self, held: Held) -> None:
        if held.ending:
            held.ending.cancel()
            held.ending = None

    def _wake(self) -> None:
        self.changes += 1
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)


def _say_it_went(gone: Held, key: ResidencyKey) -> None:
    name = gone.key.expert.id
    current_note.get()(
        tr(
            "{name} was put out of memory to make room for {id}.",
            name=name,
            id=key.expert.id,
        )
    )


def started(key: ResidencyKey, *args: object) -> ExpertProcess:
    """The process for an expert; nothing of it runs before its first call."""
    return Child("jarvis_desktop.backends.local.worker:hold", *args, name=key.expert.id)
