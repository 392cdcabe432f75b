from __future__ import annotations

import asyncio
import os
import signal
from contextlib import aclosing, suppress

import numpy as np
import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.speech import FRAME, PRE_ROLL, RATE, Sound
from jarvis_desktop.process.child import Child
from jarvis_desktop.speech import microphone as module
from jarvis_desktop.speech.microphone import SoundMicrophone
from tests.contracts.test_microphone import Watched, some
from tests.sound import strongest_frequency, write_tone

pytestmark = pytest.mark.sound

HUNG = r"stopped giving sound|does not answer"


@pytest.fixture
async def microphone(patient_microphone):
    microphone = SoundMicrophone()
    yield microphone
    await microphone.close()


def samples(sounds: list[Sound]) -> np.ndarray:
    return np.frombuffer(b"".join(sound.pcm for sound in sounds), "<i2") / 32768


async def loud(sounds, seconds: float) -> list[Sound]:
    """What is heard until it was loud for so long."""
    heard: list[Sound] = []
    async for sound in sounds:
        heard.append(sound)
        if sum(each.seconds for each in heard if each.level > 0.5) >= seconds:
            return heard
    raise AssertionError("it ended by itself")


async def until_told(microphone: SoundMicrophone, fault) -> UnavailableError:
    """What who listens is told of a fault, which happens once something was heard."""
    async with aclosing(microphone.listen(asyncio.Event())) as sounds:
        assert (await anext(sounds)).pcm
        fault()
        with pytest.raises(UnavailableError, match=HUNG) as caught:
            await _all(sounds)
    assert caught.value.hint
    return caught.value


async def _all(sounds) -> list[Sound]:
    return [sound async for sound in sounds]


async def test_what_sounds_in_the_room_is_heard(sound_server, microphone, tmp_path):
    tone = write_tone(tmp_path / "tone.wav", seconds=30, frequency=700)
    async with aclosing(microphone.listen(asyncio.Event())) as sounds:
        first = await anext(sounds)
        player = sound_server.say_into_microphone(tone)
        heard = await loud(sounds, 0.5)
    player.kill()
    assert first.level < 0.1
    assert 0.7 < max(sound.level for sound in heard) < 1
    tones = [sound for sound in heard if sound.level > 0.5]
    assert strongest_frequency(samples(tones), RATE) == pytest.approx(700, abs=5)
    frames = sum(len(sound.speech) for sound in [first, *heard])
    assert frames == len(samples([first, *heard])) // FRAME


async def test_a_judgement_comes_once_with_the_sound(sound_server, microphone):
    async with aclosing(microphone.listen(asyncio.Event())) as sounds:
        assert (await anext(sounds)).pcm
        microphone.judge(bytes(2 * RATE))
        async for sound in sounds:
            if sound.finished is not None:
                assert 0 <= sound.finished <= 1
                break
        assert (await anext(sounds)).finished is None


async def test_who_begins_later_hears_the_half_second_before(sound_server, microphone, tmp_path):
    tone = write_tone(tmp_path / "tone.wav", seconds=30, frequency=500)
    microphone.hold(open=True)
    async with aclosing(microphone.listen(asyncio.Event())) as first:
        player = sound_server.say_into_microphone(tone)
        await loud(first, PRE_ROLL + 0.1)
        until = asyncio.Event()
        until.set()
        at_once = [sound async for sound in microphone.listen(until)]
    after_all_left = await some(microphone, 1)
    player.kill()
    before = [sound for sound in at_once if sound.before]
    assert sum(sound.seconds for sound in before) == pytest.approx(PRE_ROLL, abs=module.UNHEARD_S)
    assert all(sound.level > 0.5 for sound in at_once)
    assert len(samples(after_all_left)) > 0


async def test_a_key_that_is_let_go_while_the_device_opens_hears_nothing(sound_server, microphone):
    until = asyncio.Event()
    until.set()
    watched = Watched(microphone)
    assert [sound async for sound in microphone.listen(until)] == []
    await watched.until("closed")
    assert await some(microphone, 1)


async def test_closing_it_ends_what_listens(sound_server, microphone):
    heard = []
    async with aclosing(microphone.listen(asyncio.Event())) as sounds:
        async for sound in sounds:
            heard.append(sound)
            if len(heard) == 1:
                await microphone.close()
    assert microphone.state == "closed"
    assert microphone._child.pid is None


async def test_a_hung_sound_service_is_told_and_its_going_on_seen(own_sound_server, microphone):
    watched = Watched(microphone)
    microphone.hold(open=True)
    await until_told(microphone, own_sound_server.freeze)
    await watched.until("lost")
    own_sound_server.thaw()
    await watched.until("open")
    assert await some(microphone)


async def test_a_hung_sound_service_is_told_to_who_opens(own_sound_server, microphone, monkeypatch):
    await microphone._ask("ready", limit=60)
    own_sound_server.freeze()
    watched = Watched(microphone)
    with monkeypatch.context() as hung:
        hung.setattr(module, "OPEN_TIMEOUT_S", 0.5)
        with pytest.raises(UnavailableError, match="does not answer"):
            await some(microphone)
        await watched.until("closed")
    assert watched.all == ["opening", "lost", "closed"]
    own_sound_server.thaw()
    assert await some(microphone)


async def test_a_lost_sound_service_is_told_and_its_return_seen(own_sound_server, microphone):
    watched = Watched(microphone)
    microphone.hold(open=True)
    await until_told(microphone, own_sound_server.process.kill)
    await watched.until("lost")
    await asyncio.to_thread(own_sound_server.restart)
    await watched.until("open")
    assert await some(microphone)


async def test_a_device_that_is_unplugged_is_told_and_its_return_seen(own_sound_server, microphone):
    watched = Watched(microphone)
    microphone.hold(open=True)
    await until_told(microphone, own_sound_server.unplug)
    await watched.until("lost")
    with pytest.raises(UnavailableError, match="no microphone"):
        await some(microphone)
    own_sound_server.plug_in()
    await watched.until("open")
    assert await some(microphone)


async def test_another_default_is_heard_from_then_on(own_sound_server, microphone, tmp_path):
    own_sound_server.control("load-module", "module-null-sink", "sink_name=other", "rate=48000")
    own_sound_server.open_ear("other")
    microphone.hold(open=True)
    # Nothing but zeros, as of a wireless headset that wakes up, stays so.
    assert not samples(await some(microphone, 5)).any()
    own_sound_server.control("set-default-source", "other.monitor")
    tone = write_tone(tmp_path / "tone.wav", seconds=60, frequency=900)
    own_sound_server.say_into_microphone(tone, "other")
    heard: list[Sound] = []
    while not heard:
        # PulseAudio may move the stream, or let it end: then it is opened anew.
        with suppress(UnavailableError):
            async with aclosing(microphone.listen(asyncio.Event())) as sounds:
                heard = await loud(sounds, 0.3)
    tones = [sound for sound in heard if sound.level > 0.5]
    assert strongest_frequency(samples(tones), RATE) == pytest.approx(900, abs=5)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_process_that_ends_or_hangs_is_told_and_replaced(
    sound_server, microphone, how, monkeypatch
):
    watched = Watched(microphone)
    with monkeypatch.context() as hung:

        def fault():
            hung.setattr(module, "STALL_TIMEOUT_S", 0.7)
            os.kill(microphone._child.pid, how)

        await until_told(microphone, fault)
        await watched.until("closed")
    assert watched.all[-2:] == ["lost", "closed"]
    assert await some(microphone)


async def test_whatever_goes_wrong_in_the_process_is_told(microphone):
    microphone._child = Child("tests.speech.engines:confused", name="microphone")
    watched = Watched(microphone)
    with pytest.raises(UnavailableError, match="does not answer"):
        await some(microphone)
    await watched.until("closed")


async def test_the_wake_word_is_told_while_the_device_is_held_open(caplog):
    awake, told = asyncio.Event(), list[str]()

    def woken():
        told.append(listens.state)
        if len(told) == 1:
            raise RuntimeError("nobody is there")
        awake.set()

    listens = SoundMicrophone(wake_word="hey_jarvis", woken=woken)
    listens._child = Child("tests.speech.engines:awake", name="microphone")
    try:
        assert await some(listens)
        assert told == []
        listens.hold(open=True)
        await awake.wait()
    finally:
        await listens.close()
    assert told[:2] == ["open", "open"]
    assert "A watcher of the microphone failed: RuntimeError" in caplog.text
    caplog.clear()


async def test_an_answer_may_wait_for_a_program_that_was_held_up(microphone, monkeypatch):
    """The time in which the loop itself stood still is not reckoned as the child's."""
    monkeypatch.setattr(module, "SLICE_S", 0.001)
    answer = asyncio.get_running_loop().create_future()

    async def call(*words, timeout):
        asyncio.get_running_loop().call_later(0, answer.set_result, "sound")
        return await answer

    monkeypatch.setattr(microphone._child, "call", call)
    assert await microphone._ask("read", limit=0.002) == "sound"


async def test_no_microphone_is_a_stated_reason(no_sound_device, microphone):
    with pytest.raises(UnavailableError, match="no microphone") as caught:
        await some(microphone)
    assert caught.value.hint


async def test_an_unknown_microphone_is_named_with_what_to_do(sound_server):
    microphone = SoundMicrophone("Dictaphone, ALSA")
    with pytest.raises(UnavailableError, match="named Dictaphone, ALSA") as caught:
        await some(microphone)
    assert "default" in caught.value.hint
    await microphone.close()


async def test_a_device_is_found_by_its_name(sound_server):
    microphone = SoundMicrophone("pulse, ALSA")
    assert await some(microphone)
    await microphone.close()


async def test_another_device_may_be_chosen_at_any_time(sound_server, microphone):
    await microphone.choose("Dictaphone, ALSA")
    with pytest.raises(UnavailableError, match="named Dictaphone"):
        await some(microphone)
    await microphone.choose("pulse, ALSA")
    watched = Watched(microphone)
    microphone.hold(open=True)
    await watched.until("open")
    await microphone.choose("pulse, ALSA")  # the same
    assert microphone._child.pid
    async with aclosing(microphone.listen(asyncio.Event())) as sounds:
        assert (await anext(sounds)).pcm
        await microphone.choose(None)
        with pytest.raises(UnavailableError):
            await _all(sounds)
    await watched.until("lost")
    await watched.until("open")
    assert await some(microphone)
