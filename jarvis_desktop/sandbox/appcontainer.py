"""Windows: a process in an AppContainer without capabilities, and in a job that ends with it.

An AppContainer reads and writes only what is granted to it or to all AppContainers, and has no
network, not even loopback. Untested on real Windows: it is used only if the self-test passes (see
self_test.py).
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
    InPlaceLauncher,
    Launch,
    SandboxProfile,
    environment,
    prefixes,
    temporary_folder,
)

START = Path(__file__).with_name("windows_launcher.py")

NEEDED = ("SYSTEMROOT", "SYSTEMDRIVE", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE")
"""Variables that almost every program on Windows needs; they reveal nothing about the user."""


@dataclass(frozen=True, slots=True)
class AppContainer(InPlaceLauncher):
    """Starts a process through a launcher program, whose end also ends the job."""

    name = "AppContainer"

    def command(self, profile: SandboxProfile, argv: Sequence[str]) -> Launch:
        """As `Launcher.command`. Raises UnavailableError on other systems, or for inherited
        descriptors."""
        if sys.platform != "win32":
            raise UnavailableError(tr("AppContainers exist only on Windows."))
        if profile.descriptors:
            raise UnavailableError(tr("On Windows a process inherits its standard streams only."))
        temporary = temporary_folder()
        here = {name: os.environ[name] for name in NEEDED if name in os.environ}
        inside = environment(profile, home=str(profile.folder), temporary=str(temporary))
        return Launch(
            argv=tuple(start(profile, argv, temporary)),
            env={**here, **inside, "TEMP": str(temporary), "TMP": str(temporary)},
            cwd=profile.folder,
            stop=signal.SIGTERM,  # on Windows it ends a process at once, and the job with it
            temporary=temporary,
        )


def start(profile: SandboxProfile, argv: Sequence[str], temporary: Path) -> Iterator[str]:
    """Yield the arguments of the launcher program (see windows_launcher.py)."""
    limits = profile.limits
    yield from (str(profile.python), "-I", "-S", str(START), "--parent", str(os.getpid()))
    yield from ("--processes", str(limits.processes), "--memory", str(limits.memory))
    yield from ("--cpu", str(limits.cpu))
    for path in (
        *(real for real, _ in prefixes(profile.python)),
        *(real for real, _ in profile.readable),
    ):
        yield from ("--read", str(path))
    for folder in (profile.folder, temporary):
        yield from ("--write", str(folder))
    yield from ("--folder", str(profile.folder), "--", *argv)
