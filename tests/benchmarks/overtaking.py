"""How long a built-in answer takes while a goal and a long answer run, beside the same alone.

Run: python -m tests.benchmarks.overtaking [--address URL --llm NAME]

The LLM is a scripted one on loopback that writes slowly; with --address a real one. "beside" asks
in the conversation of the long answer, "elsewhere" in a new one. The time is that to the saved
answer.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_desktop.app.application import Application
from jarvis_desktop.app.build import build
from jarvis_desktop.core.events import Event, Kept, ReplyChunk, Waiting, WaitReason
from jarvis_desktop.core.goal import Terms
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.paths import Paths
from jarvis_desktop.settings import LLMSettings, Settings
from tests.fakes import FakeFrontend
from tests.line_server import Answer
from tests.openai_server import running_openai_server

TIME = "what time is it"
LONG = "Tell me the story of the Roman Empire in as much detail as you can."
GOAL = "Write a report about the colours of autumn leaves, in five chapters."
ROUNDS = 10
LIMIT_S = 0.3
"""The project's goal."""


@dataclass
class TimedFrontend(FakeFrontend):
    """Remembers when each kind of event came first."""

    first: dict[str, float] = field(default_factory=dict)
    written: asyncio.Event = field(default_factory=asyncio.Event)
    waits_for_llm: asyncio.Event = field(default_factory=asyncio.Event)

    def show(self, event: Event) -> None:
        super().show(event)
        self.first.setdefault(type(event).__name__, time.perf_counter())
        if isinstance(event, ReplyChunk):
            self.written.set()
        if isinstance(event, Waiting) and event.reason is WaitReason.LLM:
            self.waits_for_llm.set()


async def timed(app: Application, conversation: Callable[[], str]) -> list[float]:
    """Ask for the time, and return the seconds to each saved answer."""
    taken = []
    for _ in range(ROUNDS):
        frontend, began = TimedFrontend(), time.perf_counter()
        await app.assistant.handle(Request(text=TIME), frontend, conversation=conversation())
        taken.append(frontend.first[Kept.__name__] - began)
    return taken


async def measure(app: Application) -> dict[str, list[float]]:
    """Return the seconds of each answer, alone and while both others run."""

    def fresh() -> str:
        return app.history.open_conversation().id

    def begin(request: Request, place: str) -> tuple[TimedFrontend, asyncio.Task[Turn]]:
        frontend = TimedFrontend()
        work = app.assistant.handle(request, frontend, conversation=place)
        return frontend, asyncio.create_task(work)

    await app.start()
    await timed(app, fresh)  # the first requests load modules
    results = {"alone": await timed(app, fresh)}
    long_place = fresh()
    story, writing = begin(Request(text=LONG), long_place)
    await story.written.wait()
    goal, reaching = begin(Request(text=GOAL, terms=Terms()), fresh())
    await goal.waits_for_llm.wait()
    results["beside"] = await timed(app, lambda: long_place)
    results["elsewhere"] = await timed(app, fresh)
    both = not writing.done() and not reaching.done()
    print(f"both still run: {'yes' if both else 'no, so the figures mean little'}")
    for task in (writing, reaching):
        task.cancel()
    await asyncio.gather(writing, reaching, return_exceptions=True)
    return results


def main() -> None:
    """Print the medians, their ratio to the request alone, and the slowest."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--address")
    parser.add_argument("--llm", default="tiny")
    given = parser.parse_args()
    with ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = given.address
        if not address:
            slow = Answer(("And then it went on. ",) * 4000, seconds_a_piece=0.02)
            server = stack.enter_context(running_openai_server(answers=[slow]))
            address = f"{server.address}/v1"
        llm = LLMSettings(provider="openai", id=given.llm, address=address)
        paths = Paths(root / "config", root / "data", root / "cache", root / "logs")
        results = asyncio.run(_run(build(Settings(llm=llm), paths)))
    alone = statistics.median(results["alone"])
    for name, seconds in results.items():
        median = statistics.median(seconds)
        print(
            f"{name:<10} median {median * 1000:6.1f} ms  {median / alone:5.2f}x"
            f"  slowest {max(seconds) * 1000:6.1f} ms  (limit {LIMIT_S * 1000:.0f})"
        )


async def _run(app: Application) -> dict[str, list[float]]:
    try:
        return await measure(app)
    finally:
        await app.close()


if __name__ == "__main__":
    main()
