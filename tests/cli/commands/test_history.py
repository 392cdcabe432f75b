"""`history`: finding, naming, pinning, and moving conversations to another computer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Jarvis


@pytest.fixture
def asked(jarvis: Jarvis) -> Jarvis:
    """Two conversations, the first with a file."""
    jarvis("ask", "What is 6 times 7?")
    jarvis("ask", "What is 2 plus 2?", "--new")
    return jarvis


def test_a_conversation_is_renamed_pinned_and_found(asked: Jarvis) -> None:
    newest, oldest = asked("history", "list", "--json").json
    done = asked("history", "rename", oldest["id"][:10], "The answer", "--json")
    assert done.json == {"id": oldest["id"], "title": "The answer"}
    assert asked("history", "pin", oldest["id"]).out == "It is pinned.\n"
    listed = asked("history", "list").out.splitlines()
    assert listed[0].endswith("* The answer")
    pinned = asked("history", "search", "--pinned", "--json").json
    assert [item["conversation_id"] for item in pinned] == [oldest["id"]]
    assert asked("history", "pin", oldest["id"], "--off", "--json").json["pinned"] is False
    turn = asked("history", "show", newest["id"], "--json").json["turns"][0]
    assert asked("history", "pin", turn["id"]).code == 0
    assert asked("history", "show", turn["id"], "--json").json["pinned"] is True
    assert asked("history", "show", "--json").json["id"] == newest["id"]
    assert asked("history", "rename", oldest["id"], "  ").code == 1
    assert asked("history", "pin", "typo").code == 1


def test_a_search_is_narrowed(asked: Jarvis) -> None:
    found = asked("history", "search", "times", "--json").json
    assert [item["title"] for item in found] == ["What is 6 times 7?"]
    [(start, end)] = found[0]["spots"]
    assert found[0]["snippet"][start:end] == "times"
    assert asked("history", "search", "what", "--since", "2020-01-01", "--json").json
    assert asked("history", "search", "what", "--until", "2020-01-01", "--json").json == []
    assert asked("history", "search", "what", "--attached", "--json").json == []
    assert asked("history", "search", "what", "--kind", "image", "--json").json == []
    assert asked("history", "search", "what", "--expert", "no such", "--json").json == []
    assert asked("history", "search", "--since", "yesterday").code == 2


def test_what_is_exported_is_imported_elsewhere(asked: Jarvis, tmp_path: Path) -> None:
    assert asked("history", "export", "--format", "html").code == 2
    done = asked("history", "export", "--format", "html", "--out", "x.html", "--media", "inside")
    assert done.code == 0
    assert "<!DOCTYPE html>" in (tmp_path / "x.html").read_text("utf-8")
    saved = asked("history", "export", "--format", "json", "--out", "x.json", "--media", "folder")
    assert saved.code == 0
    listed = asked("history", "list", "--json").json
    assert asked("history", "delete", listed[0]["id"], "--yes").code == 0
    got = asked("history", "import", "x.json", "--json")
    assert got.json == {"conversations": 1, "turns": 1, "skipped": 1, "missing": 0}
    assert asked("history", "list", "--json").json == listed
    assert "2 were there already" in asked("history", "import", "x.json").out
    (tmp_path / "bad.json").write_text(json.dumps({"conversations": []}))
    refused = asked("history", "import", "bad.json")
    assert refused.code == 1
    assert "did not export this file" in refused.err
    assert asked("history", "import", "gone.json").code == 1
