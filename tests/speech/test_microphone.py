import asyncio
import wave
from pathlib import Path

import numpy as np
import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.speech.microphone import SoundMicrophone
from tests.sound import strongest_frequency, write_tone

pytestmark = pytest.mark.sound


@pytest.fixture
async def microphone():
    microphone = SoundMicrophone()
    yield microphone
    await microphone.close()


def recorded(path: Path) -> np.ndarray:
    with wave.open(str(path)) as file:
        assert file.getframerate() == 16_000
        return np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768


async def test_what_sounds_in_the_room_is_recorded(sound_server, microphone, tmp_path):
    tone = write_tone(tmp_path / "tone.wav", seconds=30, frequency=700)
    stop = asyncio.Event()
    levels: list[float] = []

    def level(loudness):
        if not levels:
            sound_server.say_into_microphone(tone)
        levels.append(loudness)
        if sum(loudness > 0.5 for loudness in levels) >= 8:
            stop.set()

    await microphone.record(tmp_path / "said.wav", stop, level)
    samples = recorded(tmp_path / "said.wav")
    assert strongest_frequency(samples, 16_000) == pytest.approx(700, abs=5)
    assert levels[0] < 0.1 < 0.7 < max(levels)


async def test_the_file_is_whole_while_it_grows(sound_server, microphone, tmp_path):
    stop, lengths = asyncio.Event(), []

    def level(loudness):
        lengths.append(len(recorded(tmp_path / "said.wav")))
        if len(lengths) == 5:
            stop.set()

    await microphone.record(tmp_path / "said.wav", stop, level)
    assert lengths == sorted(set(lengths))


async def test_a_crash_loses_nothing_that_was_written(sound_server, microphone, tmp_path):
    lengths = []

    def level(loudness):
        lengths.append(len(recorded(tmp_path / "said.wav")))
        if len(lengths) == 4:
            microphone._child._process.kill()

    with pytest.raises(UnavailableError, match="does not answer"):
        await microphone.record(tmp_path / "said.wav", asyncio.Event(), level)
    assert len(recorded(tmp_path / "said.wav")) >= lengths[-1]


async def test_a_hung_sound_server_is_noticed(own_sound_server, microphone, tmp_path):
    calls = []

    def level(loudness):
        calls.append(loudness)
        if len(calls) == 3:
            own_sound_server.freeze()

    with pytest.raises(UnavailableError, match=r"stopped giving sound|does not answer"):
        await microphone.record(tmp_path / "said.wav", asyncio.Event(), level)
    assert len(recorded(tmp_path / "said.wav")) > 0


async def test_a_lost_sound_server_is_noticed_and_its_return_too(
    own_sound_server, microphone, tmp_path
):
    calls = []

    def level(loudness):
        calls.append(loudness)
        if len(calls) == 3:
            own_sound_server.process.kill()

    with pytest.raises(UnavailableError):
        await microphone.record(tmp_path / "said.wav", asyncio.Event(), level)
    own_sound_server.restart()
    stop = asyncio.Event()
    await microphone.record(tmp_path / "again.wav", stop, lambda loudness: stop.set())
    assert len(recorded(tmp_path / "again.wav")) > 0


async def test_no_microphone_is_a_stated_reason(no_sound_device, microphone, tmp_path):
    with pytest.raises(UnavailableError, match="no microphone") as caught:
        await microphone.record(tmp_path / "said.wav", asyncio.Event(), lambda loudness: None)
    assert caught.value.hint


async def test_an_unknown_microphone_is_named(sound_server, tmp_path):
    microphone = SoundMicrophone("Dictaphone")
    with pytest.raises(UnavailableError, match="Dictaphone"):
        await microphone.record(tmp_path / "said.wav", asyncio.Event(), lambda loudness: None)
    await microphone.close()
