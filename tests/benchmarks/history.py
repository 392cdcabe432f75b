"""Prints how long searching, listing, saving and deleting take over a history of 100,000 turns.

Run: python -m tests.benchmarks.history [TURNS]
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Status, TaskResult
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage.database import writing
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.storage.search import TurnFilters
from tests.storage.samples import INVENTORY, START, small_turn

VOCABULARY = 20_000
EXPERTS = 12
LIMIT = 5.0
"""Milliseconds that 95 of 100 searches may take."""
PAGE = 30
"""Finds that are shown at once."""

COMMON = ("the", "and", "weather", "letter", "translate")
"""Words that nearly every turn has, and some that many have."""


def word(chance: random.Random) -> str:
    """A word; as in a language, a few are in nearly every text and most are rare."""
    return f"w{int(VOCABULARY ** chance.random())}"


def text(chance: random.Random, words: int) -> str:
    """A text that has one of the common words, and is Chinese now and then."""
    found = " ".join(word(chance) for _ in range(words))
    extra = "明天的天气怎么样" if chance.random() < 0.02 else ""
    return f"the {chance.choice(COMMON)} {found} {extra} 🎉" if extra else f"the {found}"


def turns(count: int, chance: random.Random) -> Iterator[tuple[str, Turn]]:
    """Turns of several years, each with its conversation; some with files and experts."""
    for number in range(count):
        turn = small_turn(f"t{number}", text(chance, 12), minutes=17 * number)
        turn = replace(turn, reply=text(chance, 60))
        if number % 5 == 0:
            path = Path(f"/elsewhere/{number}.png")
            turn = replace(turn, attachments=(Artifact(Kind.IMAGE, path=path, name="a.png"),))
        if number % 3 == 0:
            expert = Expert(f"maker/expert-{chance.randrange(EXPERTS)}", "read")
            attempt = Attempt(Candidate(expert, "local"), 0.2)
            turn = replace(turn, results={1: TaskResult(1, Status.DONE, (), (attempt,))})
        yield f"c{number // 10}", turn


def queries(chance: random.Random) -> dict[str, Callable[[], tuple[str, TurnFilters]]]:
    """Kinds of query, and how one of them is made."""
    everything = TurnFilters()
    letters = "abcdefghijklmnopqrstuvwxyz"
    last = START.date() + timedelta(days=1000)

    def plain(make: Callable[[], str]) -> Callable[[], tuple[str, TurnFilters]]:
        return lambda: (make(), everything)

    def filtered(words: str, **filters: object) -> Callable[[], tuple[str, TurnFilters]]:
        return lambda: (words, TurnFilters(**filters))  # type: ignore[arg-type]

    return {
        "one letter": plain(lambda: chance.choice(letters)),
        "the letter w": plain(lambda: "w"),
        "two letters": plain(lambda: f"w{chance.randrange(10)}"),
        "three letters": plain(lambda: f"w{chance.randrange(10, 100)}"),
        "a word in all": plain(lambda: "the"),
        "two words in all": plain(lambda: "the w1"),
        "five common words": plain(lambda: "the w1 w2 w3 w4"),
        "one word": plain(lambda: word(chance)),
        "two words": plain(lambda: f"{word(chance)} {word(chance)}"),
        "three words": plain(lambda: f"{word(chance)} {word(chance)} {word(chance)}"),
        "common and rare": plain(lambda: f"the w{chance.randrange(VOCABULARY)}"),
        "rare beginning": plain(lambda: f"w1{chance.randrange(1000)}"),
        "nothing at all": plain(lambda: "nowhere tobefound"),
        "words never together": plain(lambda: "weather qqqq"),
        "Chinese": plain(lambda: chance.choice(("天气", "明天", "怎么样", "天"))),
        "an emoji": plain(lambda: "🎉"),
        "with a picture": filtered("the w", kind=Kind.IMAGE),
        "of one expert": filtered("w1", experts=("maker/expert-3",)),
        "attached, no words": filtered("", attached=True),
        "in one month": filtered("the", since=date(2027, 5, 3), until=date(2027, 6, 9)),
        "since a day, rare": filtered("w1234", since=date(2026, 9, 20), until=last),
        "pinned": filtered("the", pinned=True),
        "like the syntax": plain(lambda: 'w1" OR NEAR(w2 w3)* -w4'),
    }


def quantiles(seconds: list[float]) -> tuple[float, float, float]:
    """Median, 95th percentile and maximum, in milliseconds."""
    ordered = sorted(seconds)
    p50, p95, most = (ordered[int(part * (len(ordered) - 1))] * 1000 for part in (0.5, 0.95, 1))
    return p50, p95, most


def timed(calls: list[Callable[[], object]]) -> list[tuple[float, float]]:
    """How long each call takes by the clock and of the processor, in seconds."""
    taken = []
    for call in calls:
        started, worked = time.perf_counter(), time.process_time()
        call()
        taken.append((time.perf_counter() - started, time.process_time() - worked))
    return taken


def fill(history: SqliteHistory, count: int) -> None:
    """Write the turns through the real rows, in one transaction."""
    begin = "INSERT OR IGNORE INTO conversations (id, started, title) VALUES (?, ?, ?)"
    with writing(history._db) as db:
        for conversation, turn in turns(count, random.Random(1)):
            db.execute(begin, (conversation, turn.started.isoformat(), turn.text[:80]))
            history._rows.write(conversation, turn)


def row(label: str, taken: list[tuple[float, float]], limit: float = 0.0) -> bool:
    """Print one line; whether it keeps to its limit."""
    p50, p95, most = quantiles([item[0] for item in taken])
    _, busy, _ = quantiles([item[1] for item in taken])
    kept = not limit or p95 <= limit
    told = "" if not limit else f"   limit {limit:.0f}{'' if kept else ' <-- missed'}"
    sys.stdout.write(
        f"{label:<22}p50 {p50:8.2f}  p95 {p95:8.2f}  max {most:8.2f} ms"
        f"   processor p95 {busy:8.2f}{told}\n"
    )
    return kept


def main(count: int) -> int:
    """Fill a history in a temporary folder, then measure."""
    chance = random.Random(2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.db"
        now = START + timedelta(minutes=17 * count)

        def opened() -> SqliteHistory:
            return SqliteHistory(
                path, store_root=Path(folder), inventory=INVENTORY, now=lambda: now
            )

        started = time.perf_counter()
        history = opened()
        fill(history, count)
        history.close()
        size, seconds = path.stat().st_size / 1e6, time.perf_counter() - started
        sys.stdout.write(f"{count:,} turns, {size:.0f} MB, filled in {seconds:.0f} s\n")
        started = time.perf_counter()
        history = opened()
        sys.stdout.write(f"open {1000 * (time.perf_counter() - started):.0f} ms\n")
        started = time.perf_counter()
        asyncio.run(history.tidy())  # as the application does after its start
        sys.stdout.write(f"tidied in {time.perf_counter() - started:.1f} s\n")
        for number in range(0, count // 10, max(1, count // 200)):
            history.pin(f"c{number}", pinned=True)
        good = True
        everything: list[tuple[float, float]] = []
        for label, make in queries(chance).items():
            asked = [make() for _ in range(100)]
            taken = timed([partial(history.search, words, PAGE, filters=f) for words, f in asked])
            everything += taken
            good &= row(label, taken, LIMIT)
        good &= row("all searches", everything, LIMIT)
        row("list, first page", timed([lambda: history.list(200) for _ in range(100)]))
        middle = f"c{count // 20}"
        row("list, far down", timed([lambda: history.list(200, middle) for _ in range(100)]))
        row("size", timed([history.size for _ in range(20)]))
        row("experts", timed([history.experts for _ in range(20)]))
        saves = [small_turn(f"s{item}", text(chance, 12), minutes=item) for item in range(300)]
        row("save", timed([partial(history.save, "new", turn) for turn in saves]))
        names = [f"c{item}" for item in range(1, 100, 2)]
        row("rename", timed([partial(history.rename, name, "x") for name in names]))
        put = [history.trash([name]).number for name in names[:25]]
        row("trash one", timed([partial(history.trash, [name]) for name in names[25:]]))
        row("undo", timed([partial(history.restore, item) for item in put]))
        row("delete one for good", timed([lambda: history.delete(["c5"]) for _ in range(1)]))
        row("trash all", timed([lambda: history.trash() for _ in range(1)]))
        row("empty the trash", timed([lambda: asyncio.run(history.empty_trash())]))
        history.close()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
