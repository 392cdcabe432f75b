"""Linux: a process restricted by Landlock and seccomp, if it may not have its own namespaces.

It runs among the user's other processes, so each thing it could do to them is refused one by one.
It can still learn the name of this computer, and whether a file whose path it guesses exists, with
its size, times and link target; but not its contents. Before Linux 6.12 it may send no signals at
all, not even to its own children.
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
    InPlaceLauncher,
    Launch,
    SandboxProfile,
    environment,
    prefixes,
    temporary_folder,
)

START = "import sys; sys.path.append(sys.argv.pop(1)); from linux_launcher import run; run()"
"""Starts linux_launcher.py from its compiled form, which a program run by its path does not have.
"""

MIN_INTERFACE = 4  # of the kernel's interface: Linux 6.7, the first that also restricts TCP
SCOPES_INTERFACE = 6  # Linux 6.12: the first that restricts signals to the process's own domain
COMPUTER = ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/sys/devices/system/cpu")
"""What libraries read to choose a number of threads."""
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


@dataclass(frozen=True, slots=True)
class Landlock(InPlaceLauncher):
    """Starts a process through a launcher program, which stays as its parent and ends its
    descendants."""

    interface: int | None = None
    """The version of the kernel's interface to use; None for the newest available."""

    name = "Landlock"

    def command(self, profile: SandboxProfile, argv: Sequence[str]) -> Launch:
        """As `Launcher.command`. Raises UnavailableError if the kernel is too old."""
        interface = offered() if self.interface is None else self.interface
        if interface < MIN_INTERFACE:
            raise UnavailableError(
                tr("This Linux has no suitable Landlock."),
                hint=tr("It needs Linux 6.7 or newer."),
            )
        bpf = seccomp.program(namespaces=False, signals=interface < SCOPES_INTERFACE)
        filtered, temporary = seccomp.descriptor(bpf), temporary_folder()
        group = process_tree.group(profile.limits.processes)
        joined = ("--group", str(process_tree.members(group))) if group else ()
        held = (*joined, "--interface", str(interface), "--seccomp", str(filtered))
        return Launch(
            argv=(*_start(profile), *held, *_paths(profile, temporary), "--", *argv),
            env=environment(profile, home=str(profile.folder), temporary=str(temporary)),
            cwd=profile.folder,
            pass_fds=(*profile.descriptors, filtered),
            stop=signal.SIGTERM,
            temporary=temporary,
            opened=(filtered,),
            group=group,
        )


def open_command(profile: SandboxProfile, argv: Sequence[str]) -> tuple[str, ...]:
    """The same launcher, which sets limits but restricts nothing."""
    return (*_start(profile), "--open", "yes", "--", *argv)


@lru_cache
def offered() -> int:
    """The version of the kernel's interface; 0 if it has none."""
    if sys.platform != "linux":
        return 0
    import ctypes

    create_ruleset, ask_version = 444, 1
    return max(0, int(ctypes.CDLL(None).syscall(create_ruleset, None, 0, ask_version)))


def _start(profile: SandboxProfile) -> Iterator[str]:
    yield from (str(profile.python), "-I", "-S", "-c", START, str(Path(__file__).parent))
    yield from ("--parent", str(os.getpid()), "--folder", str(profile.folder))
    for number in profile.descriptors:
        yield from ("--descriptor", str(number))
    yield from _limited(profile)


def _paths(profile: SandboxProfile, temporary: Path) -> Iterator[str]:
    public = (*SYSTEM, *(f"/etc/{name}" for name in SETTINGS), *COMPUTER)
    private = (*prefixes(profile.python), *profile.readable)
    for path in (*map(Path, public), *(real for real, _ in private)):
        if path.exists():
            yield from ("--read", str(path))
    for device in DEVICES:
        yield from ("--device", device)
    for folder in (profile.folder, temporary):
        yield from ("--write", str(folder))


def _limited(profile: SandboxProfile) -> Iterator[str]:
    limits = profile.limits
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
    """The user's processes and threads at present: they count against the same limit."""
    count, own = 0, os.getuid()
    for entry in os.scandir("/proc"):
        if entry.name.isdecimal():
            with suppress(OSError):
                if entry.stat().st_uid == own:
                    count += os.stat(f"{entry.path}/task").st_nlink - 2  # noqa: PTH116 - quicker
    return count
