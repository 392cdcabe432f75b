"""Questions that are answered aloud, by themselves or with the key."""

import asyncio

import pytest

from jarvis_desktop.assistant.talk.talk import TOO_LATE
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.speech import Talking, Unheard
from tests.assistant.talk.front import silence, sound, speaking


async def asked():
    """It was asked."""


async def test_a_question_is_answered_without_a_key(make, microphone, recogniser, front):
    recogniser.hears = "yes"
    microphone.sounds = [sound(0.9, before=True), speaking(0.5), silence(1.1)]
    answer = await make().answer(asked, limit=8)
    assert answer.text == "yes"
    assert recogniser.hearings[0].pcm == speaking(0.5).pcm + silence(1.1).pcm
    assert (front.said, front.barged) == ([], 0)


async def test_nobody_answers(make, microphone, recogniser, front):
    recogniser.error = InputError("There is no sound in your recording.")
    microphone.sounds = [silence(9)]
    assert await make().answer(asked, limit=8) is None
    assert not [event for event in front.events if isinstance(event, Unheard)]


async def test_the_key_answers_a_question_while_it_is_being_asked(make, microphone, front):
    microphone.sounds = [speaking(0.5)]
    talk = make(way="hold")
    asked = asyncio.Event()
    answering = asyncio.create_task(talk.answer(asked.wait, limit=8))
    await asyncio.sleep(0)
    talk.press()
    await front.shows("listening")
    talk.release()
    await front.shows("idle")
    asked.set()
    assert (await answering).text == "what time is it"
    assert (front.said, front.barged, microphone.listened) == ([], 0, 1)


async def test_the_key_takes_over_from_listening_by_itself(make, microphone, recogniser, front):
    talk = make(way="hold")
    microphone.sounds = [silence(0.1)]
    answering = asyncio.create_task(talk.answer(asked, limit=8))
    await front.shows("listening")
    talk.press()
    assert front.events[-1] == Talking("waiting", held=True, answers=True)
    await front.until(lambda: microphone.listened == 2)
    await front.shows("listening")
    assert recogniser.hearings[0].dropped
    talk.release()
    assert (await answering).text == "what time is it"


async def test_a_question_that_is_withdrawn_is_listened_for_no_more(make, microphone, front):
    talk = make()
    microphone.sounds = [silence(0.1)]
    answering = asyncio.create_task(talk.answer(asked, limit=8))
    await front.shows("listening")
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering
    await front.shows("idle")
    assert microphone.state == "closed"


async def test_of_two_questions_the_newer_one_is_answered_first(make, microphone, front):
    talk = make(way="hold")
    asked = asyncio.Event()
    first = asyncio.create_task(talk.answer(asked.wait, limit=8))
    second = asyncio.create_task(talk.answer(asked.wait, limit=8))
    await asyncio.sleep(0)
    microphone.sounds = [speaking(1)]
    talk.press()
    await front.shows("listening")
    talk.release()
    asked.set()
    assert (await second).text
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_one_who_speaks_already_is_asked_nothing(make, microphone, front):
    talk = make(way="hold")
    microphone.sounds = [speaking(1)]
    talk.press()
    await front.shows("listening")

    async def never():
        raise AssertionError("nobody would hear it")

    answering = asyncio.create_task(talk.answer(never, limit=8, early=True))
    await asyncio.sleep(0)
    talk.release()
    assert (await answering).text == "what time is it"


async def test_what_was_begun_before_a_question_does_not_agree_to_it(
    make, microphone, recogniser, front
):
    talk = make(way="hold")
    recogniser.hears = "okay, go ahead"
    microphone.sounds = [speaking(1)]
    talk.press()
    await front.shows("listening")
    asked_now = asyncio.Event()

    async def ask():
        recogniser.hears = "no"
        microphone.sounds = [speaking(0.5), silence(1.1)]
        asked_now.set()

    answering = asyncio.create_task(talk.answer(ask, limit=8))
    await asyncio.sleep(0)
    assert not asked_now.is_set()
    talk.release()
    assert (await answering).text == "no"
    assert front.said == ["okay, go ahead"]


async def test_an_answer_that_comes_too_late_is_no_request(make, microphone, front):
    talk = make(way="hold")
    waits = asyncio.Event()
    answering = asyncio.create_task(talk.answer(waits.wait, limit=8))
    await asyncio.sleep(0)
    microphone.sounds = [speaking(0.5)]
    talk.press()
    await front.shows("listening")
    answering.cancel()
    with pytest.raises(asyncio.CancelledError):
        await answering
    talk.release()
    await front.until(lambda: Unheard(TOO_LATE) in front.events)
    assert front.said == []


async def test_a_question_is_told_that_nobody_can_be_heard(make, microphone, front):
    microphone.error = UnavailableError("There is no microphone.")
    with pytest.raises(UnavailableError):
        await make().answer(asked, limit=8)


async def test_a_key_of_which_nobody_can_tell_counts_as_up(make, microphone, front):
    talk = make(way="hold")
    talk.press()
    talk.lose_key()
    talk.cancel()
    microphone.sounds = [speaking(0.5)]
    talk.press()
    await front.shows("listening")
    talk.release()
    await front.until(lambda: bool(front.said))


async def test_words_that_this_computer_said_before_an_interruption_are_left_out(
    make, microphone, recogniser, front
):
    recogniser.hears = "the picture shows a red bicycle stop that"
    microphone.sounds = [speaking(1), silence(1.1)]
    make(spoken=lambda: "The picture shows a red bicycle.").start(said=b"before")
    await front.until(lambda: front.said == ["stop that"])


async def test_where_its_own_voice_is_removed_all_words_are_the_users(
    make, microphone, recogniser, front
):
    recogniser.hears = "the picture once more"
    microphone.sounds = [speaking(1), silence(1.1)]
    talk = make(spoken=lambda: "The picture shows a red bicycle.")
    talk.start(said=b"before", echo_free=True)
    await front.until(lambda: front.said == ["the picture once more"])
