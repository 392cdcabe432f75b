"""Replacements are typed line by line, and the last dictations can be had again."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.settings.page import SettingsPage
from jarvis_desktop.ui.settings.shortcut_recorder import KeyRecorder
from jarvis_desktop.ui.settings.speech_panels import NONE_KEPT, LastDictations, ReplacementLines
from jarvis_desktop.ui.widgets.icons import IconButton
from jarvis_desktop.ui.widgets.labels import Label
from tests.ui.scene import FakeApp
from tests.ui.settings.conftest import kept

CTRL_ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


def test_replacements_are_written_down(page: SettingsPage, app: FakeApp, qtbot: QtBot) -> None:
    page.appear("dictation.replacements")
    panel = page.row("dictation.replacements").control
    assert isinstance(panel, ReplacementLines)
    panel.field.setFocus()
    QTest.keyClicks(panel.field, "my mail = a@b.org")
    QTest.keyClick(panel.field, Qt.Key.Key_Return)
    QTest.keyClicks(panel.field, "nothing")
    with qtbot.waitSignal(page.controller.saved):
        panel.leave()
    assert kept(app).dictation.replacements == ("my mail = a@b.org", "nothing")
    assert "nothing" in panel.trouble.text()
    panel.field.setPlainText("my mail = a@b.org")
    panel.leave()
    assert panel.trouble.isHidden()


def test_the_last_dictations_can_be_copied_and_forgotten(
    page: SettingsPage, app: FakeApp, qtbot: QtBot
) -> None:
    app.dictation.log.add("First <b>text</b>.")
    app.dictation.log.add("Second.\nText.")
    page.appear("dictations")
    panel = page.row("dictations").control
    assert isinstance(panel, LastDictations)
    qtbot.waitUntil(lambda: len(panel.findChildren(IconButton)) == 2)
    panel.findChildren(IconButton)[0].click()
    assert QGuiApplication.clipboard().text() == "Second.\nText."
    panel.forget.click()
    qtbot.waitUntil(lambda: not panel.forget.isEnabled())
    assert app.dictation.log.kept() == []
    assert NONE_KEPT in [label.text() for label in panel.findChildren(Label)]


def test_no_key_does_two_things(page: SettingsPage, app: FakeApp) -> None:
    page.appear("dictation.key")
    recorder = page.row("dictation.key").control
    assert isinstance(recorder, KeyRecorder)
    for key, told in ((Qt.Key.Key_Space, "the talk key"), (Qt.Key.Key_J, "the quick box")):
        QTest.mouseClick(recorder.field, Qt.MouseButton.LeftButton)
        QTest.keyClick(recorder.field, key, CTRL_ALT)
        assert told in recorder.trouble.text()
    assert recorder.field.text() == "Ctrl + Alt + W"
