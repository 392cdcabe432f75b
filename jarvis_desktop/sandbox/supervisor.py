"""Starts a sandboxed process, watches what it and its descendants use, and ends all of them.

The system's limits hold for each process; sums over all of them, and over the files they leave,
are looked at here, some times a second.
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
from jarvis_desktop.process.safe_delete import remove
from jarvis_desktop.sandbox.process_tree import (
    ProcessInfo,
    alive,
    descendants,
    hold,
    kill,
    let_go,
    unlinked,
)
from jarvis_desktop.sandbox.profile import Launch

MIB = 1 << 20
GIB = 1 << 30

LOOK = 0.05
"""Seconds between two looks at the processes."""
LOOKS_PER_SCAN = 5
"""Looks at the processes for one at the files, which takes longer."""
STOPPING = 0.5
"""Seconds that the launcher has to end all; then they are killed from here."""
ENDING = 0.4
"""Seconds for that."""
STEP = 0.002
KILL = 9
LAST_WORDS = 0.1
"""Seconds for what they wrote."""
DEEPEST = 32
"""Folders within folders that are looked into."""
MANY = 1 << 20
"""Files that are counted at the most."""
LEAST_FREE = 1 * GIB
"""Bytes that are left to others on the disk, whatever it is that a script fills it with."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What all processes of a session may use together."""

    memory: int = 4 * GIB
    """Bytes that are resident."""
    tasks: int = 256
    """Processes and threads."""
    disk: int = 512 * MIB
    """Bytes in its folders, besides the files given."""
    files: int = 10_000
    printed: int = 64 * MIB
    """Bytes of output of one script; of far fewer is anything kept."""


@dataclass(frozen=True, slots=True)
class Breach:
    """A bound that was passed."""

    ending: Ending
    words: str


class Supervisor:
    """One sandboxed process, from its start to the end of all that it began."""

    def __init__(self, launch: Launch, bounds: Bounds) -> None:
        self._launch = launch
        self._bounds = bounds
        self._process: asyncio.subprocess.Process | None = None
        self._kills = memory_kills()
        self._least_free = min(LEAST_FREE, _free(launch.cwd) // 2)
        self._seen: tuple[ProcessInfo, ...] = ()
        # A thread of its own: what watches must not wait in line behind other work.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sandbox")

    async def start(self) -> asyncio.subprocess.Process:
        """Start it, with pipes for its three standard streams. Raises ExpertError."""
        launch = self._launch
        try:
            # From this thread: Linux ends the process with the thread that started it.
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

    async def hold(self) -> None:
        """Stop all that was begun: between two scripts nobody watches."""
        if self._process and sys.platform != "win32":
            await self._in_thread(hold, self._process.pid)

    async def let_go(self) -> None:
        """Let it go on."""
        if self._process and sys.platform != "win32":
            await self._in_thread(let_go, self._process.pid)

    async def watch(self, spare: int) -> Breach:
        """Wait until a bound is passed. `spare` is how many bytes in its folder do not count."""
        looks, loop = 0, asyncio.get_running_loop()
        while True:
            files_too = looks % LOOKS_PER_SCAN == 0
            breach = await loop.run_in_executor(self._thread, self._look, spare, files_too)
            if breach:
                return breach
            looks += 1
            await asyncio.sleep(LOOK)

    async def end(self, reading: asyncio.Task[None] | None = None) -> None:
        """End all processes, within a second; at once where they have ended. `reading` takes in
        what they wrote last."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            await self._in_thread(self._remember, process.pid)
            # A launcher that is to be killed ends with it what it began, but for what it has only
            # just begun, which does not know of that yet.
            gently = self._launch.stop != KILL
            if gently:
                _signal(process, self._launch.stop)
            if not gently or not await _ends(process, STOPPING):
                await self._in_thread(_kill_all, process.pid)
                await _ends(process, ENDING)
        # Whoever got away from the launcher is among those that were seen last.
        await self._in_thread(_see_off, self._seen)
        if reading:
            await asyncio.wait({reading}, timeout=LAST_WORDS)
        _close_pipes(process)
        await self._in_thread(_close, self._launch)
        self._thread.shutdown(wait=False)

    def _remember(self, root: int) -> None:
        self._seen = descendants(root)

    async def _in_thread(self, work: Callable[..., object], *args: object) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, work, *args)

    async def ended(self) -> Breach:
        """How it ended of itself, once it has; it is about to."""
        process = self._process
        if process is None or not await _ends(process, STOPPING):
            return Breach(Ending.CRASHED, "Its process cannot be talked to any more.")
        return _word(process.returncode or 0, memory_kills() > self._kills)

    def _look(self, spare: int, files_too: bool) -> Breach | None:
        process, bounds = self._process, self._bounds
        if process is None:
            return None
        self._seen = found = descendants(process.pid)
        if sum(each.memory for each in found) > bounds.memory:
            return Breach(
                Ending.MEMORY,
                f"It was ended because it used more than {_size(bounds.memory)} of memory.",
            )
        if sum(each.tasks for each in found) > bounds.tasks:
            return Breach(
                Ending.LIMIT,
                f"It was ended because it began more than {bounds.tasks} processes and threads.",
            )
        if not files_too:
            return None
        try:
            count, size = used((self._launch.cwd, self._launch.temporary), bounds.files)
        except HiddenError:
            return Breach(
                Ending.LIMIT,
                "It was ended because it made folders that cannot be looked into: "
                f"more than {DEEPEST} within one another, or closed ones.",
            )
        if count > bounds.files:
            return Breach(
                Ending.LIMIT, f"It was ended because it made more than {bounds.files} files."
            )
        if size + unlinked(found, self._launch.cwd) - spare > bounds.disk:
            return Breach(
                Ending.LIMIT,
                f"It was ended because it wrote more than {_size(bounds.disk)} to its folder.",
            )
        if (free := _free(self._launch.cwd)) < self._least_free:
            return Breach(
                Ending.LIMIT, f"It was ended because the disk has only {_size(free)} left."
            )
        return None


def _close(launch: Launch) -> None:
    if launch.temporary:
        remove(launch.temporary)
    launch.close()


class HiddenError(Exception):
    """A folder hides what is in it."""


def used(folders: tuple[Path | None, ...], most: int = MANY) -> tuple[int, int]:
    """How many files there are in folders, and how many bytes they take of the disk; no further
    than one more than `most`. Raises HiddenError."""
    statuses = (status for folder in folders if folder for status in _statuses(str(folder), 0))
    count = size = 0
    for status in islice(statuses, most + 1):
        count += 1
        # Of a file with holes, only what there is of it.
        size += getattr(status, "st_blocks", -(-status.st_size // 512)) * 512
    return count, size


def _statuses(folder: str, depth: int) -> Iterator[os.stat_result]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):
                    yield entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        if depth == DEEPEST:
                            raise HiddenError
                        yield from _statuses(entry.path, depth + 1)
    except PermissionError as error:
        raise HiddenError from error
    except OSError:
        return  # it has gone


def _free(folder: Path) -> int:
    """Bytes that are free on the disk of a folder."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return sys.maxsize


def _word(code: int, memory: bool) -> Breach:
    """What an exit code says. Launchers tell a signal as 128 and its number."""
    number = -code if code < 0 else code - 128 if code > 128 else 0
    if number == KILL and memory:
        return Breach(Ending.MEMORY, "It was ended because the memory of this computer was full.")
    if number == getattr(signal, "SIGXCPU", -1):
        return Breach(Ending.TIMEOUT, "It was ended because it computed for too long.")
    try:
        how = f"signal {signal.Signals(number).name}" if number else f"exit code {code}"
    except ValueError:
        how = f"exit code {code}"
    return Breach(Ending.CRASHED, f"Its Python process ended of itself ({how}).")


def _size(number: int) -> str:
    return readable_size(number / 1_000_000)


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    # Not by the process's own method, which asks whether it has ended before asyncio could.
    with suppress(ProcessLookupError):
        os.kill(process.pid, number)


async def _ends(process: asyncio.subprocess.Process, seconds: float) -> bool:
    waiting = asyncio.ensure_future(process.wait())
    done, _ = await asyncio.wait({waiting}, timeout=seconds)
    if not done:
        waiting.cancel()
    return bool(done)


def _kill_all(root: int) -> None:
    """Kill all that descend from a process, and at last that one, which keeps them together."""
    if sys.platform != "win32":
        with suppress(ProcessLookupError):
            os.kill(root, signal.SIGSTOP)  # it is not to begin another meanwhile
    for _ in range(100):
        found = tuple(each for each in descendants(root) if each.number != root)
        if not found:
            break
        kill(found)
    kill(tuple(each for each in descendants(root) if each.number == root))


def _see_off(processes: tuple[ProcessInfo, ...]) -> None:
    """Wait until processes have ended, which those in a namespace do a moment after the first;
    then kill those that have not."""
    deadline = time.monotonic() + ENDING
    while (left := alive(processes)) and time.monotonic() < deadline:
        time.sleep(STEP)
    kill(left)


def _close_pipes(process: asyncio.subprocess.Process) -> None:
    """Let go of the pipes, also where one who got away still holds the other ends."""
    close: Callable[[], None] | None = getattr(getattr(process, "_transport", None), "close", None)
    if close:
        close()
