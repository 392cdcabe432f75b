"""What is told of JARVIS in one word."""

from __future__ import annotations

import asyncio

import pytest
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.events import ReplyChunk, Speaking
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.speech import Talking
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.quick.overlay import Phase, PhaseTracker
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.voice.talk import TalkController
from tests.ui.scene import FakeApp, FakeAssistant, Shown


@pytest.fixture
def talker(session: WindowSession) -> TalkController:
    return TalkController(session.engine, session)


@pytest.fixture
def phases(session: WindowSession, talker: TalkController) -> PhaseTracker:
    return PhaseTracker(session, talker, session)


def test_a_turn_thinks_asks_works_and_speaks(
    session: WindowSession, app: FakeApp, phases: PhaseTracker, qtbot: QtBot
) -> None:
    told: list[Phase] = []
    phases.changed.connect(lambda: told.append(phases.now))
    go_on = asyncio.Event()

    async def script(request: Request, shown: Shown) -> Status:
        await shown.frontend.confirm("Really?")
        shown.show(ReplyChunk("Six times seven "))
        shown.show(Speaking("is forty-two."))
        await go_on.wait()
        return Status.DONE

    app.assistant = FakeAssistant(script=script)
    with qtbot.waitSignal(session.ready):
        session.start(app.build)
    exchange = session.send(Request("x"))
    qtbot.waitUntil(lambda: exchange.question is not None)
    assert told == [Phase.THINKING, Phase.ASKING]
    assert exchange.question
    exchange.question.answer(True)
    qtbot.waitUntil(lambda: phases.now is Phase.SPEAKING)
    session.engine.call(go_on.set)
    qtbot.waitUntil(lambda: phases.now is Phase.IDLE)
    assert told[2:] == [Phase.THINKING, Phase.WORKING, Phase.SPEAKING, Phase.IDLE]
    session.engine.submit(session.close_app()).result(60)


def test_the_voice_comes_first(talker: TalkController, phases: PhaseTracker) -> None:
    for state, phase in (
        ("waiting", Phase.LISTENING),
        ("listening", Phase.LISTENING),
        ("recognising", Phase.THINKING),
        ("idle", Phase.IDLE),
    ):
        talker._happened(Talking(state))  # type: ignore[arg-type]
        assert phases.now is phase


def test_an_open_microphone_is_told_unless_it_listens(
    talker: TalkController, phases: PhaseTracker
) -> None:
    talker._opened("open")
    assert phases.microphone_open
    talker._happened(Talking("listening"))
    assert not phases.microphone_open
    talker._happened(Talking("idle"))
    assert phases.microphone_open
    talker._opened("closed")
    assert not phases.microphone_open
