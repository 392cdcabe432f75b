import asyncio
import time
from types import SimpleNamespace

import numpy as np
import pytest
import soundfile

from jarvis_desktop.child import Child
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.paths import shipped
from jarvis_desktop.speech import player as module
from jarvis_desktop.speech import sound_output
from jarvis_desktop.speech.devices import devices
from jarvis_desktop.speech.player import SoundPlayer
from tests.sound import RATE, strongest_frequency, write_tone

pytestmark = pytest.mark.sound


@pytest.fixture
async def player():
    player = SoundPlayer()
    yield player
    await player.close()


def loud(samples: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.abs(samples) > 0.02)


@pytest.mark.parametrize("rate", [16_000, 22_050, 48_000])
async def test_the_whole_sound_comes_out_of_the_speaker(sound_server, player, tmp_path, rate):
    tone = write_tone(tmp_path / "tone.wav", seconds=0.5, frequency=620, rate=rate)
    heard = sound_server.listening()
    await player.play(tone)
    samples = heard.wait_for(
        lambda samples: len(loud(samples)) and loud(samples)[-1] < len(samples) - RATE / 20
    )
    at = loud(samples)
    assert (at[-1] - at[0]) / RATE > 0.48
    assert strongest_frequency(samples[at[0] : at[-1]], RATE) == pytest.approx(620, abs=5)


async def test_stereo_and_float_files_play(sound_server, player, tmp_path):
    times = np.arange(8000) / 16_000
    both = np.stack((np.sin(2 * np.pi * 500 * times), np.zeros(8000)), axis=1) * 0.5
    soundfile.write(tmp_path / "two.wav", both, 16_000, subtype="FLOAT")
    heard = sound_server.listening()
    await player.play(tmp_path / "two.wav")
    samples = heard.wait_for(lambda samples: len(loud(samples)) > RATE / 4)
    assert strongest_frequency(samples, RATE) == pytest.approx(500, abs=5)


async def test_cancelling_silences_it(sound_server, player, tmp_path):
    tone = write_tone(tmp_path / "tone.wav", seconds=60)
    heard = sound_server.listening()
    playing = asyncio.create_task(player.play(tone))
    await asyncio.to_thread(heard.wait_for, lambda samples: len(loud(samples)) > 1000)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    before = len(heard.samples)
    samples = await asyncio.to_thread(
        heard.wait_for, lambda samples: len(samples) > before + RATE // 2
    )
    # The monitor and its recorder are behind by some milliseconds too.
    assert (loud(samples)[-1] - before) / RATE < 0.1


async def test_the_next_one_plays_after_a_cancelled_one(sound_server, player, tmp_path):
    playing = asyncio.create_task(player.play(write_tone(tmp_path / "a.wav", seconds=60)))
    await player.warm()
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    heard = sound_server.listening()
    await player.play(write_tone(tmp_path / "b.wav", seconds=0.3, frequency=880))
    samples = heard.wait_for(lambda samples: len(loud(samples)) > RATE / 5)
    assert strongest_frequency(samples, RATE) == pytest.approx(880, abs=8)


async def test_the_shipped_bell_rings(sound_server, player):
    bell = shipped("resources", "sounds", "ring.wav")
    assert bell.stat().st_size < 100_000
    heard = sound_server.listening()
    await player.play(bell)
    assert len(loud(heard.samples)) > RATE / 5


async def test_a_hung_sound_server_is_given_up(own_sound_server, player, tmp_path):
    tone = write_tone(tmp_path / "tone.wav", seconds=60)
    heard = own_sound_server.listening()
    playing = asyncio.create_task(player.play(tone))
    await asyncio.to_thread(heard.wait_for, lambda samples: len(loud(samples)) > 1000)
    own_sound_server.freeze()
    begun = time.monotonic()
    with pytest.raises(UnavailableError, match="does not answer"):
        await playing
    assert time.monotonic() - begun < 4
    own_sound_server.thaw()
    await player.play(write_tone(tmp_path / "short.wav", seconds=0.2))


async def test_after_a_hang_the_next_process_is_there_in_advance(monkeypatch, player, tmp_path):
    player._child = Child("tests.speech.engines:stuck", name="sound output")
    await player.warm()
    before = player._child.pid
    monkeypatch.setattr(module, "START_SECONDS", 0.2)
    with pytest.raises(UnavailableError, match="does not answer"):
        await player.play(write_tone(tmp_path / "tone.wav", seconds=0.1))
    await player._warming
    assert player._child.pid not in (None, before)


def test_opening_the_device_has_the_time_of_a_start(monkeypatch, tmp_path):
    told: list[tuple[float | None, str]] = []

    class Stream:
        samplerate, channels, latency, active = 22_050, 1, 0.0, True

        def __enter__(self):
            assert told == []

        def __exit__(self, *error):
            pass

        def write(self, block):
            assert told

    sound = SimpleNamespace(PortAudioError=RuntimeError, OutputStream=lambda **form: Stream())
    monkeypatch.setattr(sound_output, "portaudio", lambda: sound)
    monkeypatch.setattr(sound_output, "info", lambda *asked: {"default_samplerate": 48_000})
    tone = write_tone(tmp_path / "tone.wav", seconds=0.1)
    assert sound_output.play(lambda *beat: told.append(beat), tone, None) == pytest.approx(0.1)
    assert told[-1][0] == 1.0


async def test_no_device_is_a_stated_reason(no_sound_device, player, tmp_path):
    with pytest.raises(UnavailableError, match="no sound output"):
        await player.play(write_tone(tmp_path / "tone.wav", seconds=0.1))


async def test_an_unknown_device_is_named(sound_server, tmp_path):
    player = SoundPlayer("Gramophone")
    with pytest.raises(UnavailableError, match="Gramophone"):
        await player.play(write_tone(tmp_path / "tone.wav", seconds=0.1))
    await player.close()


async def test_a_device_can_be_chosen_by_the_name_it_is_listed_by(sound_server, tmp_path):
    found = await devices()
    assert any(device.default_output for device in found)
    assert any(device.default_input for device in found)
    name = next(device.name for device in found if device.outputs)
    player = SoundPlayer(name)
    await player.play(write_tone(tmp_path / "tone.wav", seconds=0.1))
    await player.close()


async def test_what_is_no_sound_file_is_named(sound_server, player, tmp_path):
    (tmp_path / "fake.wav").write_text("not a sound")
    write_tone(tmp_path / "empty.wav", seconds=0)
    for name in ("fake.wav", "empty.wav", "missing.wav"):
        with pytest.raises(InputError, match=name):
            await player.play(tmp_path / name)
