import asyncio
import logging
import subprocess
import wave
from pathlib import Path

import jiwer
import numpy as np
import pytest

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.speech import transcription
from jarvis_desktop.speech.recogniser import LocalRecogniser
from tests.instrument import INSTRUMENT


def quiet(fraction, message):
    pass


def say(text: str, to: Path, *, voice: str = "en-us", speed: int = 150) -> Path:
    command = ("espeak-ng", "-v", voice, "-s", str(speed), "-w", str(to), text)
    subprocess.run(command, check=True)
    return to


@pytest.fixture
async def built_in():
    recogniser = LocalRecogniser(find_weights=lambda: None)
    yield recogniser
    await recogniser.close()


@pytest.fixture
async def stand_in():
    deaf = "tests.speech.engines:deaf"
    recogniser = LocalRecogniser(find_weights=lambda: None, whisper=deaf, pocketsphinx=deaf)
    yield recogniser
    await recogniser.close()


@pytest.mark.parametrize(
    "request_",
    [
        "set a timer for ten seconds",
        "summarize the report in three sentences and read it to me",
        "what is fifteen percent of two hundred and forty",
    ],
)
async def test_a_request_is_understood_with_nothing_downloaded(built_in, tmp_path, request_):
    told = []
    audio = say(request_, tmp_path / "request.wav")
    heard = await built_in.transcribe(audio, lambda *progress: told.append(progress))
    assert jiwer.wer(request_, heard.text) <= 0.25
    assert heard.engine == "pocketsphinx"
    assert "mishears" in heard.note
    assert "experts pull whisper-base" in heard.note
    assert told[-1][0] == 1.0


async def test_it_can_be_made_ready_before_the_first_request(built_in, tmp_path):
    await built_in.warm()
    ready = built_in._pocketsphinx.pid
    await built_in.transcribe(say("what time is it", tmp_path / "question.wav"), quiet)
    assert built_in._pocketsphinx.pid == ready
    whisper = LocalRecogniser(find_weights=lambda: INSTRUMENT)
    await whisper.warm()
    assert whisper._whisper.pid
    await whisper.close()


async def test_dictation_comes_in_segments(built_in, tmp_path):
    say("the old man sat on the bench in the park and watched the children", tmp_path / "one.wav")
    with wave.open(str(tmp_path / "one.wav")) as file:
        rate, sound = file.getframerate(), file.readframes(file.getnframes())
    with wave.open(str(tmp_path / "long.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        for _ in range(5):
            file.writeframes(sound + bytes(2 * rate))
    heard = await built_in.transcribe(tmp_path / "long.wav", quiet)
    assert len(heard.segments) == 5
    starts = [segment.start for segment in heard.segments]
    steps = np.diff(starts)
    assert steps == pytest.approx([len(sound) / 2 / rate + 1] * 4, abs=0.3)
    assert heard.text.count("children") >= 3


async def test_music_and_noise_are_refused_with_a_reason(built_in, tmp_path):
    noise = (np.random.default_rng(0).standard_normal(32_000) * 3000).astype("<i2")
    with wave.open(str(tmp_path / "noise.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(noise.tobytes())
    with pytest.raises(InputError, match=r"Nobody seems to speak in noise\.wav"):
        await built_in.transcribe(tmp_path / "noise.wav", quiet)


async def test_whisper_is_used_as_soon_as_its_weights_are_there(tmp_path):
    weights: list[Path] = []
    recogniser = LocalRecogniser(find_weights=lambda: weights[0] if weights else None)
    audio = say("what time is it", tmp_path / "question.wav")
    try:
        before = await recogniser.transcribe(audio, quiet)
        weights.append(INSTRUMENT)
        after = await recogniser.transcribe(audio, quiet)
    finally:
        await recogniser.close()
    assert (before.engine, after.engine) == ("pocketsphinx", "whisper")
    assert after.note == ""
    assert len(after.language) == 2


async def test_whisper_takes_a_long_recording_too(tmp_path):
    text = "the old man sat on the bench in the park and watched the children. " * 12
    recogniser = LocalRecogniser(find_weights=lambda: INSTRUMENT, language="en")
    try:
        heard = await recogniser.transcribe(say(text, tmp_path / "long.wav"), quiet)
        assert heard.engine == "whisper"
    except InputError as error:  # nonsense may fall below the threshold of certainty
        assert "Nobody seems to speak" in error.message  # noqa: PT017
    finally:
        await recogniser.close()


async def test_broken_weights_are_replaced_by_the_built_in_one_and_said(tmp_path):
    (tmp_path / "whisper-base").mkdir()
    recogniser = LocalRecogniser(find_weights=lambda: tmp_path / "whisper-base")
    audio = say("what time is it", tmp_path / "question.wav")
    try:
        missing = await recogniser.transcribe(audio, quiet)
        for name in ("model.bin", "config.json", "tokenizer.json"):
            (tmp_path / "whisper-base" / name).write_text("{}")
        garbage = await recogniser.transcribe(audio, quiet)
    finally:
        await recogniser.close()
    for heard in (missing, garbage):
        assert heard.engine == "pocketsphinx"
        assert heard.note.startswith("The Whisper weights on this computer cannot be used.")


async def test_a_crashing_whisper_is_replaced_by_the_built_in_one_and_said(tmp_path, caplog):
    recogniser = LocalRecogniser(
        find_weights=lambda: tmp_path,
        whisper="tests.speech.engines:aborting",
        pocketsphinx="tests.speech.engines:deaf",
    )
    (tmp_path / "a.wav").write_text("speak")
    try:
        with caplog.at_level(logging.INFO):
            heard = await recogniser.transcribe(tmp_path / "a.wav", quiet)
    finally:
        await recogniser.close()
    assert heard.engine == "stand-in"
    assert heard.note.startswith("The Whisper recogniser does not work on this computer.")
    assert "another recogniser takes over: ExpertError" in caplog.text


async def test_cancelling_ends_the_work_and_the_next_call_works(stand_in, tmp_path):
    (tmp_path / "a.wav").write_text("hang")
    (tmp_path / "b.wav").write_text("speak")
    listening = asyncio.Event()
    hearing = asyncio.create_task(
        stand_in.transcribe(tmp_path / "a.wav", lambda *progress: listening.set())
    )
    await listening.wait()
    hearing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hearing
    assert (await stand_in.transcribe(tmp_path / "b.wav", quiet)).text == "heard"


async def test_a_hung_engine_is_ended(stand_in, tmp_path, monkeypatch):
    monkeypatch.setattr(transcription, "START_SECONDS", 1.0)
    (tmp_path / "a.wav").write_text("hang")
    with pytest.raises(ExpertError, match="no answer within 1 second"):
        await stand_in.transcribe(tmp_path / "a.wav", quiet)


async def test_a_crashed_engine_is_started_anew(stand_in, tmp_path):
    (tmp_path / "a.wav").write_text("crash")
    (tmp_path / "b.wav").write_text("speak")
    with pytest.raises(ExpertError, match="stopped unexpectedly"):
        await stand_in.transcribe(tmp_path / "a.wav", quiet)
    assert (await stand_in.transcribe(tmp_path / "b.wav", quiet)).text == "heard"


async def test_two_recordings_at_once_are_not_mixed_up(built_in, tmp_path):
    one = say("what time is it", tmp_path / "one.wav")
    two = say("set a timer for ten minutes", tmp_path / "two.wav")
    heard = await asyncio.gather(built_in.transcribe(one, quiet), built_in.transcribe(two, quiet))
    assert heard[0].text.startswith("what")
    assert heard[1].text.startswith("set a timer")
