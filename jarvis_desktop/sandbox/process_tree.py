"""A process and its descendants: which they are, their memory, and ways to pause and kill them.

On Linux also control groups, which limit root's processes, because RLIMIT_NPROC does not. Other
users may not create control groups and do not need them here. If root may not either (in a
container), only the supervisor counts.
"""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")

MAX_LOOKS = 8  # at the threads of a process, some of which may end in between
PAUSE_TIMEOUT_S = 0.2  # for processes to stop
PAUSE_STEP_S = 0.001


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """A process; its start time tells it from a later one with the same number."""

    number: int
    began: str
    memory: int  # resident bytes
    tasks: int  # its threads


def descendants(root: int) -> tuple[ProcessInfo, ...]:
    """The process and all its descendants, as far as the system shows them."""
    if sys.platform == "win32":
        return ()  # its job object counts there
    if sys.platform == "linux" and (PROC / "thread-self" / "children").exists():
        return tuple(_walk(root))
    return _list_by_ps(root)


def alive(processes: tuple[ProcessInfo, ...]) -> tuple[ProcessInfo, ...]:
    """Those that have not ended; their numbers may have been reused."""
    if sys.platform != "linux":
        return tuple(each for each in processes if _exists(each.number))
    return tuple(each for each in processes if _start_time(each.number) == each.began)


def kill(processes: tuple[ProcessInfo, ...]) -> None:
    """Kill those that have not ended."""
    _send((process.number for process in alive(processes)), signal.SIGKILL)


def unlinked(processes: Iterable[ProcessInfo], folder: Path) -> int:
    """Bytes on the folder's disk in open files without a name, as far as the system shows them."""
    if sys.platform != "linux":
        return 0
    found: dict[int, int] = {}
    with suppress(OSError):
        disk = folder.stat().st_dev
        for process in processes:
            base = f"{PROC}/{process.number}/fd"
            with suppress(OSError):
                for name in os.listdir(base):  # noqa: PTH208 - as below
                    with suppress(OSError):
                        status = os.stat(f"{base}/{name}")  # noqa: PTH116 - as below
                        if status.st_nlink == 0 and status.st_dev == disk:
                            found[status.st_ino] = status.st_blocks * 512
    return sum(found.values())


def pause(root: int) -> None:
    """Stop all descendants of a process, but not the process, until `resume`."""
    held: set[int] = set()
    until = time.monotonic() + PAUSE_TIMEOUT_S
    while time.monotonic() < until:
        found = _below_it(root)
        if found and found == held:  # all had stopped before they were listed
            return
        _send(found, signal.SIGSTOP)
        held = found if all(map(_has_stopped, found)) else set()
        if found and not held:
            time.sleep(PAUSE_STEP_S)


def resume(root: int) -> None:
    """Let all descendants of a process continue."""
    _send(_below_it(root), signal.SIGCONT)


def _below_it(root: int) -> set[int]:
    return {each.number for each in descendants(root)} - {root}


def _send(processes: Iterable[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _has_stopped(number: int) -> bool:
    """Whether all of its threads have stopped: they stop one by one."""
    if sys.platform != "linux":
        return True
    try:
        threads = os.listdir(f"{PROC}/{number}/task")  # noqa: PTH208 - as below
    except OSError:
        return True  # it has ended
    return all(_state(f"{PROC}/{number}/task/{thread}") in "TtZX" for thread in threads)


def _state(base: str) -> str:
    """The state letter of a thread or process; "X" if it has ended."""
    try:
        return _read(f"{base}/stat").rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "X"


def _exists(number: int) -> bool:
    try:
        os.kill(number, 0)
    except OSError:
        return False
    return True


def _walk(root: int) -> Iterator[ProcessInfo]:
    page = os.sysconf("SC_PAGE_SIZE")
    waiting, seen = [root], {root}
    while waiting:
        number = waiting.pop()
        base = f"{PROC}/{number}"
        try:
            resident = _pages(base)
            tasks, below = _threads(base)
        except (OSError, ValueError):
            continue  # it has ended
        if resident and (began := _start_time(number)):  # else it is a zombie
            yield ProcessInfo(number, began, resident * page, tasks)
        children = below - seen
        seen |= children
        waiting += children


def _pages(base: str) -> int:
    """Resident pages. Raises OSError or ValueError if the process has ended."""
    resident = int(_read(f"{base}/statm").split()[1])
    if resident:
        return resident
    # The first thread can end before the others, and then shows no memory.
    for thread in os.listdir(f"{base}/task"):  # noqa: PTH208 - as below
        with suppress(OSError):
            resident = max(resident, int(_read(f"{base}/task/{thread}/statm").split()[1]))
    return resident


def _threads(base: str) -> tuple[int, set[int]]:
    """The number of its threads, and their children. Raises OSError if the process has ended."""
    below: set[int] = set()
    for _ in range(MAX_LOOKS):
        tasks, gone = os.listdir(f"{base}/task"), False  # noqa: PTH208 - twenty times a second
        for task in tasks:
            try:
                below |= set(map(int, _read(f"{base}/task/{task}/children").split()))
            except OSError:  # a thread that has ended left its children to another one
                gone = True
        if not gone:
            break
    return len(tasks), below


def _start_time(number: int) -> str:
    """The start time of a process in clock ticks; "" if it has ended."""
    try:
        # The name, in brackets, may contain anything: count fields from its end.
        words = _read(f"{PROC}/{number}/stat").rpartition(")")[2].split()
        # A zombie first thread may have other threads that still run.
        return "" if words[0] in "ZX" and int(words[17]) < 2 else words[19]
    except (OSError, IndexError):
        return ""


def _read(path: str) -> str:
    with open(path, encoding="ascii", errors="replace") as file:  # noqa: PTH123 - as above
        return file.read()


def _list_by_ps(root: int) -> tuple[ProcessInfo, ...]:
    """List them with `ps`, if /proc is not available."""
    try:
        done = subprocess.run(
            ["ps", "-axo", "pid=,ppid=,rss="], capture_output=True, text=True, check=True, timeout=5
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    memory: dict[int, int] = {}
    below: dict[int, list[int]] = {}
    for line in done.stdout.splitlines():
        number, parent, kilobytes = (int(word) for word in line.split())
        memory[number] = kilobytes * 1024
        below.setdefault(parent, []).append(number)
    found = [root]
    for number in found:  # the list grows
        found += below.get(number, [])
    return tuple(ProcessInfo(number, "", memory.get(number, 0), 1) for number in found)


ROOTS = (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup"))  # of cgroups v1 and v2
JOIN = 'echo 0 >"$0" && exec "$@"'
"""For a shell: joins the group of the given list, then runs the program."""

TIMEOUT_S, POLL_S = 1.0, 0.01  # for the last process to go, and between two tries
NAME = "jarvis-sandbox-"  # followed by the application's process number and a counter

_numbers = itertools.count()


def group(most: int) -> Path | None:
    """Create a group for at most that many processes and threads; None if that is impossible."""
    if os.geteuid() != 0:
        return None
    for root in ROOTS:
        _clear(root)
        made = root / f"{NAME}{os.getpid()}-{next(_numbers)}"
        with suppress(OSError):
            made.mkdir()
            if (made / "pids.max").exists():
                (made / "pids.max").write_text(str(most))
                return made
            made.rmdir()
    return None


def _clear(root: Path) -> None:
    """Remove the groups of killed applications; a group with a process in it stays."""
    for old in root.glob(f"{NAME}*"):
        owner = old.name.removeprefix(NAME).partition("-")[0]
        if not Path("/proc", owner).exists():
            with suppress(OSError):
                old.rmdir()


def members(made: Path) -> Path:
    """The file by which a process joins. With cgroups v1's, a process with one thread that moves
    itself need not wait for all processors (about 10 ms)."""
    quick = made / "tasks"
    return quick if quick.exists() else made / "cgroup.procs"


def end(made: Path) -> None:
    """Kill the processes left in the group, and remove it."""
    until = time.monotonic() + TIMEOUT_S
    while made.exists() and time.monotonic() < until:
        with suppress(OSError):
            for number in members(made).read_text("ascii").split():
                os.kill(int(number), signal.SIGKILL)
        with suppress(OSError):
            made.rmdir()
            return
        time.sleep(POLL_S)
