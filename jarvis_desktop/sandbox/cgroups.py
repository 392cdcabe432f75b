"""Linux: a bound for the number of processes of root, whom RLIMIT_NPROC does not hold.

Nobody else may make a control group without asking, and nobody else needs one here. Where root may
not either (in a container), only the supervisor counts.
"""

from __future__ import annotations

import itertools
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

ROOTS = (Path("/sys/fs/cgroup/pids"), Path("/sys/fs/cgroup"))
"""Of the first and of the second kind."""

JOIN = 'echo 0 >"$0" && exec "$@"'
"""For a shell: the program that it becomes is in the group whose list it is given."""

PATIENCE, LOOK = 1.0, 0.01
"""Seconds for the last process to go, and between two looks."""

NAME = "jarvis-sandbox-"
"""Followed by the number of the application's process and one of its own."""

_numbers = itertools.count()


def group(most: int) -> Path | None:
    """A new group for so many processes and threads; None where there can be none."""
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
    """Remove what applications left that were killed; a group with a process in it stays."""
    for old in root.glob(f"{NAME}*"):
        owner = old.name.removeprefix(NAME).partition("-")[0]
        if not Path("/proc", owner).exists():
            with suppress(OSError):
                old.rmdir()


def members(made: Path) -> Path:
    """The list by which a process joins. With that of the first kind, a process that has one
    thread and moves itself need not wait for all processors (about 10 ms)."""
    quick = made / "tasks"
    return quick if quick.exists() else made / "cgroup.procs"


def end(made: Path) -> None:
    """Kill whoever is left in it, and remove it."""
    until = time.monotonic() + PATIENCE
    while made.exists() and time.monotonic() < until:
        with suppress(OSError):
            for number in members(made).read_text("ascii").split():
                os.kill(int(number), signal.SIGKILL)
        with suppress(OSError):
            made.rmdir()
            return
        time.sleep(LOOK)
