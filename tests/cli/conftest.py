"""The command line as a person runs it: a process of its own, in a folder of its own."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests import hidden
from tests.cli.warm import warm_commands


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


@pytest.fixture(autouse=True)
def as_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that a test starts has what users have."""
    monkeypatch.setenv("PYTHONPATH", hidden.PATH)


@pytest.fixture
def jarvis(tmp_path: Path) -> Jarvis:
    """Runs `jarvis-desktop ARGS` in the test's folder, with no screen and no terminal."""

    def run(*args: str | Path, stdin: str = "") -> Ended:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("DISPLAY", "WAYLAND_DISPLAY")
        }
        code, out, err = warm_commands().run(
            [str(arg) for arg in args], cwd=tmp_path, env=environment, stdin=stdin, timeout=200
        )
        assert "Traceback" not in out + err, err
        return Ended(code, out, err)

    return run
