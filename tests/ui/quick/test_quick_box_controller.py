"""The quick box and the window: one key, one voice, and a conversation that moves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from jarvis_desktop.core.events import ReplyChunk
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.speech import HotkeyStatus, Talking, Transcript
from jarvis_desktop.core.turn import Request
from jarvis_desktop.settings import Settings, SpeechSettings, WindowSettings
from jarvis_desktop.ui.main_window import MainWindow
from jarvis_desktop.ui.quick.overlay import PhaseTracker
from jarvis_desktop.ui.quick.quick_box import QuickBoxController
from tests.fake_voice import FakeHotkey
from tests.ui.scene import FakeApp, Shown


@pytest.fixture
def controller(window: MainWindow, qtbot: QtBot) -> Iterator[QuickBoxController]:
    controller = QuickBoxController(
        window, PhaseTracker(window.session, window.talker, window), window
    )
    yield controller
    if isValid(controller.overlay):
        controller.close()


def bind(controller: Any, key: FakeHotkey) -> None:
    controller.bind(key)


def test_the_key_of_the_desktop_opens_the_box_with_its_token(
    controller: QuickBoxController, app: FakeApp, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "")
    key = app.quick_key
    with qtbot.waitSignal(controller.key_changed) as told:
        bind(controller, key)
    assert told.args == ["Ctrl+Alt+Space"]
    key.token = "tok"
    assert key.press
    controller._session.engine.call(key.press)
    qtbot.waitUntil(lambda: controller._box is not None and controller.box.isVisible())
    assert os.environ["XDG_ACTIVATION_TOKEN"] == "tok"
    controller._session.engine.call(key.press)
    qtbot.waitUntil(lambda: not controller.box.isVisible())
    with qtbot.waitSignal(controller.key_changed) as told:
        controller._session.engine.call(key.become, HotkeyStatus(why="It was taken."))
    assert told.args == [""]


def test_another_key_is_asked_for_only_where_it_changed(
    controller: QuickBoxController, app: FakeApp, qtbot: QtBot
) -> None:
    bind(controller, app.quick_key)
    controller.adopt(Settings())
    controller.adopt(Settings())
    controller.adopt(Settings(window=WindowSettings(quick_key="F9")))
    qtbot.waitUntil(lambda: app.quick_key.chosen == ["F9"])


def test_the_box_is_made_before_it_is_needed(controller: QuickBoxController, app: FakeApp) -> None:
    bind(controller, app.quick_key)
    assert controller._warming.isActive()
    assert controller._box is None
    controller._warming.timeout.emit()
    assert controller._box is not None
    assert not controller.box.isVisible()


def test_answers_are_spoken_as_in_the_window(
    controller: QuickBoxController, window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    window.session.settled.emit(Settings(speech=SpeechSettings(speak_typed=True)))
    controller.appear()
    controller.box.line.field.setPlainText("hello")
    controller.box.line.send()
    qtbot.waitUntil(lambda: len(app.assistant.handled) == 1)
    assert app.assistant.handled[0][0].speak
    assert window.conversation.panels() == []
    assert window.session.open.entries == []


def test_ctrl_enter_moves_all_of_it_into_the_window(
    controller: QuickBoxController, window: MainWindow, picture: Path, qtbot: QtBot
) -> None:
    controller.appear()
    box = controller.box
    box.line.field.setPlainText("hello")
    box.line.send()
    session = window.session
    place = session.quick
    qtbot.waitUntil(lambda: not session.busy)
    box.line.field.setPlainText("and more")
    box.line.offer([picture])
    qtbot.waitUntil(lambda: box.line.attached.files() == (picture,))
    with qtbot.waitSignal(controller.window_wanted):
        qtbot.keyClick(box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert not box.isVisible()
    assert session.open is place
    assert session.quick is not place
    assert window.stack.currentWidget() is window.conversation
    assert window.composer.field.toPlainText() == "and more"
    qtbot.waitUntil(lambda: window.composer.attached.files() == (picture,))
    assert box.line.is_empty()


def test_with_nothing_asked_it_only_shows_the_window(
    controller: QuickBoxController, window: MainWindow, qtbot: QtBot
) -> None:
    place = window.session.open
    controller.appear()
    with qtbot.waitSignal(controller.window_wanted):
        controller.box.window_wanted.emit()
    assert window.session.open is place


def test_the_boxs_conversation_is_the_same_where_the_window_opens_it(
    controller: QuickBoxController, window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    controller.appear()
    session = window.session
    window.send(Request("one"), session.quick)
    qtbot.waitUntil(lambda: not session.busy)
    assert session.quick.id
    session.open_conversation(session.quick.id)
    assert session.open is session.quick
    window.send(Request("two"), session.quick)
    qtbot.waitUntil(lambda: len(session.open.entries) == 2 and not session.busy)


def test_a_question_of_the_box_is_no_news_for_the_window(
    controller: QuickBoxController, window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    async def script(request: Request, shown: Shown) -> Status:
        await shown.frontend.confirm("Sure?")
        shown.show(ReplyChunk("sure"))
        return Status.DONE

    app.assistant.script = script
    controller.appear()
    window.send(Request("one"), window.session.quick)
    qtbot.waitUntil(lambda: controller.box.reply.panel is not None)
    assert not window.banner.isVisible()


def test_a_question_goes_with_its_conversation_into_the_window(
    controller: QuickBoxController, window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    async def script(request: Request, shown: Shown) -> Status:
        shown.show(ReplyChunk(await shown.frontend.ask("Which language?")))
        return Status.DONE

    app.assistant.script = script
    session = window.session
    controller.appear()
    window.send(Request("Translate it"), session.quick)
    qtbot.waitUntil(lambda: controller.box.reply.panel is not None)
    session.open_place(session.quick)
    assert not controller.box.isVisible()
    assert controller.box.reply.panel is None
    controller.appear()
    assert controller.box.scroller.isHidden()
    app.assistant.script = answering
    controller.box.take(Transcript("What time is it?", "fake"))
    qtbot.waitUntil(lambda: bool(session.quick.entries))
    running = session.running
    assert running
    assert running.place is session.open
    assert running.question
    running.question.answer("German")
    qtbot.waitUntil(lambda: not session.busy)
    assert session.open.entries[0].turn.reply == "German"
    assert session.quick.entries[0].turn.reply == "Here you are."


async def answering(request: Request, shown: Shown) -> Status:
    shown.show(ReplyChunk("Here you are."))
    return Status.DONE


def speak(window: MainWindow, words: str) -> None:
    talker = window.talker
    talker._happened(Talking("listening", held=True))
    talker._happened(Talking("recognising"))
    talker.heard.emit(Transcript(words, "fake"))
    talker._happened(Talking("idle"))


def test_what_is_said_goes_to_where_the_person_is(
    controller: QuickBoxController, window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    session = window.session
    controller.appear()
    qtbot.waitUntil(lambda: controller.is_looked_at)
    speak(window, "to the box")
    qtbot.waitUntil(lambda: len(session.quick.entries) == 1 and not session.busy)
    controller.box.leave()
    speak(window, "to the window")
    qtbot.waitUntil(lambda: len(session.open.entries) == 1 and not session.busy)
    heard = session.quick.entries[0].request.heard
    assert heard
    assert heard.text == "to the box"


def test_nothing_heard_is_told_in_the_box(
    controller: QuickBoxController, window: MainWindow, qtbot: QtBot
) -> None:
    controller.appear()
    qtbot.waitUntil(lambda: controller.is_looked_at)
    window.talker._happened(Talking("listening", held=True))
    window.talker.unheard.emit("The microphone gives only silence.")
    assert controller.box.line.unheard.reason.text() == "The microphone gives only silence."
    assert not window.composer.unheard.isVisible()


def test_the_overlay_is_not_there_while_the_box_is_looked_at(
    controller: QuickBoxController, window: MainWindow, qtbot: QtBot
) -> None:
    controller.adopt(Settings())
    controller.appear()
    qtbot.waitUntil(lambda: controller.is_looked_at)
    controller.see(False)
    window.talker._happened(Talking("listening", held=True))
    assert not controller.overlay.isVisible()
    controller.box.leave()
    controller.see(False)
    assert controller.overlay.isVisible()


def test_talking_begins_and_ends_by_the_same_wish(
    controller: QuickBoxController, window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    for name in ("start", "stop"):
        monkeypatch.setattr(window.talker, name, lambda name=name: told.append(name))
    controller.talk()
    window.talker._happened(Talking("listening"))
    controller.talk()
    assert told == ["start", "stop"]


def test_a_window_that_is_made_anew_takes_the_key_over(
    controller: QuickBoxController, window: MainWindow, app: FakeApp, qtbot: QtBot
) -> None:
    bind(controller, app.quick_key)
    qtbot.waitUntil(lambda: app.quick_key.press is not None)
    first = app.quick_key.press
    controller.close()
    other = QuickBoxController(window, PhaseTracker(window.session, window.talker, window), window)
    bind(other, app.quick_key)
    qtbot.waitUntil(lambda: app.quick_key.press not in (None, first))
    assert app.quick_key.press
    window.session.engine.call(app.quick_key.press)
    qtbot.waitUntil(lambda: other._box is not None and other.box.isVisible())
    assert controller._box is None
    other.close()
