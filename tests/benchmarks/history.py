"""Prints how long saving and searching take over a history of 100,000 turns.

Run: python -m tests.benchmarks.history [TURNS]
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

from jarvis_desktop.storage.database import writing
from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import INVENTORY, START, small_turn

VOCABULARY = 20_000


def word(chance: random.Random) -> str:
    """A word; as in a language, a few are in nearly every text and most are rare."""
    return f"w{int(VOCABULARY ** chance.random())}"


def quantiles(seconds: list[float]) -> str:
    """Median, 95th percentile and maximum, in milliseconds."""
    ordered = sorted(seconds)
    shown = (ordered[int(part * (len(ordered) - 1))] * 1000 for part in (0.5, 0.95, 1))
    return "p50 {:.2f} ms, p95 {:.2f} ms, max {:.2f} ms".format(*shown)


def timed(calls: list[Callable[[], object]]) -> str:
    """The quantiles of the time each call takes."""
    taken = []
    for call in calls:
        started = time.perf_counter()
        call()
        taken.append(time.perf_counter() - started)
    return quantiles(taken)


def main(turns: int) -> None:
    """Fill a history in a temporary folder, then measure."""
    chance = random.Random(1)

    def text(words: int) -> str:
        return " ".join(word(chance) for _ in range(words))

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.db"

        def opened() -> SqliteHistory:
            return SqliteHistory(
                path, store_root=Path(folder), inventory=INVENTORY, now=lambda: START
            )

        history = opened()
        with writing(history._db):  # one transaction: filling is not what is measured
            for number in range(turns):
                turn = small_turn(f"t{number}", text(12), minutes=number, reply=text(30))
                conversation = f"c{number // 10}"
                history._db.conn.execute(
                    "INSERT OR IGNORE INTO conversations VALUES (?, ?, ?)",
                    (conversation, (START + timedelta(minutes=number)).isoformat(), turn.text),
                )
                history._rows.write(conversation, turn)
        history.close()
        sys.stdout.write(f"{turns} turns, {path.stat().st_size / 1e6:.0f} MB\n")
        started = time.perf_counter()
        history = opened()
        sys.stdout.write(f"{'open':<13}{1000 * (time.perf_counter() - started):.0f} ms\n")
        saves = [small_turn(f"s{number}", text(12), reply=text(30)) for number in range(300)]
        for label, calls in {
            "save": [lambda turn=turn: history.save("new", turn) for turn in saves],
            "one word": [lambda: history.search(word(chance)) for _ in range(500)],
            "two words": [
                lambda: history.search(f"{word(chance)} {word(chance)}") for _ in range(500)
            ],
            "rare prefix": [
                lambda: history.search(f"w1{chance.randint(0, 999)}") for _ in range(500)
            ],
            "no match": [lambda: history.search("nowhere tobefound") for _ in range(100)],
            "plain text": [lambda: history.search("天気") for _ in range(20)],
            "list": [lambda: history.list(20) for _ in range(100)],
            "latest": [lambda: history.latest(timedelta(hours=1)) for _ in range(100)],
            "delete one": [lambda: history.delete(["c5"]) for _ in range(1)],
            "delete all": [lambda: history.delete() for _ in range(1)],
        }.items():
            sys.stdout.write(f"{label:<13}{timed(calls)}\n")  # type: ignore[arg-type]
        history.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
