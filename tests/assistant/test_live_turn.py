from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from jarvis_desktop.assistant.live_turn import JournalWriter, LiveTurn
from jarvis_desktop.assistant.speaker import AnswerSpeaker
from jarvis_desktop.assistant.talk.hands_free import HandsFree
from jarvis_desktop.core.events import Event, Noted, TurnFinished, Waiting, WaitReason
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.core.speech import Transcript
from jarvis_desktop.core.turn import Turn
from tests.assistant.conftest import NOON
from tests.fake_journal import FakeJournal
from tests.fake_voice import FakePlayer, FakeVoice
from tests.fakes import FakeFrontend, FakeStore


def live_on(frontend: FakeFrontend, speaker: AnswerSpeaker | None = None) -> LiveTurn:
    turn = Turn("t", NOON)
    journal_writer = JournalWriter(FakeJournal(), Unfinished("c", turn), acting=())
    return LiveTurn(turn, frontend, journal_writer=journal_writer, speaker=speaker)


async def test_a_note_of_a_thread_is_shown_and_a_late_one_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    frontend = FakeFrontend()
    live = live_on(frontend)
    await asyncio.to_thread(live.note, "x was deleted.")
    await asyncio.sleep(0)
    assert frontend.events == [Noted("x was deleted.")]
    live.show(TurnFinished(Status.DONE, NOON))
    with caplog.at_level(logging.INFO, "jarvis_desktop.assistant.live_turn"):
        live.note("y was deleted.")
        await asyncio.sleep(0)
    assert caplog.messages == ["Noted after the end of a turn: y was deleted."]
    assert Noted("y was deleted.") not in frontend.events


async def test_a_paragraph_is_spoken_to_its_end_though_nothing_follows_yet(tmp_path: Path) -> None:
    voice, player = FakeVoice(), FakePlayer()
    live = live_on(FakeFrontend(), AnswerSpeaker(voice, player, FakeStore(tmp_path)))
    live.say_apart("There are 251 rows.")
    while not player.played:
        await asyncio.sleep(0)
    live.say_apart("March was best.")
    await live.spoken()
    assert voice.said == ["There are 251 rows.", "March was best."]
    assert live.turn.reply == "There are 251 rows.\n\nMarch was best."


async def test_the_time_that_the_user_takes_is_counted() -> None:
    live, times = live_on(FakeFrontend()), iter((1.0, 3.5))
    live._loop = SimpleNamespace(time=lambda: next(times))  # type: ignore[assignment]
    assert await live.review(Plan(())) == Plan(())
    assert live.waited == 2.5


async def test_silence_reaches_the_stream_before_anything_else_runs(tmp_path: Path) -> None:
    player = FakePlayer(hold=True)
    speaker = AnswerSpeaker(FakeVoice(), player, FakeStore(tmp_path))
    live = live_on(FakeFrontend(), speaker)
    live.say_apart("There are 251 rows.")
    while not player.played:
        await asyncio.sleep(0)
    live.silence()
    assert player.silenced == 1
    await live.silent()
    playing = asyncio.create_task(live.play(speaker, tmp_path / "a.wav", "Hello."))
    await playing
    assert len(player.played) == 1


async def test_speech_that_was_there_is_silenced_too(tmp_path: Path) -> None:
    player = FakePlayer(hold=True)
    live = live_on(FakeFrontend())
    speaker = AnswerSpeaker(FakeVoice(), player, FakeStore(tmp_path))
    live.silence()  # nothing plays
    live = live_on(FakeFrontend())
    playing = asyncio.create_task(live.play(speaker, tmp_path / "a.wav", "Hello."))
    while not player.played:
        await asyncio.sleep(0)
    live.silence()
    assert player.silenced == 1
    await playing


class Aloud:
    """A person who answers aloud, and the voice that asks them."""

    def __init__(self, *answers: str, speaker: AnswerSpeaker | None = None) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []
        self.speaker = speaker

    async def answer(
        self, ask: Callable[[], Awaitable[None]], *, limit: float, early: bool = False
    ) -> Transcript | None:
        await ask()
        return Transcript(self.answers.pop(0), "fake")

    async def say(self, text: str, show: Callable[[Event], None]) -> None:
        self.asked.append(text)
        if self.speaker:
            await self.speaker.say(text, show)

    def slower(self) -> None:
        raise AssertionError("nobody wants that")


def hands_free_live(person: Aloud, *, speaker: AnswerSpeaker | None = None) -> LiveTurn:
    journal_writer = JournalWriter(FakeJournal(), Unfinished("c", Turn("t", NOON)), acting=())
    asks = HandsFree(person, person)  # type: ignore[arg-type]
    frontend = FakeFrontend(answer="typed")

    async def never(question: str, *, yes: str = "") -> str:
        await asyncio.Event().wait()
        return ""

    frontend.ask = frontend.confirm = never  # type: ignore[method-assign, assignment]
    return LiveTurn(
        Turn("t", NOON), frontend, journal_writer=journal_writer, speaker=speaker, hands_free=asks
    )


async def test_questions_are_put_hands_free_where_that_is_wanted() -> None:
    person = Aloud("yes", "no", "the second one")
    live = hands_free_live(person)
    assert await live.confirm("Fetch it?", by_voice=True)
    assert not await live.confirm("Delete it?")
    assert await live.ask("Which one?") == "the second one"
    assert person.asked == ["Fetch it?", "Delete it?", "Which one?"]


async def test_what_was_said_before_a_question_is_heard_before_it(tmp_path: Path) -> None:
    voice = FakeVoice()
    speaker = AnswerSpeaker(voice, FakePlayer(), FakeStore(tmp_path))
    live = hands_free_live(Aloud("yes", speaker=speaker), speaker=speaker)
    live.say("I looked at it.")
    async with asyncio.timeout(60):
        assert await live.confirm("Fetch it?", by_voice=True)
        live.say("Here it is.")
        await live.spoken()
    assert voice.said == ["I looked at it.", "Fetch it?", "Here it is."]


def test_a_note_after_the_end_of_everything_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    async def made() -> LiveTurn:
        return live_on(FakeFrontend())

    live = asyncio.run(made())
    with caplog.at_level(logging.INFO, "jarvis_desktop.assistant.live_turn"):
        live.note("x was deleted.")
    assert caplog.messages == ["Noted after the end of a turn: x was deleted."]


async def test_the_wait_for_the_llm_is_shown_once_for_all_prompts_of_a_turn() -> None:
    frontend = FakeFrontend()
    live = live_on(frontend)
    live.wait_for_llm(True, "t")  # behind another prompt of its own
    live.wait_for_llm(False, "t")
    assert frontend.events == []
    for waits in (True, True, False):
        live.wait_for_llm(waits, "another")
    assert live.turn.waits is WaitReason.LLM
    live.wait_for_llm(False, "another")
    assert frontend.events == [Waiting(WaitReason.LLM), Waiting(WaitReason.NOTHING)]
