import asyncio
import os
import signal
import time

import numpy as np
import pytest
import soundfile

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.paths import shipped
from jarvis_desktop.process.child import Child
from jarvis_desktop.speech.devices import devices
from jarvis_desktop.speech.player import SoundPlayer
from tests.films import write_film
from tests.sound import RATE, Heard, strongest_frequency, write_tone

pytestmark = pytest.mark.sound


@pytest.fixture
async def player():
    player = SoundPlayer()
    yield player
    await player.close()


def loud(samples: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.abs(samples) > 0.02)


async def test_the_whole_sound_comes_out_of_the_speaker(sound_server, player, tmp_path):
    tone = write_tone(tmp_path / "tone.wav", seconds=0.5, frequency=620, rate=16_000)
    heard = sound_server.listening()
    await player.play(tone)
    samples = heard.wait_for(
        lambda samples: len(loud(samples)) and loud(samples)[-1] < len(samples) - RATE / 20
    )
    at = loud(samples)
    assert (at[-1] - at[0]) / RATE > 0.48
    assert strongest_frequency(samples[at[0] : at[-1]], RATE) == pytest.approx(620, abs=5)
    times = np.arange(8000) / 16_000
    both = np.stack((np.sin(2 * np.pi * 500 * times), np.zeros(8000)), axis=1) * 0.5
    soundfile.write(tmp_path / "two.wav", both, 16_000, subtype="FLOAT")
    heard = sound_server.listening()
    await player.play(tmp_path / "two.wav")
    samples = heard.wait_for(lambda samples: len(loud(samples)) > RATE / 4)
    assert strongest_frequency(samples, RATE) == pytest.approx(500, abs=5)


async def test_cancelling_silences_it_and_the_next_one_plays(sound_server, player, tmp_path):
    heard = sound_server.listening()
    playing = asyncio.create_task(player.play(write_tone(tmp_path / "tone.wav", seconds=60)))
    # It may be heard before the player knows how far it is.
    await asyncio.to_thread(
        heard.wait_for,
        lambda samples: len(loud(samples)) > 1000 and player.position is not None,
    )
    begun = time.monotonic() - player.position
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await playing
    await falls_silent(heard, time.monotonic() - begun)
    heard = sound_server.listening()
    await player.play(write_tone(tmp_path / "b.wav", seconds=0.3, frequency=880))
    samples = heard.wait_for(lambda samples: len(loud(samples)) > RATE / 5)
    assert strongest_frequency(samples, RATE) == pytest.approx(880, abs=8)


async def falls_silent(heard: Heard, seconds: float) -> None:
    """A tone is heard for no longer than it was played."""
    before = len(heard.samples)
    samples = await asyncio.to_thread(
        heard.wait_for, lambda samples: len(samples) > before + RATE // 5
    )
    at = loud(samples)
    assert (at[-1] - at[0]) / RATE < seconds + 0.1


async def test_the_shipped_bell_rings(sound_server, player):
    bell = shipped("resources", "sounds", "ring.wav")
    assert bell.stat().st_size < 100_000
    heard = sound_server.listening()
    await player.play(bell)
    assert len(loud(heard.samples)) > RATE / 5


async def test_silence_ends_it_and_the_same_process_plays_on(sound_server, player, tmp_path):
    tone = write_tone(tmp_path / "tone.wav", seconds=60)
    heard = sound_server.listening()
    playing = asyncio.create_task(player.play(tone))
    await asyncio.to_thread(heard.wait_for, lambda samples: len(loud(samples)) > 1000)
    await player.warm()  # it is in use
    assert not playing.done()
    pid = player._child.pid
    begun = time.monotonic() - player.position
    player.silence()
    await playing
    await falls_silent(heard, time.monotonic() - begun)
    player.duck(0.25)
    heard = sound_server.listening()
    loudest = write_tone(tmp_path / "b.wav", seconds=0.3, frequency=880, loudness=0.8)
    await player.play(loudest)
    samples = heard.wait_for(lambda samples: len(loud(samples)) > RATE / 5)
    assert strongest_frequency(samples, RATE) == pytest.approx(880, abs=8)
    assert np.abs(samples).max() == pytest.approx(0.2, abs=0.01)
    assert player._child.pid == pid


async def test_what_waits_to_be_heard_is_silenced_too(sound_server, player, tmp_path):
    heard, begun = sound_server.listening(), []
    tone = write_tone(tmp_path / "tone.wav", seconds=0.2)
    playing = asyncio.create_task(player.play(tone, begun=lambda: begun.append("early")))
    await asyncio.sleep(0)
    player.silence()  # the process is not even there
    await playing
    await player.play(tone, more=True)
    playing = asyncio.create_task(player.play(tone, begun=lambda: begun.append("late")))
    await asyncio.sleep(0)
    player.silence()
    await playing
    await player.drain()
    await falls_silent(heard, 0.2)
    assert begun == []


async def test_files_of_different_rates_follow_one_another(sound_server, player, tmp_path):
    heard, begun = sound_server.listening(), []
    for frequency, rate in ((400, 22_050), (800, 48_000), (600, 16_000)):
        tone = write_tone(tmp_path / "tone.wav", seconds=0.3, frequency=frequency, rate=rate)
        await player.play(tone, more=True, begun=lambda what=frequency: begun.append(what))
    await player.drain()
    assert begun == [400, 800, 600]
    at = loud(heard.wait_for(lambda samples: len(loud(samples)) > 0.85 * RATE))
    sound = heard.samples[at[0] : at[-1]]
    assert strongest_frequency(sound[: RATE // 5], RATE) == pytest.approx(400, abs=8)
    assert strongest_frequency(sound[-RATE // 5 :], RATE) == pytest.approx(600, abs=8)


async def test_a_hung_sound_server_is_given_up(own_sound_server, player, tmp_path):
    tone = write_tone(tmp_path / "tone.wav", seconds=60)
    heard = own_sound_server.listening()
    playing = asyncio.create_task(player.play(tone))
    await asyncio.to_thread(heard.wait_for, lambda samples: len(loud(samples)) > 1000)
    own_sound_server.freeze()
    with pytest.raises(UnavailableError, match="does not answer"):
        await playing
    with pytest.raises(UnavailableError, match="does not answer"):  # it is asked to open, too
        await player.play(tone)
    own_sound_server.thaw()
    await player.play(write_tone(tmp_path / "short.wav", seconds=0.2))


async def test_a_sound_server_that_comes_and_goes(own_sound_server, player, tmp_path):
    tone = write_tone(tmp_path / "tone.wav", seconds=60)
    short = write_tone(tmp_path / "short.wav", seconds=0.1)
    begun = asyncio.Event()
    playing = asyncio.create_task(player.play(tone, begun=begun.set))
    await begun.wait()
    own_sound_server.control("unload-module", "module-null-sink")
    with pytest.raises(UnavailableError, match="went away"):
        await playing
    for player_of_tests in own_sound_server.players:
        player_of_tests.kill()
    own_sound_server.process.kill()
    with pytest.raises(UnavailableError, match="no sound output"):
        await player.play(short)
    own_sound_server.restart()
    await player.play(short)
    own_sound_server.process.kill()  # while the device is open and stands still
    own_sound_server.restart()
    await player.warm()
    await player.play(short)


async def test_a_device_that_takes_the_sound_and_plays_nothing_is_found_out(
    no_sound_device, player, tmp_path, monkeypatch
):
    null = "</usr/share/alsa/alsa.conf>\npcm.!default { type null }\nctl.!default { type null }\n"
    (tmp_path / "null.conf").write_text(null)
    monkeypatch.setenv("ALSA_CONFIG_PATH", str(tmp_path / "null.conf"))
    with pytest.raises(UnavailableError, match="does not play it"):
        await player.play(write_tone(tmp_path / "tone.wav", seconds=0.3))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_a_process_that_ends_or_hangs_is_replaced(sound_server, player, tmp_path, how):
    begun = asyncio.Event()
    tone = write_tone(tmp_path / "tone.wav", seconds=60)
    playing = asyncio.create_task(player.play(tone, begun=begun.set))
    await begun.wait()
    os.kill(player._child.pid, how)
    player._line.be_patient(0.6)
    with pytest.raises(UnavailableError, match=r"stopped unexpectedly|does not answer"):
        await playing
    await player.play(write_tone(tmp_path / "short.wav", seconds=0.1))


@pytest.fixture
async def stuck(player):
    """A player whose process never gets anywhere."""
    player._child = Child("tests.speech.engines:stuck", name="sound output")
    await player._child.start()
    player._ready = player._child.pid
    return player


async def test_after_a_hang_the_next_process_is_there_in_advance(stuck, tmp_path):
    before = stuck._ready
    stuck._line.be_patient(0.1)
    with pytest.raises(UnavailableError, match="does not answer"):
        await stuck.play(write_tone(tmp_path / "tone.wav", seconds=0.1))
    await stuck._warming
    assert stuck._child.pid not in (None, before)


@pytest.mark.parametrize("cancels", [True, False])
async def test_a_process_that_does_not_fall_silent_is_ended(stuck, tmp_path, cancels):
    before = stuck._ready
    playing = asyncio.create_task(stuck.play(write_tone(tmp_path / "tone.wav", seconds=0.1)))
    await asyncio.sleep(0.05)
    if cancels:
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
    else:
        stuck.silence()
        await playing
    await stuck._warming
    assert stuck._child.pid not in (None, before)


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


async def test_another_device_is_taken_up_at_once(sound_server, player, tmp_path):
    tone = write_tone(tmp_path / "tone.wav", seconds=60)
    heard = sound_server.listening()
    playing = asyncio.create_task(player.play(tone))
    await asyncio.to_thread(heard.wait_for, lambda samples: len(loud(samples)) > 1000)
    await player.choose("nobody's loudspeaker, ALSA")
    await playing
    with pytest.raises(UnavailableError, match="nobody's loudspeaker"):
        await player.play(tone)
    await player.choose(None)
    await player.play(write_tone(tmp_path / "short.wav", seconds=0.1))


async def test_what_is_no_sound_file_is_named(sound_server, player, tmp_path):
    (tmp_path / "fake.wav").write_text("not a sound")
    write_tone(tmp_path / "empty.wav", seconds=0)
    for name in ("fake.wav", "empty.wav", "missing.wav"):
        with pytest.raises(InputError, match=name):
            await player.play(tmp_path / name)


async def test_it_begins_at_the_wanted_place_of_any_file(sound_server, player, tmp_path):
    two = write_tone(tmp_path / "low.wav", seconds=2, frequency=400)
    samples = [soundfile.read(two)[0]]
    samples.append(soundfile.read(write_tone(two, seconds=2, frequency=800))[0])
    soundfile.write(tmp_path / "two.wav", np.concatenate(samples), 22_050)
    soundfile.write(tmp_path / "two.mp3", np.concatenate(samples), 22_050)
    film = write_film(tmp_path / "two.mp4", sound=tmp_path / "two.wav")
    for path in (tmp_path / "two.wav", tmp_path / "two.mp3", film):
        heard = sound_server.listening()
        await player.play(path, start=1.7)
        at = loud(heard.wait_for(lambda samples: len(loud(samples)) > 2 * RATE))
        sound = heard.samples[at[0] : at[-1]]
        between = np.diff(at)  # a busy computer leaves gaps, in which nothing is lost
        played = between[between < RATE / 200].sum() / RATE
        assert played == pytest.approx(2.3, abs=0.08), path
        assert strongest_frequency(sound[: RATE // 5], RATE) == pytest.approx(400, abs=8)
        assert strongest_frequency(sound[-RATE // 5 :], RATE) == pytest.approx(800, abs=8)


async def place_of_the_first_sound(player, playing, heard) -> float:
    """Where in the file it is, as the player says while it plays: each time as the recorder, which
    is late on a busy computer and never early, lets it seem, so that the least is true."""
    found: list[float] = []
    while not playing.done():
        samples = heard.samples
        place, at = player.position, loud(samples)
        if place is not None and len(at):
            found.append(place - (len(samples) - int(at[0])) / RATE)
        await asyncio.sleep(0.005)
    await playing
    return min(found)


async def test_what_is_told_of_the_place_is_what_is_heard(sound_server, player, tmp_path):
    clicks = np.zeros(3 * RATE, np.float32)
    clicks[2 * RATE : 2 * RATE + 200] = 0.9
    soundfile.write(tmp_path / "click.wav", clicks, RATE)
    heard = sound_server.listening()
    playing = asyncio.create_task(player.play(tmp_path / "click.wav", start=1))
    place = await place_of_the_first_sound(player, playing, heard)
    assert place == pytest.approx(2, abs=0.08)


async def test_a_track_that_begins_late_is_heard_late(sound_server, player, tmp_path):
    tone = write_tone(tmp_path / "tone.wav", seconds=0.5)
    film = write_film(tmp_path / "late.mp4", sound=tone, seconds=2, delay=1.0)
    begun: list[None] = []
    heard = sound_server.listening()
    playing = asyncio.create_task(player.play(film, begun=lambda: begun.append(None)))
    place = await place_of_the_first_sound(player, playing, heard)
    assert place == pytest.approx(1.0, abs=0.15)
    assert len(begun) == 1


async def test_a_film_without_sound_is_named(sound_server, player, tmp_path):
    with pytest.raises(InputError, match="has no sound"):
        await player.play(write_film(tmp_path / "silent.mp4", seconds=0.5))
