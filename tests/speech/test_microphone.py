from __future__ import annotations

import asyncio
import os
import signal
import wave
from pathlib import Path

import numpy as np
import pytest

from jarvis_desktop.child import Child
from jarvis_desktop.core.errors import StorageError, UnavailableError
from jarvis_desktop.speech import sound_input
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
            os.kill(microphone._child.pid, signal.SIGKILL)

    with pytest.raises(UnavailableError, match=r"stopped giving sound|does not answer"):
        await microphone.record(tmp_path / "said.wav", asyncio.Event(), level)
    assert len(recorded(tmp_path / "said.wav")) >= lengths[-1]


async def test_whatever_goes_wrong_the_process_that_holds_the_device_ends(microphone, tmp_path):
    microphone._child = Child("tests.speech.engines:confused", name="microphone")
    with pytest.raises(UnavailableError, match="does not answer"):
        await microphone.record(tmp_path / "said.wav", asyncio.Event(), lambda loudness: None)
    assert microphone._child.pid is None


async def test_a_file_that_cannot_be_written_does_not_open_the_device(
    sound_server, microphone, tmp_path
):
    before = sound_server.control("list", "short", "source-outputs").splitlines()
    with pytest.raises(StorageError, match="cannot be written: No such file or directory"):
        await microphone.record(tmp_path / "no" / "a.wav", asyncio.Event(), lambda loudness: None)
    after = sound_server.control("list", "short", "source-outputs").splitlines()
    assert set(after) <= set(before)


class Sound:
    """A sounddevice module whose streams fail where they are told to, and remember their end."""

    class PortAudioError(Exception):
        pass

    def __init__(self, *, failing: str) -> None:
        self.failing = failing
        self.made = 0
        self.open = 0

    def RawInputStream(self, **form: object) -> Sound:
        self.made += 1
        self.open += 1
        return self

    samplerate = 16_000.0

    def start(self) -> None:
        if self.failing == "start":
            raise self.PortAudioError("busy")

    def abort(self) -> None:
        if self.failing == "abort":
            raise self.PortAudioError("gone")

    def close(self) -> None:
        self.open -= 1


@pytest.fixture
def sound(request, monkeypatch) -> Sound:
    sound = Sound(failing=request.param)
    monkeypatch.setattr(sound_input, "portaudio", lambda: sound)
    monkeypatch.setattr(sound_input, "info", lambda *asked: {"default_samplerate": 48_000})
    monkeypatch.setattr(sound_input, "refresh", lambda: None)
    return sound


@pytest.mark.parametrize("sound", ["start"], indirect=True)
def test_a_stream_that_does_not_start_is_closed(sound, tmp_path):
    with pytest.raises(UnavailableError, match="no microphone"):
        sound_input.Session().open(tmp_path / "said.wav", None)
    assert (sound.made, sound.open) == (4, 0)
    assert list(tmp_path.glob("*.wav")) == []


@pytest.mark.parametrize("sound", ["abort"], indirect=True)
def test_a_stream_that_cannot_be_stopped_is_closed(sound, tmp_path):
    session = sound_input.Session()
    session.open(tmp_path / "said.wav", None)
    with pytest.raises(sound.PortAudioError):
        session.close()
    assert (sound.made, sound.open) == (1, 0)


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
