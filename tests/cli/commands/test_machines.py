"""`jarvis-desktop machines` and `serve --experts` as far as they need no other computer."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from jarvis_desktop.backends.machines import discovery
from jarvis_desktop.backends.machines.discovery import FoundMachine
from jarvis_desktop.cli.commands import machines
from jarvis_desktop.cli.main import main
from jarvis_desktop.paths import user_paths
from jarvis_desktop.server.paired import PairedComputers
from tests.machines import keyring_in_memory


class Typed:
    async def ask(self, question: str) -> str:
        return "K7Q2-9XWM"


def test_nobody_is_paired_yet(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machines, "Keyboard", Typed)
    assert main(["machines", "list"]) == 0
    assert "No other computer is paired" in capsys.readouterr().out
    assert main(["machines", "pair", "127.0.0.1:9"]) == 1
    assert "127.0.0.1:9 cannot be reached" in capsys.readouterr().err
    assert main(["machines", "remove", "box"]) == 1
    assert "There is no machine box" in capsys.readouterr().err
    assert main(["machines", "local", "on"]) == 0
    assert tomllib.loads(user_paths().settings.read_text())["machines"]["in_local_mode"] is True
    assert main(["machines", "local", "off", "--json"]) == 0
    user_paths().machines.write_text("{")
    capsys.readouterr()
    assert main(["machines", "list"]) == 1
    assert "cannot be read" in capsys.readouterr().err


def test_computers_of_the_network_are_found(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [FoundMachine("desk", "192.0.2.7", 8766)]

    async def search() -> tuple[FoundMachine, ...]:
        return tuple(found)

    monkeypatch.setattr(discovery, "search", search)
    assert main(["machines", "find"]) == 0
    assert capsys.readouterr().out == "desk  192.0.2.7:8766\n"
    assert main(["machines", "find", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["machines"] == [
        {"name": "desk", "address": "192.0.2.7:8766", "paired": ""}
    ]
    found.clear()
    assert main(["machines", "find"]) == 0
    assert "No computer answered" in capsys.readouterr().out
    user_paths().settings.parent.mkdir(parents=True, exist_ok=True)
    user_paths().settings.write_text('mode = "offline"\n')
    assert main(["machines", "find"]) == 1
    assert "offline" in capsys.readouterr().err


def test_who_uses_this_computer(capsys: pytest.CaptureFixture[str]) -> None:
    computers = PairedComputers(user_paths().paired)
    token = computers.add("laptop")
    assert computers.add("laptop") != token
    assert main(["machines", "list", "--json"]) == 0
    users = json.loads(capsys.readouterr().out)["used_by"]
    assert [each["name"] for each in users] == ["laptop", "laptop-2"]
    assert main(["machines", "remove", "laptop"]) == 0
    assert not computers.knows(token)
    assert list(computers.all()) == ["laptop-2"]


def test_what_serving_experts_needs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert main(["serve", "--pair"]) == 1
    assert "--pair belongs to --experts" in capsys.readouterr().err
    assert main(["serve", "--no-announce"]) == 1
    assert "--no-announce belongs to --experts" in capsys.readouterr().err
    assert main(["serve", "--experts", "--port", "70000"]) == 1
    assert "no port 70000" in capsys.readouterr().err
    assert main(["serve", "--experts", "--certificate", "x"]) == 1
    assert "belong together" in capsys.readouterr().err
    with keyring_in_memory(monkeypatch) as kept:
        computers = PairedComputers(tmp_path / "paired")
        _, certificate = computers.encryption()
        assert "PRIVATE KEY" in kept["experts-server"]
        assert computers.encryption()[1] == certificate
        kept["experts-server"] = "damaged"
        with pytest.raises(Exception, match="does not fit its key"):
            computers.encryption()
    assert "PRIVATE" not in "".join(each.read_text() for each in (tmp_path / "paired").iterdir())
