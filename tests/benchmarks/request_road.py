"""How many of our files one request passes through, and how many modules its command loads.

    .venv/bin/python -m tests.benchmarks.request_road ["what time is it"]

Counts the files in which a function is entered between `Assistant.handle` and the end of the
command, traced at run time, in an empty home folder, beside the goals of the project.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

PACKAGE = str(Path(__file__).parents[2] / "jarvis_desktop")
FILES, MODULES = 45, 250
"""The goals."""


class Tracer:
    """Remembers the files that are entered once a request is being handled."""

    def __init__(self) -> None:
        self.handling = False
        self.entered: set[str] = set()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        name = frame.f_code.co_filename[len(PACKAGE) + 1 :]
        if name == "assistant/assistant.py" and frame.f_code.co_name == "handle":
            self.handling = True
        if self.handling and frame.f_code.co_name != "<module>":
            self.entered.add(name)


def main(words: list[str]) -> int:
    """The exit code of the request."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["JARVIS_DESKTOP_HOME"] = home
        from jarvis_desktop.cli.main import main as command_line

        tracer = Tracer()
        threading.setprofile(tracer)
        sys.setprofile(tracer)
        code = command_line(["ask", *(words or ["what time is it"])])
        sys.setprofile(None)
        threading.setprofile(None)
    loaded = [name for name in sys.modules if name.startswith("jarvis_desktop")]
    print(*sorted(tracer.entered), sep="\n")
    print(f"files entered    {len(tracer.entered)} / {FILES}")
    print(f"modules loaded   {len(loaded)} / {MODULES}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
