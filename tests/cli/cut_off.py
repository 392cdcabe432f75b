"""A command that is killed in the middle of a plan, as a power cut would."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cli.warm import WarmProcess

Line = dict[str, Any]

SCREEN = ("DISPLAY", "WAYLAND_DISPLAY")
EDITS = ("blur", "sharpen", "grey", "invert", "sepia", "contrast")


@dataclass(frozen=True)
class Told:
    """The events that a command told of, whole lines only, until it ended or was killed."""

    events: tuple[Line, ...]

    @property
    def started(self) -> set[int]:
        """The tasks that were started."""
        return {item["task_id"] for item in self.events if item["event"] == "task_started"}

    @property
    def done(self) -> dict[int, Line]:
        """The results that were told, by task: all of an attempt and of what it made."""
        results = [item["result"] for item in self.events if item["event"] == "task_finished"]
        return {item["task_id"]: item for item in results if item["status"] == "done"}

    @property
    def status(self) -> str:
        """How the turn ended; "" where it was killed."""
        ended = [item["status"] for item in self.events if item["event"] == "turn_finished"]
        return str(ended[0]) if ended else ""


def six_edits(folder: Path) -> Path:
    """A plan of six tasks, each of which takes the result of the one before."""
    import numpy as np
    from PIL import Image

    noise = np.random.default_rng(3).integers(0, 255, (500, 600, 3), dtype="uint8")
    Image.fromarray(noise).save(folder / "photo.png", compress_level=1)
    plan = [
        {
            "task": "image-editing",
            "id": number,
            "args": {
                "image": f"<GENERATED>-{number - 1}" if number else "photo.png",
                "edit": edit,
            },
        }
        for number, edit in enumerate(EDITS)
    ]
    path = folder / "plan.json"
    path.write_text(json.dumps(plan))
    return path


class Running:
    """`jarvis-desktop ARGS --events` in a folder."""

    def __init__(self, folder: Path, *args: str) -> None:
        environment = {name: value for name, value in os.environ.items() if name not in SCREEN}
        self.process = WarmProcess(
            *args, "--events",
            cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self._events: list[Line] = []

    @property
    def turn_id(self) -> str:
        """That of its turn, as its first event told."""
        return str(self._events[0]["turn_id"])

    def until(self, event: str, count: int = 1) -> bool:
        """Read up to this event, the `count`-th of its name; whether there was one."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._take(line)
            if sum(item["event"] == event for item in self._events) == count:
                return True
        return False

    def killed(self) -> Told:
        """Kill it as the system does when there is no time left, and read what it had told."""
        self.process.send_signal(signal.SIGKILL)
        # A child that it was starting complains in Python's own words that it has gone.
        return self._read()[0]

    def ended(self) -> Told:
        """Read to the end. Nothing it said may be a traceback."""
        told, complaints = self._read()
        assert "Traceback" not in complaints, complaints
        return told

    def _read(self) -> tuple[Told, str]:
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        with self.process:  # closes its pipes, and waits for it
            for line in self.process.stdout:
                self._take(line)
            complaints = self.process.stderr.read()
        return Told(tuple(self._events)), complaints

    def _take(self, line: str) -> None:
        if line.endswith("\n"):  # one that the kill cut was not told
            self._events.append(json.loads(line))
