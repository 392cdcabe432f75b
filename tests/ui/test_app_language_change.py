"""The window is made anew in another language, and nothing of what one did there is lost."""

import asyncio
import gc
import weakref
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop import localization
from jarvis_desktop.app.ipc_client import LaunchRequest
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.task import Report
from jarvis_desktop.core.turn import Request
from jarvis_desktop.llm.catalogue import LLMOffer
from jarvis_desktop.settings import Settings, WindowSettings
from jarvis_desktop.storage.file_inspection import InspectedFile
from jarvis_desktop.ui.app import WindowSet
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.theme import Appearance
from tests.ui import scene
from tests.ui.scene import FakeApp


@pytest.fixture
def face(
    qapp: QApplication, session: WindowSession, app: FakeApp, tmp_path: Path, qtbot: QtBot
) -> Iterator[WindowSet]:
    font, locale = qapp.font(), QLocale()
    kept = tmp_path / "window.ini"
    kept.write_text("[first_start]\nover=true\n")
    appearance = Appearance(qapp, kept)
    face = WindowSet(session, appearance, kept)
    face.begin(LaunchRequest())
    with qtbot.waitSignal(session.ready):
        session.start(app.build)
    yield face
    session.end()
    face.window.talker.cancel()
    session.engine.submit(session.close_app()).result(60)
    face.let_end()
    face.close()
    face.window.close()
    face.window.deleteLater()
    qapp.removeTranslator(appearance._translator)
    appearance.theme.adopt(theme.ThemeChoice())
    appearance.theme.deleteLater()
    appearance.deleteLater()
    localization.set_language("en")
    qapp.setStyleSheet("")
    qapp.setFont(font)
    QLocale.setDefault(locale)


def speak(session: WindowSession, app: FakeApp, language: str) -> None:
    """Change the language as the settings do: a new window asks the application for it again."""
    app.settings = Settings(window=WindowSettings.model_validate({"language": language}))
    session.settled.emit(app.settings)


def test_another_language_makes_the_window_anew(
    face: WindowSet, session: WindowSession, app: FakeApp, qtbot: QtBot, tmp_path: Path
) -> None:
    app.assistant.script = scene.for_ever
    window = face.window
    window.send(Request("work for ever"))
    qtbot.waitUntil(lambda: len(window.conversation.views()) == 1)
    window.composer.field.setPlainText("a draft")
    file = tmp_path / "a.txt"
    file.write_text("words")
    window.composer.attached._attach([InspectedFile(file, Kind.TEXT, 5)])
    window.resize(700, 500)
    speak(session, app, "de")
    qtbot.waitUntil(lambda: face.window is not window)
    again = face.window
    assert again.isVisible()
    assert again.size().toTuple() == (700, 500)
    assert again.sidebar.new.text() == "Neue Unterhaltung"
    assert again.composer.field.toPlainText() == "a draft"
    assert again.composer.attached.files() == (file,)
    assert again.composer.stop.isVisible(), "what runs can be stopped there too"
    assert [view.request.text.toPlainText() for view in again.conversation.views()] == [
        "work for ever"
    ]
    assert again.composer.talk.isEnabled()
    again.composer.stop.click()
    qtbot.waitUntil(lambda: not session.busy)
    again.places.go("settings", "appearance")
    speak(session, app, "en")
    qtbot.waitUntil(lambda: face.window is not again)
    assert face.window.sidebar.new.text() == "New conversation"
    assert (face.window.places.here, face.window.places.part) == ("settings", "appearance")


def test_a_window_that_is_gone_hears_of_no_timer(
    face: WindowSet, session: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    window = weakref.ref(face.window)
    speak(session, app, "de")
    qtbot.waitUntil(lambda: face.window is not window())
    with qtbot.captureExceptions() as raised:
        session.rang.emit(app.timers.set(180, "tea"))
    assert not raised

    def gone() -> bool:
        gc.collect()
        return window() is None

    qtbot.waitUntil(gone)  # work that was under way may still know it


def test_the_quick_box_stays_open_in_another_language(
    face: WindowSet, session: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    window = face.window
    face.presence.quick.appear()
    face.presence.quick.box.line.field.setPlainText("a draft")
    speak(session, app, "de")
    qtbot.waitUntil(lambda: face.window is not window)
    box = face.presence.quick.box
    assert box.isVisible()
    assert box.windowTitle() == "JARVIS fragen"
    assert box.line.field.toPlainText() == "a draft"


def test_the_first_start_is_shown_once(
    qapp: QApplication, face: WindowSet, qtbot: QtBot, tmp_path: Path
) -> None:
    assert face.window.first is None
    face.window._settings.setValue("first_start/over", False)
    face._painted()
    assert face.window.first


def test_what_is_fetched_goes_on_and_is_told_to_nobody_who_is_gone(
    face: WindowSet,
    session: WindowSession,
    app: FakeApp,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    renewed, told = asyncio.Event(), list[bool]()

    async def fetch_now(expert: Expert, report: Report) -> None:
        await renewed.wait()
        report(0.5, "half")
        session.engine.post(lambda: told.append(True))

    monkeypatch.setattr(app.expert_manager, "fetch_now", fetch_now)
    window = face.window
    expert = Expert("writer", "text-generation", download_mb=1, licence="MIT")
    window.llms.fetch(LLMOffer("writer", 1, "MIT", "plans", verified=True, expert=expert))
    speak(session, app, "de")
    qtbot.waitUntil(lambda: face.window is not window)
    session.engine.call(renewed.set)
    qtbot.waitUntil(lambda: bool(told))
