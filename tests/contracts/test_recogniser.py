import subprocess

import pytest

from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.hearing import Transcript
from jarvis_desktop.core.voice import Recogniser
from jarvis_desktop.speech.recogniser import LocalRecogniser
from tests.fake_voice import FakeRecogniser, write_wav


def quiet(fraction, message):
    pass


@pytest.fixture(params=["fake", "pocketsphinx", "whisper"])
async def recogniser(request):
    recogniser: Recogniser
    if request.param == "fake":
        recogniser = FakeRecogniser()
    elif request.param == "pocketsphinx":
        recogniser = LocalRecogniser(find_weights=lambda: None)
    else:
        weights = request.getfixturevalue("tiny_whisper")
        recogniser = LocalRecogniser(find_weights=lambda: weights)
    yield recogniser
    await recogniser.close()


@pytest.fixture
def question(tmp_path):
    to = tmp_path / "question.wav"
    subprocess.run(("espeak-ng", "-v", "en-us", "-w", str(to), "what time is it"), check=True)
    return to


async def test_it_hears_words_in_speech(recogniser, question):
    heard = await recogniser.transcribe(question, quiet)
    assert isinstance(heard, Transcript)
    assert heard.text.strip()
    assert heard.engine
    assert all(0 <= segment.start <= segment.end for segment in heard.segments)


async def test_a_missing_recording_is_named(recogniser, tmp_path):
    with pytest.raises(InputError, match=r"gone\.wav"):
        await recogniser.transcribe(tmp_path / "gone.wav", quiet)


async def test_silence_is_an_answer_with_a_reason(recogniser, tmp_path):
    if isinstance(recogniser, FakeRecogniser):
        recogniser.error = InputError("There is no sound in memo.wav.")
    with pytest.raises(JarvisError, match="no sound"):
        await recogniser.transcribe(write_wav(tmp_path / "memo.wav", seconds=1), quiet)


async def test_closing_twice_is_harmless(recogniser):
    await recogniser.close()
    await recogniser.close()
