"""A window's media, at work with a scripted application, and files to show."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from PIL import Image
from PySide6.QtGui import QColor, QImage
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.app import _kill_children
from jarvis_desktop.ui.media import cards, video
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets import images
from jarvis_desktop.ui.widgets.theme import Theme
from tests.films import write_film
from tests.ui.scene import FakeApp

Show = Callable[[QWidget], QWidget]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that decodes takes long to start on a busy computer."""
    monkeypatch.setattr(video, "FRAME_TIMEOUT_S", 60.0)


@pytest.fixture
def actions(
    qtbot: QtBot, theme: Theme, session: WindowSession, app: FakeApp, tmp_path: Path
) -> Iterator[Actions]:
    """Served by a session whose application has started."""
    with qtbot.waitSignal(session.ready):
        session.start(app.build)
    actions = Actions()
    actions.media.serve(session)
    yield actions
    session.engine.submit(session.close_app()).result(60)
    assert images.finish_reading(60_000)
    _kill_children()


@pytest.fixture
def show(qtbot: QtBot) -> Show:
    """Puts a widget into a window that is shown."""
    windows: list[QWidget] = []

    def put(widget: QWidget) -> QWidget:
        window = QWidget()
        window.resize(720, 640)
        column = QVBoxLayout(window)
        column.addWidget(widget)
        column.addStretch(1)
        windows.append(window)
        qtbot.addWidget(window)
        window.show()
        return window

    return put


@pytest.fixture
def tone(tmp_path: Path) -> Path:
    """Four seconds: two of silence, two of noise."""
    sound = np.concatenate((np.zeros(16_000), np.full(16_000, 0.5) * np.tile((1, -1), 8000)))
    soundfile.write(tmp_path / "tone.wav", sound, 8000)
    return tmp_path / "tone.wav"


@pytest.fixture
def film(tmp_path: Path, tone: Path) -> Path:
    """Four seconds, each brighter than the one before, with the sound of `tone`."""
    return write_film(tmp_path / "film.mp4", sound=tone)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    image = QImage(1200, 800, QImage.Format.Format_RGB32)
    image.fill(QColor("teal"))
    assert image.save(str(tmp_path / "photo.png"))
    return tmp_path / "photo.png"


@pytest.fixture
def moving(tmp_path: Path) -> Path:
    frames = [Image.new("RGB", (40, 30), (60 * number, 0, 0)) for number in range(4)]
    frames[0].save(
        tmp_path / "moving.gif", save_all=True, append_images=frames[1:], duration=50, loop=0
    )
    return tmp_path / "moving.gif"


def spoilt(path: Path, how: str) -> Path:
    """Make a file unfit to be shown."""
    if how == "cut":
        path.write_bytes(path.read_bytes()[:30])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "another":
        path.write_bytes(b"%PDF-1.4 this is something else" * 40)
    elif how == "gone":
        path.unlink()
    else:
        path.unlink()
        os.mkfifo(path)
    return path


WAYS = ("cut", "empty", "another", "gone", "pipe")


def card_of(kind: Kind, path: Path, actions: Actions, name: str = "") -> QWidget:
    return cards.card(Artifact(kind, path=path, name=name), actions)
