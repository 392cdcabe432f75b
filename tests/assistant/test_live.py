from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from jarvis_desktop.assistant.journalling import Scribe
from jarvis_desktop.assistant.live import Live
from jarvis_desktop.assistant.speaker import Speaker
from jarvis_desktop.core.events import Noted, TurnFinished
from jarvis_desktop.core.journal import Unfinished
from jarvis_desktop.core.result import Status
from jarvis_desktop.core.turn import Turn
from tests.assistant.conftest import NOON
from tests.fake_journal import FakeJournal
from tests.fake_voice import FakePlayer, FakeVoice
from tests.fakes import FakeFrontend, FakeStore


def live_on(frontend: FakeFrontend, speaker: Speaker | None = None) -> Live:
    turn = Turn("t", NOON)
    scribe = Scribe(FakeJournal(), Unfinished("c", turn), acting=())
    return Live(turn, frontend, scribe=scribe, speaker=speaker)


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


async def test_a_paragraph_is_spoken_to_its_end_though_nothing_follows_yet(tmp_path: Path) -> None:
    voice, player = FakeVoice(), FakePlayer()
    live = live_on(FakeFrontend(), Speaker(voice, player, FakeStore(tmp_path)))
    live.say_apart("There are 251 rows.")
    while not player.played:
        await asyncio.sleep(0)
    live.say_apart("March was best.")
    await live.spoken()
    assert voice.said == ["There are 251 rows.", "March was best."]
    assert live.turn.reply == "There are 251 rows.\n\nMarch was best."


def test_a_note_after_the_end_of_everything_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def made() -> Live:
        return live_on(FakeFrontend())

    live = asyncio.run(made())
    with caplog.at_level(logging.INFO, "jarvis_desktop.assistant.live"):
        live.note("x was deleted.")
    assert caplog.messages == ["Noted after the end of a turn: x was deleted."]
