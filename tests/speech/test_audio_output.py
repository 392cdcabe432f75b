"""What is asked of PortAudio, and which frames it gets."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.speech import audio_output, audio_output_worker, devices
from jarvis_desktop.speech.audio_output import OPEN_TIMEOUT_S, RAMP_S, OutputStream
from jarvis_desktop.speech.audio_output_worker import FilePlayback, resampled
from jarvis_desktop.speech.played_sound import SoundLine

RATE = 1000


class Refused(Exception):
    """What PortAudio raises."""


class Device:
    """PortAudio with one output, whose sound is asked for by the test."""

    PortAudioError = Refused

    def __init__(self, line: SoundLine) -> None:
        self.line = line
        self.done: list[str] = []
        self.patience: list[float] = []
        self.refuses: set[str] = set()

    def OutputStream(self, **form) -> SimpleNamespace:
        self._do("open")
        if form["channels"] == 2:
            raise Refused("only mono")
        self.form = form
        return SimpleNamespace(
            samplerate=form["samplerate"],
            channels=form["channels"],
            latency=0.1,
            start=lambda: self._do("start"),
            abort=lambda: self._do("abort"),
            close=lambda: self._do("close"),
        )

    def _do(self, what: str) -> None:
        self.done.append(what)
        self.patience.append(self.line.shared.patience)
        if what in self.refuses:
            self.refuses.remove(what)
            raise Refused(what)

    def refresh(self) -> None:
        self.done.append("refresh")

    def pull(self, frames: int) -> np.ndarray:
        """The next frames."""
        out = np.full((frames, 1), 9.0, np.float32)
        when = SimpleNamespace(outputBufferDacTime=0.0, currentTime=0.0)
        self.form["callback"](out, frames, when, None)
        return out[:, 0]


@pytest.fixture
def line() -> SoundLine:
    return SoundLine()


@pytest.fixture
def device(line, monkeypatch) -> Device:
    device = Device(line)
    found = {
        "default_samplerate": float(RATE),
        "max_output_channels": 1,
        "default_high_output_latency": 0.3,
        "index": 7,
    }
    for module in (audio_output, devices):
        monkeypatch.setattr(module, "portaudio", lambda: device)
        monkeypatch.setattr(module, "refresh", device.refresh)
    monkeypatch.setattr(devices, "info", lambda *asked: found)
    return device


@pytest.fixture
def stream(line, device) -> OutputStream:
    return OutputStream(line, None)


def frames(*numbers: float) -> np.ndarray:
    return np.array(numbers, np.float32)[:, np.newaxis]


def test_blocks_follow_without_a_frame_between_them(stream, device):
    assert stream.begin(0)
    stream.add(frames(0.1, 0.2, 0.3))
    stream.add(frames(0.4))
    stream.add(frames(0.5, 0.6))
    stream.run()
    got = np.concatenate([device.pull(2), device.pull(3), device.pull(3)])
    assert got == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0, 0])
    assert stream.ahead == 0


def test_nothing_is_given_after_silence_was_asked_for(stream, device, line):
    stream.begin(0)
    stream.add(frames(*[0.5] * 50))
    stream.run()
    assert device.pull(1) == pytest.approx([0.5])
    line.shared.silences += 1
    wish = line.shared.silences
    assert device.pull(1) == pytest.approx([0])
    stream.silence()
    assert device.done[-1] == "abort"
    assert stream.begin(wish)
    stream.add(frames(0.7))
    stream.run()
    assert device.pull(2) == pytest.approx([0.7, 0])


def test_a_late_wish_is_not_played(stream, device, line):
    line.shared.silences += 1
    assert not stream.begin(0)
    stream.run()
    assert "start" not in device.done


def test_silence_between_the_look_and_the_start_ends_at_rest(stream, device, line):
    stream.begin(0)
    stream.add(frames(0.5))
    stream.run()
    line.shared.silences += 1
    stream.rest(after=60)
    assert device.done[-2:] == ["start", "abort"]


def test_the_volume_changes_without_a_step(stream, device, line):
    stream.begin(0)
    stream.add(frames(*[1.0] * 200))
    stream.run()
    assert device.pull(10) == pytest.approx([1] * 10)
    line.shared.share = 0.4
    got = np.concatenate([device.pull(7) for _ in range(5)])
    assert np.all(np.abs(np.diff(got)) <= 1 / (RAMP_S * RATE) + 1e-6)
    assert device.pull(5) == pytest.approx([0.4] * 5)
    line.shared.share = 1.0
    device.pull(40)
    assert device.pull(5) == pytest.approx([1.0] * 5)


def test_the_device_has_the_time_it_needs_to_open(stream, device):
    stream.begin(0)
    assert device.done == ["open", "open"]  # two channels were refused
    assert device.patience == [OPEN_TIMEOUT_S] * 2
    assert device.form["device"] == 7
    assert device.form["latency"] == 0.3


def test_one_that_does_not_start_is_opened_anew(stream, device):
    stream.begin(0)
    device.refuses = {"start"}
    stream.run()
    assert device.done[2:] == ["start", "close", "refresh", "open", "open", "start"]


def test_one_that_never_starts_is_told(stream, device, monkeypatch):
    stream.begin(0)
    monkeypatch.setattr(stream, "_start", lambda: False)
    with pytest.raises(UnavailableError, match="no sound output"):
        stream.run()


def test_it_is_closed_when_nobody_needs_it_any_more(stream, device):
    stream.begin(0)
    stream.rest(after=60)
    assert "close" not in device.done
    stream.rest(after=0)
    assert device.done[-1] == "close"
    stream.rest(after=0)
    stream.begin(0)
    assert device.done[-1] == "open"


def test_what_is_heard_out_is_stopped_and_started_anew(stream, device):
    stream.begin(0)
    stream.add(frames(0.5))
    stream.run()
    device.pull(2)
    while not stream.heard:
        threading.Event().wait(0.01)
    stream.begin(0)
    stream.add(frames(0.5))
    stream.run()
    assert device.done[2:] == ["start", "abort", "start"]


def test_one_that_died_is_closed(stream, device):
    stream.begin(0)
    stream.add(frames(0.5))
    stream.run()
    device.form["finished_callback"]()
    with pytest.raises(UnavailableError, match="went away"):
        stream.check()
    stream.stop()
    assert device.done[-2:] == ["abort", "close"]
    device.form["finished_callback"]()  # as every stream does that is stopped
    stream.begin(0)
    stream.check()


def test_one_that_asks_for_nothing_is_told(stream, device, monkeypatch):
    stream.begin(0)
    stream.add(frames(0.5))
    stream.run()
    stream.check()
    monkeypatch.setattr(audio_output, "STALLED_S", -1.0)
    with pytest.raises(UnavailableError, match="does not answer"):
        stream.check()


def test_when_a_frame_is_heard(stream, device):
    stream.begin(0)
    stream.add(frames(*[0.5] * 300))
    stream.run()
    device.pull(100)
    stream.check()
    # What was asked for is heard after what the device says to have, which is nothing here.
    assert stream.begins(0) == pytest.approx(0.0, abs=0.05)
    assert stream.begins(200) == pytest.approx(0.2, abs=0.05)


@pytest.mark.parametrize("rates", [(22_050, 44_100), (16_000, 44_100), (48_000, 44_100)])
def test_a_sound_at_another_rate_loses_nothing_at_the_borders_of_blocks(rates):
    rate, wanted = rates
    times = np.arange(rate) / rate
    whole = np.sin(2 * np.pi * 400 * times).astype(np.float32)[:, np.newaxis]
    parts = [whole[at : at + rate // 7] for at in range(0, rate, rate // 7)]
    made = np.concatenate(list(resampled(iter(parts), rate, wanted)))
    assert len(made) == pytest.approx(wanted, abs=2)
    exact = np.sin(2 * np.pi * 400 * np.arange(len(made)) / wanted)
    assert np.abs(made[100:-100, 0] - exact[100:-100]).max() < 0.01


def test_many_channels_become_one():
    block = np.array([[0.0, 0.3, 0.6]] * 800, np.float32)
    made = np.concatenate(list(resampled(iter([block]), 8000, 16_000)))
    assert made.shape[1] == 1
    assert made[400:1200] == pytest.approx(0.3, abs=0.01)


def test_the_line_wakes_and_tells_what_was_done(line, stream, device, monkeypatch):
    output = FilePlayback(line, stream)
    stream.begin(0)
    stream.add(frames(0.5))
    stream.run()
    line.shared.silences += 1
    line.wake()
    output.attend()
    assert line.shared.silent == 1
    assert device.done[-1] == "abort"
    monkeypatch.setattr(audio_output_worker, "POLL_S", 0.0)
    monkeypatch.setattr(audio_output_worker, "REST_S", 0.0)
    output.attend()  # nobody has woken it
    assert device.done[-1] == "close"
