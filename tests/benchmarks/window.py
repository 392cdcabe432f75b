"""How much later than a bare PySide6 window ours is painted, from the start of the program.

Run on a screen (a virtual one does): python -m tests.benchmarks.window
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

RUNS = 7
LIMIT = 0.5
"""Seconds later than the bare window."""


def seconds(which: str) -> float:
    """From the start of the program to the first paint."""
    command = [sys.executable, "-m", "tests.benchmarks.first_paint", which]
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            command,
            env=os.environ | {"JARVIS_DESKTOP_HOME": home},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
    return float(done.stdout)


def main() -> None:
    """Print the table. In turns, so that what else the computer does falls on both alike."""
    seconds("bare"), seconds("ours")  # the first of each reads everything from the disk
    runs = [(seconds("bare"), seconds("ours")) for _ in range(RUNS)]
    bare, ours = (sorted(times) for times in zip(*runs, strict=True))
    later = sorted(second - first for first, second in runs)
    print(f"{'first paint':16}{'best':>9}{'median':>9}{'limit':>9}")
    for name, times in (("bare PySide6", bare), ("JARVIS Desktop", ours)):
        print(f"{name:16}{times[0]:8.2f}s{statistics.median(times):8.2f}s")
    median = statistics.median(later)
    print(f"{'later by':16}{later[0]:8.2f}s{median:8.2f}s{LIMIT:8.2f}s  ratio {median / LIMIT:.2f}")


if __name__ == "__main__":
    main()
