import asyncio
import wave

import pytest

from jarvis_desktop.speech.microphone import SoundMicrophone

pytestmark = pytest.mark.sound


@pytest.fixture
async def microphone(sound_server):
    microphone = SoundMicrophone()
    yield microphone
    await microphone.close()


async def test_it_records_16_khz_mono_until_told_to_stop(microphone, tmp_path):
    stop, levels = asyncio.Event(), []

    def level(loudness):
        levels.append(loudness)
        if len(levels) == 4:
            stop.set()

    to = tmp_path / "said.wav"
    assert await microphone.record(to, stop, level) == to
    with wave.open(str(to)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (16_000, 1, 2)
        assert file.getnframes() > 16_000 * 0.2
    assert all(0 <= loudness <= 1 for loudness in levels)


async def test_a_stop_that_is_already_set_gives_a_short_file(microphone, tmp_path):
    stop = asyncio.Event()
    stop.set()
    to = await microphone.record(tmp_path / "said.wav", stop, lambda loudness: None)
    with wave.open(str(to)) as file:
        assert file.getnframes() < 16_000


async def test_it_records_again_after_being_cancelled(microphone, tmp_path):
    begun = asyncio.Event()
    recording = asyncio.create_task(
        microphone.record(tmp_path / "a.wav", asyncio.Event(), lambda loudness: begun.set())
    )
    await begun.wait()
    recording.cancel()
    with pytest.raises(asyncio.CancelledError):
        await recording
    stop = asyncio.Event()
    await microphone.record(tmp_path / "b.wav", stop, lambda loudness: stop.set())
    with wave.open(str(tmp_path / "b.wav")) as file:
        assert file.getnframes() > 0
