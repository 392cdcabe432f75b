"""Nothing that a client sends makes the server fail without a reason, or tell what is nobody's
business."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import h11
import httpx
import pytest

from jarvis_desktop.app.build import build
from jarvis_desktop.assistant.execution.task_runner import INTERNAL_ERROR
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.paths import user_paths
from jarvis_desktop.server import access
from jarvis_desktop.server.access import ServerTerms
from jarvis_desktop.settings import Settings
from tests.fake_voice import FakeRecogniser, FakeVoice
from tests.server.hostile import Hostile, hostile_requests
from tests.server.serving import TOKEN, Served, running

ROOT = Path(__file__).resolve().parents[2]
AT_ONCE = 8


@pytest.fixture
async def offline(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Served]:
    monkeypatch.setattr(access, "WRONG_PER_MINUTE", 10**9)
    app = build(Settings(processes=1, mode=Mode.OFFLINE), user_paths())
    app.recogniser = FakeRecogniser(hears="hello")  # type: ignore[assignment]
    app.voice = FakeVoice()  # type: ignore[assignment]
    async with running(app, ServerTerms(TOKEN, "127.0.0.1", per_minute=10**9)) as (host, port):
        yield Served(app, f"http://{host}:{port}")
    await app.close()


async def answer_to(client: httpx.AsyncClient, hostile: Hostile) -> tuple[int, bytes]:
    """The status and the body; the status is 0 if the connection was just closed."""
    if hostile.raw:
        port = client.base_url.port
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(hostile.raw)
        writer.write_eof()
        try:
            async with asyncio.timeout(60):
                answer = await reader.read()
        except ConnectionError:
            answer = b""
        writer.close()
        return int(answer[9:12]) if answer.startswith(b"HTTP/") else 0, answer
    try:
        sent = client.build_request(
            hostile.method, hostile.path, headers=hostile.headers, content=hostile.body
        )
        answered = await client.send(sent)
    except (httpx.TransportError, h11.LocalProtocolError):
        return 0, b""
    return answered.status_code, answered.content


async def bombard(served: Served, seed: int, count: int) -> Counter[int]:
    """Send hostile requests. Return how often each status was the answer."""
    seen: Counter[int] = Counter()
    left = hostile_requests(seed, count)
    secrets = [str(ROOT), str(user_paths().data), "jarvis-api-", TOKEN, "Traceback", INTERNAL_ERROR]
    secrets += ["site-packages", "Error("]

    async def send_some() -> None:
        async with httpx.AsyncClient(base_url=served.base, timeout=60) as client:
            for hostile in left:
                status, body = await answer_to(client, hostile)
                seen[status] += 1
                # A client that sends its own token back to itself is told nothing new.
                told = body.decode("utf-8", "replace")
                found = [each for each in secrets if each in told]
                assert not found, (found, hostile, told)
                assert status < 500 or (status == 503 and b'"message"' in body), (hostile, told)

    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(send_some())
    async with served.client as client:  # it still answers
        made = await client.responses.create(model="jarvis", input="What is 6*7?")
        assert made.output_text == "6*7 is 42."
    return seen


def no_errors(caplog: pytest.LogCaptureFixture) -> None:
    """uvicorn and the library of MCP warn of what is malformed; an error would be ours."""
    assert not [each.getMessage() for each in caplog.records if each.levelname == "ERROR"]
    caplog.clear()


async def test_a_few_hostile_requests(offline: Served, caplog: pytest.LogCaptureFixture) -> None:
    seen = await bombard(offline, seed=1, count=400)
    assert seen.total() == 400
    assert {200, 400, 401, 403, 404, 405} <= set(seen)
    no_errors(caplog)


@pytest.mark.exhaustive
@pytest.mark.timeout(1800)
# Starlette leaves the file of a form that is cut off to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
async def test_ten_thousand_hostile_requests(
    offline: Served, caplog: pytest.LogCaptureFixture
) -> None:
    seen = await bombard(offline, seed=2, count=10_000)
    print(dict(seen))
    no_errors(caplog)
