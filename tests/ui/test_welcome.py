"""The start screen in every language of the window."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.localization import LANGUAGES, set_language
from jarvis_desktop.ui.welcome import Welcome

NARROW = 585
"""Pixels beside the list of conversations in a window that is 900 wide."""


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    set_language(request.param)
    yield request.param
    set_language("en")


@pytest.mark.usefixtures("theme", "language")
def test_the_examples_fit_into_a_narrow_window(qtbot: QtBot) -> None:
    welcome = Welcome()
    qtbot.addWidget(welcome)
    welcome.resize(NARROW, 600)
    welcome.show()
    QApplication.processEvents()
    assert welcome.horizontalScrollBar().maximum() == 0
    right = welcome.viewport().rect().right()
    assert all(
        button.mapTo(welcome.viewport(), button.rect().topRight()).x() <= right
        for button in welcome.buttons
    )
