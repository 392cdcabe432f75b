"""Closes the real application at random moments: it must exit with 0, in time, and leave no child.

Run on a screen (a virtual one does): python -m tests.benchmarks.closing [TIMES]
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TIMES = 200
AT_ONCE = 2
LATEST = 5.0
"""Seconds after the first paint; by then everything that is warmed up has been."""
LIMIT = 3.0
"""Seconds that closing may take on an idle computer."""
MARK = "JARVIS_CLOSING_MARK"

WINDOW = """
import sys
from PySide6.QtCore import QTimer
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.main_window import MainWindow
plain = MainWindow.__init__
def watched(self, *args, **kwargs):
    plain(self, *args, **kwargs)
    def painted():
        print("painted", flush=True)
        if sys.argv[1] == "busy":
            QTimer.singleShot(0, lambda: self.send(Request("What is 15 percent of 240?")))
    self.painted.connect(painted)
MainWindow.__init__ = watched
way = sys.argv[1]
from jarvis_desktop.__main__ import main
if __name__ == "__main__":
    sys.argv = ["jarvis-desktop", way]
    import jarvis_desktop.ui.app as app
    sys.exit(app.run())
"""


SETTLING = 1.0
"""Seconds within which processes that end by themselves have ended."""


def left_over(mark: str) -> dict[int, str]:
    """The processes that were started under this mark and go on, with what they are."""
    latest = time.perf_counter() + SETTLING
    while (found := _running(mark)) and time.perf_counter() < latest:
        time.sleep(0.05)
    return found


def _running(mark: str) -> dict[int, str]:
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                state = (folder / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z":
                    words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                    found[int(folder.name)] = words[-100:]
        except OSError:
            continue
    return found


def once(number: int) -> tuple[float, str]:
    """The seconds that it took, and what was wrong."""
    chance = random.Random(number)
    moment, way = chance.uniform(0, LATEST), chance.choice(("busy", "idle"))
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        program = Path(home) / "window.py"
        program.write_text(WINDOW)
        env = os.environ | {"JARVIS_DESKTOP_HOME": home, MARK: home, "PYTHONPATH": os.getcwd()}
        process = subprocess.Popen(
            [sys.executable, str(program), way],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdout
        process.stdout.readline()
        time.sleep(moment)
        begun = time.perf_counter()
        process.send_signal(signal.SIGTERM)
        try:
            code = process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            return 30.0, f"{way} at {moment:.2f} s: did not end"
        took = time.perf_counter() - begun
        left = left_over(home)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        if code or left:
            return took, f"{way} at {moment:.2f} s: exit {code}, left: {[*left.values()]}"
        return took, ""


def main() -> int:
    """Print what went wrong, and how long closing took."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else TIMES
    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(once, range(times)))
    wrong = [words for _, words in outcomes if words]
    for words in wrong:
        print(words)
    took = sorted(seconds for seconds, _ in outcomes)
    p95 = took[int(0.95 * (len(took) - 1))]
    print(f"closed {times} times, {len(wrong)} wrong (limit 0)")
    print(f"p50 {took[len(took) // 2]:.2f} s, p95 {p95:.2f} s, max {took[-1]:.2f} s "
          f"(limit {LIMIT:.1f} s, ratio {took[-1] / LIMIT:.2f})")  # fmt: skip
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
