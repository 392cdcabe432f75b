"""Closes the real application at random moments: it must exit with 0, in time, and leave no child.

Run on a screen (a virtual one does): python -m tests.benchmarks.closing [TIMES [FIRST]]
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

from tests.hub import running_hub

TIMES = 200
AT_ONCE = 2
LATEST = 5.0
"""Seconds after the window was made; by then everything that is warmed up has been."""
LIMIT = 3.0
"""Seconds that closing may take on an idle computer."""
MARK = "JARVIS_CLOSING_MARK"

DOING = ("idle", "request", "plan", "speaking", "recording", "download")
"""What the window is told to do once it is painted."""
WAYS = ("SIGTERM", "SIGINT", "the window's button", "quit")

WINDOW = """
import faulthandler, os, sys
faulthandler.enable()
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.main_window import MainWindow
doing, way, moment = sys.argv[1], sys.argv[2], float(sys.argv[3])
WORDS = {
    "request": "What is 15 percent of 240?",
    "plan": "Count the words in 'one two three', translate the text into German and say it aloud",
    "speaking": "Say 'the quick brown fox jumps over the lazy dog' ten times out loud",
}
def begin(window):
    if words := WORDS.get(doing):
        window.session.send(Request(words))
    elif doing == "recording":
        window.talker.start()
def fetch(app):
    async def add():
        app.expert_manager.downloads.add("expert", "sd-turbo")
    KEPT.append(window_of[0].session.engine.run(add, lambda outcome: None))
KEPT, window_of = [], []
def end():
    print(way, flush=True)  # the parent looks at the clock
    if way == "the window's button":
        window_of[0].close()
    elif way == "quit":
        QApplication.quit()
plain = MainWindow.__init__
def watched(self, *args, **kwargs):
    plain(self, *args, **kwargs)
    window_of.append(self)
    self.painted.connect(lambda: begin(self))
    if doing == "download":
        self.session.ready.connect(fetch)
    QTimer.singleShot(int(moment * 1000), end)
MainWindow.__init__ = watched
if __name__ == "__main__":
    from jarvis_desktop.__main__ import main
    sys.argv = ["jarvis-desktop"]
    sys.exit(main())
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


def once(number: int, hub: str) -> tuple[float, str]:
    """The seconds that it took, and what was wrong."""
    chance = random.Random(number)
    moment, doing, way = chance.uniform(0, LATEST), chance.choice(DOING), chance.choice(WAYS)
    what = f"{doing}, {way} at {moment:.2f} s: "
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        program = Path(home) / "window.py"
        program.write_text(WINDOW)
        (Path(home) / "config").mkdir()
        (Path(home) / "config" / "settings.toml").write_text('mode = "hybrid"\n')
        env = os.environ | {"JARVIS_DESKTOP_HOME": home, "XDG_RUNTIME_DIR": home, MARK: home,
                            "PYTHONPATH": os.getcwd(), "HF_ENDPOINT": hub}  # fmt: skip
        with (Path(home) / "told").open("w+") as told:
            process = subprocess.Popen(
                [sys.executable, str(program), doing, way, str(moment)],
                env=env,
                stdout=subprocess.PIPE,
                stderr=told,
            )
            assert process.stdout
            process.stdout.readline()
            begun = time.perf_counter()
            if way.startswith("SIG"):
                process.send_signal(getattr(signal, way))
            try:
                code = process.wait(30)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGABRT)  # tells where each thread stands
                process.wait()
                told.seek(0)
                return 30.0, f"{what}did not end\n{told.read()[-6000:]}"
            took = time.perf_counter() - begun
            left = left_over(home)
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            told.seek(0)
            if code or left:
                return took, f"{what}exit {code}, left: {[*left.values()]}\n{told.read()[-3000:]}"
            return took, ""


def main() -> int:
    """Print what went wrong, and how long closing took."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else TIMES
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    outcomes = []
    with running_hub(hang={"listing"}) as hub, ThreadPoolExecutor(AT_ONCE) as pool:
        numbers = range(first, first + times)
        for outcome in pool.map(once, numbers, [hub.address] * times):
            outcomes.append(outcome)
            print(f"{len(outcomes)}: {outcome[0]:.2f} s {outcome[1]}", file=sys.stderr, flush=True)
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
