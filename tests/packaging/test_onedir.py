"""The folder that runs wherever it is put: used by itself, with nothing else of Python around."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jarvis_desktop import __version__
from tests.wheel_index import requirements, wheels

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.exhaustive, pytest.mark.timeout(3000)]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    subprocess.run([sys.executable, ROOT / "packaging/build.py", "onedir"], check=True)
    (archive,) = (ROOT / "dist").glob(f"jarvis-desktop-{__version__}-linux-*.tar.gz")
    folder = tmp_path_factory.mktemp("somewhere else")
    subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
    return folder / "jarvis-desktop" / "bin" / "jarvis-desktop"


def run(program: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Without the environment of this test, and with no Python on the path."""
    plain = {"PATH": "/usr/bin:/bin", "JARVIS_DESKTOP_HOME": str(home), "HOME": str(home)}
    return subprocess.run(
        [program, *arguments], env=plain, cwd="/", capture_output=True, text=True, check=False
    )


def test_it_answers_with_its_children_its_weights_and_its_translations(
    program: Path, tmp_path: Path
) -> None:
    assert run(program, tmp_path, "--version").stdout == f"jarvis-desktop {__version__}\n"
    assert re.search(r"It is \d\d?:\d\d", run(program, tmp_path, "ask", "what time is it").stdout)
    said = run(program, tmp_path, "say", "Good morning.", "--out", str(tmp_path / "a.wav"))
    assert said.returncode == 0, said.stderr
    heard = run(program, tmp_path, "transcribe", str(tmp_path / "a.wav"))
    assert "good morning" in heard.stdout.lower(), heard.stderr
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "settings.toml").write_text('[window]\nlanguage = "de"\n')
    assert "sqlite" in run(program, tmp_path, "doctor").stdout.lower()
    assert run(program, tmp_path, "licences", "httpx").returncode == 0


def test_it_has_an_interpreter_for_engines(program: Path, tmp_path: Path) -> None:
    """uv installs for it, and a child process imports what was installed."""
    made, stick = wheels("2.13.0+cpu"), tmp_path / "stick"
    stick.mkdir()
    for name, body in made.items():
        (stick / name).write_bytes(body)
    listed = program.parents[1].glob("lib/python3*/dist-packages/jarvis_desktop/_data/resources")
    (next(listed) / "engine" / "requirements.txt").write_text(requirements(made), "utf-8")
    done = run(program, tmp_path, "engine", "install", "--from", str(stick))
    assert done.returncode == 0, done.stderr
    told = json.loads(run(program, tmp_path, "engine", "check", "--json").stdout)
    assert told["torch"] == "2.13.0+cpu"


def test_it_knows_that_it_is_a_folder(program: Path, tmp_path: Path) -> None:
    code = "from jarvis_desktop.app.installation import installation; print(installation().kind)"
    python = next(program.parent.glob("python3*"))
    done = subprocess.run(
        [python, "-I", "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)
    )
    assert done.stdout == "folder\n"
