"""The mode is always seen, said in words, and changed at once; more is opened only when agreed."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop import settings
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.ui.header import Header
from jarvis_desktop.ui.mode_picker import MEANINGS, ORDER, ModeChoice
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.settings.controller import SettingsController
from jarvis_desktop.ui.widgets.theme import Theme
from tests.ui.scene import FakeApp

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def choice(qtbot: QtBot, theme: Theme) -> ModeChoice:
    choice = ModeChoice()
    qtbot.addWidget(choice)
    choice.resize(400, 500)
    choice.show()
    return choice


def test_each_mode_says_what_it_means(choice: ModeChoice) -> None:
    assert tuple(Mode) == ORDER
    for mode, row in choice.rows.items():
        assert row.accessibleDescription() == MEANINGS[mode].means
    assert choice.rows[Mode.LOCAL].accessibleName() == "Local, which holds now"
    assert choice.rows[Mode.LITE].accessibleName() == "Lite"
    for mode in (Mode.HYBRID, Mode.LITE):
        assert "sent to the Hugging Face API" in MEANINGS[mode].opens


@pytest.mark.parametrize("before", list(Mode))
@pytest.mark.parametrize("after", list(Mode))
def test_only_what_opens_more_is_asked_about(choice: ModeChoice, before: Mode, after: Mode) -> None:
    taken: list[str] = []
    choice.changed.connect(taken.append)
    choice.show_value(before)
    QTest.mouseClick(choice.rows[after], LEFT)
    opens = ORDER.index(after) > ORDER.index(before)
    assert choice.question.isVisible() is opens
    if not opens:
        assert taken == [after.value]
        return
    assert choice.words.text() == MEANINGS[after].opens
    assert choice.focusWidget() is choice.no
    QTest.mouseClick(choice.no, LEFT)
    assert taken == []
    assert not choice.question.isVisible()
    QTest.mouseClick(choice.rows[after], LEFT)
    QTest.keyClick(choice, Qt.Key.Key_Escape)
    assert not choice.question.isVisible()
    QTest.mouseClick(choice.rows[after], LEFT)
    QTest.mouseClick(choice.yes, LEFT)
    assert taken == [after.value]
    assert choice.rows[before].isChecked()  # until it is told that another one holds


@pytest.mark.parametrize("width", [300, 700])
def test_a_question_changes_no_width_and_cuts_no_mode(
    width: int, qtbot: QtBot, theme: Theme
) -> None:
    """As it stands on a page: something else says how wide it is."""
    page, choice = QWidget(), ModeChoice()
    qtbot.addWidget(page)
    QVBoxLayout(page).addWidget(choice)
    page.resize(width, 700)
    page.show()
    wide = choice.width()
    for mode in (Mode.LITE, Mode.OFFLINE, Mode.OFFLINE):
        QTest.mouseClick(choice.rows[mode], LEFT)
        QApplication.processEvents()
        assert choice.width() == wide
        for row in choice.rows.values():
            assert row.height() >= row.heightForWidth(row.width())
            assert choice.rect().contains(row.geometry())


def test_the_arrows_go_from_one_to_the_next(choice: ModeChoice) -> None:
    choice.rows[Mode.LITE].setFocus()
    QTest.keyClick(choice.rows[Mode.LITE], Qt.Key.Key_Down)
    assert choice.focusWidget() is choice.rows[Mode.OFFLINE]
    QTest.keyClick(choice.rows[Mode.OFFLINE], Qt.Key.Key_Up)
    assert choice.focusWidget() is choice.rows[Mode.LITE]


@pytest.fixture
def header(qtbot: QtBot, theme: Theme, session: WindowSession, app: FakeApp) -> Header:
    header = Header(SettingsController(session, session))
    qtbot.addWidget(header)
    header.resize(1000, 56)
    header.show()
    assert not header.mode.isEnabled()
    with qtbot.waitSignal(session.settled):
        session.start(app.build)
    return header


@pytest.mark.qt_log_ignore("grabbing the keyboard", "propagateSizeHints", "raise")
def test_the_header_names_the_mode_and_changes_it_for_good(
    header: Header, session: WindowSession, app: FakeApp, qtbot: QtBot
) -> None:
    assert header.mode.text() == "Local"
    assert header.mode.accessibleName() == "Mode: Local"
    assert header.mode.accessibleDescription() == MEANINGS[Mode.LOCAL].means
    QTest.mouseClick(header.mode, LEFT)
    menu = header._menu
    assert menu.isVisible()
    QTest.mouseClick(menu.choice.rows[Mode.HYBRID], LEFT)
    QApplication.processEvents()
    assert menu.height() >= menu.sizeHint().height()
    with qtbot.waitSignal(session.settled):
        QTest.mouseClick(menu.choice.yes, LEFT)
    assert not menu.isVisible()
    assert header.mode.text() == "Hybrid"
    assert settings.load(app.paths.settings)[0].mode is Mode.HYBRID
    QTest.mouseClick(header.mode, LEFT)
    with qtbot.waitSignal(session.settled):
        QTest.keyClick(menu.choice.rows[Mode.OFFLINE], Qt.Key.Key_Space)
    assert app.adopted[-1].mode is Mode.OFFLINE
    assert header.mode.text() == "Offline"
    session.engine.submit(session.close_app()).result(60)


def test_in_a_narrow_header_the_mode_keeps_its_words(
    header: Header, session: WindowSession
) -> None:
    header.show_llm("qwen3.5:4b (Ollama)", "It is the best.")
    header.resize(460, 56)
    assert header.mode.text() == "Local"
    assert header.llm.text() == header.review.text() == ""
    assert header.minimumSizeHint().width() <= 460
    header.resize(1200, 56)
    assert header.review.text() == "Ask about larger plans"
    session.engine.submit(session.close_app()).result(60)
