"""What a person is notified of, and what becomes of a click on it."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.events import ReplyChunk
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.desktop import notifications
from jarvis_desktop.ui.desktop.notifications import Note, Notifier
from jarvis_desktop.ui.desktop.presence import Presence
from jarvis_desktop.ui.engine import EngineThread
from jarvis_desktop.ui.pending_turn import OpenConversation, PendingTurn
from tests.families import some
from tests.ui.desktop.conftest import Desktop
from tests.ui.scene import HOSTILE, NOW, FakeApp, Shown

TIMER = Timer("t1", "The <b>tea</b>", datetime.now().astimezone())


@pytest.fixture(autouse=True)
def away(presence: Presence) -> None:
    """The person looks at another program."""
    presence.telling._is_seen = lambda exchange: False


def ended(presence: Presence, seconds: float, reply: str = "It is **42**.") -> PendingTurn:
    """A turn that took so long."""
    session = presence.window.session
    turn = PendingTurn(session_turn(), session.open, Request("What is it?"))
    session.changed.emit(turn)
    finished = turn.turn.started + timedelta(seconds=seconds)
    turn.turn = replace(turn.turn, reply=reply, status=Status.DONE, finished=finished)
    session.changed.emit(turn)
    return turn


def session_turn():
    from jarvis_desktop.core.turn import Turn

    return Turn("t", NOW, "What is it?")


def test_long_work_that_ended_is_told_in_plain_words(presence: Presence, desktop: Desktop) -> None:
    ended(presence, 11)
    (note,) = desktop.notes
    assert note.title == "JARVIS is done"
    assert note.body == "What is it?: It is 42."
    assert [name for name, _ in note.actions] == ["default", "show", "speak"]


def test_short_work_is_not_told(presence: Presence, desktop: Desktop) -> None:
    ended(presence, 9)
    assert desktop.notes == []


def test_what_is_seen_is_not_told(presence: Presence, desktop: Desktop) -> None:
    presence.telling._is_seen = lambda exchange: True
    ended(presence, 60)
    assert desktop.notes == []


def test_who_wants_no_notes_gets_none(presence: Presence, desktop: Desktop) -> None:
    presence.telling.want(False)
    ended(presence, 60)
    presence.window.session.rang.emit(TIMER)
    assert desktop.notes == []


def test_what_was_stopped_and_what_comes_from_the_history_is_not_told(
    presence: Presence, desktop: Desktop
) -> None:
    session = presence.window.session
    turn = replace(session_turn(), status=Status.DONE, finished=NOW + timedelta(hours=1))
    session.changed.emit(PendingTurn(turn, session.open))
    running = PendingTurn(session_turn(), session.open)
    session.changed.emit(running)
    running.turn = replace(turn, status=Status.CANCELLED)
    session.changed.emit(running)
    assert desktop.notes == []


def test_each_turn_is_told_once(presence: Presence, desktop: Desktop) -> None:
    exchange = ended(presence, 60)
    presence.window.session.changed.emit(exchange)
    assert len(desktop.notes) == 1


def test_a_question_is_told(presence: Presence, app: FakeApp, desktop: Desktop, qtbot: QtBot):
    async def script(request: Request, shown: Shown) -> Status:
        await shown.frontend.confirm("Fetch 3 GB?")
        return Status.DONE

    app.assistant.script = script
    presence.window.send(Request("Draw a cat"))
    qtbot.waitUntil(lambda: len(desktop.notes) == 1)
    (note,) = desktop.notes
    assert note.title == "JARVIS has a question for you"
    assert note.body == "Draw a cat: Fetch 3 GB?"


def test_what_the_closed_box_was_asked_is_told_however_short(
    presence: Presence, app: FakeApp, desktop: Desktop, qtbot: QtBot
) -> None:
    async def script(request: Request, shown: Shown) -> Status:
        shown.show(ReplyChunk("42"))
        return Status.DONE

    app.assistant.script = script
    session = presence.window.session
    presence.window.send(Request("six times seven"), session.quick)
    qtbot.waitUntil(lambda: len(desktop.notes) == 1)
    presence.notifier.acted.emit(desktop.notes[0].key, "show", "")
    assert presence.quick.box.isVisible()


def test_the_box_s_conversation_is_seen_where_the_window_opened_it(
    presence: Presence, desktop: Desktop, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    window, session = presence.window, presence.window.session
    window.send(Request("one"), session.quick)
    qtbot.waitUntil(lambda: len(desktop.notes) == 1)
    assert session.quick.id
    session.open_conversation(session.quick.id)
    presence.telling._is_seen = presence._is_seen
    monkeypatch.setattr(window, "isActiveWindow", lambda: True)
    window.send(Request("two"))
    qtbot.waitUntil(lambda: not session.busy)
    assert len(desktop.notes) == 1
    presence.notifier.acted.emit(desktop.notes[0].key, "show", "")
    assert not presence.quick.is_open


def test_a_click_shows_the_conversation(
    presence: Presence, desktop: Desktop, app: FakeApp, qtbot: QtBot
) -> None:
    from jarvis_desktop.core.turn import Conversation

    exchange = ended(presence, 60)
    app.history.conversations["c-1"] = Conversation("c-1", (exchange.turn,))
    exchange.place = OpenConversation("c-1")
    presence.window.close()
    presence.notifier.acted.emit(desktop.notes[0].key, "default", "tok")
    assert presence.window.isVisible()
    qtbot.waitUntil(lambda: presence.window.session.open.id == "c-1")


def test_an_answer_is_read_aloud_from_its_note(
    presence: Presence, desktop: Desktop, qtbot: QtBot
) -> None:
    exchange = ended(presence, 60)
    with qtbot.waitSignal(presence.window.user_actions.read_aloud) as told:
        presence.notifier.acted.emit(desktop.notes[0].key, "speak", "")
    assert told.args == [exchange.turn]


def test_notes_go_when_the_window_is_looked_at(presence: Presence, desktop: Desktop) -> None:
    ended(presence, 60)
    presence.telling.seen()
    assert desktop.withdrawn == []
    presence.telling._is_seen = lambda exchange: True
    presence.telling.seen()
    assert desktop.withdrawn == [desktop.notes[0].key]


def test_a_timer_is_told_and_rings_again_where_that_is_wanted(
    presence: Presence, desktop: Desktop, app: FakeApp, qtbot: QtBot
) -> None:
    presence.window.session.rang.emit(TIMER)
    (note,) = desktop.notes
    assert (note.title, note.body) == ("The timer is up", "The <b>tea</b>")
    assert [name for name, _ in note.actions] == ["default", "stop", "again"]
    presence.notifier.acted.emit(note.key, "again", "")
    qtbot.waitUntil(lambda: len(app.timers.running) == 1)
    again = app.timers.running[0]
    assert again.label == TIMER.label
    assert (again.due - app.timers.now).total_seconds() == notifications.SNOOZE


def test_a_timer_is_silenced(
    presence: Presence, desktop: Desktop, app: FakeApp, qtbot: QtBot
) -> None:
    presence.window.session.rang.emit(TIMER)
    presence.notifier.acted.emit(desktop.notes[0].key, "stop", "")
    qtbot.waitUntil(lambda: app.assistant.silenced == 1)
    assert desktop.withdrawn == [desktop.notes[0].key]


@pytest.mark.parametrize("text", some(HOSTILE))
def test_hostile_answers_become_plain_words(
    presence: Presence, desktop: Desktop, text: str
) -> None:
    ended(presence, 60, reply=text)
    (note,) = desktop.notes
    assert isinstance(note, Note)


@pytest.mark.parametrize("system", ["linux", "win32"])
def test_where_the_desktop_shows_no_notes_the_tray_does(
    engine: EngineThread, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, system: str
) -> None:
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/at/all")
    monkeypatch.setattr(sys, "platform", system)
    shown: list[tuple[str, str]] = []
    notifier = Notifier(engine, lambda title, text: shown.append((title, text)))
    notifier.tell(Note("a", "title", "<i>text</i>"))
    qtbot.waitUntil(lambda: shown == [("title", "<i>text</i>")])
    with qtbot.waitSignal(notifier.acted) as told:
        notifier.clicked()
    assert told.args == ["a", "default", ""]
    notifier.withdraw("a")
    notifier.close()
