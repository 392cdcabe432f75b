"""The HTTP server on a free port."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator

import pytest

from jarvis_desktop.app.build import build
from jarvis_desktop.paths import user_paths
from jarvis_desktop.server.http_server import serve
from jarvis_desktop.settings import Settings
from tests.server.serving import TOKEN, Served


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    app = build(Settings(processes=1), user_paths())
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        running = asyncio.create_task(serve(app, listening, token=TOKEN, host="127.0.0.1"))
        yield Served(app, address)
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
    await app.close()
