"""The first start: four pages, each of which can be left out, with what is needed to begin."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.policy import Mode
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.onboarding import FirstStart, LLMStep, ModeStep, RequestStep, VoiceStep
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.settings.speech_panels import RecogniserPanel
from tests.openai_server import running_openai_server
from tests.ui.scene import FakeApp

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def first(window: MainWindow, app: FakeApp, qtbot: QtBot) -> FirstStart:
    qtbot.waitUntil(lambda: window.session.app is not None)
    window.begin_first_start()
    assert window.first
    return window.first


def click(button: QAbstractButton) -> None:
    QTest.mouseClick(button, LEFT)


def shown(first: FirstStart) -> list[type]:
    return [type(step) for step in first.steps if step.isVisible()]


def test_it_goes_page_by_page_and_back(first: FirstStart) -> None:
    assert shown(first) == [ModeStep]
    assert not first.back.isVisible()
    assert first.place.text() == "1 of 4"
    for step in (VoiceStep, LLMStep, RequestStep):
        click(first.next)
        assert shown(first) == [step]
    assert first.next.text() == "Start"
    click(first.back)
    assert shown(first) == [LLMStep]


def test_better_recognisers_are_offered_with_the_voice(first: FirstStart, qtbot: QtBot) -> None:
    click(first.next)
    step = first.steps[1]
    assert isinstance(step, VoiceStep)
    panel = step.findChild(RecogniserPanel)
    assert panel
    qtbot.waitUntil(lambda: "understands English only" in panel.used.text())
    assert panel.isVisible()


def test_a_server_is_added_by_its_address(
    window: MainWindow, first: FirstStart, qtbot: QtBot
) -> None:
    for _ in range(2):
        click(first.next)
    step = first.steps[2]
    assert isinstance(step, LLMStep)
    form = step.server
    assert form
    with running_openai_server(llms=("qwen3-8b",)) as server:
        form.address.setText(server.address)
        click(form.look)
        qtbot.waitUntil(lambda: "qwen3-8b" in form.list.entries)
        (use,) = form.list.entries["qwen3-8b"].findChildren(QPushButton, "")
        with qtbot.waitSignal(window.settings_controller.saved):
            click(use)
    settings = window.settings_controller.now
    assert settings
    assert (settings.llm.id, settings.llm.address) == ("qwen3-8b", server.address)


def test_the_mode_is_chosen(
    window: MainWindow, first: FirstStart, app: FakeApp, qtbot: QtBot
) -> None:
    step = first.steps[0]
    assert isinstance(step, ModeStep)
    click(step.choice.rows[Mode.OFFLINE])
    click(first.next)
    with qtbot.waitSignal(window.settings_controller.saved):
        window.settings_controller.write()
    assert 'mode = "offline"' in app.paths.settings.read_text("utf-8")


def test_a_first_request_is_sent_and_it_is_over(
    window: MainWindow, first: FirstStart, app: FakeApp, qtbot: QtBot
) -> None:
    asking = first.steps[-1]
    assert isinstance(asking, RequestStep)
    for _ in range(3):
        click(first.next)
    click(asking.examples[1])
    qtbot.waitUntil(lambda: bool(app.assistant.handled))
    assert app.assistant.handled[0][0].text == "Set a timer for ten seconds"
    assert window.first is None


@pytest.mark.parametrize("way", ["escape", "skip", "through"])
def test_who_wants_none_of_it_is_not_asked_again(
    window: MainWindow,
    first: FirstStart,
    session: WindowSession,
    tmp_path: Path,
    way: str,
    qtbot: QtBot,
) -> None:
    assert window.is_first_start
    if way == "escape":
        QTest.keyClick(window, Qt.Key.Key_Escape)
    elif way == "skip":
        click(first.leave)
    else:
        for _ in range(4):
            click(first.next)
    assert window.first is None
    assert not window.is_first_start
    window.close()
    again = MainWindow(session, tmp_path / "window.ini")
    qtbot.addWidget(again)
    assert not again.is_first_start


def test_it_covers_the_window_whatever_its_size(window: MainWindow, first: FirstStart) -> None:
    window.resize(500, 450)
    parent = first.parentWidget()
    assert parent
    assert first.geometry() == parent.rect()
    assert first.minimumSizeHint().width() <= 460


def test_tab_goes_round_within(first: FirstStart) -> None:
    """The window beneath cannot be seen."""
    for _ in range(4):
        for forwards in (True, False):
            went = list[QWidget]()
            for _ in range(30):
                focused = first.window().focusWidget()
                assert focused
                assert first.isAncestorOf(focused)
                went.append(focused)
                QTest.keyClick(focused, Qt.Key.Key_Tab if forwards else Qt.Key.Key_Backtab)
            assert first.next in went
            assert len(set(went)) > 2
            assert went[-1] is went[-1 - len(set(went))], "it goes round"
        if first.next.text() != "Start":
            click(first.next)


def test_every_control_has_a_name_and_can_be_reached(first: FirstStart, qtbot: QtBot) -> None:
    for _ in range(4):
        for control in first.findChildren(QAbstractButton):
            if control.isVisible():
                assert control.accessibleName(), control
                assert control.focusPolicy() & Qt.FocusPolicy.TabFocus, control.accessibleName()
        if first.next.text() != "Start":
            click(first.next)
