"""`jarvis-desktop desktop`."""

import json
import sys

import pytest

from jarvis_desktop.cli.main import main
from jarvis_desktop.paths import APP_ID


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other menus")
def test_it_is_installed_and_removed(data, capsys):
    entry = data / "applications" / f"{APP_ID}.desktop"
    assert main(["desktop", "install"]) == 0
    assert "in the menu" in capsys.readouterr().out
    assert entry.is_file()
    assert main(["desktop", "remove", "--json"]) == 0
    assert str(entry) in json.loads(capsys.readouterr().out)["removed"]
    assert main(["desktop", "remove"]) == 0
    assert "nothing of ours" in capsys.readouterr().out


def test_elsewhere_it_says_so(monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert main(["desktop", "install"]) == 1
    assert "Only Linux desktops" in capsys.readouterr().err
