"""The file of MCP servers, its secrets, and what of a tool's schema becomes a task type."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import keyring
import keyring.errors
import pytest

from jarvis_desktop.backends.mcp import tools
from jarvis_desktop.backends.mcp.servers import (
    KEPT,
    Approval,
    McpServer,
    McpServers,
    McpTool,
    checked,
    read_servers,
)
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.task import Call

CLAUDE = """{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"],
 "env": {"TZ": "UTC"}}}}"""
LM_STUDIO = """{"mcpServers": {"hub": {"url": "https://huggingface.co/mcp",
 "headers": {"Authorization": "Bearer hf_x"}}}}"""
VS_CODE = """{
  // from the documentation
  "inputs": [],
  "servers": {"my files": {"type": "stdio", "command": "npx", "args": ["-y", "http://x//y"],},},
}"""
VS_CODE_SETTINGS = '{"mcp": {"servers": {"a": {"type": "http", "url": "http://localhost:1/mcp"}}}}'


@pytest.fixture
def vault(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    kept: dict[str, str] = {}

    def delete(service: str, place: str) -> None:
        if kept.pop(place, None) is None:
            raise keyring.errors.PasswordDeleteError

    monkeypatch.setattr(keyring, "get_password", lambda service, place: kept.get(place))
    monkeypatch.setattr(
        keyring, "set_password", lambda service, place, key: kept.update({place: key})
    )
    monkeypatch.setattr(keyring, "delete_password", delete)
    return kept


@pytest.mark.parametrize(
    ("text", "name", "place"),
    [
        (CLAUDE, "time", "uvx mcp-server-time"),
        (LM_STUDIO, "hub", "https://huggingface.co/mcp"),
        (VS_CODE, "my-files", "npx -y http://x//y"),
        (VS_CODE_SETTINGS, "a", "http://localhost:1/mcp"),
    ],
)
def test_files_of_other_programs_are_read(text: str, name: str, place: str) -> None:
    (server,) = read_servers(text, "there.json")
    assert (server.name, server.place) == (name, place)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[", "there.json is not JSON"),
        ("[]", "lists no MCP servers"),
        ('{"mcpServers": {"x": {}}}', "x needs a command or a URL"),
        ('{"mcpServers": {"x": {"command": 1}}}', "x is wrong: command"),
        ('{"mcpServers": {"x/y": {"command": "a"}}}', "“x/y” is not a name"),
        ('{"mcpServers": {"x": {"url": "http://there.example/mcp"}}}', "is not an address"),
        ('{"mcpServers": {"x": {"url": "https://a/", "type": "sse"}}}', r"the old HTTP\+SSE"),
        (
            '{"servers": {"x": {"command": "a", "env": {"K": "${input:key}"}}}}',
            "x asks for “key”, which its file does not hold",
        ),
    ],
)
def test_what_cannot_be_used_is_said(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        read_servers(text, "there.json")


def test_secrets_go_into_the_keyring_and_leave_with_the_server(
    tmp_path: Path, vault: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = McpServers(tmp_path / "mcp.json", tmp_path / "tools.json")
    monkeypatch.setenv("HERE", "there")
    given = {"TOKEN": "s3cret", "PLACE": "${HERE}/x", "EMPTY": ""}
    kept = servers.add(McpServer("a", "prog", env=given, headers={"Authorization": "Bearer y"}))
    text = (tmp_path / "mcp.json").read_text()
    assert "s3cret" not in text
    assert "Bearer" not in text
    assert kept.env == {"TOKEN": KEPT, "PLACE": "${HERE}/x", "EMPTY": ""}
    resolved = {"TOKEN": "s3cret", "PLACE": "there/x", "EMPTY": ""}
    assert servers.values(kept) == (resolved, {"Authorization": "Bearer y"})
    monkeypatch.delenv("HERE")
    with pytest.raises(UnavailableError, match="needs the variable HERE"):
        servers.values(kept)
    vault.pop("mcp:a:headers:Authorization")
    with pytest.raises(UnavailableError, match="Authorization for the MCP server a is not in"):
        servers.values(McpServer("a", "prog", headers=kept.headers))
    servers.remove("A")
    assert vault == {}
    with pytest.raises(InputError, match="There is no MCP server a"):
        servers.find("a")


def test_approval_is_bound_to_the_server_and_the_schema(tmp_path: Path) -> None:
    servers = McpServers(tmp_path / "mcp.json", tmp_path / "tools.json")
    server, tool = McpServer("a", "prog"), McpTool("t", "Reads.", {"type": "object"})
    assert servers.approval(server, tool) is Approval.ASK
    servers.keep_tools(server, [tool])
    servers.approve(server, (tool,), Approval.ALWAYS)
    assert servers.tools(server) == (tool,)
    assert servers.approval(server, tool) is Approval.ALWAYS
    assert not servers.keep_tools(server, [tool])
    other = McpTool("t", "Reads and writes.", {"type": "object"})
    assert servers.approval(server, other) is Approval.ASK
    assert servers.approval(McpServer("a", "other"), tool) is Approval.ASK
    assert servers.approval(McpServer("a", "prog", env={"X": "1"}), tool) is Approval.ASK
    servers.approve(server, (tool,), Approval.NEVER)
    assert servers.approval(server, other) is Approval.NEVER
    (tmp_path / "tools.json").write_text("broken")
    assert servers.approval(server, tool) is Approval.ASK


def test_names_of_tasks() -> None:
    assert tools.task_name("git", "git_status") == "git-status"
    assert tools.task_name("My-Files", "readTextFile") == "my-files-read-text-file"


def task_of(properties: dict[str, Any], *required: str, **more: Any) -> Any:
    schema = {"type": "object", "properties": properties, "required": list(required), **more}
    return tools.task_type("s", McpTool("do_it", "Does\nit. And more.", schema))


def test_a_schema_becomes_ports_and_options() -> None:
    made = task_of(
        {
            "mode": {"type": "string", "enum": ["a", "b"]},
            "q": {"type": ["string", "null"], "description": "What to look for"},
            "file_path": {"type": "string"},
            "n": {"type": "integer", "default": 5},
            "ratio": {"type": "number"},
            "deep": {"type": "boolean", "default": True},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
            "unit": {"type": "string", "enum": ["m", "ft"]},
        },
        "unit",
        "file_path",
        **{"$defs": {"tag": {"type": "string"}}},
    )
    ports = {port.name: port for port in made.ports}
    assert list(ports) == ["file_path", "unit", "q", "tags"]
    assert ports["file_path"].kinds == tuple(Kind)
    assert ports["unit"].required
    assert ports["tags"].many
    assert {item.name: (item.default, item.choices) for item in made.options} == {
        "mode": ("", ("", "a", "b")),
        "n": (5, ()),
        "ratio": (0.0, ()),
        "deep": (True, ()),
    }
    assert made.summary == "Does it. And more. unit: one of m, ft; q: What to look for"
    assert made.server == "s"


@pytest.mark.parametrize("schema", [{}, {"properties": 3}, {"properties": {"x": 3}, "required": 1}])
def test_a_strange_schema_is_no_obstacle(schema: dict[str, Any]) -> None:
    tool = McpTool("t", "", schema)
    made = tools.task_type("s", tool)
    call = Call(made.name, {"x": (text_artifact("1"),)}, {}, Path())
    assert tools.arguments(tool, call) in ({}, {"x": 1})


@pytest.mark.parametrize(
    ("prop", "texts", "value"),
    [
        ({"type": "string"}, ["a", "b"], "a\n\nb"),
        ({"type": "number"}, ["2.5"], 2.5),
        ({"type": "boolean"}, ["Yes"], True),
        ({"type": "object"}, ['{"a": 1}'], {"a": 1}),
        ({"type": "array"}, ["[1, 2]"], [1, 2]),
        ({"type": "array"}, ["one"], ["one"]),
        ({"enum": ["Low", 2]}, ["2"], 2),
        ({}, ["plain words"], "plain words"),
    ],
)
def test_words_take_the_type_of_the_schema(prop: Any, texts: list[str], value: object) -> None:
    tool = McpTool("t", "", {"properties": {"x": prop}})
    call = Call("s-t", {"x": tuple(map(text_artifact, texts))}, {}, Path())
    assert tools.arguments(tool, call) == {"x": value}


@pytest.mark.parametrize("prop", [{"type": "boolean"}, {"type": "object"}, {"enum": ["a"]}])
def test_words_of_another_type_are_refused(prop: Any) -> None:
    tool = McpTool("t", "", {"properties": {"x": prop}})
    with pytest.raises(InputError, match="t cannot take “maybe” as its x"):
        tools.arguments(tool, Call("s-t", {"x": (text_artifact("maybe"),)}, {}, Path()))


def test_the_user_s_own_file_is_named(tmp_path: Path) -> None:
    tool = McpTool("t", "", {"properties": {"path": {"type": "string"}}})
    own = Artifact(Kind.TABLE, path=Path("/store/1"), source=Path("/home/me/t.csv"))
    assert tools.arguments(tool, Call("s-t", {"path": (own,)}, {}, tmp_path)) == {
        "path": str(Path("/home/me/t.csv"))
    }


def block(kind: str, **fields: Any) -> Any:
    return SimpleNamespace(type=kind, **fields)


def answer(*blocks: Any, error: bool = False, structured: Any = None) -> Any:
    return SimpleNamespace(content=list(blocks), is_error=error, structured_content=structured)


def test_results_of_all_kinds(tmp_path: Path) -> None:
    resource = SimpleNamespace
    made = tools.results(
        "t",
        answer(
            block("text", text="one"),
            block("image", data="QQ==", mime_type="image/png"),
            block("resource_link", name="x", uri="file:///x"),
            block("resource", resource=resource(text="two", uri="a:b", mime_type=None)),
            block("resource", resource=resource(blob="QQ==", uri="a:c", mime_type="audio/mpeg")),
            block("resource", resource=resource(blob="QQ==", uri="a:d", mime_type=None)),
        ),
        tmp_path,
    )
    assert made[0].text == "one\n\nx: file:///x\n\ntwo\n\na:d"
    assert [item.kind for item in made] == [Kind.TEXT, Kind.IMAGE, Kind.AUDIO]
    assert [item.path.read_bytes() for item in made[1:] if item.path] == [b"A", b"A"]


def test_results_without_words(tmp_path: Path) -> None:
    assert json.loads(tools.results("t", answer(structured={"a": 1}), tmp_path)[0].text or "") == {
        "a": 1
    }
    assert tools.results("t", answer(), tmp_path) == [
        text_artifact("It is done; t returned nothing.")
    ]
    with pytest.raises(ExpertError, match="t failed: it gave no reason"):
        tools.results("t", answer(error=True), tmp_path)
    (long,) = tools.results("t", answer(block("text", text="x" * 1_000_007)), tmp_path)
    assert (long.text or "").endswith("x\n\n[The other 7 characters were left out.]")


def test_a_server_is_somewhere_once() -> None:
    with pytest.raises(InputError, match="needs a command or a URL"):
        checked(McpServer("a", "prog", url="https://x.example/mcp"))
    assert McpServer("a", url="https://x.example/mcp").outside
    assert not McpServer("a", url="http://127.0.0.1:1/mcp").outside
