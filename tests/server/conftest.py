"""The HTTP server on a free port."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from jarvis_desktop.app.build import build
from jarvis_desktop.paths import user_paths
from jarvis_desktop.server.access import ServerTerms
from jarvis_desktop.settings import Settings
from tests.server.serving import TOKEN, Served, running


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    app = build(Settings(processes=1), user_paths())
    async with running(app, ServerTerms(TOKEN, "127.0.0.1")) as (host, port):
        yield Served(app, f"http://{host}:{port}")
    await app.close()
