"""`jarvis-desktop update` and `licences` as users meet them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_desktop.app import installation, updates
from jarvis_desktop.app.installation import Installation, InstallKind
from jarvis_desktop.app.licences import SHIPPED
from jarvis_desktop.cli.commands import system
from jarvis_desktop.cli.main import main
from tests.app.test_updates import GOOD, NearChild
from tests.releases import ReleaseServer, public_key, running_releases


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ReleaseServer]:
    """A place of releases that the settings' folder names, and a copy that pip has installed."""
    monkeypatch.setattr(updates, "Child", NearChild)
    monkeypatch.setattr(
        updates, "installation", lambda: Installation(InstallKind.PIP, Path("/nowhere"))
    )
    monkeypatch.setattr("shutil.disk_usage", lambda path: type("Usage", (), {"free": 10**10}))
    with running_releases() as server:
        server.offer(GOOD)
        told = {"address": f"{server.address}/release.json", "key": public_key()}
        config = home / "jarvis" / "config"
        config.mkdir(parents=True)
        (config / "channel.json").write_text(json.dumps(told))
        yield server


def test_without_a_place_it_says_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["update"]) == 1
    said = capsys.readouterr().err
    assert "This build of JARVIS Desktop knows no place of releases." in said
    assert "git pull" in said


@pytest.mark.usefixtures("server")
def test_what_is_new_is_shown_and_nothing_done_without_a_yes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["update", "--check"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("There is version 0.3.0, of 2026-12-01.")
    assert "Films with sound" in said.out
    assert main(["update"]) == 0
    assert "jarvis-desktop update --yes" in capsys.readouterr().err
    assert main(["update", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["newer"], told["installed"], told["file"]) == ("0.3.0", False, None)


@pytest.mark.usefixtures("server")
def test_what_pip_installed_is_downloaded_and_its_command_shown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["update", "--yes", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert Path(told["file"]).read_bytes() == GOOD
    assert told["command"].endswith(f"-m pip install {told['file']}")


def test_the_newest_says_so(server: ReleaseServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.offer(GOOD, version="0.1.0")
    assert main(["update"]) == 0
    assert "0.1.0 is the newest version." in capsys.readouterr().out


def test_offline_nothing_is_asked(
    server: ReleaseServer, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "jarvis" / "config" / "settings.toml").write_text('mode = "offline"')
    assert main(["update", "--yes"]) == 1
    assert "The mode is “offline”, so nothing is fetched." in capsys.readouterr().err
    assert not server.asked


@pytest.mark.usefixtures("server")
def test_an_open_window_is_closed_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        updates, "installation", lambda: Installation(InstallKind.UV, Path("/nowhere"))
    )
    monkeypatch.setattr(system, "ask", lambda *told, limit: {})
    monkeypatch.setattr(installation, "_install_beside", None)
    assert main(["update", "--yes"]) == 1
    assert "JARVIS is open." in capsys.readouterr().err


def test_the_licences_of_all_parts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["licences"]) == 0
    listed = capsys.readouterr().out
    for name in ("PySide6_Essentials", "httpx ", *SHIPPED):
        assert name in listed
    assert "pytest" not in listed  # it is not in the program
    assert main(["licences", "pyside6-essentials"]) == 0
    assert "GNU LESSER GENERAL PUBLIC LICENSE" in capsys.readouterr().out
    assert main(["licences", "no such thing"]) == 1
    assert main(["licences", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert not [each["name"] for each in told if not each["licence"]]
