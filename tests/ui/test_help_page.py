"""The help in the window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop.app.help_pages import TOPICS
from jarvis_desktop.ui.help_page import HelpPage
from jarvis_desktop.ui.main_window import MainWindow


def test_f1_opens_the_help(window: MainWindow, qtbot: QtBot) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_F1)
    page = window.places.page("help")
    assert isinstance(page, HelpPage)
    assert window.places.here == "help"
    assert page.topics[TOPICS[0].name].isChecked()
    qtbot.waitUntil(lambda: "Summarise report.pdf" in page.text.toPlainText())


def test_a_topic_is_shown_from_its_beginning(window: MainWindow, qtbot: QtBot) -> None:
    window.places.go("help")
    page = window.places.page("help")
    assert isinstance(page, HelpPage)
    page.topics["goals"].click()
    qtbot.waitUntil(lambda: "bubblewrap" in page.text.toPlainText())
    shown = page.text.toPlainText()
    assert "a chart for each region" in shown, "the lines of a paragraph are joined"
    assert "until it is right." in shown
    assert "names a host that code may reach. Neither" in shown
    assert "prices.csv\n- [ ] 1. Read the prices and check them\n" in shown, "not those of a block"
    page.scroller.verticalScrollBar().setValue(200)
    page.topics["trouble"].click()
    qtbot.waitUntil(lambda: page.text.toPlainText().startswith("When something is missing"))
    assert page.scroller.verticalScrollBar().value() == 0


def test_the_help_leads_to_the_keys(window: MainWindow) -> None:
    window.places.go("help", "keys")
    page = window.places.page("help")
    assert isinstance(page, HelpPage)
    assert page.topics["keys"].isChecked()
    page.shortcuts.click()
    assert window.places.here == "keys"
