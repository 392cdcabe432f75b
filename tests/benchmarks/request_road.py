"""How many of our files one request passes through, and how many modules its command loads.

    .venv/bin/python -m tests.benchmarks.request_road [--callers] ["what time is it"]

Counts the files in which a function is called between `Assistant.handle` and the saved answer,
traced at run time in an empty home folder. Functions that were running before and only resume, such
as the command itself, are not counted. What follows the saved answer, such as the note about a
missing LLM and closing the application, is counted separately. `--callers` also prints the first
call into each file.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType

PACKAGE = str(Path(__file__).parents[2] / "jarvis_desktop") + os.sep
MAX_FILES, MAX_MODULES = 45, 250
"""The project's goals."""


class Tracer:
    """A profile function that records the files entered while a request is handled."""

    def __init__(self) -> None:
        self.to_saved: dict[str, str] = {}
        """For each file, the first call into it: the function and its caller."""
        self.afterwards: dict[str, str] = {}
        self._handling = False
        self._saved = False
        self._running: set[FrameType] = set()
        """The frames that were running already when the request was handed over."""

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        name = _own_file(frame)
        if not name:
            return
        function = frame.f_code.co_name
        if event == "call" and name == "assistant/assistant.py" and function == "handle":
            if not self._handling:
                self._running = set(_callers(frame))
            self._handling = True
        if not self._handling:
            return
        if event == "return" and name == "storage/history.py" and function == "save":
            self._saved = True
        if event == "call" and function != "<module>" and frame not in self._running:
            entered = self.afterwards if self._saved else self.to_saved
            entered.setdefault(name, f"{frame.f_code.co_qualname} <- {_caller_of(frame, name)}")


def _own_file(frame: FrameType) -> str:
    """The file of the frame within the package, "" for foreign code."""
    path = frame.f_code.co_filename
    return path[len(PACKAGE) :].replace(os.sep, "/") if path.startswith(PACKAGE) else ""


def _callers(frame: FrameType) -> list[FrameType]:
    found = []
    while caller := frame.f_back:
        found.append(caller)
        frame = caller
    return found


def _caller_of(frame: FrameType, name: str) -> str:
    """The nearest caller in another of our files."""
    for caller in _callers(frame):
        if _own_file(caller) not in ("", name):
            return f"{_own_file(caller)}:{caller.f_lineno} {caller.f_code.co_qualname}"
    return "the event loop or a thread"


def main(arguments: list[str]) -> int:
    """Print the figures and return the exit code of the request."""
    words = [argument for argument in arguments if argument != "--callers"]
    with tempfile.TemporaryDirectory() as home:
        os.environ["JARVIS_DESKTOP_HOME"] = home
        from jarvis_desktop.cli.main import main as command_line

        tracer = Tracer()
        threading.setprofile(tracer)
        sys.setprofile(tracer)
        code = command_line(["ask", *(words or ["what time is it"])])
        sys.setprofile(None)
        threading.setprofile(None)
    loaded = [name for name in sys.modules if name.partition(".")[0] == "jarvis_desktop"]
    for name, call in sorted(tracer.to_saved.items()):
        print(f"{name:45} {call}" if "--callers" in arguments else name)
    print(f"files entered to the saved answer    {len(tracer.to_saved)} / {MAX_FILES}")
    print(f"files entered to the end             {len(tracer.to_saved | tracer.afterwards)}")
    print(f"modules loaded                       {len(loaded)} / {MAX_MODULES}")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
