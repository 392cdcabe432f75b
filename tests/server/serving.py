"""A running HTTP server over the built application, and what is sent to it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx
import openai

from jarvis_desktop.app.application import Application
from jarvis_desktop.server.access import ServerTerms
from jarvis_desktop.server.http_server import listen, serve

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TOKEN = "a-token-that-is-long-enough"
PNG = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15"
    b"\xc4\x89\x00\x00\x00\nIDATx\x9cc\x00\x01\x00\x00\x05\x00\x01\r\n-\xb4\x00\x00\x00\x00IEND\xaeB`\x82"
).decode()


@dataclass
class Served:
    app: Application
    base: str

    @property
    def client(self) -> openai.AsyncOpenAI:
        return openai.AsyncOpenAI(base_url=f"{self.base}/v1", api_key=TOKEN, max_retries=0)

    async def post(self, path: str, body: object, **headers: str) -> httpx.Response:
        known = {"Authorization": f"Bearer {TOKEN}"} | headers
        async with httpx.AsyncClient(base_url=self.base, timeout=60) as client:
            return await client.post(path, content=json.dumps(body), headers=known)


@contextlib.asynccontextmanager
async def running(
    app: Application, terms: ServerTerms, *, encrypted: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[str, int]]:
    """Serve on a free port; where."""
    with listen("127.0.0.1", 0) as listening:
        server = asyncio.create_task(serve(app, listening, terms, encrypted=encrypted))
        try:
            yield listening.getsockname()
        finally:
            server.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await server


def said(*texts: str) -> Any:
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]
