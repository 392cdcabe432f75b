"""The list of keys says what the keys do: it is made of the table by which they are bound."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.navigation import PLACES
from jarvis_desktop.ui.shortcuts import GROUPS, QUICK, WINDOW, bind, shown


def bound(widget: object) -> set[str]:
    assert isinstance(widget, MainWindow)
    portable = QKeySequence.SequenceFormat.PortableText
    return {each.key().toString(portable) for each in widget.findChildren(QShortcut)} - {""}


def test_shift_f1_lists_every_key_of_the_window(window: MainWindow, qtbot: QtBot) -> None:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    QTest.keyClick(window, Qt.Key.Key_F1, Qt.KeyboardModifier.ShiftModifier)
    assert window.places.here == "keys"
    page = window.places.page("keys")
    texts = [label.text() for label in page.findChildren(QLabel)]
    listed = {key for text in texts for key in text.strip("\u2066\u2069").split(", ")}
    assert {title for title, _ in GROUPS} <= set(texts)
    assert {shown(keys) for keys in bound(window)} <= listed
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert window.places.here == ""


def test_every_key_of_the_window_that_is_listed_is_bound(window: MainWindow) -> None:
    listed = {keys for each in WINDOW for keys in each.keys}
    assert listed | {place.keys for place in PLACES if place.keys} <= bound(window)


def test_the_page_leads_to_the_keys_of_the_desktop(window: MainWindow) -> None:
    window.places.go("keys")
    window.places.page("keys").choose.click()  # type: ignore[attr-defined]
    assert window.places.here == "settings"


def test_a_key_that_is_not_in_the_table_cannot_be_bound(window: MainWindow) -> None:
    with pytest.raises(KeyError):
        bind(window, QUICK, dance=window.close)


def test_no_key_of_the_window_is_one_that_fields_take(window: MainWindow) -> None:
    """X11's habits, which the platform of these tests does not have, and Emacs's."""
    taken = {f"Ctrl+{letter}" for letter in "ABCDEKPUVWXY"}
    assert not taken & bound(window)
