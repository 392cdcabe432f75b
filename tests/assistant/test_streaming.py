"""Whole turns with an LLM that writes the answer, on its good days and its bad ones."""

from __future__ import annotations

import asyncio

import pytest

from jarvis_desktop.assistant.memory import MIN_SUMMARISED, RECENT_TURNS
from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import AnswerDirectly, Context
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Request, Turn
from tests.assistant.conftest import NOON, House, names
from tests.fake_voice import write_wav
from tests.fakes import FakeLLM
from tests.types import CLOCK, SHORTEN, SPEAK

GONE = UnavailableError("The server is gone.")


def talking(house: House, *answers: object) -> FakeLLM:
    """An LLM answers, and needs no expert for it."""
    house.planner.planned = AnswerDirectly()
    house.llms.llm = llm = FakeLLM(answers)  # type: ignore[arg-type]
    return llm


def chunks(house: House) -> list[str]:
    return [item.text for item in house.frontend.events if isinstance(item, events.ReplyChunk)]


async def test_a_question_that_needs_no_expert_is_answered_by_the_llm(house: House) -> None:
    talking(house, "A long inlet.")
    turn = await house.handle(Request(text="What is a fjord?"))
    assert (turn.reply, turn.status) == ("A long inlet.", Status.DONE)
    assert chunks(house) == ["A ", "long ", "inlet."]
    assert turn.trace == ("Prompt: direct 2.", "The answer is written by fake:1b (ollama).")
    assert house.history.kept["c"] == [turn]


async def test_an_llm_that_went_between_planning_and_answering(house: House) -> None:
    house.planner.planned = AnswerDirectly()
    turn = await house.handle(Request(text="What is a fjord?"))
    assert turn.reply.startswith("There is no language model to answer that now.")
    assert turn.status is Status.FAILED


async def test_an_llm_that_is_killed_in_the_middle(house: House) -> None:
    talking(house, ("A long", " in", GONE))
    turn = await house.handle(Request(text="What is a fjord?"))
    assert turn.reply == "A long in\n\nThe answer broke off here: The server is gone."
    assert turn.status is Status.PARTLY
    assert house.history.kept["c"] == [turn]


async def test_an_empty_answer_has_a_reason(house: House) -> None:
    talking(house, ())
    turn = await house.handle(Request(text="What is a fjord?", speak=True))
    assert turn.reply == "fake:1b gave an empty answer. Ask again in other words."
    assert turn.status is Status.FAILED
    assert house.voice.said == ["fake:1b gave an empty answer.", "Ask again in other words."]


async def test_a_bug_in_the_middle_of_an_answer_is_told_apart_from_it(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    llm = talking(house, "A long inlet.")
    plain = llm.stream

    async def stream(prompt: object) -> object:
        async for piece in plain(prompt):  # type: ignore[arg-type]
            yield f"{piece} "
            raise KeyError("ours")

    llm.stream = stream  # type: ignore[assignment, method-assign]
    turn = await house.handle(Request(text="What is a fjord?"))
    assert turn.reply.startswith("A \n\nSomething went wrong inside JARVIS itself.")
    caplog.clear()


@pytest.mark.no_cover
async def test_ten_thousand_pieces_arrive_and_are_kept(house: House) -> None:
    talking(house, tuple(f"word{number}. " for number in range(10_000)))
    turn = await house.handle(Request(text="Tell me everything."))
    assert len(chunks(house)) == 10_000
    assert turn.reply.endswith("word9999. ")


async def until(house: House, count: int) -> None:
    while len(chunks(house)) < count:
        await asyncio.sleep(0)


async def test_stopping_in_the_middle_keeps_what_was_said(house: House) -> None:
    llm = talking(house, tuple(f"word{number} " for number in range(10_000)))
    running = asyncio.create_task(house.handle(Request(text="Tell me everything.")))
    await until(house, 100)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert llm.stopped == 1
    kept = house.history.kept["c"][0]
    assert kept.status is Status.CANCELLED
    assert kept.reply.startswith("word0 word1 ")
    assert kept.reply.endswith("\n\nStopped.")
    assert names(house)[-2:] == ["ReplyChunk", "TurnFinished"]


async def test_the_answer_is_spoken_while_it_is_written_and_silenced_at_once(house: House) -> None:
    llm = talking(house, ("First sentence. Second one. Third ",))
    llm.hold = True  # it goes on writing
    house.player.hold = True
    running = asyncio.create_task(house.handle(Request(text="Talk.", speak=True)))
    while not house.player.played or len(house.voice.said) < 2:
        await asyncio.sleep(0)
    assert house.voice.said == ["First sentence.", "Second one."]
    assert house.history.kept == {}
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert house.player.stopped == 1
    kept = house.history.kept["c"][0]
    assert kept.reply == "First sentence. Second one. Third \n\nStopped."
    assert llm.stopped == 1


async def test_silence_ends_the_voice_and_nothing_else(house: House) -> None:
    llm = talking(house, ("First sentence. Second one. Third ",))
    llm.hold = True  # it goes on writing
    house.player.hold = True
    running = asyncio.create_task(house.handle(Request(text="Talk.", speak=True)))
    while not house.player.played:
        await asyncio.sleep(0)
    house.assistant.silence()
    assert house.frontend.events[-1] == events.Speaking("")
    told = len(house.frontend.events)
    house.assistant.silence()  # there is nothing more to silence
    assert len(house.frontend.events) == told
    while not house.player.stopped:
        await asyncio.sleep(0)
    assert llm.stopped == 0
    assert not running.done()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running


async def test_a_new_request_ends_what_is_said_and_not_what_is_yet_to_be_said(
    house: House,
) -> None:
    llm = talking(house, ("First sentence. Second one. Third ",))
    llm.hold = True  # it goes on writing
    house.player.hold = True
    first = asyncio.create_task(house.handle(Request(text="Talk.", speak=True)))
    while not house.player.played:
        await asyncio.sleep(0)
    waiting = asyncio.create_task(
        house.assistant.handle(Request(text="Talk.", speak=True), house.frontend, conversation="d")
    )
    while not house.player.stopped:
        await asyncio.sleep(0)
    assert not first.done()
    while len(house.player.played) < 2:  # of the second request: it may be heard
        await asyncio.sleep(0)
    house.assistant.end_speech()
    while house.player.stopped < 2:
        await asyncio.sleep(0)
    for running in (first, waiting):
        assert not running.done()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running


async def test_speech_of_no_turn_ends_with_a_new_request(house: House) -> None:
    house.player.hold = True
    reading = asyncio.create_task(house.assistant._dependencies.speaker.say("An old one.", print))
    while not house.player.played:
        await asyncio.sleep(0)
    await house.handle(Request(text="What time is it?"))
    await reading
    assert house.player.stopped == 1


async def test_a_silenced_answer_is_whole_and_done(house: House) -> None:
    talking(house, "First sentence. Second one.")
    house.player.hold = True
    running = asyncio.create_task(house.handle(Request(text="Talk.", speak=True)))
    while not house.history.kept or not house.player.played:
        await asyncio.sleep(0)
    assert events.Kept() in house.frontend.events  # so that it is listed while it is spoken
    house.assistant.silence()
    turn = await running
    assert (turn.status, turn.reply) == (Status.DONE, "First sentence. Second one.")
    assert len(house.player.played) == 1
    assert names(house)[-1] == "TurnFinished"
    house.assistant.silence()
    assert names(house)[-1] == "TurnFinished"


async def test_stopping_twice_keeps_the_turn_all_the_same(house: House) -> None:
    talking(house, ("First sentence. Second one.",)).hold = True
    house.player.hold = True
    running = asyncio.create_task(house.handle(Request(text="Talk.", speak=True)))
    while not house.player.played:
        await asyncio.sleep(0)
    running.cancel()
    await asyncio.sleep(0)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert house.history.kept["c"][0].status is Status.CANCELLED
    assert names(house)[-1] == "TurnFinished"


async def test_the_answer_is_kept_the_moment_it_is_whole(house: House) -> None:
    talking(house, "First sentence. Second one.")
    house.player.hold = True
    running = asyncio.create_task(house.handle(Request(text="Talk.", speak=True)))
    while not house.history.kept or not house.player.played:
        await asyncio.sleep(0)
    assert house.history.kept["c"][0].status is Status.DONE
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert house.player.stopped == 1


async def test_the_llm_reads_the_beginning_of_a_prompt_before_the_request(house: House) -> None:
    house.llms.llm = llm = FakeLLM()
    await house.assistant.warm()
    assert [prompt.longest for prompt in llm.prompts] == [1]


async def test_results_are_the_answer_even_with_an_llm(house: House) -> None:
    def does(candidate: object, call: object) -> list[Artifact]:
        return [text_artifact("No entry.")]

    house.backend.does = does
    house.planner.planned = Plan((Task(0, CLOCK), Task(1, SHORTEN, {"text": "a"})))
    house.llms.llm = llm = FakeLLM(("Both say: No entry.",))
    turn = await house.handle(Request(text="read both"))
    assert turn.reply == "Clock: No entry.\n\nSummarization: No entry."
    assert turn.status is Status.DONE
    assert llm.prompts == []


async def test_speech_that_was_asked_for_is_heard_instead_of_the_words(house: House) -> None:
    def does(candidate: object, call: object) -> list[Artifact]:
        return [Artifact(Kind.AUDIO, path=write_wav(call.workdir / "speech.wav"))]  # type: ignore[attr-defined]

    house.backend.does = does
    house.planner.planned = Plan(
        (Task(0, SPEAK, {"text": "Hello."}), Task(1, SPEAK, {"text": "Bye."}))
    )
    house.llms.llm = FakeLLM(("I said hello and bye.",))
    turn = await house.handle(Request(text="say hello and bye", speak=True))
    assert turn.reply == "Text to speech: Hello.\n\nText to speech: Bye."
    assert len(house.player.played) == 2
    assert house.voice.said == []


async def test_speech_that_was_asked_for_can_be_silenced(house: House) -> None:
    def does(candidate: object, call: object) -> list[Artifact]:
        return [Artifact(Kind.AUDIO, path=write_wav(call.workdir / "speech.wav"))]  # type: ignore[attr-defined]

    house.backend.does = does
    house.player.hold = True
    house.planner.planned = Plan(
        (Task(0, SPEAK, {"text": "Hello."}), Task(1, SPEAK, {"text": "Bye."}))
    )
    house.llms.llm = FakeLLM(("I said hello and bye.",))
    running = asyncio.create_task(house.handle(Request(text="say hello and bye")))
    while not house.player.played:
        await asyncio.sleep(0)
    house.assistant.silence()
    turn = await running
    assert turn.status is Status.DONE
    assert len(house.player.played) == house.player.stopped == 1


async def test_an_answer_never_waits_for_the_summing_up(house: House) -> None:
    begun: list[str] = []
    left: list[str] = []

    async def settle(conversation_id: str) -> None:
        begun.append(conversation_id)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            left.append(conversation_id)
            raise

    house.assistant._dependencies.memory.settle = settle  # type: ignore[method-assign]
    talking(house, "Yes.")
    for number in range(2):
        turn = await house.handle(Request(text="Really?"))
        assert turn.status is Status.DONE
        while len(begun) <= number:
            await asyncio.sleep(0)
    assert left == ["c"]
    await house.assistant.close()
    assert left == ["c", "c"]


async def test_a_turn_that_was_not_kept_is_not_summed_up(house: House) -> None:
    begun: list[str] = []

    async def settle(conversation_id: str) -> None:
        begun.append(conversation_id)

    house.assistant._dependencies.memory.settle = settle  # type: ignore[method-assign]
    house.history.error = ExpertError("The disk is full.")
    talking(house, "Yes.")
    await house.handle(Request(text="Really?"))
    await house.assistant.close()
    assert begun == []


def test_nobody_need_look_closer() -> None:
    Context().trace("Anything.")


async def test_closing_at_once_leaves_no_turn_out_of_the_summary(house: House) -> None:
    talking(house, "Yes.")
    for number in range(RECENT_TURNS + MIN_SUMMARISED - 1):
        house.history.save("c", Turn(f"t{number}", NOON, text="Hm?", reply="Yes."))
    await house.handle(Request(text="Really?"))
    await house.assistant.close()
    assert house.history.recap("c")
