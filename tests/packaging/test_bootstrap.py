"""The command itself: what it refuses, and what it hands over to."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import bootstrap
import checks
import environment
import pytest
import system_packages

SCRIPT = Path(bootstrap.__file__)


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """A set-up in which all is well; gives what was handed over to."""
    went: list[object] = []
    monkeypatch.setattr(environment, "up_to_date", lambda root, extra: True)
    monkeypatch.setattr(system_packages, "ensure", lambda **options: [])
    monkeypatch.setattr(os, "execv", lambda *args: went.append(args))
    monkeypatch.setattr(subprocess, "call", lambda command: 0)

    def run_all(root: Path, args: list[str]) -> int:
        went.append(args)
        return 7

    monkeypatch.setattr(checks, "run_all", run_all)
    return went


def test_old_python_is_told_what_it_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    monkeypatch.setenv("PATH", "")
    assert bootstrap.main(["run"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("JARVIS Desktop needs Python 3.11 or newer and this is 3.9: install it")
    assert said.count("\n") == 1


def test_old_python_is_pointed_at_a_newer_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    newer = tmp_path / environment.executable("python3.12")
    newer.touch(mode=0o755)
    monkeypatch.setattr(sys, "version_info", (3, 10, 13, "final", 0))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert bootstrap.main(["test"]) == 1
    assert "run this command with python3.12 instead" in capsys.readouterr().err


@pytest.mark.parametrize("args", [[], ["fly"], ["setup", "now"], ["lock", "now"]])
def test_wrong_usage(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert bootstrap.main(args) == 2
    assert "Usage:" in capsys.readouterr().err


def test_help_needs_no_set_up() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--help"], capture_output=True, text=True, check=True
    )
    assert "bootstrap.py run" in done.stdout


def test_run_passes_its_arguments_on(ready: list[object]) -> None:
    assert bootstrap.main(["run", "ask", "--json", "What time is it?"]) == 0
    program = str(environment.scripts(bootstrap.ROOT) / "jarvis-desktop")
    assert ready == [(program, [program, "ask", "--json", "What time is it?"])]


def test_test_gives_the_exit_code_of_the_checks(ready: list[object]) -> None:
    assert bootstrap.main(["test", "-k", "clock"]) == 7
    assert ready == [["-k", "clock"]]


def test_run_goes_on_without_system_packages(
    ready: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(system_packages, "ensure", lambda **options: ["espeak-ng"])
    assert bootstrap.main(["run"]) == 0
    assert len(ready) == 1


def test_test_stops_without_system_packages(
    ready: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system_packages, "ensure", lambda **options: ["xvfb"])
    assert bootstrap.main(["test"]) == 1
    assert not ready
    assert "system packages" in capsys.readouterr().err


def test_failed_set_up_is_told_in_a_sentence(
    ready: list[object], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*args: object, **options: object) -> None:
        raise environment.SetupError("The disk is full.")

    monkeypatch.setattr(environment, "up_to_date", lambda root, extra: False)
    monkeypatch.setattr(environment, "prepare", fail)
    assert bootstrap.main(["setup"]) == 1
    assert capsys.readouterr().err == "The disk is full.\n"


def test_only_the_standard_library_is_imported() -> None:
    ours = {path.stem for path in SCRIPT.parent.glob("*.py")}
    for name in ("bootstrap", "environment", "installer", "system_packages", "checks"):
        text = (SCRIPT.parent / f"{name}.py").read_text("utf-8")
        for module in re.findall(r"^\s*(?:from|import) (\w+)", text, re.MULTILINE):
            assert module in sys.stdlib_module_names | ours, f"{name} imports {module}"


def test_every_pin_is_exact_and_torch_is_among_them() -> None:
    lines = (SCRIPT.parent / "constraints.txt").read_text("utf-8").splitlines()
    pins = [line for line in lines if not line.startswith("#")]
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9.-]*==[0-9][0-9a-z.]*", line) for line in pins)
    assert "torch==2.13.0" in pins


def test_every_requirement_is_pinned() -> None:
    import tomllib

    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    root = SCRIPT.parent.parent
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = project["dependencies"] + extras["experts"] + extras["dev"]
    asked.remove("jarvis-desktop[experts]")  # as listed
    lines = (root / "packaging" / "constraints.txt").read_text("utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    for requirement in map(Requirement, asked):
        assert requirement.marker or canonicalize_name(requirement.name) in pins, requirement
        if pin := pins.get(canonicalize_name(requirement.name)):
            assert pin in requirement.specifier, requirement
