"""What the window adds to the road of the voice, between a key and the engine and back.

    python3 -m tests.benchmarks.voice_window

The window is the real one, its talk too; the microphone and the recogniser answer at once.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.speech import Partial, Transcript
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.app import close
from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets.theme import Theme
from tests.ui.scene import FakeApp, FakeAssistant, Shown

TIMES = 200
TURNS = 20
"""Of one conversation."""
MICROPHONE, SILENCE, REQUEST, SHOWN = 20.0, 10.0, 20.0, 30.0
"""Milliseconds."""

Row = tuple[str, str, str]


class Timed(FakeApp):
    """Notes when what reaches it."""

    def __init__(self) -> None:
        super().__init__(assistant=FakeAssistant(script=self.answer))
        self.at: dict[str, float] = {}
        hear, silence = self.recogniser.hear, self.player.silence
        self.recogniser.hear = self._noting("hear", hear)  # type: ignore[method-assign]
        self.player.silence = self._noting("silence", silence)  # type: ignore[method-assign]

    def _noting(self, what: str, act: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*args: Any) -> Any:
            self.at[what] = time.perf_counter()
            return act(*args)

        return noted

    async def answer(self, request: Request, shown: Shown) -> Status:
        self.at["request"] = time.perf_counter()
        return Status.DONE


class Bench:
    """A window, and how long each thing took."""

    def __init__(self, folder: Path) -> None:
        self.engine = EngineThread()
        self.engine.start()
        self.session = WindowSession(self.engine)
        self.window = MainWindow(self.session, folder / "window.ini")
        self.app = Timed()
        self.window.show()
        self.session.start(self.app.build)
        self.wait(lambda: self.window.composer.talk.isEnabled())

    def wait(self, condition: Callable[[], bool]) -> None:
        """Let Qt work until then."""
        end = time.monotonic() + 20
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError
            QApplication.processEvents()
            time.sleep(0.0002)  # as Qt's own loop leaves the interpreter to the engine

    def talk(self) -> tuple[float, float]:
        """F4 until the recogniser is asked to hear, and words until the assistant has them."""
        window, field = self.window, self.window.composer.field
        self.app.at.clear()
        begun = time.perf_counter()
        QTest.keyPress(field, Qt.Key.Key_F4)
        self.wait(lambda: "hear" in self.app.at and window.talker.now.state == "listening")
        hears = self.app.at["hear"] - begun
        told: list[float] = []
        front: Any = self.app.talk.front

        def heard(transcript: Transcript) -> None:
            told.append(time.perf_counter())
            front.heard(transcript)

        self.app.talk.front = replace(front, heard=heard)
        QTest.keyRelease(field, Qt.Key.Key_F4)
        self.wait(lambda: "request" in self.app.at and not self.session.busy)
        self.app.talk.front = front
        return hears, self.app.at["request"] - told[0]

    def escape(self) -> float:
        """Esc until the player is told to be silent."""
        self.app.at.clear()
        begun = time.perf_counter()
        QTest.keyClick(self.window, Qt.Key.Key_Escape)
        self.wait(lambda: "silence" in self.app.at)
        return self.app.at["silence"] - begun

    def partial(self, number: int) -> float:
        """Words of the engine until they are painted."""
        words = self.window.composer.strip.words
        partial = Partial(f"set a timer for {number}", "minutes")
        begun = time.perf_counter()
        self.engine.call(self.window.talker._front.show, partial)
        self.wait(lambda: words.text == partial.text)
        words.repaint()
        return time.perf_counter() - begun


def table() -> list[Row]:
    """What was measured, the figure, and its limit."""
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    theme = Theme(application)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["JARVIS_DESKTOP_HOME"] = folder
        bench = Bench(Path(folder))
        talks = []
        for number in range(TIMES):
            if number % TURNS == 0:
                bench.session.new_conversation()
            talks.append(bench.talk())
        escapes = [bench.escape() for _ in range(TIMES)]
        bench.window.composer.strip.show()
        partials = [bench.partial(number) for number in range(TIMES)]
        bench.window.close()
        close(bench.engine, bench.session)
    theme.deleteLater()
    return [
        _row("F4 to the microphone asked, p95", [hears for hears, _ in talks], 95, MICROPHONE),
        _row("words to the assistant, p95", [request for _, request in talks], 95, REQUEST),
        _row("Esc to the player silenced, p99", escapes, 99, SILENCE),
        _row("partial words to the screen, p95", partials, 95, SHOWN),
    ]


def _row(what: str, seconds: list[float], percent: int, limit: float) -> Row:
    figure = 1000 * statistics.quantiles(seconds, n=100)[percent - 1]
    return (what, f"{figure:.1f} ms", f"{limit:.0f} ms")


def main() -> None:
    """Print the table."""
    for what, figure, limit in table():
        print(f"{what:40} {figure:>10}   (limit {limit})")


if __name__ == "__main__":
    main()
