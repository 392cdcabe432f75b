"""Starts a sandboxed process, watches what it and its descendants use, and ends all of them.

The system's limits apply per process; sums over all of them, and over their files, are checked here
several times a second.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from jarvis_desktop.core.code import Ending
from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.errors import ExpertError, Fault
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.child import memory_kills
from jarvis_desktop.sandbox import process_tree
from jarvis_desktop.sandbox.process_tree import ProcessInfo, alive, descendants, kill
from jarvis_desktop.sandbox.profile import Launch

MIB = 1 << 20
GIB = 1 << 30
POLL_S = 0.05  # between two checks of the processes
POLLS_PER_SCAN = 5  # checks of the processes per check of the files, which takes longer
STOP_TIMEOUT_S = 0.5  # for the launcher to end everything; then they are killed from here
KILL_TIMEOUT_S = 0.4
STEP_S = 0.002
MAX_ROUNDS = 100  # of killing what was started while the others were killed
KILL = 9
OUTPUT_TIMEOUT_S = 1.0  # for the last output, which a busy computer may read late
MAX_DEPTH = 32  # of nested folders
MAX_FILES = 1 << 20  # files that are counted
MIN_FREE_BYTES = 1 * GIB  # left to others on the disk, whatever a script fills it with


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """What all processes of a session may use together."""

    memory: int = 4 * GIB  # resident bytes
    tasks: int = 256  # processes and threads
    disk: int = 512 * MIB  # bytes in its folders, besides the given files
    files: int = 10_000
    printed: int = 64 * MIB  # bytes of output per script; far fewer are kept


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a process ended, or which limit it exceeded."""

    ending: Ending
    words: str

    @classmethod
    def because(cls, reason: str, ending: Ending = Ending.LIMIT) -> ProcessEnd:
        """An end by the application, with the reason as a clause."""
        return cls(ending, f"It was ended because {reason}.")


class Supervisor:
    """A sandboxed process, from its start to the end of all its descendants."""

    def __init__(self, launch: Launch, bounds: SessionLimits) -> None:
        self._launch = launch
        self._bounds = bounds
        self._process: asyncio.subprocess.Process | None = None
        self._kills = memory_kills()
        self._least_free = min(MIN_FREE_BYTES, _free(launch.cwd) // 2)
        self._seen: tuple[ProcessInfo, ...] = ()
        # A separate thread, so that checks do not queue behind other work.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sandbox")

    async def start(self) -> asyncio.subprocess.Process:
        """Start it, with pipes for its standard streams. Raises ExpertError."""
        launch = self._launch
        try:
            # From this thread: Linux ends a process with the thread that started it.
            self._process = await asyncio.create_subprocess_exec(
                *launch.argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=launch.cwd,
                env=dict(launch.env),
                pass_fds=launch.pass_fds,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            self._thread.submit(launch.close)
            self._thread.shutdown(wait=False)
            reason = getattr(error, "strerror", None) or "its folder cannot be used"
            raise ExpertError(
                tr("The process for code could not be started: {reason}.", reason=reason),
                retryable=True,
                fault=Fault.CRASH,
            ) from error
        return self._process

    @property
    def alive(self) -> bool:
        """Whether it runs, as far as is known."""
        return self._process is not None and self._process.returncode is None

    async def pause(self) -> None:
        """Stop all its processes: nobody watches between two scripts."""
        if self._process and sys.platform != "win32":
            await self._in_thread(process_tree.pause, self._process.pid)

    async def resume(self) -> None:
        """Let them continue."""
        if self._process and sys.platform != "win32":
            await self._in_thread(process_tree.resume, self._process.pid)

    async def watch(self, spare: int) -> ProcessEnd:
        """Wait until a limit is exceeded; `spare` bytes in its folder do not count."""
        looks, loop = 0, asyncio.get_running_loop()
        while True:
            files_too = looks % POLLS_PER_SCAN == 0
            breach = await loop.run_in_executor(self._thread, self._look, spare, files_too)
            if breach:
                return breach
            looks += 1
            await asyncio.sleep(POLL_S)

    async def end(self, reading: asyncio.Task[None] | None = None) -> None:
        """End all processes within a second, or at once if they have ended. `reading` reads their
        last output."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            await self._in_thread(self._remember, process.pid)
            # Killing a launcher ends its descendants, except one that it has only just started.
            gently = self._launch.stop != KILL
            if gently:
                _signal(process, self._launch.stop)
            if not gently or not await _ends(process, STOP_TIMEOUT_S):
                await self._in_thread(_kill_all, process.pid)
                await _ends(process, KILL_TIMEOUT_S)
        # A process that escaped from the launcher is among those seen last.
        await self._in_thread(_await_end, self._seen)
        if reading:
            await asyncio.wait({reading}, timeout=OUTPUT_TIMEOUT_S)
        _close_pipes(process)
        await self._in_thread(self._launch.close)
        self._thread.shutdown(wait=False)

    def _remember(self, root: int) -> None:
        self._seen = descendants(root)

    async def _in_thread(self, work: Callable[..., object], *args: object) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, work, *args)

    async def ended(self) -> ProcessEnd:
        """How it ended, once it has; it is about to."""
        process = self._process
        if process is None or not await _ends(process, STOP_TIMEOUT_S):
            return ProcessEnd(Ending.CRASHED, "Its process cannot be talked to any more.")
        return _describe_exit(process.returncode or 0, memory_kills() > self._kills)

    def _look(self, spare: int, files_too: bool) -> ProcessEnd | None:
        process, bounds = self._process, self._bounds
        if process is None:
            return None
        self._seen = found = descendants(process.pid)
        if sum(each.memory for each in found) > bounds.memory:
            words = f"it used more than {readable_size(bounds.memory)} of memory"
            return ProcessEnd.because(words, Ending.MEMORY)
        if sum(each.tasks for each in found) > bounds.tasks:
            return ProcessEnd.because(f"it began more than {bounds.tasks} processes and threads")
        if not files_too:
            return None
        try:
            count, size = used((self._launch.cwd, self._launch.temporary), bounds.files)
        except HiddenError:
            return ProcessEnd.because(
                "it made folders that cannot be looked into: "
                f"more than {MAX_DEPTH} within one another, or closed ones"
            )
        if count > bounds.files:
            return ProcessEnd.because(f"it made more than {bounds.files} files")
        if size + process_tree.unlinked(found, self._launch.cwd) - spare > bounds.disk:
            return ProcessEnd.because(
                f"it wrote more than {readable_size(bounds.disk)} to its folder"
            )
        if (free := _free(self._launch.cwd)) < self._least_free:
            return ProcessEnd.because(f"the disk has only {readable_size(free)} left")
        return None


class HiddenError(Exception):
    """A folder hides its contents."""


def used(folders: tuple[Path | None, ...], most: int = MAX_FILES) -> tuple[int, int]:
    """The number of files in folders, and the disk space they use, up to `most` + 1 files. Raises
    HiddenError."""
    statuses = (status for folder in folders if folder for status in _statuses(str(folder), 0))
    count = size = 0
    for status in islice(statuses, most + 1):
        count += 1
        # For a sparse file, only its allocated blocks.
        size += getattr(status, "st_blocks", -(-status.st_size // 512)) * 512
    return count, size


def _statuses(folder: str, depth: int) -> Iterator[os.stat_result]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        if depth == MAX_DEPTH:
                            raise HiddenError
                        yield from _statuses(entry.path, depth + 1)
    except PermissionError as error:
        raise HiddenError from error
    except OSError:
        return  # it is gone


def _free(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return sys.maxsize


def _describe_exit(code: int, memory: bool) -> ProcessEnd:
    """What an exit code means. Launchers report a signal as 128 plus its number."""
    number = -code if code < 0 else code - 128 if code > 128 else 0
    if number == KILL and memory:
        return ProcessEnd.because("the memory of this computer was full", Ending.MEMORY)
    if number == getattr(signal, "SIGXCPU", -1):
        return ProcessEnd.because("it computed for too long", Ending.TIMEOUT)
    try:
        how = f"signal {signal.Signals(number).name}" if number else f"exit code {code}"
    except ValueError:
        how = f"exit code {code}"
    return ProcessEnd(Ending.CRASHED, f"Its Python process ended of itself ({how}).")


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    # Not by the process's own method, which polls for its end before asyncio can.
    with suppress(ProcessLookupError):
        os.kill(process.pid, number)


async def _ends(process: asyncio.subprocess.Process, seconds: float) -> bool:
    waiting = asyncio.ensure_future(process.wait())
    done, _ = await asyncio.wait({waiting}, timeout=seconds)
    if not done:
        waiting.cancel()
    return bool(done)


def _kill_all(root: int) -> None:
    """Kill all descendants of a process, and finally the process, which keeps them together."""
    if sys.platform != "win32":
        with suppress(ProcessLookupError):
            os.kill(root, signal.SIGSTOP)  # so that it starts no other one
    killed: set[tuple[int, str]] = set()
    rounds, deadline = 0, time.monotonic() + KILL_TIMEOUT_S
    while found := tuple(each for each in descendants(root) if each.number != root):
        names = {(each.number, each.began) for each in found}
        if not names <= killed:  # at once, before they start others
            rounds += 1
            if rounds > MAX_ROUNDS:
                break
            kill(found)
            killed |= names
        elif time.monotonic() > deadline:
            break
        else:
            time.sleep(STEP_S)  # a busy computer takes a moment to end them
    kill(tuple(each for each in descendants(root) if each.number == root))


def _await_end(processes: tuple[ProcessInfo, ...]) -> None:
    """Wait for processes to end, which is slightly later in a namespace; then kill the rest."""
    deadline = time.monotonic() + KILL_TIMEOUT_S
    while (left := alive(processes)) and time.monotonic() < deadline:
        time.sleep(STEP_S)
    kill(left)


def _close_pipes(process: asyncio.subprocess.Process) -> None:
    """Close the pipes, even if an escaped process still holds their other ends."""
    close: Callable[[], None] | None = getattr(getattr(process, "_transport", None), "close", None)
    if close:
        close()
