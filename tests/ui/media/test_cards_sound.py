from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.media.cards import SoundCard
from jarvis_desktop.ui.widgets import labels
from tests.families import some
from tests.ui import scene
from tests.ui.media.conftest import WAYS, Show, card_of, spoilt
from tests.ui.scene import FakeApp


@pytest.fixture
def card(tone: Path, actions: Actions, show: Show, qtbot: QtBot) -> SoundCard:
    card = card_of(Kind.AUDIO, tone, actions, "A letter.wav")
    assert isinstance(card, SoundCard)
    show(card)
    qtbot.waitUntil(lambda: card.transport.length > 0)
    return card


def levels(card: SoundCard) -> list[int]:
    """How much of the time line is drawn in each of four parts."""
    picture = card.controls.timeline.grab().toImage()
    ground = picture.pixel(0, 0)
    quarter = picture.width() // 4
    return [
        sum(
            picture.pixel(x, y) != ground
            for x in range(part * quarter, (part + 1) * quarter)
            for y in range(0, picture.height(), 3)
        )
        for part in range(4)
    ]


def test_it_shows_its_length_its_size_and_its_waves(card: SoundCard, qtbot: QtBot) -> None:
    assert card.transport.length == pytest.approx(4)
    assert card.controls.time.text() == "0:00 / 0:04"
    qtbot.waitUntil(lambda: card.line.facts.full_text() == "64 kB")
    silent, _, _, loud = levels(card)
    assert loud > 4 * silent


def test_it_plays_and_pauses(card: SoundCard, app: FakeApp, qtbot: QtBot) -> None:
    assert card.button.accessibleName() == "Play A letter.wav"
    QTest.mouseClick(card.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: card.transport.runs)
    assert card.button.accessibleName() == "Pause A letter.wav"
    app.player.position = 3.2
    qtbot.waitUntil(lambda: card.controls.time.text() == "0:03 / 0:04")
    QTest.keyClick(card.button, Qt.Key.Key_Space)
    assert card.button.accessibleName() == "Play A letter.wav"


def test_one_jumps_by_the_mouse_and_by_the_keys(card: SoundCard) -> None:
    line = card.controls.timeline
    QTest.mouseClick(line, Qt.MouseButton.LeftButton, pos=QPoint(line.width() // 2, 10))
    assert card.transport.position == pytest.approx(2, abs=0.02)
    QTest.mousePress(line, Qt.MouseButton.LeftButton, pos=QPoint(10, 10))
    QTest.mouseMove(line, QPoint(line.width() // 4, 10))
    QTest.mouseRelease(line, Qt.MouseButton.LeftButton, pos=QPoint(line.width() // 4, 10))
    assert card.transport.position == pytest.approx(1, abs=0.02)
    for key, place in (
        (Qt.Key.Key_End, 4),
        (Qt.Key.Key_Left, 0),
        (Qt.Key.Key_Right, 4),
        (Qt.Key.Key_PageUp, 0),
        (Qt.Key.Key_PageDown, 4),
        (Qt.Key.Key_Home, 0),
    ):
        QTest.keyClick(line, key)
        assert card.transport.position == place
        assert line.value() == 1000 * place
    assert line.accessibleDescription() == "0:00 of 0:04"


def test_a_drag_lets_it_stand_still_and_then_go_on(
    card: SoundCard, app: FakeApp, qtbot: QtBot
) -> None:
    card.transport.play()
    qtbot.waitUntil(lambda: card.transport.runs)
    line = card.controls.timeline
    QTest.mousePress(line, Qt.MouseButton.LeftButton, pos=QPoint(line.width() // 2, 10))
    assert not card.transport.playing
    QTest.mouseRelease(line, Qt.MouseButton.LeftButton)
    assert card.transport.playing
    qtbot.waitUntil(lambda: [round(start, 1) for start in app.player.starts] == [2.0])


def test_all_of_it_is_reached_by_tab_and_has_a_name(card: SoundCard) -> None:
    for widget in (card.controls.timeline, *card.findChildren(QPushButton)):
        assert widget.accessibleName()
        assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus


@pytest.mark.parametrize("how", WAYS)
def test_what_cannot_be_heard_says_so_in_a_sentence(
    tone: Path, actions: Actions, show: Show, qtbot: QtBot, how: str
) -> None:
    card = card_of(Kind.AUDIO, spoilt(tone, how), actions)
    assert isinstance(card, SoundCard)
    show(card)
    qtbot.waitUntil(card.trouble.isVisible)
    assert card.trouble.words.text().endswith(".")
    assert not card.controls.isVisible()
    assert not card.button.isEnabled()
    with qtbot.waitSignal(actions.open_file) as wanted:
        QTest.mouseClick(card.trouble.other, Qt.MouseButton.LeftButton)
    assert wanted.args == [tone]


@pytest.mark.parametrize("name", some(scene.HOSTILE))
def test_any_name_is_shown_as_it_is(
    tone: Path, actions: Actions, show: Show, qtbot: QtBot, name: str
) -> None:
    for kind in (Kind.AUDIO, Kind.DOCUMENT):
        window: QWidget = show(card_of(kind, tone, actions, name))
        assert window.grab().width() < 2000


def test_a_sound_is_listened_to_once(
    card: SoundCard, tone: Path, actions: Actions, show: Show, qtbot: QtBot
) -> None:
    pid = actions.media._reader._child.pid
    actions.media._reader._child.kill()
    again = card_of(Kind.AUDIO, tone, actions)
    assert isinstance(again, SoundCard)
    show(again)
    qtbot.waitUntil(lambda: again.transport.length > 0)
    assert pid is not None
    assert actions.media._reader._child.pid is None


@pytest.mark.parametrize(
    ("seconds", "shown"), [(7.9, "0:07"), (754, "12:34"), (3599, "59:59"), (3750, "1:02:30")]
)
def test_long_times_have_hours(seconds: float, shown: str) -> None:
    assert labels.clock(seconds) == shown
