"""`jarvis-desktop mcp`: a server is added, its tool planned and called, and all of it removed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import ClassVar
from zipfile import ZipFile

import pytest

from jarvis_desktop.cli.commands import mcp
from jarvis_desktop.cli.main import main
from jarvis_desktop.paths import user_paths
from tests.machines import keyring_in_memory

SERVER = Path(__file__).parents[2] / "backends" / "mcp" / "odd_server.py"


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    assert main([*arguments, "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_from_adding_to_removing(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["mcp", "list"]) == 0
    assert "There is no MCP server." in capsys.readouterr().out
    command = [sys.executable, str(SERVER), "obeys", str(tmp_path / "notes")]
    assert main(["mcp", "add", "odd", "--env", "X=${HOME}", "--", *command]) == 0
    assert "ask     add_row" in capsys.readouterr().out
    (tool,) = shown(capsys, "mcp", "list")["servers"][0]["tools"]  # type: ignore[index]
    assert (tool["task"], tool["approval"]) == ("odd-add-row", "ask")
    assert main(["mcp", "allow", "odd", "add_row", "always"]) == 0
    assert main(["mcp", "allow", "odd", "none", "always"]) == 1
    assert "has no tool none" in capsys.readouterr().err
    plan = tmp_path / "plan.json"
    args = {"table_path": "t.csv", "values": ["a"], "row": "3"}
    plan.write_text(json.dumps([{"task": "odd-add-row", "id": 0, "args": args}]))
    assert main(["run", str(plan)]) == 0
    assert json.loads(capsys.readouterr().out)["row"] == 3
    assert shown(capsys, "mcp", "test", "odd")["protocol"] == "2025-11-25"
    assert shown(capsys, "mcp", "remove", "odd") == {"removed": "odd"}


def test_servers_of_another_program(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "claude_desktop_config.json"
    file.write_text('{"mcpServers": {"a": {"command": "/no/such"}, "b": {"command": "x"}}}')
    assert main(["mcp", "add", "a", "--from", str(file)]) == 3
    assert "a is added, but: The MCP server a did not start" in capsys.readouterr().err
    assert main(["mcp", "add", "c", "--from", str(file)]) == 1
    assert "has no server c" in capsys.readouterr().err
    assert main(["mcp", "add", "d", "--env", "X"]) == 1
    assert "is not of the form NAME=VALUE" in capsys.readouterr().err


class Typed:
    """Answers questions in order."""

    answers: ClassVar[list[str]] = []

    async def ask(self, question: str) -> str:
        return self.answers.pop(0)


def test_a_bundle_is_asked_about_and_added(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp, "Keyboard", Typed)
    config = {
        "command": sys.executable,
        "args": ["${__dirname}/server.py", "obeys", "${user_config.notes}"],
        "env": {"KEY": "${user_config.key}"},
    }
    manifest = {
        "name": "odd",
        "version": "1",
        "description": "Adds rows.",
        "server": {"type": "python", "entry_point": "server.py", "mcp_config": config},
        "user_config": {"notes": {"required": True}, "key": {"sensitive": True}},
    }
    bundle = str(tmp_path / "odd.mcpb")
    with ZipFile(bundle, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        archive.write(SERVER, "server.py")
    with keyring_in_memory(monkeypatch) as kept:
        Typed.answers = ["", ""]
        assert main(["mcp", "add", bundle]) == 1
        assert "odd needs notes" in capsys.readouterr().err
        notes = f"notes={tmp_path / 'notes'}"
        Typed.answers = ["s3cret", "n"]
        assert main(["mcp", "add", bundle, "--set", notes]) == 1
        assert f"It runs with your rights: {sys.executable}" in capsys.readouterr().err
        assert not user_paths().mcp_bundles.exists()
        Typed.answers = ["s3cret", "y"]
        assert main(["mcp", "add", bundle, "--set", notes]) == 0
        shown = capsys.readouterr()
        assert "ask     add_row" in shown.out
        assert "s3cret" not in shown.out + shown.err + user_paths().mcp_servers.read_text()
        assert kept["mcp:odd:env:KEY"] == "s3cret"
        assert main(["mcp", "add", bundle, "--set", "key=x"]) == 1
        assert "key is secret" in capsys.readouterr().err
        assert main(["mcp", "remove", "odd"]) == 0
    assert not kept
    assert not list(user_paths().mcp_bundles.iterdir())
