"""A window over data of a newer version says so, and changes none of it."""

from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.app import composed
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.session import WindowSession
from tests.released_data import RELEASED, make_newer, snapshot, unpack


def test_it_is_said_and_the_data_stays(home: Path, session: WindowSession, qtbot: QtBot) -> None:
    folder = home / "jarvis"
    unpack(RELEASED[-1], folder)
    make_newer(folder)
    before = snapshot(folder)
    window = MainWindow(session, folder / "window.ini")
    qtbot.addWidget(window)
    window.show()
    session.start(lambda: composed(session))
    qtbot.waitUntil(lambda: bool(session.broken))
    assert "was written by a newer version of JARVIS Desktop." in session.broken
    assert window.banner.isVisible()
    assert "newer version" in window.banner.accessibleName()
    assert snapshot(folder) == before
