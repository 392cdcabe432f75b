"""The real window over many turns: what its memory grows by, and what it is that grows.

Run on a screen (a virtual one does): python -m tests.benchmarks.soak [TURNS [MINUTES]]
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from typing import Any

from tests.benchmarks.desktop import IDLE, ask, drive, resident, spin

SLOPE = 5.0
"""Megabytes that it may grow by in an hour."""
TURNS, MINUTES = 500, 30.0
TOGETHER = 25
"""Turns of a conversation, after which the next one begins."""
WARMING = 0.2
"""The share of the turns that only warms up."""
MOST_GROWN = 12
"""Kinds of objects that are told of."""


def census() -> Counter[str]:
    """How many objects there are of each kind, and how many widgets."""
    from PySide6.QtWidgets import QApplication

    gc.collect()
    found = Counter(f"{type(o).__module__}.{type(o).__qualname__}" for o in gc.get_objects())
    found["(widgets)"] = len(QApplication.allWidgets())
    return found


def work(window: Any, turns: int, minutes: float) -> dict[str, Any]:
    """Hours and megabytes after each fifth turn, and the kinds of objects that became more."""
    points, begun, before = [], time.perf_counter(), Counter[str]()
    undone = 0
    for number in range(turns):
        if number % TOGETHER == 0:
            window.session.new_conversation()
            spin(0.1)
        if number == int(turns * WARMING):
            before = census()
        undone += not ask(window, f"What is {number} percent of 240?")
        if number % 5 == 4:
            points.append(((time.perf_counter() - begun) / 3600, resident()))
            print(json.dumps(points[-1]), file=sys.stderr, flush=True)
        spin(begun + (number + 1) * minutes * 60 / turns - time.perf_counter())
    window.session.new_conversation()
    spin(1.0)
    return {
        "points": [p for p in points if p[0] >= WARMING * minutes / 60],
        "grown": (census() - before).most_common(MOST_GROWN),
        "undone": undone,
    }


def ours(turns: int, minutes: float) -> dict[str, Any]:
    """What the real window told."""
    told: dict[str, Any] = {}

    def begin(window: Any) -> None:
        spin(IDLE)
        told.update(work(window, turns, minutes))

    told["code"] = drive(begin)
    return told


def slope(points: list[tuple[float, float]]) -> float:
    """Megabytes an hour, by least squares."""
    middle_x = sum(x for x, _ in points) / len(points)
    middle_y = sum(y for _, y in points) / len(points)
    above = sum((x - middle_x) * (y - middle_y) for x, y in points)
    return above / sum((x - middle_x) ** 2 for x, _ in points)


def main() -> int:
    """Print how memory rose."""
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else TURNS
    minutes = float(sys.argv[2]) if len(sys.argv) > 2 else MINUTES
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.soak", "ours", str(turns), str(minutes)],
            env=os.environ | {"JARVIS_DESKTOP_HOME": home},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    told = json.loads(done.stdout.splitlines()[-1])
    points = told["points"]
    rises = slope(points)
    print(f"{turns} turns in {minutes:.0f} min: {points[0][1]:.0f} to {points[-1][1]:.0f} MB, "
          f"{rises:.1f} MB/h (limit {SLOPE}, ratio {rises / SLOPE:.2f}); "
          f"{told['undone']} not done, exit {told['code']}")  # fmt: skip
    for what, count in told["grown"]:
        print(f"  {count:+7} {what}")
    return int(rises > SLOPE or bool(told["undone"]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["ours"]:
        print(json.dumps(ours(int(sys.argv[2]), float(sys.argv[3]))))
    else:
        sys.exit(main())
