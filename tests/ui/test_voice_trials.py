"""What can be tried on the page of the voice: the level, a sentence that is spoken, one that is
heard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.hearing import Partial, Sound
from jarvis_desktop.ui import voice_microphone
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.voice_page import VoicePage
from tests.ui import scene
from tests.ui.scene import FakeApp
from tests.ui.voice_scene import kept, opened

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def page(window: MainWindow, app: FakeApp, qtbot: QtBot) -> VoicePage:
    return opened(window, qtbot)


def test_the_level_is_shown_while_it_is_wanted(page: VoicePage, app: FakeApp, qtbot: QtBot) -> None:
    section = page.microphone
    QTest.mouseClick(section.test, LEFT)
    qtbot.waitUntil(lambda: section.meter.levels() == [0.4] * 6)
    assert section.test.text() == "Stop"
    section._judged()
    assert not section.trouble.isVisible()
    QTest.mouseClick(section.test, LEFT)
    qtbot.waitUntil(lambda: app.microphone.state == "closed")
    qtbot.waitUntil(lambda: section.test.text() == "Show the level")


def test_a_microphone_that_hears_nothing_is_told_until_it_does(
    page: VoicePage, app: FakeApp, qtbot: QtBot
) -> None:
    app.microphone.sounds = [Sound(bytes(1024))]
    section = page.microphone
    section._judge.setInterval(20)
    QTest.mouseClick(section.test, LEFT)
    qtbot.waitUntil(lambda: section.trouble.text() == voice_microphone.QUIET)
    page.desk.session.engine.call(app.microphone.feed, scene.SPEECH)
    qtbot.waitUntil(lambda: not section.trouble.isVisible())
    QTest.keyClick(page, Qt.Key.Key_Escape)  # leaves the microphone first
    assert page.isVisible()
    qtbot.waitUntil(lambda: not page.desk.does("level"))


def test_a_microphone_that_cannot_be_opened_says_why(
    page: VoicePage, app: FakeApp, qtbot: QtBot
) -> None:
    app.microphone.sounds = []
    app.microphone.error = UnavailableError("It may not be used.", hint="Allow it.")
    QTest.mouseClick(page.microphone.test, LEFT)
    qtbot.waitUntil(lambda: page.microphone.trouble.text() == "It may not be used. Allow it.")
    assert page.microphone.test.text() == "Show the level"


def test_a_sentence_is_heard_in_the_chosen_voice(
    page: VoicePage, app: FakeApp, qtbot: QtBot
) -> None:
    app.player.hold = False
    page.sound.rate.slider.setValue(250)
    with qtbot.waitSignal(page.desk.said):
        QTest.mouseClick(page.sound.say, LEFT)
    assert len(app.voice.said) == 1
    assert len(app.player.played) == 1
    assert not app.player.played[0].exists()
    assert "Not heard?" in page.sound.told.text()
    assert kept(app).rate == 250


def test_the_sentence_can_be_silenced(page: VoicePage, app: FakeApp, qtbot: QtBot) -> None:
    QTest.mouseClick(page.sound.say, LEFT)
    qtbot.waitUntil(lambda: bool(app.player.played))
    assert page.sound.say.text() == "Silence"
    with qtbot.waitSignal(page.desk.said):
        QTest.mouseClick(page.sound.say, LEFT)
    assert app.player.stopped == 1
    assert page.sound.say.text() == "Hear a sentence"
    assert not page.sound.trouble.isVisible()


def test_a_voice_that_fails_says_why(page: VoicePage, app: FakeApp, qtbot: QtBot) -> None:
    app.voice.error = ExpertError("The voice gave no sound.", hint="Install espeak-ng.")
    with qtbot.waitSignal(page.desk.said):
        QTest.mouseClick(page.sound.say, LEFT)
    assert page.sound.trouble.text() == "The voice gave no sound. Install espeak-ng."


def test_a_sentence_is_understood_and_sent_nowhere(
    page: VoicePage, window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    trial = page.trial
    app.recogniser.partials = [Partial("what", "tie")]
    app.recogniser.note = "This was heard by the small recogniser."
    QTest.mouseClick(trial.say, LEFT)
    qtbot.waitUntil(lambda: trial.words.text == "what tie")
    assert trial.say.text() == "Done"
    assert not window.composer.strip.isVisible()
    QTest.mouseClick(trial.say, LEFT)
    qtbot.waitUntil(lambda: trial.words.text == "what time is it")
    assert trial.told.text().startswith("Understood by fake, in “en”, 0.")
    assert trial.trouble.text() == "This was heard by the small recogniser."
    qtbot.waitUntil(lambda: not trial.busy)
    assert trial.say.text() == "Say a sentence"
    assert app.assistant.handled == []
    window.talker.start()  # the window is told again
    qtbot.waitUntil(lambda: window.talker.active)
    assert window.composer.strip.isVisible()


def test_a_sentence_that_is_not_understood_says_why(
    page: VoicePage, window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.recogniser.error = InputError("Nobody seems to speak.", hint="Speak closer.")
    QTest.mouseClick(page.trial.say, LEFT)
    qtbot.waitUntil(lambda: page.trial.say.text() == "Done")
    QTest.mouseClick(page.trial.say, LEFT)
    qtbot.waitUntil(lambda: page.trial.trouble.text() == "Nobody seems to speak. Speak closer.")
    qtbot.waitUntil(lambda: not page.trial.busy)
    assert page.trial.told.text() == voice_microphone.WAITS
    assert not window.composer.unheard.isVisible()


def test_a_trial_without_a_microphone_ends_too(page: VoicePage, app: FakeApp, qtbot: QtBot) -> None:
    app.microphone.sounds = []
    app.microphone.error = UnavailableError("There is no microphone.")
    QTest.mouseClick(page.trial.say, LEFT)
    qtbot.waitUntil(lambda: page.trial.trouble.text() == "There is no microphone.")
    qtbot.waitUntil(lambda: not page.trial.busy)


def test_a_page_that_closes_drops_the_trial(
    page: VoicePage, window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    QTest.mouseClick(page.trial.say, LEFT)
    qtbot.waitUntil(lambda: page.trial.say.text() == "Done")
    QTest.keyClick(page, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: app.recogniser.hearings[0].dropped)
    assert not page.trial.busy
    assert page.isVisible()
    QTest.keyClick(page, Qt.Key.Key_Escape)
    assert not page.isVisible()
