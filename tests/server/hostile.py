"""Requests that a hostile or broken client sends: valid ones with parts replaced, and rubbish."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from tests.server.serving import PNG, TOKEN, said

ASKED = "What is 6*7?"
PICTURE = f"data:image/png;base64,{PNG}"
MODERN = "2026-07-28"


@dataclass(frozen=True)
class Hostile:
    """One request; `raw` is sent as it is, without any HTTP library."""

    method: str = "POST"
    path: str = "/"
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    raw: bytes = b""


def _call(method: str, params: dict[str, Any]) -> dict[str, Any]:
    about = {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": 1,
    }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": about}}


VALID: list[tuple[str, Any]] = [
    ("/v1/chat/completions", {"model": "jarvis", "messages": said(ASKED), "stream": False}),
    ("/v1/chat/completions", {"model": "jarvis", "messages": said(ASKED), "stream": True}),
    (
        "/v1/chat/completions",
        {
            "messages": [
                {"role": "system", "content": "Be brief."},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Rotate this picture by 90 degrees"},
                        {"type": "image_url", "image_url": {"url": PICTURE}},
                        {"type": "file", "file": {"file_data": PICTURE, "filename": "a.png"}},
                    ],
                },
            ]
        },
    ),
    ("/v1/responses", {"model": "jarvis", "input": ASKED, "stream": True}),
    (
        "/v1/responses",
        {
            "input": [
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": ASKED},
                        {"type": "input_image", "image_url": PICTURE},
                    ],
                }
            ],
            "instructions": "Be brief.",
            "text": {"format": {"type": "text"}},
        },
    ),
    ("/v1/embeddings", {"model": "any", "input": ["a", "b"], "encoding_format": "base64"}),
    ("/v1/images/generations", {"prompt": "a fox", "n": 1, "size": "64x64"}),
    ("/v1/audio/speech", {"model": "tts-1", "voice": "x", "input": "Hi", "response_format": "wav"}),
    ("/tasks", {"messages": said(ASKED)}),
    ("/results", {"messages": said(ASKED)}),
    ("/hugginggpt", {"messages": said(ASKED)}),
    ("/mcp", _call("tools/call", {"name": "ask", "arguments": {"text": ASKED}})),
    (
        "/mcp",
        _call(
            "tools/call",
            {
                "name": "run_plan",
                "arguments": {
                    "plan": [{"task": "calculator", "id": 0, "args": {"expression": ASKED}}]
                },
            },
        ),
    ),
    ("/mcp", _call("resources/read", {"uri": "jarvis://results/1/answer.md"})),
    ("/mcp", _call("tools/list", {})),
    (
        "/mcp",
        {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "x", "version": "1"},
            },
        },
    ),
]  # fmt: skip

ODD: list[Any] = [
    None, True, False, 0, -1, 2**63, 10**400, 1e308, float("nan"), float("inf"), "", " ", "\x00",
    "\ud800", "\u202e", "x" * 5000, "../../../etc/passwd", "/etc/shadow", "file:///etc/passwd",
    "data:;base64,", "data:image/png;base64,%%%", "data:text/plain,hello", "http://127.0.0.1:1/",
    "jarvis://results/../../x", "<GENERATED>-0", "<GENERATED>-999999999", "${HOME}", "{{7*7}}",
    "'; DROP TABLE turns; --", "<script>alert(1)</script>", "%s%n%x", "A\r\nSet-Cookie: a=b",
    "🜁" * 50,
    [], {}, [[]], [None], {"": ""}, {"type": "text"}, [{"role": "user"}], {"__proto__": {}},
    {"url": 3}, [1, "a", None], "text-to-image", "assistant", "system", "jarvis",
]  # fmt: skip
PATHS = [
    "/..", "/../../etc/passwd", "/v1/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//", "/v1",
    "/v1/models/../../x", "/page.js/..", "/page.js%00", "/\x7f", "/v1/files", "/v1/models/jarvis",
    "/mcp/", "/MCP", "/v1/chat/completions/", "/?x=" + "y" * 3000, "/" + "a/" * 500, "/docs",
]  # fmt: skip
METHODS = ["GET", "HEAD", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "POST", "BREW"]
HEADERS: list[dict[str, str]] = [
    {"Authorization": ""}, {"Authorization": "Bearer"}, {"Authorization": "Bearer " + "x" * 4000},
    {"Authorization": f"bearer  {TOKEN}"}, {"Authorization": f"Token {TOKEN}"}, {"Origin": "null"},
    {"Origin": "https://evil.example"}, {"Origin": "http://127.0.0.1.evil.example"},
    {"Host": "evil.example"}, {"Host": "127.0.0.1@evil.example"}, {"Host": "[::1"}, {"Host": ""},
    {"Content-Type": "text/plain"}, {"Content-Type": "multipart/form-data"}, {"Accept": "*/*"},
    {"Content-Type": "multipart/form-data; boundary=" + "b" * 300}, {"Accept": "text/html"},
    {"Content-Length": "999999999"}, {"Content-Encoding": "gzip"}, {"Expect": "100-continue"},
    {"MCP-Protocol-Version": "1999-01-01"}, {"MCP-Protocol-Version": MODERN},
    {"Mcp-Session-Id": "x"}, {"Mcp-Session-Id": "../" * 100}, {"Last-Event-ID": "9"},
    {"X-Forwarded-For": "127.0.0.1"}, {"Range": "bytes=0-1"}, {"Cookie": "a=" + "b" * 5000},
]  # fmt: skip
RAW = [
    b"\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n", b"\x00" * 500,
    b"POST /tasks HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    b"POST /tasks HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
    b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 400 + b"\r\n",
    b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]  # fmt: skip


def hostile_requests(seed: int, count: int) -> Iterator[Hostile]:
    """Yield requests, the same ones for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        match chance.randrange(20):
            case 0:
                yield Hostile(raw=chance.choice(RAW))
            case 1:
                yield Hostile(raw=_damaged(chance, chance.choice(RAW[1:6])))
            case 2:
                method, path = chance.choice(METHODS), chance.choice(PATHS)
                yield Hostile(method, quote(path, safe="/%?=."), _headers(chance))
            case 3:
                yield Hostile("POST", "/v1/audio/transcriptions", *_form(chance))
            case 4:
                path, body = chance.choice(VALID)
                sent = json.dumps(body).encode()
                yield Hostile("POST", path, _headers(chance), _damaged(chance, sent))
            case 5:
                path, _ = chance.choice(VALID)
                deep = chance.choice(
                    [b"[" * 40000, b'{"a":' * 20000, b"1" * 9000, b"\xff\xfe", b""]
                )
                yield Hostile("POST", path, _headers(chance), deep)
            case _:
                path, body = chance.choice(VALID)
                changed = body
                for _ in range(chance.randint(1, 3)):
                    changed = _changed(chance, changed)
                yield Hostile("POST", path, _headers(chance), json.dumps(changed).encode())


def _changed(chance: random.Random, body: Any) -> Any:
    """The same with one part replaced, removed or added."""
    body = copy.deepcopy(body)
    places = list(_places(body))
    if not places:
        return chance.choice(ODD)
    holder, key = chance.choice(places)
    match chance.randrange(6):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[str(chance.choice(["stream", "n", "tools", "model", "args", "x" * 99]))] = (
                chance.choice(ODD)
            )
        case 1:
            holder.extend([copy.deepcopy(holder[key])] * 40)
        case _:
            holder[key] = copy.deepcopy(chance.choice(ODD))
    return body


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    keys = (
        list(value)
        if isinstance(value, dict)
        else range(len(value))
        if isinstance(value, list)
        else ()
    )
    for key in keys:
        yield value, key
        yield from _places(value[key])


def _damaged(chance: random.Random, sent: bytes) -> bytes:
    at = chance.randrange(len(sent) or 1)
    return chance.choice(
        [sent[:at], sent[:at] + bytes([chance.randrange(256)]) + sent[at + 1 :], sent + sent[at:]]
    )


def _headers(chance: random.Random) -> dict[str, str]:
    usual = {
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    if chance.randrange(2):
        usual["MCP-Protocol-Version"] = MODERN
    return usual | (chance.choice(HEADERS) if not chance.randrange(4) else {})


def _form(chance: random.Random) -> tuple[dict[str, str], bytes]:
    name = chance.choice(["a.wav", "../../x", "", "\x00", "a" * 4000, "CON", "C:\\x", "..", "."])
    kind = chance.choice(["json", "text", "verbose_json", "srt", ""])
    lines = [
        "--edge", f'Content-Disposition: form-data; name="file"; filename="{name}"', "", "RIFF",
        "--edge", 'Content-Disposition: form-data; name="response_format"', "", kind, "--edge--",
    ]  # fmt: skip
    body = "\r\n".join(lines).encode()
    if chance.randrange(2):
        body = _damaged(chance, body)
    return _headers(chance) | {"Content-Type": "multipart/form-data; boundary=edge"}, body
