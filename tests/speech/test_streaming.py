"""Live speech, and what can happen to the process that hears it."""

import asyncio
import logging
import os
import resource
import threading
from typing import Any

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.speech import Partial, Transcript
from jarvis_desktop.speech import streaming
from jarvis_desktop.speech.recogniser import (
    BROKEN_NOTE,
    CRASHED_NOTE,
    NO_CARD_NOTE,
    LocalRecogniser,
)
from jarvis_desktop.speech.streaming import (
    RESTARTED_NOTE,
    EngineRoute,
    LiveTranscription,
    StreamingResult,
)

PARROT = "tests.speech.live_engines:parrot"
PORTION = b"a" * 2048
"""As much as is told at once."""


def unseen(partial):
    pass


@pytest.fixture
async def recogniser(tmp_path):
    recogniser = LocalRecogniser(
        find_weights=lambda: tmp_path, shipped=tmp_path / "shipped", whisper=PARROT, idle_minutes=1
    )
    yield recogniser
    await recogniser.close()


class Asked:
    """A child whose calls are answered by the test."""

    def __init__(self):
        self.calls = []
        self.asked = asyncio.Event()

    async def call(self, what, number, told, pcm, final, *setting, timeout):
        answer = asyncio.get_running_loop().create_future()
        self.calls.append((number, told, bytes(pcm), final))
        self.timeouts = timeout
        self.answer = answer
        self.asked.set()
        return await answer

    async def next(self):
        await asyncio.wait_for(self.asked.wait(), 60)
        self.asked.clear()
        return self.calls[-1]


@pytest.fixture
def asked():
    return Asked()


def hearing(asked, show=unseen):
    return LiveTranscription([EngineRoute(asked)], show, set(), [], lambda: None)


def own_threads() -> int:
    """How many there are besides those of the loop's pool, which starts them as it likes."""
    return sum(not thread.name.startswith("asyncio") for thread in threading.enumerate())


async def partials(recogniser, told: bytes):
    """Tell it and wait until something of it was understood."""
    understood = asyncio.Event()

    def show(partial):
        if told.decode() in partial.text.replace(" ", ""):
            understood.set()

    hearing = recogniser.hear(show)
    hearing.add(told)
    await asyncio.wait_for(understood.wait(), 60)
    return hearing


async def test_a_pass_takes_all_sound_there_is_and_there_is_never_a_second(asked):
    heard = hearing(asked)
    await asked.next()
    for at in range(50):
        heard.add(bytes([at]) * 100)
    await asyncio.sleep(0)
    assert len(asked.calls) == 1
    asked.answer.set_result(StreamingResult())
    _, told, pcm, final = await asked.next()
    assert (told, len(pcm), final) == (0, 5000, False)
    heard.drop()


async def test_what_comes_while_a_pass_is_made_is_told_next(asked):
    heard = hearing(asked)
    await asked.next()
    heard.add(PORTION)
    asked.answer.set_result(StreamingResult())
    await asked.next()
    heard.add(b"a" * 2048)
    heard.add(b"b" * 2048)
    asked.answer.set_result(StreamingResult())
    _, told, pcm, _ = await asked.next()
    assert (told, pcm) == (2048, b"a" * 2048 + b"b" * 2048)
    heard.drop()


async def test_finishing_waits_for_one_pass_and_then_tells_the_rest(asked):
    heard = hearing(asked)
    await asked.next()
    finished = asyncio.create_task(heard.finish())
    heard.add(PORTION)
    await asyncio.sleep(0)
    heard.add(b"too late")
    asked.answer.set_result(StreamingResult())
    assert (await asked.next())[2:] == (PORTION, True)
    asked.answer.set_result(StreamingResult(transcript=Transcript("it", "whisper")))
    assert (await finished).text == "it"
    assert len(asked.calls) == 2


async def test_half_a_sample_waits_for_its_other_half(asked):
    heard = hearing(asked)
    await asked.next()
    heard.add(b"x" * 2049)
    asked.answer.set_result(StreamingResult())
    assert len((await asked.next())[2]) == 2048
    heard.drop()


async def test_a_partial_is_shown_once(asked):
    shown: list[Any] = []
    heard = hearing(asked, shown.append)
    for _ in range(3):
        await asked.next()
        heard.add(PORTION)
        asked.answer.set_result(StreamingResult("what time", "is it"))
    await asked.next()
    assert shown == [Partial("what time", "is it")]
    heard.drop()


async def test_a_pass_may_take_many_times_what_the_slowest_took_and_more_for_more_sound(asked):
    heard = hearing(asked)
    await asked.next()
    assert asked.timeouts == streaming.START_SECONDS
    heard.add(b"." * 32_000)
    asked.answer.set_result(StreamingResult(took=1.0))
    await asked.next()
    assert asked.timeouts == streaming.SLOWDOWN + streaming.SECONDS_PER_SECOND
    heard.add(PORTION)
    asked.answer.set_result(StreamingResult(took=0.1))
    await asked.next()
    assert streaming.SLOWDOWN < asked.timeouts < streaming.SLOWDOWN + 1
    heard.drop()


async def test_the_next_one_is_told_nothing_until_the_last_is_finished(asked):
    others: list[Any] = []
    first = LiveTranscription([EngineRoute(asked)], unseen, set(), others, lambda: None)
    one, *_ = await asked.next()
    finished = asyncio.create_task(first.finish())
    first.add(PORTION)
    second = LiveTranscription([EngineRoute(asked)], unseen, set(), others, lambda: None)
    second.add(PORTION)
    await asyncio.sleep(0)
    asked.answer.set_result(StreamingResult())
    number, _, _, final = await asked.next()
    assert (number, final) == (one, True)
    asked.answer.set_result(StreamingResult(transcript=Transcript("first", "whisper")))
    assert (await finished).text == "first"
    number, told, pcm, final = await asked.next()
    assert number > one
    assert (told, pcm, final) == (0, PORTION, False)
    second.drop()


async def test_dropping_leaves_the_pass_to_end_and_tells_nobody(asked):
    shown: list[Any] = []
    ended: list[Any] = []
    calls: set[Any] = set()
    others: list[Any] = []
    heard = LiveTranscription(
        [EngineRoute(asked)], shown.append, calls, others, lambda: ended.append(1)
    )
    await asked.next()
    heard.drop()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert (ended, others) == ([1], [])
    assert not asked.answer.done()
    asked.answer.set_result(StreamingResult("never", "shown"))
    await asyncio.gather(*calls, return_exceptions=True)
    assert shown == []
    with pytest.raises(asyncio.CancelledError):
        await heard.finish()


async def test_a_failure_after_a_drop_is_nobodys(asked):
    calls: set[Any] = set()
    heard = LiveTranscription([EngineRoute(asked)], unseen, calls, [], lambda: None)
    await asked.next()
    heard.drop()
    await asyncio.sleep(0)
    asked.answer.set_exception(ExpertError("It stopped."))
    await asyncio.gather(*calls, return_exceptions=True)


async def test_all_that_was_said_is_heard(recogniser):
    shown: list[Any] = []
    heard = recogniser.hear(shown.append)
    for word in (b"what", b"time", b"isit"):
        heard.add(word)
    transcript = await heard.finish()
    assert (transcript.text, transcript.engine, transcript.note) == ("whattimeisit", "whisper", "")


async def test_a_process_that_crashes_is_started_again_and_loses_nothing(recogniser, caplog):
    with caplog.at_level(logging.INFO):
        heard = await partials(recogniser, b"before" + PORTION)
        heard.add(b"CRASH!" + PORTION)
        heard.add(b"after!")
        transcript = await heard.finish()
    assert transcript.text == f"before{PORTION.decode()}CRASH!{PORTION.decode()}after!"
    assert transcript.engine == "whisper"
    assert transcript.note.strip() == RESTARTED_NOTE
    assert "started again" in caplog.text


async def test_a_process_killed_between_two_passes_is_told_everything_anew(recogniser):
    heard = await partials(recogniser, b"before" + PORTION)
    pid = recogniser._whisper.pid
    os.kill(pid, 9)
    heard.add(b"after!")
    transcript = await heard.finish()
    assert transcript.text == f"before{PORTION.decode()}after!"
    assert recogniser._whisper.pid != pid


async def test_weights_that_always_crash_are_replaced_by_the_shipped_ones(recogniser, tmp_path):
    heard = await partials(recogniser, b"before" + PORTION)
    heard.add(b"ALWAYS")
    transcript = await heard.finish()
    assert transcript.text == f"before{PORTION.decode()}ALWAYS"
    assert transcript.engine == "shipped"
    assert transcript.note == CRASHED_NOTE.format(name=tmp_path.name)


async def test_broken_weights_are_replaced_by_the_shipped_ones(recogniser, tmp_path):
    heard = recogniser.hear()
    heard.add(b"UNUSED")
    transcript = await heard.finish()
    assert transcript.engine == "shipped"
    assert transcript.note == BROKEN_NOTE.format(name=tmp_path.name)


async def test_one_that_hangs_is_ended_and_the_shipped_weights_hear_it(recogniser, monkeypatch):
    monkeypatch.setattr(streaming, "MIN_LIMIT", 0.2)
    heard = await partials(recogniser, b"before" + PORTION)
    heard.add(b"HANGS!")
    transcript = await heard.finish()
    assert transcript.text == f"before{PORTION.decode()}HANGS!"
    assert transcript.engine == "shipped"


async def test_a_graphics_card_that_fails_leaves_it_to_the_processor(tmp_path):
    recogniser = LocalRecogniser(find_weights=lambda: tmp_path, whisper=PARROT)
    recogniser._found = ("cuda", "float16")
    heard = recogniser.hear()
    heard.add(b"NO-CARD!")
    transcript = await heard.finish()
    await recogniser.close()
    assert (transcript.text, transcript.engine) == ("NO-CARD!", "whisper")
    assert transcript.note == NO_CARD_NOTE


async def test_where_nothing_was_said_the_reason_is_told(recogniser):
    heard = recogniser.hear()
    heard.add(b"......")
    with pytest.raises(InputError, match="Nobody seems to speak"):
        await heard.finish()


async def test_the_next_one_waits_and_loses_nothing(recogniser):
    first, second = recogniser.hear(), recogniser.hear()
    first.add(b"first!")
    finished = asyncio.create_task(first.finish())
    second.add(b"second")
    assert (await second.finish()).text == "second"
    assert (await finished).text == "first!"


async def test_after_a_drop_the_same_process_hears_the_next_one(recogniser):
    heard = await partials(recogniser, b"before" + PORTION)
    pid = recogniser._whisper.pid
    heard.add(PORTION)
    heard.drop()
    again = recogniser.hear()
    again.add(b"again!")
    assert (await again.finish()).text == "again!"
    assert recogniser._whisper.pid == pid


async def test_idle_processes_are_ended(tmp_path):
    recogniser = LocalRecogniser(
        find_weights=lambda: tmp_path, shipped=tmp_path / "shipped", whisper=PARROT, idle_minutes=0
    )
    heard = recogniser.hear()
    heard.add(b"before")
    await heard.finish()
    child = recogniser._whisper._running
    assert child
    async with asyncio.timeout(60):
        await asyncio.to_thread(child.process.join)
    assert recogniser._whisper.pid is None
    again = recogniser.hear()
    again.add(b"again!")
    assert (await again.finish()).text == "again!"
    await recogniser.close()


async def test_closing_drops_what_is_being_heard(recogniser):
    heard = await partials(recogniser, b"before" + PORTION)
    await recogniser.close()
    assert recogniser._whisper.pid is None
    with pytest.raises(asyncio.CancelledError):
        await heard.finish()
    assert recogniser._whisper.pid is None


async def test_memory_and_threads_stay_as_they_are_over_500(recogniser):
    async def speak(times):
        for _ in range(times):
            heard = recogniser.hear()
            heard.add(PORTION * 8)
            assert len((await heard.finish()).text) == len(PORTION) * 8

    await speak(50)
    threads, files = own_threads(), len(os.listdir("/proc/self/fd"))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    await speak(450)
    assert own_threads() <= threads
    assert len(os.listdir("/proc/self/fd")) <= files
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 8_000
    assert recogniser._hearings == []
