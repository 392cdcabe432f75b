"""The real window at work: how long its event loop stands still, and what memory it takes.

Run on a screen (a virtual one does): python -m tests.benchmarks.desktop
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

BEAT = 5
"""Milliseconds between two beats of the event loop."""
P999, MOST = 100.0, 250.0
"""Milliseconds that the loop may stand still."""
MEMORY = 1.6
"""Times the memory of a bare window."""
PATIENCE = 60.0
"""Seconds that a request may take."""
IDLE = 12.0
"""Seconds until the window has come to rest."""
LOOK = 10
"""Milliseconds between two looks whether something is so yet."""
MESSAGES = 10_000
EXPERT, REPO, WEIGHTS = "dfine-nano", "ustc-community/dfine-nano-coco", 16_000_000
"""What is downloaded, where it lies on the Hub, and how many bytes its weights have."""
SAMPLE = "Read the text in this picture, summarise it and say the summary out loud"


def resident() -> float:
    """This process's memory in megabytes."""
    text = Path("/proc/self/status").read_text("utf-8")
    return next(int(line.split()[1]) for line in text.splitlines() if "VmRSS" in line) / 1024


class Pulse:
    """Beats on the event loop, and knows how long it did not."""

    def __init__(self) -> None:
        from PySide6.QtCore import Qt, QTimer

        self._timer = QTimer(timerType=Qt.TimerType.PreciseTimer, interval=BEAT)
        self._timer.timeout.connect(self._beat)
        self._gaps: list[tuple[float, float]] = []
        self._last = time.perf_counter(), time.thread_time()
        self.rows: list[tuple[str, float, float, float, float]] = []
        """What was done; the 99.9th percentile and the longest in milliseconds, and both again in
        processor time of this thread, which other programs make no longer."""
        self._timer.start()

    def _beat(self) -> None:
        now = time.perf_counter(), time.thread_time()
        gap, worked = ((now[which] - self._last[which]) * 1000 for which in (0, 1))
        self._gaps.append((gap - BEAT, worked))
        self._last = now

    @contextmanager
    def during(self, what: str) -> Iterator[None]:
        """Watch while something is done."""
        self._gaps, self._last = [], (time.perf_counter(), time.thread_time())
        yield
        self._beat()
        high = int(0.999 * (len(self._gaps) - 1))
        gaps, worked = (sorted(gap[which] for gap in self._gaps) for which in (0, 1))
        self.rows.append((what, gaps[high], gaps[-1], worked[high], worked[-1]))


def spin(seconds: float, until: Callable[[], object] | None = None) -> None:
    """Let the loop run for so long, or until something is so."""
    from PySide6.QtCore import QEvent, QEventLoop, QTimer
    from PySide6.QtWidgets import QApplication

    if until and until():
        return
    # A loop that sleeps, as that of the application: one that asks without end keeps a core busy.
    loop, looking = QEventLoop(), QTimer(interval=LOOK)
    looking.timeout.connect(lambda: loop.quit() if until and until() else None)
    if until:
        looking.start()
    QTimer.singleShot(max(0, round(seconds * 1000)), loop, loop.quit)
    loop.exec()
    # Qt leaves what was deleted outside of this loop to the loop around it.
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def ask(window: Any, words: str, *files: Path) -> bool:
    """Send a request and wait for its end; whether it was done. Nobody is there who could answer
    a question or approve a plan: a turn that waits for that is ended."""
    from jarvis_desktop.core.expert import Status
    from jarvis_desktop.core.turn import Request

    exchange = window.session.send(Request(words, files=files))
    spin(PATIENCE, until=lambda: not window.session.busy)
    if window.session.busy:
        window.session.end()
        spin(5.0, until=lambda: not window.session.busy)
    return bool(exchange.turn.status is Status.DONE)


def drive(work: Callable[[Any], None]) -> int:
    """Run the application, give its window to `work` and end with it; the exit code."""
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from jarvis_desktop.ui import app
    from jarvis_desktop.ui.main_window import MainWindow

    plain = MainWindow.__init__

    def begin(window: Any) -> None:
        try:
            work(window)
        except Exception:  # the application would only put it into its log
            traceback.print_exc()
        QApplication.quit()

    def watched(self: Any, *args: Any, **others: Any) -> None:
        plain(self, *args, **others)
        # A timer that is set before the application is there never rings.
        QTimer.singleShot(0, lambda: begin(self))

    MainWindow.__init__ = watched  # type: ignore[method-assign]
    return app.run()


def long_conversation(window: Any) -> None:
    """Open one with very many messages, and go from its end to its beginning."""
    from jarvis_desktop.core.expert import Status
    from jarvis_desktop.core.turn import Conversation, Turn
    from jarvis_desktop.ui.engine import Outcome

    now = datetime.now(UTC)
    answer = (
        "A paragraph with **weight** and `code`.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    )
    turns = tuple(
        Turn(str(n), now - timedelta(minutes=MESSAGES - n), f"Question {n}", reply=answer,
             status=Status.DONE)
        for n in range(MESSAGES // 2)
    )  # fmt: skip
    window.session._read(Outcome(Conversation("long", turns)))
    spin(1.0)
    bar = window.conversation.verticalScrollBar()
    for step in range(100, -1, -1):
        bar.setValue(bar.maximum() * step // 100)
        spin(0.03)


def pages(window: Any) -> None:
    """Go to each page, and back to the conversation."""
    from jarvis_desktop.ui.navigation import PLACES

    for place in PLACES:
        window.places.go(place.name)
        spin(1.5)
    window.places.back()
    spin(0.5)


def download(window: Any) -> None:
    """Fetch an expert from a Hub on this computer."""

    async def add() -> Any:
        downloads = window.session.app.expert_manager.downloads
        downloads.add("expert", EXPERT)
        return downloads

    told: list[Any] = []
    window.session.engine.run(add, lambda outcome: told.append(outcome.value))
    spin(5.0, until=lambda: told)
    window.places.go("experts")  # there its progress is seen
    spin(PATIENCE, until=lambda: all(item.state in ("failed", "done") for item in told[0].listed))
    assert all(item.state == "done" for item in told[0].listed), told[0].listed
    window.places.back()


def hostile(window: Any) -> None:
    """Stream every hostile text as an answer."""
    from jarvis_desktop.core.turn import Turn
    from jarvis_desktop.ui.conversation.turn_view import TurnView
    from tests.ui.scene import HOSTILE

    view = TurnView(window.user_actions)
    view.resize(700, 500)
    view.show()
    now = datetime.now(UTC)
    for text in HOSTILE:
        for share in (0.25, 0.5, 1.0):
            view.draw(Turn("t", now, text[:2000], reply=text[: int(len(text) * share)]))
            spin(0.02)
    view.close()
    view.deleteLater()


def ours() -> dict[str, Any]:
    """What was measured in the real window."""
    told: dict[str, Any] = {}

    def work(window: Any) -> None:
        from jarvis_desktop import paths

        pulse = Pulse()
        with pulse.during("start and warming up"):
            spin(IDLE)
        told["idle"] = resident()
        with pulse.during("every page is opened for the first time"):
            pages(window)
        with pulse.during("a download"):
            download(window)
        with pulse.during("a picture is read, summed up and said"):
            ask(window, SAMPLE, paths.shipped("resources", "sample", "letter.png"))
        with pulse.during(f"{MESSAGES:,} messages, end to beginning"):
            long_conversation(window)
        window.session.new_conversation()
        with pulse.during("hostile texts"):
            hostile(window)
        told["rows"] = pulse.rows

    told["code"] = drive(work)
    return told


def weights() -> bytes:
    """A file of weights that is whole, with one tensor of nothing."""
    tensor = {"dtype": "U8", "shape": [WEIGHTS], "data_offsets": [0, WEIGHTS]}
    head = json.dumps({"weights": tensor}).encode()
    return len(head).to_bytes(8, "little") + head + bytes(WEIGHTS)


def bare() -> dict[str, Any]:
    """An empty window that has come to rest."""
    from PySide6.QtWidgets import QApplication, QMainWindow

    application = QApplication([])
    window = QMainWindow()
    window.resize(1120, 780)
    window.show()
    spin(3.0)
    told = {"idle": resident()}
    application.quit()
    return told


def measured(which: str) -> dict[str, Any]:
    """What a process of its own measured."""
    from tests.hub import running_hub

    files = {"config.json": b"{}", "preprocessor_config.json": b"{}",
             "model.safetensors": weights()}  # fmt: skip
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home,
        running_hub(repos={REPO: files}) as hub,
    ):
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.desktop", which],
            env=os.environ | {"JARVIS_DESKTOP_HOME": home, "HF_ENDPOINT": hub.address},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the tables."""
    plain, window = measured("bare"), measured("ours")
    print(f"{'the event loop stands still':42}{'p99.9':>9}{'longest':>9}"
          f"{'of it worked':>20}")  # fmt: skip
    for what, p999, longest, *worked in window["rows"]:
        print(f"{what:42}{p999:7.1f}ms{longest:7.1f}ms{worked[0]:8.1f}ms{worked[1]:8.1f}ms"
              f"  ratio {max(p999 / P999, longest / MOST):.2f}")  # fmt: skip
    print(f"{'limit':42}{P999:7.1f}ms{MOST:7.1f}ms")
    ratio = window["idle"] / plain["idle"]
    print(f"idle: bare {plain['idle']:.0f} MB, ours {window['idle']:.0f} MB: {ratio:.2f} times "
          f"(limit {MEMORY}, ratio {ratio / MEMORY:.2f})")  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["bare"]:
        print(json.dumps(bare()))
    elif sys.argv[1:2] == ["ours"]:
        print(json.dumps(ours()))
    else:
        main()
