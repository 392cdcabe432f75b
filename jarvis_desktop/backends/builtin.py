"""Runs built-in methods in a few child processes that are started when needed and kept warm."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_desktop.backends.outcome import checked, portable, seconds_for
from jarvis_desktop.child import Child
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.tasks.definition import Definition

GB = 1 << 30


@dataclass(eq=False)
class _Worker:
    child: Child
    ending: asyncio.TimerHandle | None = field(default=None)

    def stay(self) -> None:
        if self.ending:
            self.ending.cancel()
            self.ending = None


class BuiltinBackend:
    """The "builtin" backend: up to `width` processes, each of which runs one call at a time.

    `registry` names the module whose DEFINITIONS the children know. A call gets `time_limit`
    seconds and more for large inputs. A process is ended when it was idle for `idle` seconds or
    holds more than `keep` bytes after a call; one that wants more than `memory` bytes fails.
    """

    name = "builtin"
    lane = "cpu"

    def __init__(
        self,
        definitions: Mapping[str, Definition],
        *,
        width: int,
        registry: str = "jarvis_desktop.tasks.registry",
        time_limit: float = 120.0,
        idle: float = 120.0,
        memory: int = 4 * GB,
        keep: int = GB,
    ) -> None:
        self._definitions = definitions
        self._registry = registry
        self._time_limit = time_limit
        self._idle_seconds = idle
        self._memory = memory
        self._keep = keep
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._turns = asyncio.Semaphore(width)

    def question(self, call: Call) -> str:
        """What the task's definition wants to ask first."""
        ask = self._definitions[call.task].question
        return ask(call) if ask else ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """The results of the task's method. Raises JarvisError; cancelling ends its process."""
        definition = self._definitions.get(call.task)
        if definition is None or definition.method is None:
            raise UnavailableError(f"There is no built-in way to do {call.task}.")
        async with self._turns:
            worker = self._take()
            try:
                results, held = await worker.child.call(
                    portable(call), timeout=seconds_for(call, self._time_limit), report=report
                )
            except BaseException:
                self._give_back(worker, held=0)
                raise
            self._give_back(worker, held)
        return checked(results, definition.type)

    async def warm(self) -> None:
        """Start one process in advance, so that the first call need not wait for it."""
        if not self._idle and not self._busy:
            worker = self._take()
            try:
                await worker.child.start()
            finally:
                self._give_back(worker, held=0)

    async def close(self) -> None:
        """End all processes."""
        workers = (*self._idle, *self._busy)
        self._idle.clear()
        self._busy.clear()
        for worker in workers:
            worker.stay()
        await asyncio.gather(*(worker.child.close() for worker in workers))

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of the processes that are there now."""
        workers = (*self._idle, *self._busy)
        return tuple(worker.child.pid for worker in workers if worker.child.pid)

    def _take(self) -> _Worker:
        if self._idle:
            worker = self._idle.pop()  # the one that was used last is the warmest
            worker.stay()
        else:
            child = Child(
                "jarvis_desktop.backends.builtin:serve",
                *(self._registry, self._memory),
                name="built-in expert",
            )
            worker = _Worker(child)
        self._busy.add(worker)
        return worker

    def _give_back(self, worker: _Worker, held: int) -> None:
        if worker not in self._busy:  # closed in the meantime
            return
        self._busy.discard(worker)
        if held > self._keep:
            worker.child.kill()
        if worker.child.pid is None:  # ended just now, timed out, cancelled or crashed
            return
        loop = asyncio.get_running_loop()
        worker.ending = loop.call_later(self._idle_seconds, self._end, worker)
        self._idle.append(worker)

    def _end(self, worker: _Worker) -> None:
        if worker in self._idle:
            self._idle.remove(worker)
            worker.child.kill()


def serve(registry: str, memory: int) -> Callable[[Report, Call], tuple[list[Artifact], int]]:
    """The handler of a child: the method's results, and how many bytes the process holds now."""
    _limit(memory)
    definitions: Sequence[Definition] = importlib.import_module(registry).DEFINITIONS
    methods = {each.type.name: each.method for each in definitions}

    def handle(report: Report, call: Call) -> tuple[list[Artifact], int]:
        method = methods.get(call.task)
        if method is None:
            raise UnavailableError(f"There is no built-in way to do {call.task}.")
        try:
            return list(method(call, report)), _held()
        except MemoryError as error:
            raise ExpertError(
                f"{call.task} needed more than {memory / GB:.0f} GB of memory.",
                hint="Try it with a smaller file.",
            ) from error

    return handle


def _limit(memory: int) -> None:
    """Let the process fail rather than fill the computer's memory, where the system can do that."""
    if sys.platform != "linux":
        return
    import resource

    # Not RLIMIT_AS: threads and native libraries reserve many times what they ever use.
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    soft = memory if hard == resource.RLIM_INFINITY else min(memory, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _held() -> int:
    """Resident bytes of this process; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
