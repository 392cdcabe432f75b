"""JARVIS as an MCP server, spoken to by the official client over both transports."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, ImageContent, ResourceLink, TextContent

from jarvis_desktop.server import mcp_api
from tests.server.serving import PNG, TOKEN, Served

ROOT = Path(__file__).resolve().parents[2]
ERAS = ["auto", "legacy"]


@asynccontextmanager
async def connected(
    served: Served, mode: str = "auto", token: str = TOKEN
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(
            streamable_http_client(f"{served.base}/mcp", http_client=http), mode=mode, cache=None
        ) as client,
    ):
        yield client


def words(result: CallToolResult) -> str:
    assert isinstance(result.content[0], TextContent)
    return result.content[0].text


@pytest.mark.parametrize("mode", ERAS)
async def test_a_request_is_answered_and_kept(served: Served, mode: str) -> None:
    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None = None) -> None:
        seen.append((progress, total, message))

    async with connected(served, mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        assert tools == ["ask", "plan", "run_plan", "list_tasks"]
        made = await client.call_tool("ask", {"text": "What is 6*7?"}, progress_callback=note)
        assert "42" in words(made)
        assert [task["task"] for task in made.structured_content["plan"]] == ["calculator"]
        assert [total for _, total, _ in seen] == [1] * len(seen)
        assert [done for done, _, _ in seen] == sorted({done for done, _, _ in seen})
        assert seen[-1][2] == "Calculate: done"
        (kept, *_) = (await client.list_resources()).resources
        assert kept.uri == made.structured_content["results"][0]
        (read,) = (await client.read_resource(kept.uri)).contents
        assert read.text == words(made)  # type: ignore[union-attr]
        assert not (await client.list_resource_templates()).resource_templates
    assert served.app.history.newest() is None


async def test_files_go_in_and_come_out_and_in_again(served: Served, tmp_path: Path) -> None:
    own = tmp_path / "mine.png"
    own.write_bytes(base64.b64decode(PNG))
    asked = {"text": "Rotate this picture by 90 degrees", "files": [f"data:image/png;base64,{PNG}"]}
    async with connected(served) as client:
        made = await client.call_tool("ask", asked)
        assert not made.is_error
        (picture,) = [item for item in made.content if isinstance(item, ImageContent)]
        (link,) = [item for item in made.content if isinstance(item, ResourceLink)]
        (read,) = (await client.read_resource(link.uri)).contents
        assert read.blob == picture.data  # type: ignore[union-attr]
        assert "jarvis-api-" not in json.dumps(made.structured_content)
        for file in (link.uri, str(own)):
            asked = {"text": "Rotate this picture by 90 degrees", "files": [file]}
            planned = (await client.call_tool("plan", asked)).structured_content["plan"]
            assert file in planned[0]["args"].values()
            ran = await client.call_tool("run_plan", {"plan": planned})
            assert ran.structured_content["status"] == "done"
            assert ran.structured_content["plan"] == planned


async def test_what_needs_a_yes_is_not_done(served: Served) -> None:
    async with connected(served) as client:
        made = await client.call_tool("ask", {"text": "Open my Downloads folder"})
        assert made.is_error
        assert made.structured_content["not_agreed"]
        assert "Not done" in words(made)
        planned = await client.call_tool("plan", {"text": "Open my Downloads folder"})
        ran = await client.call_tool("run_plan", {"plan": planned.structured_content["plan"]})
        assert ran.structured_content["not_agreed"]


async def test_the_tasks_are_listed(served: Served) -> None:
    async with connected(served) as client:
        found = (await client.call_tool("list_tasks", {})).structured_content["tasks"]
        assert len(found) == len(served.app.inventory)
        (sums,) = (
            await client.call_tool("list_tasks", {"search": "calculator"})
        ).structured_content["tasks"]
        assert sums["args"] == {"expression": "the sum, as the user said it"}


WRONG: list[tuple[str, dict[str, Any], str]] = [
    ("ask", {}, "'text' is a required property."),
    ("ask", {"text": 3}, "3 is not of type 'string'."),
    ("ask", {"text": "x", "speak": True}, "Additional properties are not allowed"),
    ("ask", {"text": "x", "files": ["a.png"]}, "is not the whole path"),
    ("ask", {"text": "x", "files": ["data:image/png;base64,*"]}, "not valid base64"),
    ("ask", {"text": "x", "files": ["jarvis://results/9/1/a.png"]}, "There is no result"),
    ("run_plan", {"plan": [{"task": "fly", "id": 0, "args": {}}]}, "no task called 'fly'"),
]


async def test_wrong_calls_get_a_sentence(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(served) as client:
        for tool, given, reason in WRONG:
            refused = await client.call_tool(tool, given)
            assert refused.is_error
            assert reason in words(refused)
        with pytest.raises(MCPError, match="no tool fly"):
            await client.call_tool("fly", {})
        with pytest.raises(MCPError, match="There is no result"):
            await client.read_resource("jarvis://results/9/answer.md")

        def broken(*args: object) -> None:
            raise ZeroDivisionError("/home/somebody")

        monkeypatch.setattr(mcp_api, "_task_document", broken)
        refused = await client.call_tool("list_tasks", {})
        assert "inside JARVIS" in words(refused)
        assert "somebody" not in refused.model_dump_json()
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    caplog.clear()


async def test_only_the_newest_results_are_kept(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_api, "MAX_TURNS", 1)
    async with connected(served) as client:
        for _ in range(2):
            await client.call_tool("ask", {"text": "What is 6*7?"})
        kept = [each.uri for each in (await client.list_resources()).resources]
        assert kept == ["jarvis://results/2/answer.md", "jarvis://results/2/1/text-1.txt"]


@pytest.mark.parametrize("mode", ERAS)
async def test_a_cancelled_call_stops_its_turn(served: Served, mode: str) -> None:
    begun, ended, forgotten = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def handle(*args: object, **options: object) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    forget = served.app.history.forget_private

    def noted(conversation: str) -> None:
        forget(conversation)
        forgotten.set()

    served.app.assistant.handle = handle  # type: ignore[assignment, method-assign]
    served.app.history.forget_private = noted  # type: ignore[method-assign, assignment]
    async with connected(served, mode) as client:
        asking = asyncio.create_task(client.call_tool("ask", {"text": "x"}))
        await begun.wait()
        asking.cancel()
        await ended.wait()
        await forgotten.wait()
        assert not (await client.list_resources()).resources


async def test_the_token_is_needed(served: Served) -> None:
    with pytest.raises(BaseExceptionGroup):
        async with connected(served, token="a-wrong-one-of-some-length"):
            pass
    assert (await served.post("/mcp", {}, Authorization="")).status_code == 401


async def test_over_pipes_nothing_but_the_protocol_is_on_stdout(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    odd: list[object] = []

    async def heard(message: object) -> None:
        if isinstance(message, Exception):
            odd.append(message)

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "jarvis_desktop", "mcp", "serve", "--mode", "offline"],
        cwd=ROOT,
        env=dict(os.environ),
    )
    for mode in ERAS:
        async with Client(server, mode=mode, message_handler=heard, cache=None) as client:
            made = await client.call_tool("ask", {"text": "What is 6*7?"})
            assert "42" in words(made)
            assert (await client.list_resources()).resources
    assert not odd


@pytest.mark.skipif(sys.platform == "win32", reason="there it is Ctrl-C in a console")
def test_ctrl_c_ends_it_while_it_waits_for_a_request() -> None:
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"}}}  # fmt: skip
    command = [sys.executable, "-m", "jarvis_desktop", "mcp", "serve"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdin
        assert run.stdout
        run.stdin.write(json.dumps(hello).encode() + b"\n")
        run.stdin.flush()
        assert json.loads(run.stdout.readline())["result"]["serverInfo"]["title"] == "JARVIS"
        run.send_signal(signal.SIGINT)
        assert run.wait(60) == 130
