"""The page of the voice: what is chosen is written and taken up, and everything can be tried."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop import settings
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.hearing import HotkeyStatus
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.hotkeys.own_shortcut import COMMAND
from jarvis_desktop.settings import SpeechSettings
from jarvis_desktop.speech.devices import Device
from jarvis_desktop.ui import voice_weights
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.voice_page import VoicePage
from jarvis_desktop.ui.voice_section import Choice
from tests.fake_fetcher import FakeFetcher
from tests.ui import scene
from tests.ui.scene import FakeApp
from tests.ui.voice_scene import kept, opened

LEFT = Qt.MouseButton.LeftButton
LISTENS = "automatic-speech-recognition"
TINY = Expert("whisper-tiny", LISTENS, "Whisper tiny: fast.", download_mb=78, licence="MIT",
              repo="Systran/faster-whisper-tiny", speed=18.0)  # fmt: skip
SMALL = Expert("whisper-small", LISTENS, "Whisper small: more exactly.", download_mb=486,
               licence="MIT", repo="Systran/faster-whisper-small")  # fmt: skip


class Fetching(FakeFetcher):
    """What it fetched is on the disk."""

    async def fetch(self, expert: Expert, report: Report, *, spared: object = ()) -> Path:
        path = await super().fetch(expert, report)
        self.here = (*self.here, expert.id)
        return path


@pytest.fixture
def app() -> FakeApp:
    return FakeApp(experts=(SMALL, TINY, Expert("whisper-large", TINY.task)), weights=Fetching())


@pytest.fixture
def page(window: MainWindow, app: FakeApp, qtbot: QtBot) -> VoicePage:
    return opened(window, qtbot)


def words(widget: QWidget) -> str:
    QApplication.processEvents()
    shown = [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]
    return "\n".join(shown).replace("\u200b", "")


def pick(choice: Choice, value: str) -> None:
    """Choose as the keyboard does."""
    choice.setCurrentIndex(choice.findData(value))
    choice.activated.emit(choice.currentIndex())


def test_it_is_opened_from_the_header_the_welcome_page_and_a_notice(
    window: MainWindow, qtbot: QtBot
) -> None:
    for button in (window.header.voice, window.welcome.voice, window.composer.unheard.settings):
        window.composer.unheard.say("There is no microphone.")
        QTest.mouseClick(button, LEFT)
        page = window.voice.page
        assert page
        qtbot.waitUntil(page.isActiveWindow)
        QTest.keyClick(page, Qt.Key.Key_Escape)
        assert not page.isVisible()


def test_the_devices_are_listed_with_the_default_marked(page: VoicePage, app: FakeApp) -> None:
    device, sound = page.microphone.device, page.sound.device
    assert [device.itemText(index) for index in range(device.count())] == [
        "The system’s default (Desk microphone, ALSA)",
        "Desk microphone, ALSA",
        "Headset, ALSA",
    ]
    assert [sound.itemData(index) for index in range(sound.count())] == ["", "Headset, ALSA"]
    assert device.value == ""


def test_a_device_that_was_plugged_in_is_there_after_listing_anew(
    page: VoicePage, app: FakeApp, qtbot: QtBot
) -> None:
    app.sound_devices = (*app.sound_devices, Device("USB, ALSA", 1, 0, False, False))
    with qtbot.waitSignal(page.desk.listed):
        QTest.mouseClick(page.microphone.again, LEFT)
    assert page.microphone.device.findData("USB, ALSA") == 3


def test_one_that_was_chosen_and_is_away_is_kept_and_said_to_be(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    settings.change(app.paths.settings, "speech", {"input": "Old microphone, ALSA"})
    device = opened(window, qtbot).microphone.device
    assert device.value == "Old microphone, ALSA"
    assert device.currentText() == "Old microphone, ALSA (not there now)"


@pytest.mark.parametrize("why", ["none", "hung"])
def test_without_devices_the_reason_is_told(
    window: MainWindow, app: FakeApp, qtbot: QtBot, why: str
) -> None:
    app.sound_devices = ()
    if why == "hung":
        app.no_devices = UnavailableError("They cannot be listed.", hint="Log in again.")
    page = opened(window, qtbot)
    expected = "They cannot be listed. Log in again." if why == "hung" else "Plug one in"
    assert expected in page.microphone.trouble.text()
    assert expected in page.sound.device_trouble.text()


def test_what_is_chosen_is_written_and_taken_up_at_once(
    page: VoicePage, app: FakeApp, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(page.desk.saved):
        pick(page.microphone.device, "Headset, ALSA")
    pick(page.sound.device, "Headset, ALSA")
    pick(page.sound.engine, "kokoro")
    page.sound.rate.slider.setValue(200)
    page.sound.rate.slider.setValue(210)
    page.sound.volume.slider.setValue(50)
    pick(page.recogniser.language, "de")
    pick(page.key.way, "toggle")
    pick(page.habits.pause, "2")
    page.habits.radio("always").click()
    page.habits.hands_free.click()
    page.habits.interrupt.click()
    page.recogniser.words.setText(" Anna Meier,, Kraków ,")
    page.recogniser.words.editingFinished.emit()
    wanted = SpeechSettings(
        input="Headset, ALSA",
        output="Headset, ALSA",
        engine="kokoro",
        rate=210,
        volume=0.5,
        language="de",
        key_way="toggle",
        pause=2.0,
        microphone="always",
        hands_free=False,
        interrupt=True,
        words=("Anna Meier", "Kraków"),
    )
    qtbot.waitUntil(lambda: app.adopted[-1] == wanted)
    assert kept(app) == wanted
    assert page.state.text() == "Saved."
    assert page.sound.rate.value.text() == "210 words a minute"


def test_what_waits_for_a_restart_is_said(page: VoicePage, app: FakeApp, qtbot: QtBot) -> None:
    app.waits = ("engine", "voice", "key")
    with qtbot.waitSignal(page.desk.saved):
        pick(page.sound.engine, "piper")
    assert page.state.text() == "Saved. After a restart of JARVIS: the talk key, the voice."


def test_a_voice_that_is_not_installed_says_what_to_do(
    page: VoicePage, app: FakeApp, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(page.desk.saved):
        pick(page.sound.engine, "kokoro")
    trouble = page.sound.trouble.text()
    assert "Kokoro" in trouble
    assert "The system’s own voice speaks meanwhile." in trouble
    with qtbot.waitSignal(page.desk.saved):
        pick(page.sound.engine, "system")
    assert not page.sound.trouble.isVisible()


def test_settings_that_cannot_be_written_are_told_and_what_is_true_is_shown(
    page: VoicePage, app: FakeApp, qtbot: QtBot
) -> None:
    app.paths.settings.parent.mkdir(parents=True, exist_ok=True)
    app.paths.settings.write_text("[speech]\nrate = 3\n")
    with qtbot.waitSignals([page.desk.failed, page.desk.looked]):
        page.habits.radio("always").click()
    assert page.state.property("role") == "warning"
    assert page.habits.radio("conversation").isChecked()
    assert app.adopted == []


def test_what_was_changed_last_is_kept_where_the_page_is_closed_at_once(
    page: VoicePage, app: FakeApp, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(page.desk.saved):
        page.sound.rate.slider.setValue(300)
        QTest.mouseClick(page.leave, LEFT)
    assert kept(app).rate == 300
    assert not page.isVisible()


def offers(section: QWidget) -> dict[str, QPushButton]:
    QApplication.processEvents()
    found = [item for item in section.findChildren(QPushButton) if item.isVisible()]
    return {item.accessibleName(): item for item in found}


def test_whisper_is_offered_fetched_and_used(page: VoicePage, app: FakeApp, qtbot: QtBot) -> None:
    section = page.recogniser
    assert section.used.text() == voice_weights.BUILT_IN
    said = words(section)
    assert "about 78 MB · licence MIT · fast · here about" in said
    assert "whisper-large" not in said  # it cannot be used here
    fetch = offers(section)
    assert list(fetch) == ["Fetch whisper-tiny, about 78 MB", "Fetch whisper-small, about 486 MB"]
    with qtbot.waitSignals([page.desk.fetched, page.desk.looked]):
        QTest.mouseClick(fetch["Fetch whisper-small, about 486 MB"], LEFT)
        assert section.stop.isVisible()
        assert not section.offers.isVisible()
    assert section.used.text() == "whisper-small is used, on this computer."
    assert "whisper-tiny" in words(section)
    with qtbot.waitSignals([page.desk.fetched, page.desk.looked]):
        offers(section)["Fetch whisper-tiny, about 78 MB"].click()
    assert section.used.text().startswith("On this computer: whisper-tiny, whisper-small.")
    with qtbot.waitSignal(page.desk.saved):
        pick(section.which, "whisper-tiny")
    assert kept(app).recogniser == "whisper-tiny"


def test_a_fetch_that_fails_says_why_and_can_be_tried_again(
    page: VoicePage, app: FakeApp, qtbot: QtBot
) -> None:
    app.weights.error = UnavailableError("The Hub cannot be reached.", hint="Try again later.")
    section = page.recogniser
    with qtbot.waitSignals([page.desk.fetched, page.desk.looked]):
        section.findChildren(QPushButton)[0].click()
    assert section.trouble.text() == "The Hub cannot be reached. Try again later."
    assert section.offers.isVisible()


def test_a_fetch_shows_its_progress_and_can_be_cancelled(
    page: VoicePage, app: FakeApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fetch(expert: Expert, report: Report, *, spared: object = ()) -> Path:
        report(0.25, "20 of 78 MB")
        await scene.for_ever(None, None)  # type: ignore[arg-type]
        return Path()

    monkeypatch.setattr(app.weights, "fetch", fetch)
    section = page.recogniser
    section.findChildren(QPushButton)[0].click()
    qtbot.waitUntil(lambda: section.progress.value() == 25)
    assert section.coming.text() == "Fetching whisper-tiny: 20 of 78 MB"
    with qtbot.waitSignals([page.desk.fetched, page.desk.looked]):
        QTest.mouseClick(section.stop, LEFT)
    assert "What arrived is kept" in section.trouble.text()
    assert not section.progress.isVisible()


def test_offline_nothing_is_offered_and_the_way_without_a_network_is_named(
    window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    app.policy = Policy(Mode.OFFLINE)
    section = opened(window, qtbot).recogniser
    assert voice_weights.NO_DOWNLOADS in words(section)
    assert not [item for item in section.findChildren(QPushButton) if item.isVisible()]


def test_the_talk_key_that_is_live_and_why(page: VoicePage, app: FakeApp, qtbot: QtBot) -> None:
    key = page.key
    assert key.status.text() == "Ctrl+Alt+Space works everywhere, through X11."
    assert key.why.text() == "The portal is not there."
    assert not key.copy.isVisible()
    tapped = HotkeyStatus("portal", "Super+J", holds=False)
    page.desk.session.engine.call(app.hotkey.become, tapped)
    qtbot.waitUntil(lambda: "Super+J" in key.status.text())
    assert "cannot be held" in key.status.text()
    page.desk.session.engine.call(app.hotkey.become, HotkeyStatus(why="It is taken."))
    qtbot.waitUntil(key.copy.isVisible)
    assert key.status.text() == "No key works outside of this window yet."
    assert COMMAND in key.bind.text()
    QTest.mouseClick(key.copy, LEFT)
    assert QGuiApplication.clipboard().text() == COMMAND


def test_a_key_that_is_none_is_not_written(page: VoicePage, app: FakeApp, qtbot: QtBot) -> None:
    field = page.key.key
    field.setText("Ctrl+Nonsense")
    field.editingFinished.emit()
    assert "Ctrl+Nonsense" in page.key.trouble.text()
    for typed, wanted in (("alt+ctrl+j", "Ctrl+Alt+J"), ("", "")):
        field.setText(typed)
        with qtbot.waitSignal(page.desk.saved):
            field.editingFinished.emit()
        assert kept(app).key == wanted
        assert not page.key.trouble.isVisible()


def test_the_wheel_changes_nothing(page: VoicePage) -> None:
    rate, device = page.sound.rate.slider, page.microphone.device
    before = rate.value()
    for widget in (rate, device):
        event = QWheelEvent(
            QPointF(5, 5), QPointF(5, 5), QPoint(), QPoint(0, -120), Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
        )  # fmt: skip
        QApplication.sendEvent(widget, event)
    assert rate.value() == before
    assert device.currentIndex() == 0


def test_the_tab_key_reaches_all_of_it_from_top_to_bottom(page: VoicePage, qtbot: QtBot) -> None:
    page.activateWindow()
    page.microphone.device.setFocus()
    seen = []
    for _ in range(40):
        focused = page.focusWidget()
        assert focused
        assert focused.accessibleName(), focused
        if focused.accessibleName() in seen:
            break
        seen.append(focused.accessibleName())
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    assert seen[:6] == [
        "Microphone",
        "List the microphones anew",
        "Show the level",
        "Say a sentence",
        "Loudspeaker",
        "List the loudspeakers anew",
    ]
    for name in ("Voice", "Speed of the voice: 170 words a minute", "Hear a sentence",
                 "Fetch whisper-tiny, about 78 MB", "Language that is spoken", "Words to expect",
                 "Talk key", "What the talk key does",
                 "Only while I talk",
                 "Ask aloud, and take the answer aloud", "Close"):  # fmt: skip
        assert name in seen, str(seen)


def test_foreign_names_are_only_text(page: VoicePage) -> None:
    for hostile in scene.HOSTILE:
        page.microphone.show_devices([Device(hostile, 1, 1, True, True)], hostile)
        page.sound.show_devices([Device(hostile, 1, 1, True, True)], hostile)
        page.key._show_status(HotkeyStatus("x11", hostile, why=hostile))
        page.grab()
        assert page.minimumSizeHint().width() <= 700
        assert page.key.why.textFormat() == Qt.TextFormat.PlainText
