"""What appears fades in, where the user and the desktop want motion, and leaves nothing behind."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.widgets import motion, theme
from jarvis_desktop.ui.widgets.motion import fade_in


@pytest.fixture
def on_a_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if somebody could look."""
    monkeypatch.setattr(motion, "NO_SCREEN", ())
    yield
    theme.let_move(True)


@pytest.fixture
def label(qtbot: QtBot) -> QLabel:
    label = QLabel("news")
    qtbot.addWidget(label)
    label.show()
    return label


@pytest.mark.usefixtures("on_a_screen")
def test_it_fades_in_and_the_effect_goes(label: QLabel, qtbot: QtBot) -> None:
    fade_in(label)
    assert label.graphicsEffect() is not None
    qtbot.waitUntil(lambda: label.graphicsEffect() is None)


@pytest.mark.usefixtures("on_a_screen")
def test_nothing_moves_where_the_desktop_wants_no_motion(label: QLabel) -> None:
    theme.let_move(False)
    fade_in(label)
    assert label.graphicsEffect() is None
    assert theme.duration() == 0


@pytest.mark.usefixtures("on_a_screen")
def test_what_nobody_sees_appears_at_once(label: QLabel) -> None:
    label.hide()
    fade_in(label)
    assert label.graphicsEffect() is None


def test_nothing_moves_without_a_screen(label: QLabel) -> None:
    fade_in(label)
    assert label.graphicsEffect() is None
