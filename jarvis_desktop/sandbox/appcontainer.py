"""Windows: a process in an AppContainer without capabilities, and in a job that ends with it.

Never run by who wrote it: there was no Windows. It is taken only where its trial holds on the
computer (see probing.py). An AppContainer reads and writes only what is granted to it or to all of
its kind, and has no network, not even to this computer.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.sandbox.profile import (
    Launch,
    SandboxProfile,
    environment,
    prefixes,
    temporary_folder,
)

START = Path(__file__).with_name("windows_launcher.py")

NEEDED = ("SYSTEMROOT", "SYSTEMDRIVE", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE")
"""Variables without which hardly a program starts there; they tell nothing of the person."""


@dataclass(frozen=True, slots=True)
class AppContainer:
    """Starts a process by a program of ours, with whose end the job ends."""

    @property
    def name(self) -> str:
        """As `Launcher.name`."""
        return "AppContainer"

    @property
    def sandboxed(self) -> bool:
        """As `Launcher.sandboxed`."""
        return True

    def command(self, box: SandboxProfile, argv: Sequence[str]) -> Launch:
        """As `Launcher.command`. Raises UnavailableError on another system, or where descriptors
        are to be inherited."""
        if sys.platform != "win32":
            raise UnavailableError(tr("AppContainers exist only on Windows."))
        if box.descriptors:
            raise UnavailableError(tr("On Windows a process inherits its standard streams only."))
        temporary = temporary_folder()
        here = {name: os.environ[name] for name in NEEDED if name in os.environ}
        inside = environment(box, home=str(box.folder), temporary=str(temporary))
        return Launch(
            argv=tuple(start(box, argv, temporary)),
            env={**here, **inside, "TEMP": str(temporary), "TMP": str(temporary)},
            cwd=box.folder,
            stop=signal.SIGTERM,  # there it ends a process at once, and the job with it
            temporary=temporary,
        )

    def inside(self, box: SandboxProfile, path: Path) -> str:
        """As `Launcher.inside`: nothing is moved."""
        return str(path)


def start(box: SandboxProfile, argv: Sequence[str], temporary: Path) -> Iterator[str]:
    """The command that begins it (see windows_launcher.py)."""
    limits = box.limits
    yield from (str(box.python), "-I", "-S", str(START), "--parent", str(os.getpid()))
    yield from ("--processes", str(limits.processes), "--memory", str(limits.memory))
    yield from ("--cpu", str(limits.cpu))
    for path in (*(real for real, _ in prefixes(box.python)), *(real for real, _ in box.readable)):
        yield from ("--read", str(path))
    for folder in (box.folder, temporary):
        yield from ("--write", str(folder))
    yield from ("--folder", str(box.folder), "--", *argv)
