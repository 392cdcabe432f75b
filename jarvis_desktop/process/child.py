"""Runs foreign native code in a spawned process, one call at a time.

A crash, a hang or an out-of-memory kill there is just a failed call here. Calls and answers are
length-prefixed pickles over a plain pipe: a reader of multiprocessing.Queue hangs if the writer is
killed in the middle, while a pipe returns end-of-file.

A pool library was tried: it has no way to pass progress out of a call. A child reaches no network
unless it is made with `network=True` (`process/network_guard.py`); the switches of libraries are
only a courtesy.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker, spawn
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from weakref import WeakSet

from jarvis_desktop.core.context import current_detail, current_draft
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child_main import Answer, one_line, serve

log = logging.getLogger(__name__)

ENDED: Answer = ("ended",)

ENDING_SECONDS = 3.0
"""How long to wait for the end of a killed process: one that waits for a device may never end."""

KILLED = -9
"""The exit code of a killed process, on systems with signals."""

EVENTS = Path("/proc/vmstat")

_command_line = spawn.get_command_line


def _quiet_command_line(**handles: Any) -> list[str]:
    """multiprocessing's own, without its traceback in the terminal if this process is killed before
    it has sent what the child should do."""
    *start, program, last = _command_line(**handles)
    if "spawn_main(" in str(program):  # a frozen program has none
        program = f"try:\n {program}\nexcept EOFError: raise SystemExit(1)"
    return [*start, program, last]


spawn.get_command_line = _quiet_command_line

_outward: WeakSet[Child] = WeakSet()
"""The children that use the network."""


@dataclass(frozen=True, slots=True, eq=False)
class _RunningProcess:
    process: BaseProcess
    pipe: Connection
    answers: asyncio.Queue[Answer]
    listener: threading.Thread

    @property
    def lives(self) -> bool:
        """Whether it is alive. Reaps the process if it has ended."""
        return self.process.is_alive() and self.listener.is_alive()


class Child:
    """A process that answers calls with the handler that `factory` makes.

    `factory` is named "package.module:function" so that only the child imports its module. The
    process starts at the first call. It is killed when a call times out, is cancelled or fails
    here, and restarts at the next call. It has no network access, unless `network`, or for
    `services` of this computer such as the sound server. It imports from the folder that
    `libraries` returns, if any, before the application's own.
    """

    def __init__(
        self,
        factory: str,
        *args: object,
        name: str,
        network: bool = False,
        services: bool = False,
        libraries: Callable[[], Path | None] = lambda: None,
    ) -> None:
        self._factory = factory
        self._network = network
        self._services = services
        self._libraries = libraries
        self._args = args
        self._name = name
        self._running: _RunningProcess | None = None
        self._spawning: asyncio.Future[_RunningProcess] | None = None
        self._endings: list[threading.Thread] = []
        self._lock = asyncio.Lock()
        self._dismissed = ""
        if network:
            _outward.add(self)

    @property
    def pid(self) -> int | None:
        """The id of the running process, or None."""
        return self._running.process.pid if self._running and self._running.lives else None

    async def start(self) -> None:
        """Start the process in advance, so that the first call need not wait for it.

        Raises ExpertError if the system cannot start one.
        """
        async with self._lock:
            await self._ensure()

    async def call(self, *args: object, timeout: float, report: Report | None = None) -> Any:
        """Return the handler's result. `timeout` is in seconds, from when this call starts.

        Raises JarvisError as the handler raised it, ExpertError if the process could not be
        started, died, hung, or raised anything else.
        """
        async with self._lock:
            running = await self._ensure()
            limit, kills = asyncio.timeout(timeout), memory_kills()
            try:
                async with limit:
                    kind, *rest = await _exchange(running, args, report)
            except BaseException as error:
                # This is not the answer; a late one must not be taken for the next call's.
                self.kill()
                if isinstance(error, TimeoutError) and limit.expired():
                    raise ExpertError(
                        tr(
                            "The {name} gave no answer within {timeout:.0f} seconds.",
                            name=self._name,
                            timeout=timeout,
                        ),
                        retryable=True,
                        fault=Fault.TIMEOUT,
                    ) from error
                raise
            if kind == "unbuilt":  # the next call tries again
                self.kill()
                kind, *rest = rest[0]
            elif kind == "ended":
                self.kill()
                raise await self._stopped(running, kills)
        if kind == "result":
            return rest[0]
        if kind == "refused":
            raise rest[0]
        message, details = rest
        log.info("%s failed: %s", self._name, details)
        # Unexpected errors may be transient, so they are retryable.
        raise ExpertError(
            tr("The {name} failed: {message}", name=self._name, message=message), retryable=True
        )

    async def close(self) -> None:
        """End the process and wait for its end, for a few seconds at most."""
        spawning = self._spawning
        self.kill()
        if spawning:
            await asyncio.wait({spawning}, timeout=ENDING_SECONDS)
        await asyncio.to_thread(_join, tuple(self._endings))

    def kill(self) -> None:
        """Kill the process; the system may take a moment to clean up."""
        self._spawning = None  # a process that is still starting is ended when it is ready
        running, self._running = self._running, None
        if running:
            self._end(running)

    def dismiss(self, reason: str) -> None:
        """End the process and fail the waiting call with this reason."""
        if self._running or self._spawning:
            self._dismissed = reason
            self.kill()

    def _end(self, running: _RunningProcess) -> None:
        running.process.kill()
        # A large process takes a tenth of a second to end: too long to block a loop.
        ending = threading.Thread(
            target=running.process.join,
            args=(ENDING_SECONDS,),
            name=f"{self._name}-end",
            daemon=True,
        )
        self._endings = [each for each in self._endings if each.is_alive()]
        with suppress(RuntimeError):  # no more threads: it is reaped at the next start
            ending.start()
            self._endings.append(ending)

    async def _stopped(self, running: _RunningProcess, kills: int) -> ExpertError:
        """Return why it ended; `kills` is the earlier result of `memory_kills`."""
        await asyncio.to_thread(_join, tuple(self._endings))
        if dismissed := self._dismissed:
            return ExpertError(dismissed, fault=Fault.NETWORK)
        code = running.process.exitcode
        if code == KILLED and memory_kills() > kills:
            return ExpertError(
                tr(
                    "The {name} was ended because the memory of this computer was full.",
                    name=self._name,
                ),
                hint=tr("Close other programs, or choose a smaller one."),
                retryable=True,
                fault=Fault.MEMORY,
            )
        how = "" if code is None else f" (exit code {code})"
        return ExpertError(
            tr("The {name} stopped unexpectedly{how}.", name=self._name, how=how),
            retryable=True,
            fault=Fault.CRASH,
        )

    async def _ensure(self) -> _RunningProcess:
        self._dismissed = ""
        if self._running and not self._running.lives:
            self.kill()
        if self._running is None:
            try:
                # The thread cannot be stopped: after a cancel the next call waits for it.
                await asyncio.shield(self._spawning or self._begin())
            except (OSError, RuntimeError) as error:
                raise ExpertError(
                    tr(
                        "The {name} could not be started: {error}.",
                        name=self._name,
                        error=one_line(error),
                    ),
                    retryable=True,
                    fault=Fault.CRASH,
                ) from error
        if self._running is None and self._dismissed:
            raise ExpertError(self._dismissed, fault=Fault.NETWORK)
        if self._running is None:
            raise ExpertError(
                tr("The {name} was ended while it started.", name=self._name),
                retryable=True,
                fault=Fault.CRASH,
            )
        return self._running

    def _begin(self) -> asyncio.Future[_RunningProcess]:
        loop = asyncio.get_running_loop()
        spawning = loop.run_in_executor(None, self._spawn, loop, tuple(self._endings))
        spawning.add_done_callback(self._spawned)
        self._spawning = spawning
        return spawning

    def _spawned(self, spawning: asyncio.Future[_RunningProcess]) -> None:
        wanted = spawning is self._spawning
        if wanted:
            self._spawning = None
        if spawning.cancelled() or spawning.exception():
            return
        if wanted:
            self._running = spawning.result()
        else:
            self._end(spawning.result())

    def _spawn(
        self, loop: asyncio.AbstractEventLoop, endings: tuple[threading.Thread, ...]
    ) -> _RunningProcess:
        _join(endings)  # the old process may still hold a device, or much memory
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=serve,
            args=(
                *(theirs, self._factory, self._args, self._network, self._services),
                self._libraries(),
            ),
            name=self._name,
            daemon=True,
        )
        # Our copy must be closed, or the child's end would never give end-of-file.
        with theirs, _no_interrupt():
            process.start()
        # A separate thread, because one that waits in the loop's small shared pool would block
        # others; a separate queue, because a killed child may still send messages.
        answers: asyncio.Queue[Answer] = asyncio.Queue()
        listener = threading.Thread(
            target=_listen, args=(ours, loop, answers), name=f"{self._name}-pipe", daemon=True
        )
        try:
            listener.start()
        except RuntimeError:
            process.kill()
            process.join(ENDING_SECONDS)
            raise
        return _RunningProcess(process, ours, answers, listener)


def end_outward(reason: str) -> None:
    """End every process that uses the network: the network rules have changed.

    The next call starts a new one.
    """
    for child in tuple(_outward):
        child.dismiss(reason)


def memory_kills() -> int:
    """Return how many processes Linux has killed because memory was full; 0 elsewhere."""
    try:
        lines = EVENTS.read_text("ascii").splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


@contextmanager
def _no_interrupt() -> Iterator[None]:
    """Shield what is started here from Ctrl-C, which would kill a starting Python with a
    traceback."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # otherwise it starts below, where Ctrl-C is allowed again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _join(threads: tuple[threading.Thread, ...]) -> None:
    for thread in threads:
        thread.join()


async def _exchange(
    running: _RunningProcess, args: tuple[object, ...], report: Report | None
) -> Answer:
    try:
        await asyncio.to_thread(running.pipe.send, args)
    except OSError:
        return ENDED
    while (answer := await running.answers.get())[0] in ("progress", "draft", "detail"):
        if answer[0] == "draft":
            current_draft.get()(answer[1])
        elif answer[0] == "detail":
            current_detail.get()(answer[1])
        elif report:
            report(*answer[1:])
    return answer


def _listen(
    pipe: Connection, loop: asyncio.AbstractEventLoop, answers: asyncio.Queue[Answer]
) -> None:
    answer: Answer = ()
    while answer != ENDED:
        try:
            answer = pipe.recv()
        except Exception as error:  # noqa: BLE001 - what a child sends may not unpickle
            if not isinstance(error, (EOFError, OSError)):
                log.info("an answer cannot be read: %s", frames(error))
            answer = ENDED
        try:
            loop.call_soon_threadsafe(answers.put_nowait, answer)
        except RuntimeError:  # the loop is closed: nobody is waiting
            return


@dataclass(eq=False)
class _Worker:
    child: Child
    ending: asyncio.TimerHandle | None = field(default=None)

    def stay(self) -> None:
        if self.ending:
            self.ending.cancel()
            self.ending = None


class Pool:
    """Up to `width` processes from `make`: started on demand, kept warm, one call each at a time.
    Each ends after `idle` idle seconds."""

    def __init__(self, make: Callable[[], Child], *, width: int, idle: float) -> None:
        self._make = make
        self._idle_seconds = idle
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._turns = asyncio.Semaphore(width)

    async def call(
        self,
        *args: object,
        timeout: float,
        report: Report | None = None,
        spent: Callable[[Any], bool] = lambda result: False,
    ) -> Any:
        """Call a free process, as Child.call does, when there is one.

        `spent` decides by the result whether its process uses too much memory to be kept.
        """
        async with self._turns:
            worker = self._take()
            try:
                result = await worker.child.call(*args, timeout=timeout, report=report)
                if spent(result):
                    worker.child.kill()
            finally:
                self._give_back(worker)
        return result

    async def warm(self) -> None:
        """Start one process in advance, so that the first call need not wait for it."""
        if not self._idle and not self._busy:
            worker = self._take()
            try:
                await worker.child.start()
            finally:
                self._give_back(worker)

    def dismiss(self, reason: str) -> None:
        """End all processes and fail waiting calls with this reason; the next call starts one."""
        for worker in (*self._idle, *self._busy):
            worker.child.dismiss(reason)

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
        """The ids of the running processes."""
        workers = (*self._idle, *self._busy)
        return tuple(worker.child.pid for worker in workers if worker.child.pid)

    def _take(self) -> _Worker:
        if self._idle:
            worker = self._idle.pop()  # the last used one is the warmest
            worker.stay()
        else:
            worker = _Worker(self._make())
        self._busy.add(worker)
        return worker

    def _give_back(self, worker: _Worker) -> None:
        if worker not in self._busy:  # closed in the meantime
            return
        self._busy.discard(worker)
        if worker.child.pid is None:  # ended just now, timed out, cancelled or crashed
            return
        loop = asyncio.get_running_loop()
        worker.ending = loop.call_later(self._idle_seconds, self._end, worker)
        self._idle.append(worker)

    def _end(self, worker: _Worker) -> None:
        if worker in self._idle:
            self._idle.remove(worker)
            worker.child.kill()
