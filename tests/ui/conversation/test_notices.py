"""What the window offers at its start where requests were cut off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.core.turn import Conversation, Request, Turn
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets.theme import Theme
from tests.ui import scene
from tests.ui.scene import NOW, FakeApp, done, text, three_steps

Open = Callable[..., MainWindow]


@pytest.fixture
def opened(
    qtbot: QtBot, theme: Theme, session: WindowSession, app: FakeApp, tmp_path: Path
) -> Iterator[Open]:
    """Opens the window where these requests were cut off, once it has looked."""

    def open_window(*left: Unfinished) -> MainWindow:
        app.assistant.left = list(left)
        window = MainWindow(session, tmp_path / "window.ini")
        qtbot.addWidget(window)
        window.show()
        with qtbot.waitSignal(session.ready):
            session.start(app.build)
        if left:
            qtbot.waitUntil(window.resume_notice.isVisible)
        return window

    yield open_window
    session.end()
    session.engine.submit(session.close_app()).result(60)


def cut_off(picture: Path, words: str = "Read this to me", **more: object) -> Unfinished:
    turn = Turn("t", NOW, words, plan=three_steps(picture), notes=("A note.",))
    turn = replace(turn, results={0: done(0, text("Dear Ada"))})
    return Unfinished("a", replace(turn, **more))  # type: ignore[arg-type]


def click(button: object) -> None:
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)  # type: ignore[call-overload]


def said(window: MainWindow) -> str:
    notice = window.resume_notice
    return f"{notice.title.text()}. {notice.words.text()}"


def test_it_goes_on_in_its_conversation(
    opened: Open, app: FakeApp, picture: Path, qtbot: QtBot
) -> None:
    earlier = Turn("e", NOW, "before", reply="That was before.", status=Status.DONE)
    app.history.conversations = {"a": Conversation("a", (earlier,))}
    window = opened(cut_off(picture))
    assert said(window) == (
        "“Read this to me” was interrupted. 1 of 3 steps is done. Finished steps are not repeated."
    )
    click(window.resume_notice.go_on)
    assert not window.resume_notice.isVisible()
    qtbot.waitUntil(lambda: len(app.assistant.turns) == 1 and not window.session.busy)
    assert window.session.open.id == "a"
    first, second = window.session.open.entries
    assert first.turn == earlier
    assert second.turn == app.assistant.turns[0]
    assert second.turn.results == cut_off(picture).turn.results
    assert second.turn.notes[0] == "A note."
    assert second.turn.notes.count("A note.") == 1
    window.conversation.draw_now()
    view = window.conversation.view(second)
    assert view
    assert "Plan · 1 of 3 done" in scene.words(view)
    assert "You said: Read this to me" in scene.words(view)


def test_of_a_plan_that_waited_nothing_is_said_to_be_kept(opened: Open, picture: Path) -> None:
    window = opened(cut_off(picture, results={}))
    assert said(window) == "“Read this to me” was interrupted. Nothing was done yet."
    assert window.resume_notice.go_on.isVisible()


def test_the_first_turn_of_a_conversation_begins_it(
    opened: Open, app: FakeApp, picture: Path, qtbot: QtBot
) -> None:
    window = opened(cut_off(picture))
    click(window.resume_notice.go_on)
    qtbot.waitUntil(lambda: len(app.assistant.turns) == 1 and not window.session.busy)
    assert window.session.open.id == "a"
    assert [item.turn.status for item in window.session.open.entries] == [Status.DONE]
    exchange = window.session.send(Request("and now?"))
    qtbot.waitUntil(lambda: exchange.turn.status is Status.DONE)
    assert app.assistant.handled[-1][1] == "a"


def test_of_several_the_oldest_comes_first_and_may_be_left(
    opened: Open, app: FakeApp, picture: Path, qtbot: QtBot
) -> None:
    one, two = cut_off(picture, "One"), cut_off(picture, "")
    window = opened(one, two)
    assert said(window).startswith("“One” was interrupted. ")
    assert said(window).endswith("1 more request after this one.")
    with qtbot.waitSignal(window.session.kept):
        click(window.resume_notice.leave)
    assert app.assistant.given_up == [one]
    assert said(window).startswith("A plan was interrupted. ")
    click(window.resume_notice.go_on)
    qtbot.waitUntil(lambda: len(app.assistant.turns) == 1)


def test_two_of_one_conversation_go_on_in_it(
    opened: Open, app: FakeApp, picture: Path, qtbot: QtBot
) -> None:
    window = opened(cut_off(picture, "One"), cut_off(picture, "Two"))
    click(window.resume_notice.go_on)
    click(window.resume_notice.go_on)
    qtbot.waitUntil(lambda: len(app.assistant.turns) == 2 and not window.session.busy)
    assert [item.turn.text for item in window.session.open.entries] == ["One", "Two"]


def test_a_plan_of_another_version_can_only_be_left(opened: Open, picture: Path) -> None:
    window = opened(cut_off(picture, plan=None))
    assert "It cannot be resumed" in said(window)
    assert not window.resume_notice.go_on.isVisible()
    assert window.resume_notice.leave.isVisible()


def test_what_goes_on_elsewhere_is_told(
    opened: Open, app: FakeApp, picture: Path, qtbot: QtBot
) -> None:
    window = opened(cut_off(picture, "One"), cut_off(picture, "Two"))
    app.assistant.error = InputError("This request is over already, or has been resumed elsewhere.")
    for button in (window.resume_notice.go_on, window.resume_notice.leave):
        window.banner.hide()
        click(button)
        qtbot.waitUntil(window.banner.isVisible)
        assert window.banner.message.text() == str(app.assistant.error)


def test_with_nothing_cut_off_nothing_is_offered(opened: Open, qtbot: QtBot) -> None:
    window = opened()
    exchange = window.session.send(Request("hello"))
    qtbot.waitUntil(lambda: exchange.turn.status is Status.DONE)
    assert not window.resume_notice.isVisible()


def test_a_journal_that_cannot_be_read_is_told(
    opened: Open, app: FakeApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked() -> list[Unfinished]:
        raise StorageError("The history is locked.")

    monkeypatch.setattr(app.assistant, "unfinished", locked)
    window = opened()
    qtbot.waitUntil(window.banner.isVisible)
    assert window.banner.message.text() == "The history is locked."
