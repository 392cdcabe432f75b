"""The HTTP server under load, over the built application and without an LLM.

    python -m tests.benchmarks.server_load [--few]

What HTTP adds to a request: the same warm application answers "what time is it" in turn in process
and over HTTP, with the client in the same process, so that its share is included. Then 200 streams
at once, a reader that takes an answer of some MB at 40 kB/s beside others, and clients that go away
in the middle of an answer.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import io
import json
import resource
import statistics
import time
from collections.abc import Callable, Coroutine
from typing import Any

import httpx

from jarvis_desktop.app.application import Application
from jarvis_desktop.app.build import build
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.turn import Request
from jarvis_desktop.paths import user_paths
from jarvis_desktop.server.access import ServerTerms
from jarvis_desktop.server.turns import ApiFrontend
from jarvis_desktop.settings import LLMSettings, Settings
from tests.server.serving import TOKEN, running, said

ASKED = "what time is it"
STREAMS = 200
KNOWN = {"Authorization": f"Bearer {TOKEN}"}


def percentile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def row(name: str, times: list[float]) -> str:
    ms = [1000 * each for each in times]
    return f"{name:34} median {statistics.median(ms):7.1f} ms   p95 {percentile(ms, 0.95):7.1f} ms"


async def timed(work: Callable[[], Coroutine[Any, Any, object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


async def in_process(app: Application) -> None:
    conversation = app.history.open_private().id
    turn = await app.assistant.handle(Request(text=ASKED), ApiFrontend(), conversation=conversation)
    app.history.forget_private(conversation)
    assert turn.reply.startswith("It is")


async def over_http(client: httpx.AsyncClient) -> None:
    body = {"model": "jarvis", "messages": said(ASKED)}
    answer = await client.post("/v1/chat/completions", json=body)
    assert answer.json()["choices"][0]["message"]["content"].startswith("It is")


async def overhead(app: Application, client: httpx.AsyncClient, count: int) -> None:
    for _ in range(10):
        await in_process(app)
        await over_http(client)
    inside, outside, work = [], [], [0.0, 0.0]
    for _ in range(count):
        began = time.process_time()
        inside.append(await timed(lambda: in_process(app)))
        between = time.process_time()
        outside.append(await timed(lambda: over_http(client)))
        work[0] += between - began
        work[1] += time.process_time() - between
    more = [after - before for before, after in zip(inside, outside, strict=True)]
    print(row("in process", inside), row("over HTTP", outside), sep="\n")
    print(row("HTTP adds", more))
    cpu = [1000 * each / count for each in work]
    print(f"{'processor time, mean':34} {cpu[0]:.1f} ms in process, {cpu[1]:.1f} ms over HTTP")
    apart = 1000 * (percentile(outside, 0.95) - percentile(inside, 0.95))
    print(f"{'difference of the p95':34} {apart:.1f} ms (aim: 15 ms)")


async def stream(client: httpx.AsyncClient, first: list[float]) -> None:
    body = {"model": "jarvis", "messages": said(ASKED), "stream": True}
    began = time.perf_counter()
    async with client.stream("POST", "/v1/chat/completions", json=body) as answer:
        lines = [line async for line in answer.aiter_lines() if line]
    first.append(time.perf_counter() - began)
    assert answer.status_code == 200, lines
    assert lines[-1] == "data: [DONE]", lines[-1]


async def many_streams(client: httpx.AsyncClient, count: int) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    took: list[float] = []
    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(stream(client, took))
    whole = time.perf_counter() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1000
    print(row(f"{count} streams at once, each", took))
    print(f"{'all of them':34} {whole:.1f} s, {grown:.0f} MB more memory, 0 failed")


def large_picture() -> str:
    import numpy as np
    from PIL import Image

    noise = np.random.default_rng(1).integers(0, 255, (1500, 1500, 3), dtype=np.uint8)
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode()


async def slow_reader(client: httpx.AsyncClient, base: str, seconds: float) -> None:
    url = f"data:image/png;base64,{large_picture()}"
    content = [
        {"type": "text", "text": "Rotate this picture by 90 degrees"},
        {"type": "image_url", "image_url": {"url": url}},
    ]
    body = json.dumps({"messages": [{"role": "user", "content": content}], "stream": True}).encode()
    head = (
        f"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Connection: close\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    parts = httpx.URL(base)
    reader, writer = await asyncio.open_connection(parts.host, parts.port, limit=4096)
    writer.write(head.encode() + body)
    await reader.readuntil(b"\r\n\r\n")
    got, others, until = 0, [], time.perf_counter() + seconds

    async def ask_others() -> None:
        while time.perf_counter() < until:
            others.append(await timed(lambda: over_http(client)))

    asking = asyncio.create_task(ask_others())
    while time.perf_counter() < until:
        got += len(await reader.read(4096))
        await asyncio.sleep(0.1)
    await asking
    print(row("others beside a slow reader", others))
    left = await timed(reader.read)
    print(f"{'the slow reader':34} {got / 1000:.0f} kB slowly, the rest in {left:.1f} s")
    writer.close()


async def leaving(app: Application, base: str, count: int) -> None:
    begun, ended = asyncio.Semaphore(0), asyncio.Semaphore(0)
    usual = app.assistant.handle

    async def handle(*args: object, **options: object) -> None:
        begun.release()
        try:
            await asyncio.Event().wait()
        finally:
            ended.release()

    app.assistant.handle = handle  # type: ignore[assignment, method-assign]
    async with httpx.AsyncClient(base_url=base, headers=KNOWN, timeout=60) as client:
        asking = [
            asyncio.create_task(stream(client, []) if number % 2 else over_http(client))
            for number in range(count)
        ]
        for _ in asking:
            await begun.acquire()
        began = time.perf_counter()
        for task in asking:
            task.cancel()
        for _ in asking:
            await ended.acquire()
    took = 1000 * (time.perf_counter() - began)
    app.assistant.handle = usual  # type: ignore[method-assign]
    await asyncio.sleep(0.2)
    open_still = len(app.store._private._places)
    print(f"{f'{count} clients go away':34} all turns stopped after {took:.0f} ms, "
          f"{open_still} conversations left")  # fmt: skip


async def main(few: bool) -> None:
    settings = Settings(mode=Mode.OFFLINE, llm=LLMSettings(provider="none"))
    app = build(settings, user_paths())
    await app.start()
    terms = ServerTerms(TOKEN, "127.0.0.1", per_minute=10**9)
    async with running(app, terms) as (host, port):
        base = f"http://{host}:{port}"
        limits = httpx.Limits(max_connections=STREAMS)
        async with httpx.AsyncClient(
            base_url=base, headers=KNOWN, timeout=120, limits=limits
        ) as client:
            await overhead(app, client, 20 if few else 300)
            await many_streams(client, 20 if few else STREAMS)
            await slow_reader(client, base, 2 if few else 10)
        await leaving(app, base, 10 if few else 100)
    await app.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--few", action="store_true", help="a quick look")
    asyncio.run(main(parser.parse_args().few))
