"""Prints how long the side list takes from a letter typed to what is painted, over a history of
100,000 turns, and how long the window is busy meanwhile.

Run: python -m tests.benchmarks.history_window [TURNS]
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
import time
from datetime import timedelta
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.history.controller import HistoryController
from jarvis_desktop.ui.history.sidebar import Sidebar
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets.theme import Theme
from tests.benchmarks.history import fill, quantiles
from tests.storage.samples import INVENTORY, START
from tests.ui.scene import FakeApp

LIMIT = 100.0
"""Milliseconds from a letter to what is painted."""


class Painted(QObject):
    """Notes when a widget was painted last."""

    at = 0.0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Look at the clock."""
        if event.type() == QEvent.Type.Paint:
            QTimer.singleShot(0, self._note)
        return False

    def _note(self) -> None:
        self.at = time.perf_counter()


def main(turns: int) -> int:
    """Fill a history in a temporary folder, then type."""
    application = QApplication([])
    Theme(application)
    engine = EngineThread()
    engine.start()
    with tempfile.TemporaryDirectory() as folder:
        now = START + timedelta(minutes=17 * turns)

        def opened() -> SqliteHistory:
            path = Path(folder) / "history.db"
            return SqliteHistory(
                path, store_root=Path(folder), inventory=INVENTORY, now=lambda: now
            )

        history = opened()
        fill(history, turns)
        history.close()
        session, sidebar = WindowSession(engine), Sidebar()
        controller = HistoryController(session)
        controller.read.connect(sidebar.show_batch)
        sidebar.search.searched.connect(controller.look)
        sidebar.list.lines.more_wanted.connect(controller.more)
        sidebar.resize(280, 800)
        sidebar.show()
        session.start(FakeApp(history=opened()).build)  # type: ignore[arg-type]
        while not sidebar.list.lines.rows():
            QTest.qWait(20)
        painted = Painted()
        sidebar.list.viewport().installEventFilter(painted)
        chance = random.Random(3)
        taken: list[float] = []
        steps: list[float] = []
        for _ in range(40):
            sidebar.search.field.clear()
            QTest.qWait(60)
            for letter in f"w{chance.randrange(1000)}":
                read: list[float] = []
                link = controller.read.connect(
                    lambda batch, read=read: read.append(time.perf_counter())
                )
                begun = time.perf_counter()
                QTest.keyClicks(sidebar.search.field, letter)
                while not read or painted.at < read[-1]:
                    QTest.qWait(1)
                    if read and not sidebar.list.isVisible():
                        break
                taken.append(time.perf_counter() - begun)
                controller.read.disconnect(link)
        p50, p95, most = quantiles(taken)
        told = f"p50 {p50:.1f}  p95 {p95:.1f}  max {most:.1f} ms   limit {LIMIT:.0f}"
        sys.stdout.write(f"from a letter to what is painted: {told}\n")
        sidebar.search.field.clear()
        QTest.qWait(200)
        bar = sidebar.list.verticalScrollBar()
        while len(steps) < 400:
            begun = time.perf_counter()
            bar.setValue(bar.maximum())
            application.processEvents()
            steps.append(time.perf_counter() - begun)
            QTest.qWait(2)
        rows = len(sidebar.list.lines.rows())
        told = "p50 {:.1f}  p95 {:.1f}  max {:.1f} ms".format(*quantiles(steps))
        sys.stdout.write(f"to the end of what was read, {rows:,} rows: {told}\n")
        engine.submit(session.close_app()).result(10)
        engine.close(5)
    return 0 if p95 <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000))
