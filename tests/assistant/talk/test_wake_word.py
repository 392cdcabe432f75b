import asyncio
from dataclasses import replace

import pytest

from jarvis_desktop.assistant.talk.hands_free import WakeWordListener
from jarvis_desktop.core.errors import UnavailableError
from tests.assistant.talk.front import silence
from tests.assistant.talk.test_barge_in import Started
from tests.fake_voice import FakeMicrophone


@pytest.fixture
async def made():
    talk, microphone = Started(), FakeMicrophone()
    waking = WakeWordListener(lambda: talk.start(), microphone)
    yield waking, talk, microphone
    await waking.close()


async def test_the_word_begins_to_listen(made):
    waking, talk, microphone = made
    woken = replace(silence(0.1), woken=True)
    microphone.sounds = [replace(woken, before=True), silence(1), woken, silence(1)]
    waking.start()
    await talk.event.wait()
    assert microphone.held
    assert talk.said == [b""]


async def test_a_microphone_that_comes_back_is_listened_to_again(made):
    waking, talk, microphone = made
    microphone.error = UnavailableError("The microphone went away.")
    waking.start()
    while microphone.listened < 1:
        await asyncio.sleep(0)
    microphone._become("lost")
    microphone.error = None
    microphone.sounds = [replace(silence(0.1), woken=True)]
    while microphone._ears:
        await asyncio.sleep(0)
    microphone._become("open")
    await talk.event.wait()


async def test_closing_before_the_start_is_harmless(made):
    await made[0].close()


async def test_one_that_wakes_nobody_is_logged_and_the_next_one_is_heard(made, caplog):
    waking, talk, microphone = made
    woken = replace(silence(0.1), woken=True)
    microphone.sounds = [woken, woken]
    start, talk.start = talk.start, None
    waking.start()
    while "woke nobody" not in caplog.text:
        await asyncio.sleep(0)
    talk.start = start
    microphone.feed(woken)
    await talk.event.wait()
    caplog.clear()
