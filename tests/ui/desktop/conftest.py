"""A window with all that stands beside it, on a desktop that has a tray or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.desktop.notifications import Note
from jarvis_desktop.ui.desktop.presence import Presence
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.quick import tray as tray_module
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets.theme import Theme


class Desktop:
    """Has a tray, or none, and shows notes."""

    def __init__(self) -> None:
        self.has_tray = True
        self.notes: list[Note] = []
        self.withdrawn: list[str] = []


@pytest.fixture
def desktop(monkeypatch: pytest.MonkeyPatch) -> Desktop:
    desktop = Desktop()
    monkeypatch.setattr(tray_module, "is_available", lambda: desktop.has_tray)
    return desktop


@pytest.fixture
def trayless(desktop: Desktop) -> Desktop:
    """No tray, from the beginning: to be asked for before what is put into one."""
    desktop.has_tray = False
    return desktop


@pytest.fixture
def presence(
    desktop: Desktop,
    window: MainWindow,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Presence]:
    """Over a window whose application runs."""
    yield from present(desktop, window, tmp_path, monkeypatch)


@pytest.fixture
def early(
    desktop: Desktop,
    theme: Theme,
    session: WindowSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> Iterator[Presence]:
    """Over a window that is not shown yet, and an application that is not started."""
    window = MainWindow(session, tmp_path / "window.ini")
    qtbot.addWidget(window)
    yield from present(desktop, window, tmp_path, monkeypatch)


def present(
    desktop: Desktop, window: MainWindow, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Presence]:
    before = QGuiApplication.quitOnLastWindowClosed()
    QGuiApplication.setQuitOnLastWindowClosed(True)
    presence = Presence(window, folder / "window.ini")
    monkeypatch.setattr(presence.notifier, "tell", desktop.notes.append)
    monkeypatch.setattr(presence.notifier, "withdraw", desktop.withdrawn.append)
    yield presence
    presence.let_end()
    presence.close()
    QGuiApplication.setQuitOnLastWindowClosed(before)
