"""A film over the whole screen: ways in and out, and what is lent and given back."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.media.cards import VideoCard
from jarvis_desktop.ui.media.playback import WAVEFORM_PX
from jarvis_desktop.ui.media.video import MAX_HEIGHT
from tests.ui.media.conftest import Show
from tests.ui.media.test_cards_video import shown


@pytest.fixture
def card(film: Path, actions: Actions, show: Show, qtbot: QtBot) -> VideoCard:
    return shown(film, actions, show, qtbot)


def enter(card: VideoCard, way: str) -> None:
    if way == "double click":
        QTest.mouseDClick(card.canvas, Qt.MouseButton.LeftButton)
    elif way == "button":
        QTest.mouseClick(card.whole, Qt.MouseButton.LeftButton)
    else:
        QTest.keyClick(card.controls.button, Qt.Key.Key_F)
    QApplication.processEvents()


def test_there_and_back(card: VideoCard, qtbot: QtBot) -> None:
    ways = ("double click", "button", "F")
    for way, out in (*zip(ways, ways, strict=True), ("F", "Esc"), ("button", "close")):
        go_there_and_back(card, way, out, qtbot)


def go_there_and_back(card: VideoCard, way: str, out: str, qtbot: QtBot) -> None:
    # Each layout tells the one around it in another pass of the event loop.
    qtbot.waitUntil(
        lambda: card._bar.height() == WAVEFORM_PX and card.canvas.height() == MAX_HEIGHT
    )
    window, size = card.window(), card.canvas.size()
    enter(card, way)
    film = card.window_of_film
    assert film
    assert film.isFullScreen()
    assert card.canvas.window() is card.controls.window() is film
    assert card.controls.isVisible()
    assert card.canvas.height() > MAX_HEIGHT
    if out == "Esc":
        QTest.keyClick(card.controls.button, Qt.Key.Key_Escape)
    elif out == "close":
        film.close()
    else:
        enter(card, out)
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    QApplication.processEvents()
    assert card.window_of_film is None
    assert card.canvas.window() is card.controls.window() is window
    assert card.canvas.isVisible()
    assert card.controls.isVisible()
    qtbot.waitUntil(lambda: card.canvas.size() == size)
    assert not card.transport.playing


def test_it_plays_on_without_a_break(card: VideoCard, qtbot: QtBot) -> None:
    card.transport.play()
    changes: list[bool] = []
    card.transport.changed.connect(lambda: changes.append(card.transport.playing))
    enter(card, "F")
    QTest.keyClick(card.controls.button, Qt.Key.Key_Escape)
    assert changes == []
    assert card.transport.playing


def test_a_film_that_cannot_be_shown_has_no_full_screen(card: VideoCard) -> None:
    card._bar.setEnabled(False)
    QTest.keyClick(card, Qt.Key.Key_F)
    assert card.window_of_film is None


def test_the_window_goes_with_its_card(card: VideoCard, qtbot: QtBot) -> None:
    enter(card, "F")
    film = card.window_of_film
    assert film
    with qtbot.waitSignal(film.destroyed):
        card.deleteLater()
