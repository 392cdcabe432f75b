import os
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.media import playback
from jarvis_desktop.ui.media.cards import VideoCard
from jarvis_desktop.ui.media.playback import LINE_PX, WAVEFORM_PX
from tests.films import STEP, write_film
from tests.ui.media.conftest import WAYS, Show, card_of, spoilt
from tests.ui.scene import FakeApp


@pytest.fixture
def card(film: Path, actions: Actions, show: Show, qtbot: QtBot) -> VideoCard:
    return shown(film, actions, show, qtbot)


def shown(film: Path, actions: Actions, show: Show, qtbot: QtBot) -> VideoCard:
    card = card_of(Kind.VIDEO, film, actions, "A film.mp4")
    assert isinstance(card, VideoCard)
    show(card)
    qtbot.waitUntil(lambda: card.transport.length > 0)
    return card


def second(card: VideoCard) -> int:
    """Of which second of the film the picture is that is seen."""
    picture = card.canvas._picture
    return round(picture.pixelColor(picture.width() // 2, picture.height() // 2).red() / STEP)


def lives(pid: int | None) -> bool:
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_it_shows_its_first_picture_and_what_it_is(card: VideoCard, qtbot: QtBot) -> None:
    assert card.transport.length == pytest.approx(4)
    assert second(card) == 0
    qtbot.waitUntil(lambda: card.line.facts.full_text().startswith("64 × 48 · "))
    assert card.mute.isVisible()


def test_it_shows_the_waves_of_its_sound(card: VideoCard, qtbot: QtBot) -> None:
    line = card.controls.timeline
    qtbot.waitUntil(lambda: line._peaks is not None)
    assert line._peaks
    assert max(line._peaks.values) > 0
    assert line._peaks.share == pytest.approx(1, abs=0.1)
    assert line.height() == WAVEFORM_PX
    assert card.transport.length == line.maximum() / 1000


@pytest.mark.parametrize(("to", "expected"), [(2.5, 2), (0.5, 0), (3.9, 3), (1.02, 1), (4.0, 3)])
def test_a_jump_shows_the_picture_of_that_moment(
    card: VideoCard, qtbot: QtBot, to: float, expected: int
) -> None:
    card.transport.seek(1.5)
    qtbot.waitUntil(lambda: second(card) == 1)
    card.transport.seek(to)
    qtbot.waitUntil(lambda: second(card) == expected)


def test_its_pictures_follow_its_sound(card: VideoCard, app: FakeApp, qtbot: QtBot) -> None:
    QTest.mouseClick(card.canvas, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: card.transport.runs)

    def heard_until(place: int) -> bool:
        # The sound stands still before the next second, so that a busy computer fails no test: at
        # a picture, as one that comes later is not shown yet.
        assert app.player.position is not None
        app.player.position = min(app.player.position + 0.005, place + 22 / 25)
        return second(card) == place

    for place in (1, 2, 3):
        app.player.position = float(place)
        qtbot.waitUntil(partial(heard_until, place))
    QTest.mouseClick(card.canvas, Qt.MouseButton.LeftButton)
    assert not card.transport.playing


def test_muted_it_plays_by_the_clock(
    card: VideoCard, app: FakeApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(playback, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    QTest.mouseClick(card.mute, Qt.MouseButton.LeftButton)
    card.transport.seek(1.8)
    card.transport.play()

    def shown_later() -> bool:
        clock[0] = min(clock[0] + 0.005, 101.0)  # the film stands still at 2.8 s
        return second(card) == 2

    qtbot.waitUntil(shown_later)
    assert app.player.played == []


def test_its_process_ends_when_it_pauses(card: VideoCard, qtbot: QtBot) -> None:
    card.mute.setChecked(True)
    card.transport.play()
    qtbot.waitUntil(lambda: card.frames.pid is not None)
    pid = card.frames.pid
    card.transport.pause()
    qtbot.waitUntil(lambda: not lives(pid))


def test_a_film_that_nobody_sees_pauses(card: VideoCard, qtbot: QtBot) -> None:
    card.mute.setChecked(True)
    card.transport.play()
    qtbot.waitUntil(lambda: card.frames.pid is not None)
    pid = card.frames.pid
    card.window().hide()
    qtbot.waitUntil(lambda: not card.transport.playing)
    qtbot.waitUntil(lambda: not lives(pid))


def test_its_process_ends_with_it(card: VideoCard, qtbot: QtBot) -> None:
    card.mute.setChecked(True)
    card.transport.play()
    qtbot.waitUntil(lambda: card.frames.pid is not None)
    pid = card.frames.pid
    card.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    qtbot.waitUntil(lambda: not lives(pid))


def test_a_film_without_sound_has_none_to_mute(
    tmp_path: Path, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    card = shown(write_film(tmp_path / "silent.mp4", seconds=1), actions, show, qtbot)
    assert not card.mute.isVisible()
    assert card.controls.timeline.height() == LINE_PX
    card.transport.play()
    qtbot.waitUntil(lambda: card.transport.position > 0.3)
    qtbot.waitUntil(lambda: not card.transport.playing)
    assert second(card) == 0


def test_a_tall_film_keeps_its_proportions(
    tmp_path: Path, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    tall = write_film(tmp_path / "tall.mp4", seconds=0.2, size=(64, 128))
    card = shown(tall, actions, show, qtbot)
    assert card.canvas.maximumWidth() == pytest.approx(card.canvas.maximumHeight() / 2, abs=1)


@pytest.mark.parametrize("how", WAYS)
def test_what_cannot_be_shown_says_so_in_a_sentence(
    film: Path, actions: Actions, show: Show, qtbot: QtBot, how: str
) -> None:
    card = card_of(Kind.VIDEO, spoilt(film, how), actions)
    assert isinstance(card, VideoCard)
    show(card)
    qtbot.waitUntil(card.trouble.isVisible)
    assert card.trouble.words.text().endswith(".")
    assert not card.canvas.isVisible()
    with qtbot.waitSignal(actions.open_file):
        QTest.mouseClick(card.trouble.other, Qt.MouseButton.LeftButton)


def test_a_file_that_goes_away_while_it_plays_is_told_of(
    card: VideoCard, film: Path, qtbot: QtBot
) -> None:
    film.unlink()
    card.mute.setChecked(True)
    card.transport.play()
    qtbot.waitUntil(card.trouble.isVisible)
    assert not card.transport.playing


def test_a_sound_that_says_it_is_a_film_has_no_pictures(
    tone: Path, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    card = card_of(Kind.VIDEO, tone, actions)
    assert isinstance(card, VideoCard)
    show(card)
    qtbot.waitUntil(card.trouble.isVisible)
    assert card.trouble.words.text() == "tone.wav has no pictures."


def test_all_of_it_is_reached_by_tab_and_has_a_name(card: VideoCard) -> None:
    for widget in (card.controls.timeline, *card.findChildren(QPushButton)):
        assert widget.accessibleName()
        assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus
