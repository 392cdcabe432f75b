"""Return presses the button that has the keyboard, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QWindow
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.ui.widgets.forms import ReturnPresses


@pytest.fixture
def window(qtbot: QtBot, qapp: QApplication) -> Iterator[QWidget]:
    presses = ReturnPresses(qapp)
    window = QWidget()
    column = QVBoxLayout(window)
    column.addWidget(QPushButton("Next"))
    column.addWidget(QLineEdit())
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    yield window
    presses.deleteLater()


def _native(window: QWidget) -> QWindow:
    native = window.windowHandle()
    assert native
    return native


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_return_presses_the_button(window: QWidget, key: Qt.Key) -> None:
    button = window.findChild(QPushButton)
    assert button
    pressed: list[bool] = []
    button.clicked.connect(lambda: pressed.append(True))
    button.setFocus()
    QTest.keyClick(_native(window), key)
    assert len(pressed) == 1
    button.setEnabled(False)
    QTest.keyClick(_native(window), key)
    assert len(pressed) == 1


def test_what_is_no_button_has_its_return(window: QWidget, qtbot: QtBot) -> None:
    line = window.findChild(QLineEdit)
    assert line
    line.setFocus()
    with qtbot.waitSignal(line.returnPressed):
        QTest.keyClick(_native(window), Qt.Key.Key_Return)


def test_with_ctrl_it_means_something_else(window: QWidget) -> None:
    button = window.findChild(QPushButton)
    assert button
    pressed: list[bool] = []
    button.clicked.connect(lambda: pressed.append(True))
    button.setFocus()
    QTest.keyClick(_native(window), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not pressed
