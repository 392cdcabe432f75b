"""`jarvis-desktop engine`: what runs experts is installed from a folder, listed and removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jarvis_desktop import paths
from jarvis_desktop.app import build
from jarvis_desktop.cli.main import main
from jarvis_desktop.process import engine
from tests.wheel_index import requirements, wheels


@pytest.fixture(autouse=True)
def stick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the wheels of an engine, on a computer without torch."""
    made, folder = wheels("2.13.0+cpu"), tmp_path / "stick"
    folder.mkdir()
    for name, body in made.items():
        (folder / name).write_bytes(body)
    listed = tmp_path / "requirements.txt"
    listed.write_text(requirements(made), "utf-8")
    shipped = paths.shipped
    monkeypatch.setattr(
        build, "shipped", lambda *parts: listed if "engine" in parts else shipped(*parts)
    )
    monkeypatch.setattr(engine, "find_spec", lambda name: None)
    monkeypatch.setattr(engine, "_installed", engine._installed)
    return folder


def test_from_a_folder_to_its_removal(stick: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["engine", "list"]) == 0
    said = capsys.readouterr()
    assert "There is none; it is a download of about" in said.out
    assert "jarvis-desktop engine install" in said.err
    assert main(["engine", "check"]) == 1
    assert "There is no engine." in capsys.readouterr().err
    assert main(["engine", "install", "--from", str(stick)]) == 0
    assert "torch 2.13.0+cpu is ready" in capsys.readouterr().out
    assert main(["engine", "check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["torch"] == "2.13.0+cpu"
    assert main(["engine", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)
    assert listed["used"]
    assert main(["engine", "remove", listed["engine"]["name"]]) == 0
    assert "is removed" in capsys.readouterr().out
    assert main(["engine", "remove", listed["engine"]["name"]]) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--from", "/not/there"], "There is no folder /not/there."),
        ([], "The mode is offline, so nothing is fetched."),
    ],
)
def test_what_cannot_be_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    settings = home / "jarvis" / "config" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('mode = "offline"\n', "utf-8")
    assert main(["engine", "install", *arguments]) == 1
    assert said in capsys.readouterr().err


def test_beside_jarvis_none_is_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(engine, "in_environment", lambda: True)
    assert main(["engine", "install"]) == 1
    assert "no engine is needed" in capsys.readouterr().err
