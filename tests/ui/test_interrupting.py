"""Who begins to speak interrupts: what runs is stopped, and a goal is told what should differ."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.events import Speaking
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.main_window import MainWindow
from tests.ui import goal_scene, scene
from tests.ui.scene import FakeApp, Shown
from tests.ui.voice_scene import LEFT, Asked, Slow, line


def interrupted(asked: Asked, *, asks: asyncio.Event) -> None:
    """A goal is worked on, that asks what should be different once it is interrupted."""

    async def script(request: Request, shown: Shown) -> Status:
        if request.heard:
            return await scene.echo(request, shown)
        for event in goal_scene.under_way()[1:]:
            shown.show(event)
        await asked.app.assistant.cut.wait()
        await asks.wait()
        asked.answers.append(await shown.frontend.ask("What should be different?"))
        return Status.DONE

    asked.app.assistant.script = script
    asked.app.assistant.interrupts = [True]
    asked.window.send(Request("go"))
    turn = asked.window.session.open.entries[0]
    asked.qtbot.waitUntil(lambda: bool(turn.turn.rounds))


@pytest.mark.parametrize("when", ["while they speak", "while it is written down", "later"])
def test_who_interrupts_a_goal_by_voice_says_what_should_be_different(
    asked: Asked, slow: Slow, when: str
) -> None:
    asks, window = asyncio.Event(), asked.window
    call = window.session.engine.call
    interrupted(asked, asks=asks)
    asked.begin()
    asked.qtbot.waitUntil(lambda: asked.app.assistant.interrupted == 1)
    slow.hears = "Group by week"
    for now in ("while they speak", "while it is written down", "later"):
        if now == "while it is written down":
            QTest.mouseRelease(window.composer.talk, LEFT)
            asked.qtbot.waitUntil(lambda: window.talker.now.state == "recognising")
        if now == "later":
            call(slow.go_on.set)
            asked.qtbot.waitUntil(lambda: window.talker.now.state == "idle")
        if now == when:
            call(asks.set)
            asked.panel()
    field = line(asked.panel()).field
    asked.qtbot.waitUntil(lambda: field.toPlainText() == "Group by week")
    assert asked.answers == []
    assert len(window.session.open.entries) == 1


def test_words_for_a_goal_that_ends_instead_are_a_new_request(asked: Asked, slow: Slow) -> None:
    asks, window = asyncio.Event(), asked.window
    interrupted(asked, asks=asks)
    asked.speak()
    window.session.engine.call(slow.go_on.set)
    asked.qtbot.waitUntil(lambda: window.talker.now.state == "idle")
    assert len(window.session.open.entries) == 1  # it may still ask
    window.session.end()
    asked.qtbot.waitUntil(lambda: len(asked.app.assistant.handled) == 2)
    request = asked.app.assistant.handled[1][0]
    assert request.heard
    assert request.heard.text == "what time is it"


def test_what_runs_is_stopped_by_who_begins_to_speak(asked: Asked) -> None:
    asked.app.assistant.script = scene.for_ever
    window = asked.window
    window.send(Request("go"))
    asked.qtbot.waitUntil(lambda: bool(asked.app.assistant.handled))
    asked.app.assistant.script = scene.echo
    asked.speak()
    asked.qtbot.waitUntil(lambda: len(asked.app.assistant.turns) == 1)
    first, second = window.session.open.entries
    asked.qtbot.waitUntil(lambda: second.turn.status is Status.DONE)
    assert first.turn.status is Status.CANCELLED


def test_silencing_the_voice_stops_nothing(window: MainWindow, app: FakeApp, qtbot: QtBot) -> None:
    async def script(request: Request, shown: Shown) -> Status:
        for event in goal_scene.under_way()[1:]:
            shown.show(event)
        shown.show(Speaking("There are 251 rows."))
        return await scene.for_ever(request, shown)

    app.assistant.script = script
    window.send(Request("go"))
    waiting = window.session.send(Request("next"))
    view = window.conversation.views()[0]
    qtbot.waitUntil(lambda: bool(view.foot.isVisible() and view.foot.speak.isVisible()))
    QTest.mouseClick(view.foot.speak, LEFT)
    qtbot.waitUntil(lambda: app.assistant.silenced == 1)
    assert app.assistant.interrupted == 0
    assert window.session.busy
    assert waiting.waiting
    assert window.session.open.entries[0].turn.status is None
