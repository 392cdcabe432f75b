"""Linux: a process that Landlock and seccomp hold, where it may have no namespaces of its own.

It lives among the person's other processes, so that each thing it could do to them is refused one
by one. What is left, and is told: it can learn the name of this computer, and whether a file whose
path it guesses exists, with its size and times, and where a link leads; not its contents. Before
Linux 6.12 it may send no signal at all, not even to what it began itself.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.sandbox import process_tree, seccomp
from jarvis_desktop.sandbox.profile import (
    SETTINGS,
    SYSTEM,
    Launch,
    SandboxProfile,
    environment,
    prefixes,
    temporary_folder,
)

START = "import sys; sys.path.append(sys.argv.pop(1)); from linux_launcher import run; run()"
"""Begins linux_launcher.py from its compiled form, which a program named by its path has not."""

LEAST = 4
"""Of the kernel's interface: Linux 6.7, the first that refuses TCP, too."""
SCOPES = 6
"""Linux 6.12: the first that keeps signals among the process's own."""

COMPUTER = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system/cpu")
"""What libraries ask to know how many threads to begin."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True)
class Landlock:
    """Starts a process by a program of ours, which stays as its parent and ends what it began."""

    interface: int | None = None
    """Which version of the kernel's to use; None for the newest there is."""

    @property
    def name(self) -> str:
        """As `Launcher.name`."""
        return "Landlock"

    @property
    def sandboxed(self) -> bool:
        """As `Launcher.sandboxed`."""
        return True

    def command(self, box: SandboxProfile, argv: Sequence[str]) -> Launch:
        """As `Launcher.command`. Raises UnavailableError where the kernel is too old."""
        interface = offered() if self.interface is None else self.interface
        if interface < LEAST:
            raise UnavailableError(
                tr("This Linux has no suitable Landlock."),
                hint=tr("It needs Linux 6.7 or newer."),
            )
        bpf = seccomp.program(namespaces=False, signals=interface < SCOPES)
        filtered, temporary = seccomp.descriptor(bpf), temporary_folder()
        group = process_tree.group(box.limits.processes)
        joined = ("--group", str(process_tree.members(group))) if group else ()
        held = (*joined, "--interface", str(interface), "--seccomp", str(filtered))
        return Launch(
            argv=(*_start(box), *held, *_paths(box, temporary), "--", *argv),
            env=environment(box, home=str(box.folder), temporary=str(temporary)),
            cwd=box.folder,
            pass_fds=(*box.descriptors, filtered),
            stop=signal.SIGTERM,
            temporary=temporary,
            opened=(filtered,),
            group=group,
        )

    def inside(self, box: SandboxProfile, path: Path) -> str:
        """As `Launcher.inside`: nothing is moved."""
        return str(path)


def open_command(box: SandboxProfile, argv: Sequence[str]) -> tuple[str, ...]:
    """The same program, which holds the process to its limits but not back from anything."""
    return (*_start(box), "--open", "yes", "--", *argv)


@lru_cache
def offered() -> int:
    """The version of the kernel's interface; 0 where there is none."""
    if sys.platform != "linux":
        return 0
    import ctypes

    create_ruleset, ask_version = 444, 1
    return max(0, int(ctypes.CDLL(None).syscall(create_ruleset, None, 0, ask_version)))


def _start(box: SandboxProfile) -> Iterator[str]:
    yield from (str(box.python), "-I", "-S", "-c", START, str(Path(__file__).parent))
    yield from ("--parent", str(os.getpid()), "--folder", str(box.folder))
    for number in box.descriptors:
        yield from ("--descriptor", str(number))
    yield from _limited(box)


def _paths(box: SandboxProfile, temporary: Path) -> Iterator[str]:
    public = (*SYSTEM, *(f"/etc/{name}" for name in SETTINGS), *COMPUTER)
    private = (*prefixes(box.python), *box.readable)
    for path in (*map(Path, public), *(real for real, _ in private)):
        if path.exists():
            yield from ("--read", str(path))
    for device in DEVICES:
        yield from ("--device", device)
    for folder in (box.folder, temporary):
        yield from ("--write", str(folder))


def _limited(box: SandboxProfile) -> Iterator[str]:
    limits = box.limits
    bounds = {
        "CPU": limits.cpu,
        "AS": limits.memory,
        "FSIZE": limits.file_size,
        "NOFILE": limits.open_files,
        "NPROC": _tasks() + limits.processes,
        "CORE": 0,
    }
    for name, most in bounds.items():
        yield from ("--limit", f"{name}={most}")


def _tasks() -> int:
    """Processes and threads that the person has now: they count against the same limit."""
    count, own = 0, os.getuid()
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with suppress(OSError):
                if entry.stat().st_uid == own:
                    count += os.stat(f"{entry.path}/task").st_nlink - 2  # noqa: PTH116 - quicker
    return count
