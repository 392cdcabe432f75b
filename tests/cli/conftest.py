"""The command line as a person runs it: a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest


@dataclass(frozen=True)
class Ended:
    """A command that has ended. Nothing it prints may be a traceback."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Jarvis = Callable[..., Ended]


@pytest.fixture
def jarvis(tmp_path: Path) -> Jarvis:
    """Runs `jarvis-desktop ARGS` in the test's folder, with no screen and no terminal."""

    def run(*args: str | Path, stdin: str = "") -> Ended:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DISPLAY", "WAYLAND_DISPLAY")
        }
        done = subprocess.run(
            [sys.executable, "-m", "jarvis_desktop", *map(str, args)],
            cwd=tmp_path,
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return Ended(done.returncode, done.stdout, done.stderr)

    return run
