"""The window and the tray, and what other processes ask of them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.app.ipc_client import LaunchRequest
from jarvis_desktop.assistant.talk.dictation import DictationState
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.turn import Request
from jarvis_desktop.settings import Settings, WindowSettings
from jarvis_desktop.ui.desktop.presence import TRAY_NOTE, Presence
from tests.ui.desktop.conftest import Desktop
from tests.ui.scene import FakeApp


def settle(presence: Presence, **window: object) -> None:
    presence._settled(Settings(window=WindowSettings.model_validate(window)))


def test_closing_the_window_leaves_jarvis_in_the_tray_and_says_so_once(
    presence: Presence, desktop: Desktop
) -> None:
    window = presence.window
    for _ in range(2):
        assert not window.close()
        assert not window.isVisible()
        presence.show()
        assert window.isVisible()
    assert [note.key for note in desktop.notes] == [TRAY_NOTE]


def test_a_dictation_is_shown_at_the_microphone_of_the_window(
    presence: Presence, app: FakeApp, qtbot: QtBot
) -> None:
    voice = presence.window.header.voice
    presence.window.session.engine.call(app.microphone._become, "open")
    qtbot.waitUntil(lambda: voice.text() == "Open, not recording")
    presence.dictation._show(DictationState("listening"))
    assert voice.text() == "Listening"
    assert voice.property("microphone") == "hearing"
    presence.dictation._show(DictationState("recognising"))
    assert voice.text() == "Open, not recording"
    presence.dictation._show(DictationState())
    assert voice.property("microphone") == "open"


def test_a_dialog_that_is_closed_meanwhile_does_not_end_it(presence: Presence) -> None:
    assert QGuiApplication.quitOnLastWindowClosed()
    presence.window.close()
    assert not QGuiApplication.quitOnLastWindowClosed()
    presence.show()
    assert QGuiApplication.quitOnLastWindowClosed()


def test_without_a_tray_closing_it_ends_jarvis(presence: Presence, desktop: Desktop) -> None:
    desktop.has_tray = False
    assert presence.window.close()
    presence._settled(Settings())  # the settings may come later
    assert not presence.window.isVisible()


def test_where_the_tray_is_not_wanted_closing_it_ends_jarvis(presence: Presence) -> None:
    settle(presence, tray=False)
    assert presence.window.close()


def test_who_quits_is_obeyed(presence: Presence) -> None:
    presence.let_end()
    assert presence.window.close()


def test_ctrl_q_ends_jarvis_though_there_is_a_tray(
    presence: Presence, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[bool] = []
    monkeypatch.setattr(QApplication, "quit", lambda: ended.append(True))
    QTest.keyClick(presence.window, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    assert ended
    assert presence.window.close()


def test_a_window_is_never_hidden_without_a_tray(presence: Presence, desktop: Desktop) -> None:
    desktop.has_tray = False
    presence.hide()
    assert presence.window.isVisible()


@pytest.mark.parametrize("how", ["vanishes", "is not wanted"])
def test_a_tray_that_goes_gives_the_window_back(
    presence: Presence, desktop: Desktop, how: str
) -> None:
    presence.window.close()
    if how == "vanishes":
        desktop.has_tray = False
        presence.tray.look()
    else:
        settle(presence, tray=False)
    assert presence.window.isVisible()


def test_the_menu_shows_and_hides_the_window(presence: Presence) -> None:
    tray, window = presence.tray, presence.window
    assert tray.show_window.text() == "Hide the window"
    tray.show_window.trigger()
    assert not window.isVisible()
    assert tray.show_window.text() == "Show JARVIS"
    tray.show_window.trigger()
    assert window.isVisible()
    tray.speak.trigger()
    assert window.header.speak.isChecked() == tray.speak.isChecked()
    window.header.speak.toggle()
    assert window.header.speak.isChecked() == tray.speak.isChecked()


def test_it_starts_hidden_only_where_there_is_a_tray(early: Presence) -> None:
    early.begin(LaunchRequest(hidden=True))
    assert not early.window.isVisible()
    assert early.tray.is_there


def test_a_tray_that_comes_a_little_later_is_waited_for(trayless: Desktop, early: Presence) -> None:
    early.begin(LaunchRequest(hidden=True))
    assert not early.window.isVisible()
    trayless.has_tray = True
    early.tray.look()
    assert not early._late.isActive()
    assert not early.window.isVisible()


def test_where_none_comes_the_window_does(trayless: Desktop, early: Presence) -> None:
    early.begin(LaunchRequest(hidden=True))
    early._late.timeout.emit()
    assert early.window.isVisible()


def test_that_it_starts_hidden_is_remembered(early: Presence) -> None:
    settle(early, start_hidden=True)
    early.begin(LaunchRequest())
    assert not early.window.isVisible()
    early.begin(LaunchRequest(files=(Path("/etc/hosts"),)))
    assert early.window.isVisible()


def test_a_start_for_the_quick_box_opens_only_that(early: Presence, qtbot: QtBot) -> None:
    early.begin(LaunchRequest(quick=True))
    assert not early.window.isVisible()
    assert early.quick.box.isVisible()


def test_files_of_the_start_are_attached_once_they_were_looked_over(
    early: Presence, app: FakeApp, picture: Path, qtbot: QtBot
) -> None:
    early.begin(LaunchRequest(files=(picture,)))
    session = early.window.session
    session.start(app.build)
    attached = early.window.composer.attached
    qtbot.waitUntil(lambda: attached.files() == (picture,))
    session.engine.submit(session.close_app()).result(60)


# What other processes ask


def asked(presence: Presence, qtbot: QtBot, command: Mapping[str, object]) -> None:
    session = presence.window.session
    done = session.engine.submit(session.commands[str(command["do"])](command))  # type: ignore[arg-type]
    qtbot.waitUntil(done.done)
    assert done.result() == {}


def test_a_second_start_shows_the_window(presence: Presence, qtbot: QtBot) -> None:
    presence.window.close()
    asked(presence, qtbot, {"do": "show"})
    assert presence.window.isVisible()


def test_the_desktops_token_is_handed_to_qt(
    presence: Presence, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "")
    asked(presence, qtbot, {"do": "show", "token": "tok"})
    assert os.environ["XDG_ACTIVATION_TOKEN"] == "tok"
    for odd in (7, "a\0b"):
        asked(presence, qtbot, {"do": "show", "token": odd})
    assert os.environ["XDG_ACTIVATION_TOKEN"] == "tok"


def test_files_are_attached_and_the_window_shown(
    presence: Presence, picture: Path, qtbot: QtBot
) -> None:
    presence.window.close()
    asked(presence, qtbot, {"do": "open", "paths": [str(picture)]})
    assert presence.window.isVisible()
    qtbot.waitUntil(lambda: presence.window.composer.attached.files() == (picture,))


@pytest.mark.parametrize("paths", [None, "x", [1], [["a"]]])
def test_what_is_no_list_of_files_is_refused(
    presence: Presence, qtbot: QtBot, paths: object
) -> None:
    with pytest.raises(InputError, match="not files"):
        asked(presence, qtbot, {"do": "open", "paths": paths})


def test_the_quick_box_and_a_new_conversation_can_be_asked_for(
    presence: Presence, qtbot: QtBot
) -> None:
    window = presence.window
    window.send(Request("hello"))
    asked(presence, qtbot, {"do": "quick"})
    assert presence.quick.box.isVisible()
    assert window.session.open.entries
    asked(presence, qtbot, {"do": "new"})
    assert not window.session.open.entries


def test_the_settings_are_opened_from_the_tray(presence: Presence) -> None:
    presence.window.close()
    presence.tray.settings.trigger()
    assert presence.window.isVisible()
    assert presence.window.places.here == "settings"


@pytest.mark.qt_log_ignore(
    "grabbing the keyboard", "propagateSizeHints", "raise", "systemTrayWindowChanged"
)
def test_the_mode_is_changed_from_the_tray(presence: Presence, app: FakeApp, qtbot: QtBot) -> None:
    tray, header = presence.tray, presence.window.header
    assert not tray.modes.isEnabled(), "it is not known yet"
    presence._session.greet()
    assert tray.modes.isEnabled()

    def checked() -> list[str]:
        return [action.text() for action in tray.modes.actions() if action.isChecked()]

    actions = {action.text(): action for action in tray.modes.actions()}
    assert list(actions) == ["Offline", "Local", "Hybrid", "Lite"]
    assert checked() == ["Local"]
    presence.hide()
    actions["Offline"].trigger()
    qtbot.waitUntil(lambda: app.mode is Mode.OFFLINE and checked() == ["Offline"])
    assert not presence.window.isVisible(), "what closes more needs no question"
    actions["Hybrid"].trigger()
    assert checked() == ["Offline"], "not before the person agreed"
    assert presence.window.isVisible()
    choice = header._menu.choice
    assert choice.question.isVisible()
    choice.yes.click()
    qtbot.waitUntil(lambda: app.mode is Mode.HYBRID and checked() == ["Hybrid"])
    assert not header._menu.isVisible()


def test_nothing_is_left_on_the_screen(presence: Presence, qtbot: QtBot) -> None:
    presence.quick.appear()
    presence.close()
    assert not presence.tray.is_there
    assert not presence.quick.box.isVisible()
    assert not presence.quick.overlay.isVisible()


def test_an_answer_in_the_open_quick_box_is_no_news(
    presence: Presence, app: FakeApp, qtbot: QtBot
) -> None:
    session, past = presence.window.session, presence.window.history
    presence.quick.appear()
    qtbot.waitUntil(lambda: presence.quick.is_looked_at)
    session.send(Request("seen"), place=session.quick)
    qtbot.waitUntil(lambda: len(app.assistant.turns) == 1 and not session.busy)
    assert not past._unread
    presence.quick.box.leave()
    session.send(Request("not seen"), place=session.quick)
    qtbot.waitUntil(lambda: len(app.assistant.turns) == 2 and not session.busy)
    assert past._unread == {session.quick.id}
