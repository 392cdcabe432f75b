"""Dictation on the screen: what the overlay shows, and what our own fields take."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.assistant.talk.dictation import DictationState
from jarvis_desktop.core.errors import InsertionError
from jarvis_desktop.core.speech import Partial
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.voice import dictation as module
from jarvis_desktop.ui.voice.dictation import DictationController, DictationOverlay
from jarvis_desktop.ui.widgets.theme import Theme
from tests.ui.scene import HOSTILE, FakeApp


@pytest.fixture
def overlay(theme: Theme, qtbot: QtBot) -> DictationOverlay:
    overlay = DictationOverlay()
    qtbot.addWidget(overlay)
    return overlay


@pytest.fixture
def controller(
    session: WindowSession, app: FakeApp, theme: Theme, qtbot: QtBot
) -> Iterator[DictationController]:
    controller = DictationController(session, session)
    session.ready.connect(controller.use)
    with qtbot.waitSignal(session.ready):
        session.start(app.build)
    yield controller
    controller.close()
    session.end()
    session.engine.submit(session.close_app()).result(60)


def test_the_overlay_shows_what_is_said_and_takes_neither_clicks_nor_keys(
    overlay: DictationOverlay,
) -> None:
    overlay.show_state(DictationState("waiting"))
    overlay.show_state(DictationState("listening", held=True))
    assert overlay.isVisible()
    assert "Release to insert" in overlay.message.text()
    assert overlay.meter.isVisible()
    assert overlay.windowFlags() & Qt.WindowType.WindowTransparentForInput
    assert overlay.windowFlags() & Qt.WindowType.WindowDoesNotAcceptFocus
    overlay.show_state(DictationState("listening", Partial("One.\nTwo", "three")))
    assert overlay.words.text == "One. ↵ Two three"
    assert "Press the key again" in overlay.message.text()
    overlay.show_state(DictationState("recognising", Partial("One")))
    assert not overlay.meter.isVisible()
    overlay.show_state(DictationState())
    assert not overlay.isVisible()


def test_a_text_that_was_not_inserted_is_offered(overlay: DictationOverlay, qtbot: QtBot) -> None:
    overlay.show_state(
        DictationState("failed", Partial("All of it"), message="No window.", rest="of it")
    )
    assert overlay.message.text() == "No window."
    assert not overlay.windowFlags() & Qt.WindowType.WindowTransparentForInput
    assert overlay.windowFlags() & Qt.WindowType.WindowDoesNotAcceptFocus
    assert not overlay._over.isActive()
    with qtbot.waitSignals([overlay.copied, overlay.over]):
        overlay.copy.click()
    overlay.show_state(DictationState("failed", message="Nobody seems to speak."))
    assert not overlay.copy.isVisible()
    assert overlay._over.isActive()
    overlay.show_state(DictationState("listening"))
    assert overlay.windowFlags() & Qt.WindowType.WindowTransparentForInput
    assert not overlay.close_button.isVisible()


def test_hostile_words_harm_nothing(overlay: DictationOverlay) -> None:
    for text in HOSTILE:
        overlay.show_state(DictationState("failed", Partial(text, text), message=text))
        assert overlay.width() <= overlay.screen().availableGeometry().width()
        assert overlay.message.textFormat() == Qt.TextFormat.PlainText


def dictate(session: WindowSession, app: FakeApp, qtbot: QtBot, phase: str) -> None:
    before = len(app.recogniser.hearings)
    session.engine.call(app.dictation.session.talk.press)
    qtbot.waitUntil(
        lambda: len(app.recogniser.hearings) > before and bool(app.recogniser.hearings[-1].pcm)
    )
    session.engine.call(app.dictation.session.talk.release)
    qtbot.waitUntil(lambda: app.dictation.session.state.phase == phase)


def test_another_program_gets_it_through_the_system(
    controller: DictationController, session: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    app.recogniser.hears = "Hello there."
    active: list[bool] = []
    controller.active_changed.connect(active.append)
    dictate(session, app, qtbot, "written")
    qtbot.waitUntil(lambda: controller.overlay.words.text == "Hello there.")
    assert app.dictation.inserter.inserted == ["Hello there."]
    assert active == [True, False]
    controller.overlay.over.emit()
    qtbot.waitUntil(lambda: not controller.overlay.isVisible())
    controller.paste_last()
    qtbot.waitUntil(lambda: app.dictation.inserter.inserted == ["Hello there."] * 2)
    session.engine.call(app.dictation.log.clear)
    controller.paste_last()
    qtbot.waitUntil(lambda: "no earlier" in controller.overlay.message.text())
    assert app.assistant.handled == []


@pytest.mark.parametrize("kind", [QLineEdit, QPlainTextEdit])
def test_our_own_field_takes_it_when_it_has_the_keyboard(
    controller: DictationController,
    session: WindowSession,
    app: FakeApp,
    qtbot: QtBot,
    kind: type[QLineEdit | QPlainTextEdit],
) -> None:
    field = kind()
    show(field, qtbot)
    app.recogniser.hears = "One\nTwo"
    dictate(session, app, qtbot, "written")
    text = field.text() if isinstance(field, QLineEdit) else field.toPlainText()
    assert text == ("One Two" if kind is QLineEdit else "One\nTwo")
    assert app.dictation.inserter.inserted == []


@pytest.mark.parametrize("refusing", ["password", "read only", "button"])
def test_no_password_is_dictated(
    controller: DictationController,
    session: WindowSession,
    app: FakeApp,
    qtbot: QtBot,
    refusing: str,
) -> None:
    field = QLineEdit()
    field.setEchoMode(
        QLineEdit.EchoMode.Password if refusing == "password" else QLineEdit.EchoMode.Normal
    )
    field.setReadOnly(refusing == "read only")
    shown = QPushButton() if refusing == "button" else field
    show(shown, qtbot)
    session.engine.call(app.dictation.session.talk.press)
    qtbot.waitUntil(lambda: app.dictation.session.state.phase == "failed")
    wanted = module.PASSWORD if refusing == "password" else module.NO_FIELD
    assert app.dictation.session.state.message == wanted
    assert field.text() == ""


def test_what_cannot_be_inserted_reaches_the_clipboard(
    controller: DictationController, session: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    app.dictation.inserter.error = InsertionError("Another window.", rest="time is it")
    dictate(session, app, qtbot, "failed")
    qtbot.waitUntil(controller.overlay.copy.isVisible)
    controller.overlay.copy.click()
    assert QGuiApplication.clipboard().text() == "time is it"
    qtbot.waitUntil(lambda: not controller.overlay.isVisible())


def test_a_private_conversation_keeps_nothing(
    controller: DictationController, session: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    session.new_conversation(kept=False)
    qtbot.waitUntil(lambda: app.dictation.private)
    session.new_conversation()
    qtbot.waitUntil(lambda: not app.dictation.private)
    controller.cancel()


def test_without_an_overlay_a_failure_is_still_told(
    controller: DictationController,
    session: WindowSession,
    app: FakeApp,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "places_windows", lambda: False)
    app.dictation.inserter.unusable = "Nothing can be typed here."
    with qtbot.waitSignal(controller.failed) as told:
        session.engine.call(app.dictation.session.talk.press)
    assert told.args == ["Nothing can be typed here."]
    assert not controller.overlay.isVisible()


def show(field: QWidget, qtbot: QtBot) -> None:
    qtbot.addWidget(field)
    field.show()
    field.activateWindow()
    field.setFocus()
    qtbot.waitUntil(field.hasFocus)
