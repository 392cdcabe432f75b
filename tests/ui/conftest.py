"""Widgets are tested without a screen; what needs one starts its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui import pictures
from jarvis_desktop.ui.bridge import EngineThread
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.session import Session
from jarvis_desktop.ui.theme import Theme
from tests.ui.scene import FakeApp


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Qt's screenless platform says of every window that it knows no size hints."""
    ours = Path(__file__).parent
    for item in items:
        if ours in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore("does not support propagateSizeHints"))


@pytest.fixture(autouse=True)
def swept(qapp: QApplication) -> None:
    """No test finds widgets of the one before; Qt deletes them in an event loop only."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    """The application dressed as it is for a person."""
    font = qapp.font()
    theme = Theme(qapp)
    yield theme
    theme.deleteLater()
    qapp.setStyleSheet("")
    qapp.setFont(font)


@pytest.fixture
def engine(qapp: QApplication) -> Iterator[EngineThread]:
    """A running engine thread."""
    engine = EngineThread()
    engine.start()
    yield engine
    assert engine.close(5)


@pytest.fixture
def app() -> FakeApp:
    return FakeApp()


@pytest.fixture
def session(engine: EngineThread, app: FakeApp) -> Session:
    """A session whose application is not started yet."""
    return Session(engine)


@pytest.fixture
def window(
    qtbot: QtBot, theme: Theme, session: Session, app: FakeApp, tmp_path: Path
) -> Iterator[MainWindow]:
    """The window with its application started."""
    window = MainWindow(session, tmp_path / "window.ini")
    qtbot.addWidget(window)
    window.show()
    with qtbot.waitSignal(session.ready):
        session.start(lambda: app)
    yield window
    session.stop()
    window.recorder.cancel()
    session.engine.submit(session.close_app()).result(5)
    assert pictures.finish_reading(5000)
