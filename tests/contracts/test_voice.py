import wave

import pytest

from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.speech.voice import LocalVoice
from tests.fake_voice import FakeVoice


@pytest.fixture(params=[FakeVoice, LocalVoice])
async def voice(request):
    voice = request.param()
    yield voice
    await voice.close()


async def test_it_speaks_into_a_wav_file(voice, tmp_path):
    to = tmp_path / "said.wav"
    assert await voice.synthesise("The text is read.", to) == to
    with wave.open(str(to)) as file:
        assert file.getnframes() > 0
        assert file.getsampwidth() == 2
    assert list(tmp_path.glob("*.wav")) == [to]


async def test_it_speaks_again(voice, tmp_path):
    first = await voice.synthesise("one", tmp_path / "1.wav")
    second = await voice.synthesise("two", tmp_path / "2.wav")
    assert first.is_file()
    assert second.is_file()


async def test_nothing_to_say_is_refused(voice, tmp_path):
    with pytest.raises(JarvisError, match="nothing to say"):
        await voice.synthesise(" \n", tmp_path / "said.wav")


async def test_closing_twice_is_harmless(voice):
    await voice.close()
    await voice.close()
