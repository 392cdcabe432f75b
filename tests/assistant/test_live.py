from __future__ import annotations

import asyncio
import logging

import pytest

from jarvis_desktop.assistant.journalling import Scribe
from jarvis_desktop.assistant.live import Live
from jarvis_desktop.core.events import Noted, TurnFinished
from jarvis_desktop.core.journal import Unfinished
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.turn import Turn
from tests.assistant.conftest import NOON
from tests.fake_journal import FakeJournal
from tests.fakes import FakeFrontend


def live_on(frontend: FakeFrontend) -> Live:
    turn = Turn("t", NOON)
    return Live(turn, frontend, scribe=Scribe(FakeJournal(), Unfinished("c", turn), acting=()))


async def test_a_note_of_a_thread_is_shown_and_a_late_one_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    frontend = FakeFrontend()
    live = live_on(frontend)
    await asyncio.to_thread(live.note, "x was deleted.")
    await asyncio.sleep(0)
    assert frontend.events == [Noted("x was deleted.")]
    live.show(TurnFinished(Status.DONE, NOON))
    with caplog.at_level(logging.INFO, "jarvis_desktop.assistant.live"):
        live.note("y was deleted.")
        await asyncio.sleep(0)
    assert caplog.messages == ["Noted after the end of a turn: y was deleted."]
    assert Noted("y was deleted.") not in frontend.events


def test_a_note_after_the_end_of_everything_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def made() -> Live:
        return live_on(FakeFrontend())

    live = asyncio.run(made())
    with caplog.at_level(logging.INFO, "jarvis_desktop.assistant.live"):
        live.note("x was deleted.")
    assert caplog.messages == ["Noted after the end of a turn: x was deleted."]
