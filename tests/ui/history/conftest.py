"""A window over a history of a few conversations."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Self

import pytest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.ui.history import list_view, page
from jarvis_desktop.ui.history import sidebar as side
from jarvis_desktop.ui.history.controller import HistoryController
from jarvis_desktop.ui.history.sidebar import Sidebar
from jarvis_desktop.ui.main_window import MainWindow
from tests.ui.scene import FakeApp

NOW = datetime.now().astimezone().replace(hour=12, minute=0)
TITLES = ("the weather", "a letter", "the picture", "<b>a tune</b>")


def conversation(name: str, *words: str, days: int = 0) -> Conversation:
    turns = [
        Turn(f"{name}-{n}", NOW - timedelta(days=days), text, reply="Yes.", status=Status.DONE)
        for n, text in enumerate(words)
    ]
    return Conversation(name, tuple(turns))


class _Today(date):
    @classmethod
    def today(cls) -> Self:
        return cls.fromordinal(NOW.toordinal())


@pytest.fixture
def today(monkeypatch: pytest.MonkeyPatch) -> None:
    """Midnight may pass while the tests run; for the window it stays the day they began on."""
    for module in (list_view, page, side):
        monkeypatch.setattr(module, "date", _Today)


@pytest.fixture
def filled(today: None, window: MainWindow, app: FakeApp, qtbot: QtBot) -> MainWindow:
    """The window with four conversations, a day apart, of two turns each."""
    app.history.conversations = {
        f"c{days}": conversation(f"c{days}", title, f"more of {title}", days=days)
        for days, title in enumerate(TITLES)
    }
    window.session.kept.emit()
    qtbot.waitUntil(lambda: len(titles(window)) == 4)
    return window


@pytest.fixture
def controller(filled: MainWindow) -> HistoryController:
    return filled.history.controller


@pytest.fixture
def sidebar(filled: MainWindow) -> Sidebar:
    return filled.sidebar


def titles(window: MainWindow) -> list[str]:
    return [row.title for row in window.sidebar.list.lines.rows()]


def settle(window: MainWindow, qtbot: QtBot) -> None:
    """Wait until nothing is read any more."""
    qtbot.waitUntil(
        lambda: (
            "read" not in window.history.controller._jobs and not window.history.controller._stale
        )
    )
