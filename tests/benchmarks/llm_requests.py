"""Requests with a real LLM: how long, with how many calls and tokens, and whether they are right.

Run: python -m tests.benchmarks.llm_requests --address http://127.0.0.1:8080/v1 --llm NAME [SET...]

The sets are `plain` (questions that need no task), `plans` (requests that only an LLM can plan),
`follow` (second questions of conversations) and `skills` (requests that need no LLM, beside the
same ones without one). The server is yours to start; `tests/real` shows how.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from jarvis_desktop.app.application import Application
from jarvis_desktop.app.build import build
from jarvis_desktop.assistant.planning.inputs import CONVERTERS
from jarvis_desktop.core.events import Event, ReplyChunk
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.paths import Paths
from jarvis_desktop.settings import LLMSettings, Settings
from tests.benchmarks.llm_request_sets import FOLLOW_UPS, PLAIN, PLANS, SKILLS, PlannedRequest
from tests.fakes import FakeFrontend
from tests.scenarios import files

MAX_FIRST_WORD_S, MAX_PROMPT_TOKENS = 2.5, 400
MIN_RIGHT_PLANS, MAX_HONEST_S = 0.6, 20.0
MAX_READ_AGAIN = 0.25
MAX_SLOWER = 1.1

MARKS = re.compile(r"</?data-|\[(?:Made|Given): |<GENERATED>|\bthe expert [a-z]+-[a-z-]+\b")
STEPS = re.compile(r"\bfollow (?:these|the) steps", re.IGNORECASE)
"""What must be in no answer: our own marks and names of experts; nor, beside results, instructions
to the user."""


class Watch(FakeFrontend):
    """Notes when the first word of an answer came."""

    def __init__(self) -> None:
        super().__init__(consent=False)
        self.began = time.monotonic()
        self.first: float | None = None

    def show(self, event: Event) -> None:
        super().show(event)
        if isinstance(event, ReplyChunk) and self.first is None:
            self.first = time.monotonic() - self.began


@dataclass
class Answered:
    """A turn, and what it took."""

    turn: Turn
    seconds: float
    first: float
    calls: list[tuple[int, int, int]]
    """Tokens from the cache, read anew and written, per call of the LLM."""

    @property
    def asked(self) -> int:
        """Tokens of all prompts."""
        return sum(cached + read for cached, read, _ in self.calls)


@dataclass
class User:
    """Asks one application."""

    app: Application
    folder: Path
    odd: list[str] = field(default_factory=list)

    async def ask(
        self, text: str, names: Sequence[str] = (), *, conversation: str = ""
    ) -> Answered:
        """Send a request, in a new conversation unless one is named."""
        place = conversation or self.app.history.open_conversation().id
        watch = Watch()
        given = tuple(self.folder / name for name in names)
        request = Request(text=text, files=given, folder=self.folder)
        turn = await self.app.assistant.handle(request, watch, conversation=place)
        seconds = time.monotonic() - watch.began
        found = MARKS.search(turn.reply) or (turn.plan and STEPS.search(turn.reply))
        if found:
            self.odd.append(f"{text[:40]}: {found[0]}")
        return Answered(turn, seconds, watch.first or seconds, usage_of(watch))


def usage_of(watch: Watch) -> list[tuple[int, int, int]]:
    """Read the calls of the LLM from the trace."""
    said = "\n".join(str(event) for event in watch.events)
    found = re.findall(r"Read (\d+) tokens?, (\d+) from the cache; wrote (\d+)", said)
    return [(int(cached), int(read), int(wrote)) for read, cached, wrote in found]


def make_files(folder: Path) -> None:
    """Make the files that the requests name."""
    from PIL import Image

    for name in ("photo.jpg", "a.jpg", "b.jpg"):
        files.photo(folder / name)
    Image.open(folder / "b.jpg").point(lambda value: value // 3).save(folder / "b.jpg")
    files.page(folder / "sign.png", "STATIONNEMENT INTERDIT\nSauf riverains", size=40)
    files.page(folder / "scan.png", files.LETTER)
    files.receipt(folder / "receipt.png")
    files.pdf(folder / "letter.pdf", files.LETTER)
    files.pdf(folder / "report.pdf", files.REPORT)
    files.speech(folder / "meeting.wav", files.LETTER)
    files.clip(folder / "clip.mp4", "I am very happy today. The garden is full of flowers.")
    rows = ["month,symbol,price"]
    rows += [
        f"2024-{month:02},AAPL,{100 + month * (7 if month < 8 else 3)}" for month in range(1, 13)
    ]
    rows += [f"2024-{month:02},MSFT,{200 - month}" for month in range(1, 13)]
    (folder / "stocks.csv").write_text("\n".join(rows) + "\n")


def is_right(asked: PlannedRequest, turn: Turn) -> bool:
    """Whether the plan has the tasks of one of the right plans; conversions do not count."""
    if turn.plan is None:
        return any(not tasks for tasks in asked.right)
    planned = {task.type.name for task in turn.plan} - set(CONVERTERS)
    return any(planned == set(tasks) - set(CONVERTERS) for tasks in asked.right)


async def plain(user: User) -> None:
    """Ask questions that need no task."""
    found = []
    for text in PLAIN:
        answered = await user.ask(text)
        found.append(answered)
        reply = " ".join(answered.turn.reply.split())
        print(
            f"{answered.first:6.2f} {answered.seconds:6.2f} {answered.calls} {text[:44]} | "
            f"{reply[:90]}"
        )
    first = median(item.first for item in found)
    tokens, calls = median(item.asked for item in found), median(len(item.calls) for item in found)
    print(
        f"first word {first:.2f} s, {first / MAX_FIRST_WORD_S:.2f} of the limit; prompt "
        f"{tokens} tokens, {tokens / MAX_PROMPT_TOKENS:.2f} of the limit; {calls} calls"
    )


async def plans(user: User) -> None:
    """Ask for what only an LLM can plan."""
    right, slowest = 0, 0.0
    for asked in PLANS:
        answered = await user.ask(asked.text, asked.files)
        good = is_right(asked, answered.turn)
        right += good
        if not good:
            slowest = max(slowest, answered.first)
        steps = [task.type.name for task in answered.turn.plan or ()]
        reply = " ".join(answered.turn.reply.split())
        print(
            f"{'right' if good else 'WRONG'} {answered.first:6.2f} {answered.seconds:6.2f} "
            f"{answered.calls} "
            f"{asked.text[:50]} {steps} | {reply[:100]}"
        )
    print(
        f"{right} of {len(PLANS)} plans right, {right / len(PLANS) / MIN_RIGHT_PLANS:.2f} of the "
        f"goal; the slowest other {slowest:.1f} s, {slowest / MAX_HONEST_S:.2f} of the limit"
    )


async def follow(user: User) -> None:
    """Ask a second question in each conversation."""
    shares = []
    for first, second in FOLLOW_UPS:
        place = user.app.history.open_conversation().id
        await user.ask(first, conversation=place)
        calls = (await user.ask(second, conversation=place)).calls
        whole = sum(cached + read for cached, read, _ in calls)
        shares.append(sum(read for _, read, _ in calls) / max(1, whole))
        print(f"{shares[-1]:.2f} {calls} {second}")
    print(f"read anew {median(shares):.2f}, {median(shares) / MAX_READ_AGAIN:.2f} of the limit")


def _ending(turn: Turn) -> tuple[object, ...]:
    """What two turns for the same request must share."""
    return turn.status, *(task.type.name for task in turn.plan or ())


async def skills(user: User, without: User) -> None:
    """Ask for what needs no LLM, with one and without."""
    ratios, same = [], 0
    for text, names in SKILLS:
        times = []
        for one in (without, user):
            runs = [await one.ask(text, names) for _ in range(3)]
            times.append(median(run.seconds for run in runs))
            one_turn = runs[-1]
            if one is without:
                expected = _ending(one_turn.turn)
        alike = _ending(one_turn.turn) == expected
        same += alike
        ratios.append(times[1] / times[0])
        print(
            f"{'alike' if alike else 'OTHER'} {ratios[-1]:5.2f} {times[0]:6.2f} {times[1]:6.2f} "
            f"{one_turn.calls} {text[:50]} | "
            f"{' '.join(one_turn.turn.reply.split())[:80]}"
        )
    print(
        f"{same} of {len(SKILLS)} end alike; time with an LLM / without {median(ratios):.2f}, "
        f"{median(ratios) / MAX_SLOWER:.2f} of the limit"
    )


async def run(address: str, llm: str, chosen: Sequence[str]) -> None:
    """Run the chosen sets."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        folder = root / "files"
        folder.mkdir()
        make_files(folder)
        users = []
        for name, provider in (("with", "openai"), ("without", "none")):
            place = root / name
            paths = Paths(place / "config", place / "data", place / "cache", place / "logs")
            wanted = LLMSettings(provider=provider, id=llm, address=address)
            users.append(User(build(Settings(processes=2, llm=wanted), paths), folder))
        user, without = users
        try:
            for each in users:
                await each.ask("what time is it")  # warms the planner
                await asyncio.to_thread(each.app.scorer.warm, tuple(each.app.inventory.values()))
            if "plain" in chosen:
                await plain(user)
            if "plans" in chosen:
                await plans(user)
            if "follow" in chosen:
                await follow(user)
            if "skills" in chosen:
                await skills(user, without)
            print(f"{len(user.odd)} odd answers: {user.odd}")
        finally:
            for each in users:
                await each.app.close()


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--address", required=True)
    parser.add_argument("--llm", required=True)
    parser.add_argument("sets", nargs="*", default=["plain", "plans", "follow", "skills"])
    args = parser.parse_args()
    asyncio.run(run(args.address, args.llm, args.sets))


if __name__ == "__main__":
    main()
