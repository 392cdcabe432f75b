"""What the window's process holds at rest, beside a bare window; and what its children hold.

Run on a screen (a virtual one does): python -m tests.benchmarks.memory [ROUNDS]
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.benchmarks.desktop import MEMORY, bare, drive, resident, spin

REST = 20.0
"""Seconds until everything is warm."""


def held(process: str = "self") -> float:
    """The memory of a process in megabytes, what it shares with others divided by their number."""
    text = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
    return next(int(line.split()[1]) for line in text.splitlines() if line[:4] == "Pss:") / 1024


def children() -> list[float]:
    """What each process that this one started holds."""
    of = Path("/proc/self/task").glob("*/children")
    return sorted((held(pid) for path in of for pid in path.read_text().split()), reverse=True)


def ours() -> dict[str, Any]:
    """The window of JARVIS at rest."""
    told: dict[str, Any] = {}

    def work(window: Any) -> None:
        spin(REST)
        told.update(idle=resident(), pss=held(), children=children(), modules=len(sys.modules))

    drive(work)
    return told


def measured(which: str, home: str) -> dict[str, Any]:
    """What a process of its own measured."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.memory", which],
        env=os.environ | {"JARVIS_DESKTOP_HOME": home},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(rounds: int) -> None:
    """Print the table. The first round is the first start, the others are of who comes again."""
    ratios = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        for _ in range(rounds):
            plain, window = measured("bare", home), measured("ours", home)
            ratios.append(window["idle"] / plain["idle"])
            inner = window["children"]
            print(
                f"bare {plain['idle']:.1f} MB ({plain['pss']:.1f} its own share), "
                f"ours {window['idle']:.1f} MB ({window['pss']:.1f}), {ratios[-1]:.2f} times; "
                f"{window['modules']} modules; children "
                f"{' + '.join(format(each, '.0f') for each in inner)} = {sum(inner):.0f} MB"
            )
            (Path(home) / "config").mkdir(exist_ok=True)
            (Path(home) / "config" / "window.ini").write_text("[first_start]\nover=true\n")
    median = statistics.median(ratios)
    print(f"median {median:.2f} times a bare window (limit {MEMORY}, ratio {median / MEMORY:.2f})")


if __name__ == "__main__":
    if sys.argv[1:2] == ["bare"]:
        print(json.dumps(bare() | {"pss": held()}))
    elif sys.argv[1:2] == ["ours"]:
        print(json.dumps(ours()))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 3)
