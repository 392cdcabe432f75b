"""The person's desktop: opens files and folders with the programs they belong to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.wording import tr


class SystemDesktop:
    """Implements core.ports.Desktop with the system's own opener."""

    def open(self, path: Path, name: str = "") -> None:
        """Open a file or folder; returns at once. Raises UnavailableError, which speaks of `name`
        where the person knows the file by that and not by the path of its copy."""
        if sys.platform == "win32":
            os.startfile(path)  # noqa: S606 - the system's opener, asked for by the person
            return
        opener = "open" if sys.platform == "darwin" else "xdg-open"
        if has_no_display() or shutil.which(opener) is None:
            raise UnavailableError(
                tr("There is no desktop here to open {name} with.", name=name or path.name),
                hint="" if name else tr("It is at {path}.", path=path),
            )
        subprocess.Popen(
            [opener, str(path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )


def has_no_display() -> bool:
    """Whether there is no screen to open a window on."""
    if sys.platform in ("win32", "darwin"):
        return False
    return not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
