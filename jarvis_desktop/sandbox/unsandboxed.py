"""No sandbox: an ordinary process, except for its environment. Only if the user agreed to it."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from jarvis_desktop.sandbox.landlock import open_command
from jarvis_desktop.sandbox.profile import (
    InPlaceLauncher,
    Launch,
    SandboxProfile,
    environment,
    temporary_folder,
)


@dataclass(frozen=True, slots=True)
class Unsandboxed(InPlaceLauncher):
    """Starts an unrestricted process. On Linux its descendants still end with it."""

    name = "none"
    sandboxed = False

    def command(self, profile: SandboxProfile, argv: Sequence[str]) -> Launch:
        """As `Launcher.command`."""
        temporary = temporary_folder()
        linux = sys.platform == "linux"
        return Launch(
            argv=open_command(profile, argv) if linux else tuple(argv),
            env=environment(profile, home=str(profile.folder), temporary=str(temporary)),
            cwd=profile.folder,
            pass_fds=profile.descriptors,
            stop=signal.SIGTERM if linux else getattr(signal, "SIGKILL", signal.SIGTERM),
            temporary=temporary,
        )
