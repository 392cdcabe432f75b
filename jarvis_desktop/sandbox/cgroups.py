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

_numbers = itertools.count()


def group(most: int) -> Path | None:
    """A new group for so many processes and threads; None where there can be none."""
    if os.geteuid() != 0:
        return None
    for root in ROOTS:
        made = root / f"jarvis-sandbox-{os.getpid()}-{next(_numbers)}"
        with suppress(OSError):
            made.mkdir()
            if (made / "pids.max").exists():
                (made / "pids.max").write_text(str(most))
                return made
            made.rmdir()
    return None


def members(made: Path) -> Path:
    """The list by which a process joins."""
    return made / "cgroup.procs"


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
