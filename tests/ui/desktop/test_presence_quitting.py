"""Whoever ends JARVIS while timers run is told what becomes of them."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.desktop.presence import Presence
from tests.ui.desktop.conftest import Desktop
from tests.ui.scene import FakeApp

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def trayless_window(presence: Presence, desktop: Desktop) -> Presence:
    desktop.has_tray = False
    return presence


def test_the_person_is_asked_before_a_timer_is_left(
    trayless_window: Presence, app: FakeApp
) -> None:
    window = trayless_window.window
    app.timers.set(180, "tea")
    window.places.go("settings")
    assert not window.close()
    assert window.isVisible()
    assert window.places.here == ""
    assert window.leaving.isVisible()
    assert window.leaving.title.text() == "A timer is running: tea"
    QTest.mouseClick(window.leaving.stay, LEFT)
    assert not window.leaving.isVisible()
    app.timers.set(90, "eggs")
    assert not window.close()
    assert window.leaving.title.text() == "2 timers are running."
    assert window.close(), "who asks twice is obeyed"


def test_the_question_is_seen_where_a_picture_was_enlarged(
    trayless_window: Presence, app: FakeApp, tmp_path: Path, qtbot: QtBot
) -> None:
    window = trayless_window.window
    picture = QImage(20, 20, QImage.Format.Format_RGB32)
    picture.fill(0)
    picture.save(str(tmp_path / "a.png"))
    app.timers.set(180, "tea")
    window.user_actions.enlarge.emit(Artifact(Kind.IMAGE, path=tmp_path / "a.png", name="a.png"))
    assert not window.close()
    QApplication.processEvents()
    at = window.leaving.mapTo(window, window.leaving.rect().center())
    seen = window.childAt(at)
    assert seen
    assert window.focusWidget() is window.leaving.stay
    assert seen is window.leaving or window.leaving.isAncestorOf(seen)


def test_escape_stays(trayless_window: Presence, app: FakeApp, qtbot: QtBot) -> None:
    window = trayless_window.window
    app.timers.set(180, "tea")
    assert not window.close()
    QTest.keyClick(window.leaving.stay, Qt.Key.Key_Escape)
    assert not window.leaving.isVisible()
    assert window.composer.field.hasFocus()


def test_nobody_is_asked_any_more_where_a_request_ended_them(
    trayless_window: Presence, app: FakeApp, qtbot: QtBot
) -> None:
    window = trayless_window.window
    app.timers.set(180, "tea")
    assert not window.close()
    window.send(Request("What time is it?"))
    qtbot.waitUntil(lambda: not window.session.busy)
    assert window.leaving.isVisible()
    app.timers.cancel_all()
    window.send(Request("Cancel the timer"))
    qtbot.waitUntil(lambda: not window.session.busy and not window.leaving.isVisible())


def test_the_question_is_of_those_that_have_not_rung(
    trayless_window: Presence, app: FakeApp, qtbot: QtBot
) -> None:
    window = trayless_window.window
    app.timers.set(180, "tea")
    eggs = app.timers.set(90, "eggs")
    assert not window.close()
    for left, title in ((["tea"], "A timer is running: tea"), ([], "")):
        app.timers.running = [timer for timer in app.timers.running if timer.label in left]
        window.session.rang.emit(eggs)
        qtbot.waitUntil(lambda left=left: window.leaving.isVisible() is bool(left))  # type: ignore[misc]
        assert window.leaving.title.text() == title or not left


def test_nobody_is_asked_beneath_the_first_start(
    trayless_window: Presence, app: FakeApp, qtbot: QtBot
) -> None:
    app.timers.set(180, "tea")
    trayless_window.window.begin_first_start()
    assert trayless_window.window.close()


def test_who_quits_by_key_or_menu_is_asked_too(
    presence: Presence, app: FakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[bool] = []
    monkeypatch.setattr(QApplication, "quit", lambda: ended.append(True))
    app.timers.set(180, "")
    presence.hide()
    presence.tray.quit_wanted.emit()
    assert presence.window.isVisible()
    assert not ended
    QTest.mouseClick(presence.window.leaving.quit, LEFT)
    assert ended


def test_the_end_of_the_session_asks_nobody(trayless_window: Presence, app: FakeApp) -> None:
    app.timers.set(180, "tea")
    trayless_window.let_end()
    assert trayless_window.window.close()
