"""One backend and one router a module: a process of its own for each test would take minutes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from jarvis_desktop.backends.inference_api.backend import ApiBackend
from jarvis_desktop.platform.api_keys import ApiKey
from jarvis_desktop.storage.web_fetch import checked
from tests.backends.inference_api.desk import BY_NAME, KEY, Desk
from tests.router import Router, running_router


@pytest.fixture(scope="module")
def router() -> Iterator[Router]:
    with running_router() as router:
        yield router


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def backend(router: Router) -> AsyncIterator[ApiBackend]:
    backend = ApiBackend(
        BY_NAME, check=checked, key=ApiKey(lambda: KEY), via=router.address, width=1, time_limit=30
    )
    yield backend
    await backend.close()


@pytest.fixture
def desk(backend: ApiBackend, router: Router, tmp_path: Path) -> Desk:
    for kept in (router.requests, router.bodies, router.days, router.hub_days):
        kept.clear()
    folder = tmp_path / "desk"
    folder.mkdir()
    return Desk(backend, router, folder)
