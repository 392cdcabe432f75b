"""Whether the program Ollama is on this computer, and starting it where it does not run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.wording import tr

MAC = Path("/Applications/Ollama.app")


def command() -> list[str]:
    """What starts it; [] where it is not installed. It looks at the disk: not on an event loop."""
    if sys.platform == "darwin" and MAC.exists():
        return ["/usr/bin/open", "-a", str(MAC)]
    if sys.platform == "win32":
        program = Path(os.environ.get("LOCALAPPDATA", ""), "Programs", "Ollama", "ollama app.exe")
        if program.exists():
            return [str(program)]
    found = shutil.which("ollama")
    return [found, "serve"] if found else []


def start() -> None:
    """Start it; it goes on when JARVIS ends. Raises UnavailableError."""
    words = command()
    if not words:
        raise UnavailableError(
            tr("Ollama is not installed."), hint=tr("Get it from https://ollama.com/download.")
        )
    try:
        subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise UnavailableError(
            tr(
                "Ollama could not be started: {reason}.",
                reason=(error.strerror or str(error)).lower(),
            ),
            hint=tr("Start it as you usually do."),
        ) from error
