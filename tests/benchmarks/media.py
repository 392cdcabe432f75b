"""How the window fares while a film plays, and how long the waves of a long sound take.

    python3 -m tests.benchmarks.media

Everything is real but the application around it: the cards, their processes, the player, and a
private sound server.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
import soundfile
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.speech.player import SoundPlayer
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.media.cards import VideoCard
from jarvis_desktop.ui.media.previews import Peaks
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets.theme import Theme
from tests.films import write_film
from tests.sound import start_server
from tests.ui.scene import FakeApp

SECONDS = 10
SIZE, RATE = (1280, 720), 30
HOUR = 3600
GAP, SYNC, PICTURES, WAVES, FIRST_WAVES, ENDS = 100.0, 80.0, 27.0, 20.0, 2.0, 1.0
"""Milliseconds, milliseconds, a second, seconds, seconds, seconds."""

Row = tuple[str, str, str]


class Bench:
    """A served window."""

    def __init__(self) -> None:
        self.engine = EngineThread()
        self.engine.start()
        self.session = WindowSession(self.engine)
        self.app = FakeApp(player=SoundPlayer())  # type: ignore[arg-type]
        self.session.start(self.app.build)
        self.actions = Actions()
        self.actions.media.serve(self.session)
        self.wait(lambda: self.session.app is not None)
        self.window = QWidget()
        self.window.resize(760, 620)
        self.column = QVBoxLayout(self.window)
        self.window.show()

    def wait(self, condition: Callable[[], bool], seconds: float = 60) -> float:
        """Let Qt work until then; how many seconds that took."""
        begun = time.monotonic()
        while not condition():
            if time.monotonic() > begun + seconds:
                raise TimeoutError
            QApplication.processEvents()
            time.sleep(0.0002)  # as Qt's own loop leaves the interpreter to the engine
        return time.monotonic() - begun

    def film(self, path: Path) -> list[Row]:
        """Play a film with its sound."""
        card = VideoCard(Artifact(Kind.VIDEO, path=path), self.actions)
        self.column.addWidget(card)
        poster = self.wait(lambda: card.transport.length > 0)
        beats: list[float] = []
        beat = QTimer(interval=5)
        beat.timeout.connect(lambda: beats.append(time.perf_counter()))
        shown: list[float] = []
        show = card.frames._show

        def seen() -> None:
            frame, last = card.frames._frame, card.frames._last
            show()
            if frame and card.frames._last != last:
                shown.append(frame.at - card.transport.position)

        card.frames._due.timeout.disconnect()
        card.frames._due.timeout.connect(seen)
        card.frames._show = seen  # type: ignore[method-assign]
        card.transport.play()
        starts = self.wait(lambda: len(shown) > 3)
        shown.clear()
        beat.start()
        self.wait(lambda: card.transport.position > SECONDS - 1)
        beat.stop()
        pid = card.frames.pid
        assert pid
        card.transport.pause()
        ends = self.wait(lambda: card.frames.pid is None)
        gaps = 1000 * np.diff(beats)
        off = 1000 * np.abs(shown)
        card.deleteLater()
        return [
            ("poster of a film, the first", f"{poster:.2f} s", ""),
            ("play to moving pictures", f"{starts:.2f} s", ""),
            ("gap of the event loop, p99.9", f"{np.quantile(gaps, 0.999):.0f} ms", f"{GAP:.0f} ms"),
            ("gap of the event loop, most", f"{gaps.max():.0f} ms", f"{GAP:.0f} ms"),
            ("pictures a second", f"{len(shown) / (SECONDS - 1):.1f}", f"{PICTURES:.0f}"),
            ("picture to sound, p95", f"{np.quantile(off, 0.95):.0f} ms", f"{SYNC:.0f} ms"),
            ("picture to sound, most", f"{off.max():.0f} ms", ""),
            ("pause to the process gone", f"{ends:.2f} s", f"{ENDS:.0f} s"),
        ]

    def waves(self, path: Path) -> list[Row]:
        """Listen to an hour."""
        found: list[Peaks] = []
        begun = time.monotonic()
        self.actions.media.look(
            self.actions, "peaks", path, then=lambda outcome: found.append(outcome.value)
        )
        first = self.wait(lambda: bool(found), 120)
        self.wait(lambda: found[-1].share == 1, 120)
        name, took = path.suffix[1:].upper(), time.monotonic() - begun
        return [
            (f"an hour of {name}, first waves", f"{first:.2f} s", f"{FIRST_WAVES:.0f} s"),
            (f"an hour of {name}, all waves", f"{took:.1f} s", f"{WAVES:.0f} s"),
            (f"values of an hour of {name}", str(len(found[-1].values)), "1200"),
        ]

    def memory(self) -> Row:
        """What the reader's process held at most."""
        pid = self.actions.media._reader._child.pid
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
        return ("memory of the reader, most", f"{peak / 1024:.0f} MB", "250 MB")

    def close(self) -> None:
        """End all."""
        self.window.close()
        player = self.app.player
        assert isinstance(player, SoundPlayer)
        self.engine.submit(player.close()).result(5)
        self.engine.submit(self.session.close_app()).result(5)
        self.engine.close(5)
        for child in multiprocessing.active_children():
            child.kill()


def hour(folder: Path) -> tuple[Path, Path]:
    """An hour of noise, as WAV in stereo and as MP3."""
    noise = np.random.default_rng(1).normal(0, 0.1, (44_100 * 10, 2)).astype(np.float32)
    wav, mp3 = folder / "hour.wav", folder / "hour.mp3"
    with soundfile.SoundFile(wav, "w", 44_100, 2) as file:
        for _ in range(HOUR // 10):
            file.write(noise)
    with soundfile.SoundFile(mp3, "w", 44_100, 1) as file:
        for _ in range(HOUR // 10):
            file.write(noise[:, 0])
    return wav, mp3


def table() -> list[Row]:
    """What was measured, the figure, and its limit."""
    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    theme = Theme(application)
    server = start_server()
    os.environ.update(server.environment)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["JARVIS_DESKTOP_HOME"] = name
        soundfile.write(folder / "tone.wav", np.zeros(SECONDS * 24_000) + 0.01, 24_000)
        film = write_film(folder / "a.mp4", size=SIZE, rate=RATE, sound=folder / "tone.wav")
        bench = Bench()
        try:
            rows += bench.film(film)
            for path in hour(folder):
                rows += bench.waves(path)
            rows.append(bench.memory())
        finally:
            bench.close()
            server.stop()
    theme.deleteLater()
    return rows


def main() -> None:
    """Print the table."""
    # Child processes import the main module, which is light where the application runs.
    vars(sys.modules["__main__"]).update(__spec__=None, __file__=None)
    for what, figure, limit in table():
        print(f"{what:36} {figure:>10}   {f'(limit {limit})' if limit else ''}")


if __name__ == "__main__":
    main()
