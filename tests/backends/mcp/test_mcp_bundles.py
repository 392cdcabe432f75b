"""Bundles (.mcpb): what they may hold, what is asked for, and what is started."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile, ZipInfo

import pytest

from jarvis_desktop.backends.mcp.bundles import McpBundle, read_bundle, unpack
from jarvis_desktop.backends.mcp.servers import McpServer, McpServers
from jarvis_desktop.core.errors import InputError

MANIFEST: dict[str, Any] = {
    "manifest_version": "0.3",
    "name": "My Files",
    "version": "1.0.0",
    "description": "Reads files.",
    "server": {
        "type": "python",
        "entry_point": "server/main.py",
        "mcp_config": {
            "command": "python",
            "args": [
                "${__dirname}/server/main.py",
                "${user_config.folders}",
                "${user_config.mode}",
            ],
            "env": {"KEY": "${user_config.key}", "DEPTH": "${user_config.depth}"},
        },
    },
    "user_config": {
        "folders": {"type": "directory", "multiple": True, "required": True},
        "key": {"type": "string", "sensitive": True, "required": True},
        "depth": {"type": "number", "default": 3, "min": 1, "max": 9},
        "mode": {"type": "string"},
    },
}


def packed(
    path: Path, manifest: object = MANIFEST, **files: bytes | tuple[bytes, int]
) -> McpBundle:
    with ZipFile(path, "w") as archive:
        if manifest is not None:
            archive.writestr("manifest.json", json.dumps(manifest))
        archive.writestr("server/main.py", "print()")
        for name, content in files.items():
            content, mode = content if isinstance(content, tuple) else (content, 0o644)
            entry = ZipInfo(name)
            entry.external_attr = mode << 16
            archive.writestr(entry, content)
    return read_bundle(path)


def launch(**config: Any) -> dict[str, Any]:
    server = {"type": "binary", "entry_point": "", "mcp_config": config}
    return {"name": "x", "server": server, "user_config": MANIFEST["user_config"]}


def test_what_is_started_with_the_values(tmp_path: Path) -> None:
    bundle, root = packed(tmp_path / "a.mcpb"), tmp_path / "bundles"
    values: dict[str, str | list[str]] = {"folders": [str(tmp_path), "/"], "key": "s3cret"}
    server = bundle.server(root, values)
    folder = bundle.folder(root)
    assert server.name == "My-Files"
    assert Path(server.command).name.startswith("python")
    assert server.args == (f"{folder}/server/main.py", str(tmp_path), "/")
    assert server.env == {"KEY": "s3cret", "DEPTH": "3"}
    assert server.cwd == str(folder)
    assert not root.exists()
    assert unpack(bundle, root) == folder
    assert (folder / "server" / "main.py").read_text() == "print()"
    newer = packed(tmp_path / "b.mcpb", MANIFEST | {"version": "2"})
    assert newer.server(root, values).digest != server.digest
    assert unpack(newer, root).parent == folder.parent
    assert not folder.exists()
    servers = McpServers(tmp_path / "mcp.json", tmp_path / "tools.json", root)
    servers.add(McpServer("My-Files", "python"))
    servers.remove("My-Files")
    assert not list(root.iterdir())


def test_a_program_in_the_bundle_can_be_executed(tmp_path: Path) -> None:
    config = {"command": "bin/run", "platform_overrides": {sys.platform: {"args": ["--here"]}}}
    bundle = packed(tmp_path / "a.mcpb", launch(**config), **{"bin/run": (b"#!/bin/sh\n", 0o755)})
    values: dict[str, str | list[str]] = {"folders": ["/"], "key": "k"}
    server = bundle.server(tmp_path / "bundles", values)
    folder = unpack(bundle, tmp_path / "bundles")
    assert (server.command, server.args) == (str(folder / "bin" / "run"), ("--here",))
    assert Path(server.command).stat().st_mode & 0o111
    uv = {"name": "y", "server": {"type": "uv", "entry_point": "src/server.py"}}
    started = packed(tmp_path / "b.mcpb", uv).server(tmp_path, {})
    assert Path(started.command).stem == "uv"
    assert started.args[-1] == "src/server.py"


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "My-Files needs folders"),
        ({"folders": ["/no/such"]}, "“folders” is a folder that exists"),
        ({"folders": ["/"]}, "My-Files needs key"),
        ({"folders": ["/"], "key": "${HOME}"}, "“key” cannot contain a dollar"),
        ({"folders": ["/"], "key": "k", "depth": "x"}, "“depth” is a number"),
        ({"folders": ["/"], "key": "k", "depth": "10"}, "“depth” is from 1 to 9"),
    ],
)
def test_values_are_checked(tmp_path: Path, values: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        packed(tmp_path / "a.mcpb").server(tmp_path, values)


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({}, "does not say what to start"),
        ({"command": "no-such-program"}, "needs the program no-such-program"),
        ({"command": "../../bin/sh"}, "needs the program"),
        ({"command": "python", "args": ["${AWS_SECRET}"]}, "uses \\${AWS_SECRET}"),
        ({"command": "python", "args": ["${user_config.other}"]}, "uses \\${user_config.other}"),
        ({"command": "python", "args": ["--key=${user_config.key}"]}, "puts key on the command"),
    ],
)
def test_commands_are_checked(tmp_path: Path, config: dict[str, Any], sentence: str) -> None:
    bundle = packed(tmp_path / "a.mcpb", launch(**config))
    with pytest.raises(InputError, match=sentence):
        bundle.server(tmp_path, {"folders": ["/"], "key": "k"})


def test_another_system(tmp_path: Path) -> None:
    bundle = packed(tmp_path / "a.mcpb", MANIFEST | {"compatibility": {"platforms": ["beos"]}})
    with pytest.raises(InputError, match="made for beos"):
        bundle.server(tmp_path, {})


@pytest.mark.parametrize(
    "name", ["../evil", "/evil", "a\\b", "C:evil", "a/../../b", "SERVER/main.py", "a\nb"]
)
def test_files_stay_in_the_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="it has a file named"):
        packed(tmp_path / "a.mcpb", **{name: b"x"})


def test_links_and_bombs_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="it has a file named link"):
        packed(tmp_path / "a.mcpb", link=(b"/etc", stat.S_IFLNK | 0o777))
    monkeypatch.setattr("jarvis_desktop.backends.mcp.bundles.MAX_BYTES", 100)
    with pytest.raises(InputError, match="it has more than"):
        packed(tmp_path / "a.mcpb", zeros=b"0" * 1000)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"not a zip", "not a zip file"),
        (None, "has no manifest.json"),
        ([], "valid dictionary"),
        ({"name": "x"}, "server: field required"),
        ({"name": "x", "server": {"type": "perl"}}, "server.type"),
    ],
)
def test_what_is_no_bundle_is_refused(tmp_path: Path, content: object, sentence: str) -> None:
    path = tmp_path / "a.mcpb"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        with pytest.raises(InputError):
            packed(path, content)
    with pytest.raises(InputError, match=sentence):
        read_bundle(path)
    with pytest.raises(InputError, match="cannot be read"):
        read_bundle(tmp_path / "none.mcpb")


def test_a_damaged_file_leaves_nothing(tmp_path: Path) -> None:
    bundle = packed(tmp_path / "a.mcpb", **{"data.bin": b"abcdefgh" * 100})
    damaged = bundle.path.read_bytes().replace(b"abcdefgh" * 100, b"abcdefgX" * 100)
    bundle.path.write_bytes(damaged)
    with pytest.raises(InputError, match="a file in it is damaged"):
        unpack(bundle, tmp_path / "bundles")
    assert not list((tmp_path / "bundles" / bundle.name).iterdir())
