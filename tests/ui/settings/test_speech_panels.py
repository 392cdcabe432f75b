"""The settings of the voice: devices that come and go, and recognisers that are fetched."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.task import Report
from jarvis_desktop.speech.devices import Device
from jarvis_desktop.ui.settings import speech_panels as voice_weights
from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.settings.speech_panels import DeviceChoice, RecogniserPanel, WhichWhisper
from tests.ui import scene
from tests.ui.scene import FakeApp
from tests.ui.settings.conftest import kept, settle

pytestmark = pytest.mark.usefixtures("voice_rows")

LEFT = Qt.MouseButton.LeftButton


def words(widget: QWidget) -> str:
    QApplication.processEvents()
    shown = [label.text() for label in widget.findChildren(QLabel) if label.isVisible()]
    return "\n".join(shown).replace("\u200b", "")


def device(page: SettingsPage, key: str) -> DeviceChoice:
    page.show_row(key)
    found = page.row(key).control
    assert isinstance(found, DeviceChoice)
    return found


@pytest.fixture
def recognisers(page: SettingsPage, qtbot: QtBot) -> RecogniserPanel:
    page.appear("recognisers")
    settle(page, qtbot)
    found = page.row("recognisers").control
    assert isinstance(found, RecogniserPanel)
    return found


def test_the_devices_are_listed_with_the_default_marked(page: SettingsPage) -> None:
    heard, spoken = device(page, "speech.input").list, device(page, "speech.output").list
    assert [heard.itemText(index) for index in range(heard.count())] == [
        "The system’s default (Desk microphone, ALSA)",
        "Desk microphone, ALSA",
        "Headset, ALSA",
    ]
    assert [spoken.itemData(index) for index in range(spoken.count())] == ["", "Headset, ALSA"]
    assert heard.value == ""


def test_a_device_that_was_plugged_in_is_there_after_listing_anew(
    page: SettingsPage, app: FakeApp, qtbot: QtBot
) -> None:
    app.sound_devices = (*app.sound_devices, Device("USB, ALSA", 1, 0, False, False))
    choice = device(page, "speech.input")
    with qtbot.waitSignal(page.voice.listed):
        QTest.mouseClick(choice.again, LEFT)
    assert choice.list.findData("USB, ALSA") == 3


def test_one_that_was_chosen_and_is_away_is_kept_and_said_to_be(
    page: SettingsPage, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(page.controller.saved):
        page.controller.change("speech.input", "Old microphone, ALSA")
    choice = device(page, "speech.input").list
    assert choice.value == "Old microphone, ALSA"
    assert choice.currentText() == "Old microphone, ALSA (not there now)"


@pytest.mark.parametrize("why", ["none", "hung"])
def test_without_devices_the_reason_is_told(
    page: SettingsPage, app: FakeApp, qtbot: QtBot, why: str
) -> None:
    app.sound_devices = ()
    if why == "hung":
        app.no_devices = UnavailableError("They cannot be listed.", hint="Log in again.")
    with qtbot.waitSignal(page.voice.listed):
        page.voice.list_devices()
    expected = "They cannot be listed. Log in again." if why == "hung" else "Plug one in"
    for key in ("speech.input", "speech.output"):
        assert expected in device(page, key).trouble.text()


def offers(panel: QWidget) -> dict[str, QPushButton]:
    QApplication.processEvents()
    found = [item for item in panel.findChildren(QPushButton) if item.isVisible()]
    return {item.accessibleName(): item for item in found}


def test_whisper_is_offered_fetched_and_used(
    page: SettingsPage, recognisers: RecogniserPanel, app: FakeApp, qtbot: QtBot
) -> None:
    assert recognisers.used.text().startswith("whisper-tiny.en is used, which comes with JARVIS.")
    said = words(recognisers)
    assert "about 78 MB · licence MIT · fast · here about" in said
    assert "whisper-large" not in said  # it cannot be used here
    which = page.row("speech.recogniser").control
    assert isinstance(which, WhichWhisper)
    assert not which.isEnabled()
    fetch = offers(recognisers)
    assert list(fetch) == [
        "Download whisper-tiny, about 78 MB",
        "Download whisper-small, about 486 MB",
    ]
    with qtbot.waitSignal(page.voice.looked):
        QTest.mouseClick(fetch["Download whisper-small, about 486 MB"], LEFT)
        assert recognisers.stop.isVisible()
        assert not recognisers.offers.isVisible()
    assert recognisers.used.text() == "whisper-small is used, on this computer."
    assert "whisper-tiny" in words(recognisers)
    with qtbot.waitSignal(page.voice.looked):
        offers(recognisers)["Download whisper-tiny, about 78 MB"].click()
    assert recognisers.used.text().startswith("On this computer: whisper-tiny, whisper-small.")
    with qtbot.waitSignals([page.controller.saved, page.voice.looked]):
        which.setCurrentIndex(which.findData("whisper-tiny"))
        which.activated.emit(which.currentIndex())
    assert kept(app).speech.recogniser == "whisper-tiny"
    qtbot.waitUntil(lambda: recognisers.used.text().startswith("whisper-tiny is used"))
    with qtbot.waitSignals([page.controller.saved, page.voice.looked]):
        which.setCurrentIndex(which.findData("whisper-tiny.en"))
        which.activated.emit(which.currentIndex())
    qtbot.waitUntil(lambda: recognisers.used.text().startswith("whisper-tiny.en is used"))


def test_another_language_is_said_to_need_one_of_the_offers_and_how_fast_they_are(
    page: SettingsPage, recognisers: RecogniserPanel, app: FakeApp, qtbot: QtBot
) -> None:
    app.recogniser.measured = Path("shipped"), 0.6
    with qtbot.waitSignals([page.controller.saved, page.voice.looked]):
        page.controller.change("speech.language", "de")
    qtbot.waitUntil(lambda: "German needs another one" in recognisers.used.text())
    said = words(recognisers)
    assert "understands a sentence in about 1.3 s here" in said  # TINY, by its speed
    assert next(iter(offers(recognisers))) == "Download whisper-tiny, about 78 MB"


def test_a_fetch_that_fails_says_why_and_can_be_tried_again(
    page: SettingsPage, recognisers: RecogniserPanel, app: FakeApp, qtbot: QtBot
) -> None:
    app.weights.error = UnavailableError("The Hub cannot be reached.", hint="Try again later.")
    page.activateWindow()
    first, second = offers(recognisers)
    with qtbot.waitSignal(page.voice.looked):
        QTest.mouseClick(offers(recognisers)[second], LEFT)
    retry = offers(recognisers)[second]
    assert retry.text() == "Retry"
    assert offers(recognisers)[first].text() == "Download"
    row = retry.parentWidget()
    assert row
    assert "The Hub cannot be reached. Try again later." in words(row)
    assert retry.hasFocus() or not page.isActiveWindow()
    app.weights.error = None
    with qtbot.waitSignal(page.voice.looked):
        QTest.mouseClick(retry, LEFT)
    assert recognisers.used.text() == "whisper-small is used, on this computer."
    assert "cannot be reached" not in words(recognisers)


def test_a_fetch_shows_its_progress_and_can_be_cancelled(
    page: SettingsPage,
    recognisers: RecogniserPanel,
    app: FakeApp,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def fetch(expert: Expert, report: Report, *, spared: object = ()) -> Path:
        report(0.25, "20 of 78 MB")
        await scene.for_ever(None, None)  # type: ignore[arg-type]
        return Path()

    monkeypatch.setattr(app.weights, "fetch", fetch)
    next(iter(offers(recognisers).values())).click()
    qtbot.waitUntil(lambda: recognisers.progress.value() == 25)
    assert recognisers.coming.text() == "Downloading whisper-tiny: 20 MB of 78 MB"
    with qtbot.waitSignal(page.voice.looked):
        QTest.mouseClick(recognisers.stop, LEFT)
    assert "What arrived is kept" in words(recognisers)
    assert not recognisers.progress.isVisible()


def test_offline_nothing_is_offered_and_the_way_without_a_network_is_named(
    page: SettingsPage, recognisers: RecogniserPanel, app: FakeApp, qtbot: QtBot
) -> None:
    app.policy = Policy(Mode.OFFLINE)
    with qtbot.waitSignal(page.voice.looked):
        page.voice.look()
    assert voice_weights.NO_DOWNLOADS in words(recognisers)
    assert not offers(recognisers)


def test_foreign_names_are_only_text(page: SettingsPage) -> None:
    page.show_group("voice")
    for hostile in scene.HOSTILE:
        page.voice.listed.emit([Device(hostile, 1, 1, True, True)], hostile)
        page.grab()
        inner = page.scroller.widget()
        assert inner
        assert inner.minimumSizeHint().width() <= 600
