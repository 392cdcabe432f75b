"""What can be tried in the settings of the voice: the level, a sentence that is spoken, one that is
heard."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.speech import Partial, Sound
from jarvis_desktop.ui.settings import speech_panels as voice_microphone
from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.settings.speech_panels import LevelPanel, SentencePanel, TrialPanel
from jarvis_desktop.ui.voice.talk import TalkController
from tests.ui import scene
from tests.ui.scene import FakeApp
from tests.ui.settings.conftest import kept

pytestmark = pytest.mark.usefixtures("voice_rows")

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def level(page: SettingsPage) -> LevelPanel:
    page.appear("level")
    found = page.row("level").control
    assert isinstance(found, LevelPanel)
    return found


@pytest.fixture
def sentence(page: SettingsPage) -> SentencePanel:
    page.appear("sentence")
    found = page.row("sentence").control
    assert isinstance(found, SentencePanel)
    return found


@pytest.fixture
def trial(page: SettingsPage) -> TrialPanel:
    page.appear("trial")
    found = page.row("trial").control
    assert isinstance(found, TrialPanel)
    return found


def test_the_level_is_shown_while_it_is_wanted(
    level: LevelPanel, app: FakeApp, qtbot: QtBot
) -> None:
    QTest.mouseClick(level.test, LEFT)
    qtbot.waitUntil(lambda: level.meter.levels() == [0.4] * 6)
    assert level.test.text() == "Stop"
    level._judged()
    assert not level.trouble.isVisible()
    QTest.mouseClick(level.test, LEFT)
    qtbot.waitUntil(lambda: app.microphone.state == "closed")
    qtbot.waitUntil(lambda: level.test.text() == "Show the level")


def test_a_microphone_that_hears_nothing_is_told_until_it_does(
    page: SettingsPage, level: LevelPanel, app: FakeApp, qtbot: QtBot
) -> None:
    app.microphone.sounds = [Sound(bytes(1024))]
    level._judge.setInterval(20)
    QTest.mouseClick(level.test, LEFT)
    qtbot.waitUntil(lambda: app.microphone.state == "open")
    qtbot.waitUntil(lambda: level.trouble.text() == voice_microphone.QUIET)
    page.controller.session.engine.call(app.microphone.feed, scene.SPEECH)
    qtbot.waitUntil(lambda: not level.trouble.isVisible())
    page.leave()
    qtbot.waitUntil(lambda: "level" not in page.voice.jobs)


def test_a_microphone_that_cannot_be_opened_says_why(
    level: LevelPanel, app: FakeApp, qtbot: QtBot
) -> None:
    app.microphone.sounds = []
    app.microphone.error = UnavailableError("It may not be used.", hint="Allow it.")
    QTest.mouseClick(level.test, LEFT)
    qtbot.waitUntil(lambda: level.trouble.text() == "It may not be used. Allow it.")
    assert level.test.text() == "Show the level"


def test_a_sentence_is_heard_in_the_chosen_voice(
    page: SettingsPage, sentence: SentencePanel, app: FakeApp, qtbot: QtBot
) -> None:
    app.player.hold = False
    page.controller.change("speech.rate", 250)
    QTest.mouseClick(sentence.say, LEFT)
    qtbot.waitUntil(lambda: "sentence" not in page.voice.jobs)
    assert len(app.voice.said) == 1
    assert len(app.player.played) == 1
    assert not app.player.played[0].exists()
    assert "Not heard?" in sentence.message.text()
    assert kept(app).speech.rate == 250


def test_the_sentence_can_be_silenced(
    page: SettingsPage, sentence: SentencePanel, app: FakeApp, qtbot: QtBot
) -> None:
    QTest.mouseClick(sentence.say, LEFT)
    qtbot.waitUntil(lambda: bool(app.player.played))
    assert sentence.say.text() == "Silence"
    QTest.mouseClick(sentence.say, LEFT)
    qtbot.waitUntil(lambda: "sentence" not in page.voice.jobs)
    assert app.player.stopped == 1
    assert sentence.say.text() == "Hear a sentence"
    assert not sentence.trouble.isVisible()


def test_a_voice_that_fails_says_why(
    page: SettingsPage, sentence: SentencePanel, app: FakeApp, qtbot: QtBot
) -> None:
    app.voice.error = ExpertError("The voice gave no sound.", hint="Install espeak-ng.")
    QTest.mouseClick(sentence.say, LEFT)
    qtbot.waitUntil(lambda: "sentence" not in page.voice.jobs)
    assert sentence.trouble.text() == "The voice gave no sound. Install espeak-ng."


def test_a_voice_that_is_not_installed_says_what_to_do(
    page: SettingsPage, sentence: SentencePanel, qtbot: QtBot
) -> None:
    with qtbot.waitSignals([page.controller.saved, page.voice.looked]):
        page.controller.change("speech.engine", "kokoro")
    qtbot.waitUntil(lambda: "Kokoro" in sentence.trouble.text())
    assert "The system’s own voice is used until then." in sentence.trouble.text()
    with qtbot.waitSignals([page.controller.saved, page.voice.looked]):
        page.controller.change("speech.engine", "system")
    qtbot.waitUntil(lambda: not sentence.trouble.isVisible())


def test_a_sentence_is_understood_and_sent_nowhere(
    trial: TrialPanel, talker: TalkController, app: FakeApp, qtbot: QtBot
) -> None:
    told: list[object] = []
    talker.talked.connect(told.append)
    app.recogniser.partials = [Partial("what", "tie")]
    app.recogniser.note = "This was heard by the small recogniser."
    QTest.mouseClick(trial.say, LEFT)
    qtbot.waitUntil(lambda: trial.words.text == "what tie")
    assert trial.say.text() == "Done"
    assert told == []
    QTest.mouseClick(trial.say, LEFT)
    qtbot.waitUntil(lambda: trial.words.text == "what time is it")
    assert trial.message.text().startswith("Understood by fake, in English, 0.")
    assert trial.trouble.text() == "This was heard by the small recogniser."
    qtbot.waitUntil(lambda: not trial._on)
    assert trial.say.text() == "Say a sentence"
    assert app.assistant.handled == []
    talker.start()  # the window is told again
    qtbot.waitUntil(lambda: talker.active)
    assert told


def test_a_sentence_that_is_not_understood_says_why(
    trial: TrialPanel, app: FakeApp, qtbot: QtBot
) -> None:
    app.recogniser.error = InputError("Nobody seems to speak.", hint="Speak closer.")
    QTest.mouseClick(trial.say, LEFT)
    qtbot.waitUntil(lambda: trial.say.text() == "Done")
    QTest.mouseClick(trial.say, LEFT)
    qtbot.waitUntil(lambda: trial.trouble.text() == "Nobody seems to speak. Speak closer.")
    qtbot.waitUntil(lambda: not trial._on)
    assert trial.message.text() == voice_microphone.WAITS


def test_a_trial_without_a_microphone_ends_too(
    trial: TrialPanel, app: FakeApp, qtbot: QtBot
) -> None:
    app.microphone.sounds = []
    app.microphone.error = UnavailableError("There is no microphone.")
    QTest.mouseClick(trial.say, LEFT)
    qtbot.waitUntil(lambda: trial.trouble.text() == "There is no microphone.")
    qtbot.waitUntil(lambda: not trial._on)


def test_a_page_that_is_left_drops_the_trial(
    page: SettingsPage, trial: TrialPanel, app: FakeApp, qtbot: QtBot
) -> None:
    QTest.mouseClick(trial.say, LEFT)
    qtbot.waitUntil(lambda: trial.say.text() == "Done")
    page.leave()
    qtbot.waitUntil(lambda: app.recogniser.hearings[0].dropped)
    assert not trial._on
