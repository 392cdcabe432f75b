"""What the microphone's process does with PortAudio, on a module that stands in for it."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.speech import RATE
from jarvis_desktop.speech import audio_input, devices
from jarvis_desktop.speech.audio_input import CaptureSession
from tests.sound import strongest_frequency

DEVICES = (
    ("USB Mic: Audio (hw:1,0)", 1),
    ("HDMI (hw:0,3)", 0),
    ("Webcam: Audio (hw:2,0)", 1),
    ("default", 2),
)


class Sounddevice:
    """Devices that fail where they are told to; what sounds is what the test lets arrive."""

    class PortAudioError(Exception):
        pass

    def __init__(self) -> None:
        self.failing = ""
        self.refused: set[int] = set()
        self.first: bytes | None = bytes(320)
        self.asked: list[tuple[int, int]] = []
        self.open = 0
        self.default = SimpleNamespace(device=(3, 3))

    def query_hostapis(self):
        return ({"name": "ALSA"},)

    def query_devices(self, device="all", kind=None):
        found = [
            {
                "name": name,
                "index": index,
                "hostapi": 0,
                "max_input_channels": inputs,
                "max_output_channels": 2,
                "default_samplerate": 48_000.0,
            }
            for index, (name, inputs) in enumerate(DEVICES)
        ]
        if kind is None:
            return found
        if isinstance(device, str):
            raise ValueError(f"no device {device}")
        return found[3 if device is None else device]

    def RawInputStream(self, *, samplerate, device, callback, finished_callback, **form):
        self.asked.append((device, samplerate))
        if samplerate in self.refused:
            raise self.PortAudioError("Invalid sample rate")
        self.open += 1
        self.rate, self.arrive, self.finish = samplerate, callback, finished_callback
        return self

    def give(self, pcm: bytes, *, age: float = 0.0) -> None:
        """Let this arrive, the end of which was heard so many seconds ago."""
        frames = len(pcm) // 2
        when = SimpleNamespace(currentTime=100.0, inputBufferAdcTime=100 - age - frames / self.rate)
        self.arrive(pcm, frames, when, None)

    def start(self) -> None:
        if self.failing == "start":
            raise self.PortAudioError("busy")
        if self.first is not None:
            self.give(self.first)

    def abort(self) -> None:
        if self.failing == "abort":
            raise self.PortAudioError("gone")

    def close(self) -> None:
        self.open -= 1


@pytest.fixture
def sound(monkeypatch) -> Sounddevice:
    sound = Sounddevice()
    monkeypatch.setattr(audio_input, "portaudio", lambda: sound)
    monkeypatch.setattr(devices, "portaudio", lambda: sound)
    monkeypatch.setattr(devices, "refresh", lambda: None)
    return sound


def test_a_stream_that_does_not_start_is_closed(sound):
    sound.failing = "start"
    with pytest.raises(UnavailableError, match="no microphone"):
        CaptureSession().open(None)
    assert (len(sound.asked), sound.open) == (4, 0)


def test_a_stream_that_cannot_be_stopped_is_closed(sound):
    session = CaptureSession()
    session.open(None)
    sound.failing = "abort"
    with pytest.raises(sound.PortAudioError):
        session.close()
    assert sound.open == 0
    session.close()


def test_a_device_that_never_gives_sound_is_closed_and_told(sound, monkeypatch):
    monkeypatch.setattr(audio_input, "FIRST_SOUND_S", 0.01)
    sound.first = None
    with pytest.raises(UnavailableError, match="No sound comes"):
        CaptureSession().open(None)
    assert sound.open == 0


def test_another_rate_is_taken_where_the_device_knows_no_other(sound):
    sound.refused = {RATE}
    session = CaptureSession()
    session.open(None)
    session.read()
    assert sound.asked == [(3, RATE), (3, 48_000)]
    times = np.arange(48_000) / 48_000
    tone = (np.sin(2 * np.pi * 440 * times) * 16_000).astype("<i2")
    heard = b""
    for start in range(0, 48_000, 441):
        sound.give(tone[start : start + 441].tobytes())
        heard += session.read()[0].pcm
    samples = np.frombuffer(heard, "<i2")
    assert len(samples) == pytest.approx(RATE, abs=64)
    assert strongest_frequency(samples / 32768, RATE) == pytest.approx(440, abs=1)


def test_zeros_stay_zeros_at_another_rate(sound):
    sound.refused = {RATE}
    session = CaptureSession()
    session.open(None)
    sound.give(bytes(9600))
    heard, *_ = session.read()
    assert heard.pcm
    assert not any(heard.pcm)
    assert heard.level == 0


def test_what_was_said_up_to_a_moment_is_waited_for(sound):
    session = CaptureSession()
    session.open(None)
    session.read()
    moment = time.monotonic()
    late = threading.Timer(0.003, sound.give, (b"\1\0" * 160,), {"age": -1.0})
    late.start()
    assert session.read(moment)[0].pcm == b"\1\0" * 160
    late.join()


def test_sound_that_never_comes_is_not_waited_for_long(sound, monkeypatch):
    monkeypatch.setattr(audio_input, "FLUSH_S", 0.005)
    session = CaptureSession()
    session.open(None)
    assert session.read(time.monotonic() + 1000)[0].pcm == bytes(320)


@pytest.mark.parametrize(("age", "oldest"), [(0.1, 0.1), (-0.1, 0), (50.0, 0)])
def test_when_it_was_heard_is_told_where_the_system_knows_that(sound, monkeypatch, age, oldest):
    monkeypatch.setattr(audio_input, "time", SimpleNamespace(monotonic=lambda: 1000.0))
    session = CaptureSession()
    session.open(None)
    sound.give(bytes(320), age=age)
    assert session.read()[1] == pytest.approx(1000 - oldest)


def test_a_verdict_waits_for_sound_that_it_comes_with(sound):
    verdicts: list[float] = []
    end: Any = SimpleNamespace(verdict=lambda: verdicts.pop() if verdicts else None)
    session = CaptureSession(end=end)
    session.open(None)
    session.read()
    verdicts.append(0.5)
    assert session.read()[0].finished is None
    sound.give(b"\1\0" * 160)
    assert session.read()[0].finished == 0.5


def test_a_stream_that_ended_is_told_after_its_last_sound(sound):
    session = CaptureSession()
    session.open(None)
    sound.finish()
    assert session.read()[0].pcm
    with pytest.raises(UnavailableError, match="stopped giving sound"):
        session.read()


def test_only_silence_that_was_watched_means_that_the_device_is_gone(sound, monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(audio_input, "time", SimpleNamespace(monotonic=lambda: now[0]))
    session = CaptureSession()
    session.open(None)
    session.read()

    def after_a_minute() -> bytes:
        now[0] += 60  # this process stood still
        return session.read()[0].pcm

    for _ in range(3):
        assert after_a_minute() == b""
    sound.give(b"\1\0")
    assert after_a_minute()
    assert [after_a_minute() for _ in range(4)] == [b""] * 4
    with pytest.raises(UnavailableError, match="stopped giving sound"):
        after_a_minute()


def test_what_nobody_fetches_is_forgotten_after_a_minute(sound):
    session = CaptureSession()
    session.open(None)
    for _ in range(audio_input.MAX_BLOCKS + 5):
        sound.give(b"\0\0")
    assert len(session.read()[0].pcm) == 2 * audio_input.MAX_BLOCKS


def test_the_wake_word_is_looked_for_in_all_that_is_heard(sound):
    given = []

    class Word:
        def take(self, pcm):
            given.append(len(pcm))
            return len(pcm) > 200

    word: Any = Word()
    session = CaptureSession(word)
    session.open(None)
    assert session.read()[2]
    sound.give(bytes(100))
    assert not session.read()[2]
    assert given == [320, 100]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        (None, 3),
        ("default, ALSA", 3),
        ("Webcam: Audio (hw:2,0), ALSA", 2),
        ("Webcam: Audio (hw:7,0), ALSA", 2),  # plugged in elsewhere
    ],
)
def test_a_device_is_found_where_it_is_now(sound, name, number):
    CaptureSession().open(name)
    assert sound.asked == [(number, RATE)]


@pytest.mark.parametrize("name", ["HDMI (hw:0,3), ALSA", "Dictaphone, ALSA"])
def test_what_is_no_microphone_is_named(sound, name):
    with pytest.raises(UnavailableError, match="There is no microphone named") as caught:
        CaptureSession().open(name)
    assert name in caught.value.message
    assert sound.asked == []
