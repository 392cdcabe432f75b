"""uv in place of pip: when it is used, and that it asks where pip would ask."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import installer
import pytest


def test_what_pip_is_configured_with_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/etc/certs.pem")
    settings = (
        "global.cert='/etc/certs.pem'\n"
        "global.timeout='60'\n"
        "global.only-binary='\\none\\ntwo'\n"
        "global.trusted-host='old.example'\n"
        "install.trusted-host='new.example'\n"
        "download.no-binary='three'\n"
        ":env:.constraint='/caps.txt'\n"
        "global.constraint='/other.txt'\n"
    )
    assert installer.uv_options(settings) == [
        *("--index-strategy", "unsafe-best-match"),
        "--only-binary=one",
        "--only-binary=two",
        "--trusted-host=new.example",
        "--constraint=/caps.txt",
    ]


def test_pip_installs_if_it_trusts_other_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    assert installer.uv_options("global.cert='/own.pem'") is None


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The Python of an environment, whose pip is configured with nothing."""
    path = tmp_path / ".venv" / "bin" / "python"
    path.parent.mkdir(parents=True)
    path.write_text("#!/bin/sh\nexit 0\n")
    path.chmod(0o755)
    return path


def test_uv_is_fetched_once(python: Path, tmp_path: Path) -> None:
    ran = []

    def run(command: list[str], log: Path, headline: str) -> int:
        ran.append(command)
        program = Path(command[command.index("--target") + 1]) / "bin" / "uv"
        program.parent.mkdir(parents=True)
        program.touch()
        return 0

    commands = [installer.uv_command(python, tmp_path / "log", run) for _ in range(2)]
    assert commands[0] == commands[1]
    assert commands[0][1:5] == ["pip", "install", "--python", str(python)]
    assert [command[-1] for command in ran] == [installer.UV]


def test_it_is_the_uv_that_the_application_comes_with() -> None:
    constraints = Path(installer.__file__).with_name("constraints.txt")
    assert installer.UV in constraints.read_text("utf-8").splitlines()


def test_without_uv_there_is_no_command(python: Path, tmp_path: Path) -> None:
    assert installer.uv_command(python, tmp_path / "log", lambda *args: 1) == []


def test_the_settings_of_a_real_pip_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CONSTRAINT", "/one /two")
    settings = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True
    )
    options = installer.uv_options(settings.stdout) or []
    assert {"--constraint=/one", "--constraint=/two"} <= set(options)
