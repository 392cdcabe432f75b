"""No sandbox: a process as any other, but for its environment. Only where a person agreed to it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_desktop.sandbox.landlock import open_command
from jarvis_desktop.sandbox.profile import Launch, SandboxProfile, environment, temporary_folder


@dataclass(frozen=True, slots=True)
class Bare:
    """Starts a process that nothing holds. What it began is still ended with it on Linux."""

    @property
    def name(self) -> str:
        """As `Launcher.name`."""
        return "none"

    @property
    def sandboxed(self) -> bool:
        """As `Launcher.sandboxed`."""
        return False

    def command(self, box: SandboxProfile, argv: Sequence[str]) -> Launch:
        """As `Launcher.command`."""
        temporary = temporary_folder()
        linux = sys.platform == "linux"
        return Launch(
            argv=open_command(box, argv) if linux else tuple(argv),
            env=environment(box, home=str(box.folder), temporary=str(temporary)),
            cwd=box.folder,
            pass_fds=box.descriptors,
            stop=signal.SIGTERM if linux else getattr(signal, "SIGKILL", signal.SIGTERM),
            temporary=temporary,
        )

    def inside(self, box: SandboxProfile, path: Path) -> str:
        """As `Launcher.inside`: nothing is moved."""
        return str(path)
