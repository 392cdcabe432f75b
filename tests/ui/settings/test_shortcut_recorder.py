"""A key of the whole desktop is chosen by pressing it, and what the desktop made of it is told."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.speech import HotkeyStatus
from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.settings.shortcut_recorder import NONE, PRESS, KeyRecorder
from tests.ui import scene
from tests.ui.scene import FakeApp
from tests.ui.settings.conftest import kept

LEFT = Qt.MouseButton.LeftButton
CTRL, ALT, SHIFT, META = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.MetaModifier,
)


@pytest.fixture
def talk(page: SettingsPage) -> KeyRecorder:
    page.appear("speech.key")
    found = page.row("speech.key").control
    assert isinstance(found, KeyRecorder)
    return found


def test_a_key_is_chosen_by_pressing_it(
    page: SettingsPage, talk: KeyRecorder, app: FakeApp, qtbot: QtBot
) -> None:
    assert talk.field.text() == "Ctrl + Alt + Space"
    for key, held, wanted in (
        (Qt.Key.Key_K, CTRL | ALT, "Ctrl+Alt+K"),
        (Qt.Key.Key_Space, META, "Super+Space"),
        (Qt.Key.Key_Return, CTRL | SHIFT, "Ctrl+Shift+Enter"),
        (Qt.Key.Key_PageDown, ALT, "Alt+PageDown"),
        (Qt.Key.Key_Tab, CTRL | ALT, "Ctrl+Alt+Tab"),
        (Qt.Key.Key_F9, Qt.KeyboardModifier.NoModifier, "F9"),
    ):
        QTest.mouseClick(talk.field, LEFT)
        assert talk.field.text() == PRESS
        QTest.keyPress(talk.field, Qt.Key.Key_Control)  # alone it is none yet
        assert talk.field.text() == PRESS
        with qtbot.waitSignal(page.controller.saved):
            QTest.keyClick(talk.field, key, held)
        assert kept(app).speech.key == wanted
        assert talk.field.text() == wanted.replace("+", " + ")


def test_no_shortcut_of_the_window_takes_it_away(
    page: SettingsPage, talk: KeyRecorder, app: FakeApp
) -> None:
    heard: list[str] = []
    for keys in ("Esc", "Ctrl+J"):
        shortcut = QShortcut(QKeySequence(keys), page)
        shortcut.activated.connect(lambda keys=keys: heard.append(keys))
    QTest.mouseClick(talk.field, LEFT)
    QTest.keyClick(talk.field, Qt.Key.Key_J, CTRL)
    assert talk.trouble.text() == ("Ctrl+J cannot be used: it does something else in this window.")
    QTest.mouseClick(talk.field, LEFT)
    QTest.keyClick(talk.field, Qt.Key.Key_Escape)
    assert talk.field.text() == "Ctrl + Alt + Space"
    assert not talk.trouble.isVisible()
    assert heard == []
    assert app.adopted == []


def test_what_cannot_be_a_key_is_refused(talk: KeyRecorder, app: FakeApp) -> None:
    for key, held, says in (
        (Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, "every other program needs it"),
        (Qt.Key.Key_VolumeUp, CTRL, "cannot be used"),
        (Qt.Key.Key_J, CTRL | ALT, "It opens the quick box already."),
    ):
        QTest.mouseClick(talk.field, LEFT)
        QTest.keyClick(talk.field, key, held)
        assert says in talk.trouble.text()
    assert app.adopted == []


def test_who_goes_elsewhere_does_not_want_one(talk: KeyRecorder, page: SettingsPage) -> None:
    QTest.mouseClick(talk.field, LEFT)
    page.search.setFocus()
    QApplication.processEvents()
    assert talk.field.text() == "Ctrl + Alt + Space"
    QTest.mouseClick(talk.field, LEFT)
    page.leave()
    assert talk.field.text() == "Ctrl + Alt + Space"


def test_it_can_be_none(page: SettingsPage, talk: KeyRecorder, app: FakeApp, qtbot: QtBot) -> None:
    with qtbot.waitSignal(page.controller.saved):
        QTest.mouseClick(talk.none, LEFT)
    assert kept(app).speech.key == ""
    assert talk.field.text() == "None"
    assert not talk.none.isVisible()


def test_what_the_desktop_made_of_it_is_told(
    page: SettingsPage, talk: KeyRecorder, app: FakeApp, qtbot: QtBot
) -> None:
    qtbot.waitUntil(talk.status.isVisible)
    assert talk.status.text() == (
        "Ctrl+Alt+Space works everywhere, through X11. The portal is not there."
    )
    assert not talk.copy.isVisible()
    engine = page.controller.session.engine
    engine.call(app.hotkey.become, HotkeyStatus("portal", "Super+J", holds=False))
    qtbot.waitUntil(lambda: "Super+J works everywhere" in talk.status.text())
    assert "cannot be held" in talk.status.text()
    engine.call(app.hotkey.become, HotkeyStatus(why="It is taken."))
    qtbot.waitUntil(talk.copy.isVisible)
    assert talk.status.text() == f"{NONE} It is taken."
    assert "jarvis-desktop talk toggle" in talk.bind.text()
    QTest.mouseClick(talk.copy, LEFT)
    assert QGuiApplication.clipboard().text() == "jarvis-desktop talk toggle"
    quick = page.row("window.quick_key").control
    assert isinstance(quick, KeyRecorder)
    engine.call(app.quick_key.become, HotkeyStatus("x11", "Ctrl+Alt+J", holds=False))
    qtbot.waitUntil(lambda: "Ctrl+Alt+J works everywhere" in quick.status.text())
    assert "held" not in quick.status.text()


def test_foreign_words_are_only_text(page: SettingsPage, talk: KeyRecorder) -> None:
    for hostile in scene.HOSTILE:
        talk._bound("speech.key", HotkeyStatus("x11", hostile, why=hostile))
        page.grab()
        assert talk.status.textFormat() == Qt.TextFormat.PlainText
        assert talk.minimumSizeHint().width() <= 400
