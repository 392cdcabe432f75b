"""Where the running instance is reached, also where no session gives a place for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import platformdirs
import pytest

from jarvis_desktop.paths import APP, run_folder

ASKED = "from jarvis_desktop.paths import run_folder; print(run_folder())"


@pytest.mark.skipif(os.name != "posix", reason="elsewhere the system has a place of its own")
def test_without_a_session_a_place_is_found_in_silence(tmp_path: Path) -> None:
    environment = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "PATH": os.environ["PATH"]}
    asked = [sys.executable, "-c", ASKED]
    told = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
    assert told.stderr == ""
    assert Path(told.stdout.strip()).is_absolute()


def test_a_place_that_somebody_took_is_left_to_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(app: str) -> Path:
        raise PermissionError

    monkeypatch.delenv("JARVIS_DESKTOP_HOME")
    monkeypatch.setattr("platformdirs.user_runtime_path", taken)
    assert run_folder() == platformdirs.user_data_path(APP) / "run"
