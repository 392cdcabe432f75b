from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from jarvis_desktop.llm import ollama
from jarvis_desktop.llm.ollama import InstalledLLM, OllamaStatus, status

LISTED = {
    "models": [
        {"name": "qwen3.5:4b", "model": "qwen3.5:4b", "size": 3_400_000_000},
        {"name": "gpt-oss:120b-cloud", "model": "gpt-oss:120b-cloud", "size": 384},
    ]
}


@asynccontextmanager
async def server(
    body: bytes | None, *, code: str = "200 OK"
) -> AsyncIterator[tuple[str, list[str]]]:
    """A server on loopback that gives one answer to everything; None: it never answers."""
    asked: list[str] = []
    closing = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        asked.append(head.split(b"\r\n")[0].decode())
        if body is None:
            await closing.wait()
        else:
            lines = f"HTTP/1.1 {code}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n"
            writer.write(f"{lines}Location: http://127.0.0.1:9/\r\n\r\n".encode() + body)
            await writer.drain()
        writer.close()

    listening = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}", asked
    finally:
        closing.set()
        listening.close()
        await listening.wait_closed()


async def test_the_installed_llms_are_listed_and_those_in_the_cloud_marked():
    async with server(json.dumps(LISTED).encode()) as (address, asked):
        found = await status(address)
    assert found == OllamaStatus(
        True,
        (InstalledLLM("gpt-oss:120b-cloud", 384), InstalledLLM("qwen3.5:4b", 3_400_000_000)),
    )
    assert [llm.is_local for llm in found.llms] == [False, True]
    assert asked == ["GET /api/tags HTTP/1.1"]


async def test_no_llm_is_still_a_running_ollama():
    async with server(b'{"models": []}') as (address, _):
        assert await status(address) == OllamaStatus(True)


async def test_an_absent_ollama_is_said():
    async with server(b"") as (address, _):
        pass
    found = await status(address)
    assert found == OllamaStatus(False, reason=f"Ollama does not run at {address}.")


async def test_a_silent_server_is_not_waited_for():
    async with server(None) as (address, _):
        found = await status(address, timeout=0.2)
    assert found == OllamaStatus(False, reason=f"Ollama at {address} does not answer.")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"<html>hello</html>", "200 OK"),
        (b'{"models": 3}', "200 OK"),
        (b'"a text"', "200 OK"),
        (b"no", "500 Internal Server Error"),
        (b"", "302 Found"),
    ],
)
async def test_something_else_at_the_address_is_recognised(body, code):
    async with server(body, code=code) as (address, asked):
        found = await status(address)
    assert found == OllamaStatus(False, reason=f"What answers at {address} is not Ollama.")
    assert len(asked) == 1


async def test_only_this_computer_is_asked_unless_a_host_is_given(monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "http://203.0.113.1:11434")
    monkeypatch.setenv("HTTP_PROXY", "http://203.0.113.1:3128")
    async with server(b'{"models": []}') as (address, asked):
        monkeypatch.setattr(ollama, "LOOPBACK", address)
        assert (await status()).running
    assert len(asked) == 1
