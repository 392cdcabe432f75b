import os
import wave
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.speech.voices import piper as piper_voice
from jarvis_desktop.speech.voices.engine import PiperVoice, SpeechRequest, choose
from tests.speech.neural import piper_program, piper_voices

VOICES = ("de_DE-thorsten-medium", "en_US-lessac-medium")


@pytest.fixture(params=[True, False], ids=["older", "newer"])
def piper(request, tmp_path):
    """The engine in this process, with one English and one German voice."""
    program = piper_program(tmp_path / "program", speaks_json=request.param)
    engine = piper_voice.PiperEngine(piper_voices(tmp_path / "voices", *VOICES), program)
    engine.ready()
    yield engine
    engine._end()


def started(engine: piper_voice.PiperEngine, voice: str) -> list[tuple[int, float]]:
    """The processes that were started for a voice: number and length scale."""
    lines = (engine._folder / f"{voice}.onnx.started").read_text().splitlines()
    return [(int(line.split()[0]), float(line.split()[1])) for line in lines]


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def loudest(path: Path) -> int:
    with wave.open(str(path)) as file:
        return int(max(abs(each) for each in memoryview(bytes(file.readframes(9**9))).cast("h")))


def test_one_process_speaks_all_sentences_of_a_voice_and_pace(piper, tmp_path):
    german, english = "de_DE-thorsten-medium", "en_US-lessac-medium"
    for number, (language, rate) in enumerate(
        [("en", 175), ("en", 175), ("de", 175), ("de", 350), ("de", 350)]
    ):
        to = tmp_path / f"{number}.wav"
        order = SpeechRequest(f"number\n {number}", to, rate=rate, language=language, seconds=20)
        piper.speak(order, choose(piper.voices, order))
        assert loudest(to) > 1000
    assert [scale for _, scale in started(piper, english)] == [1.0]
    assert [scale for _, scale in started(piper, german)] == [1.0, 0.5]
    assert not lives(started(piper, english)[0][0])


def test_a_process_that_fails_is_ended_and_the_next_one_speaks(piper, tmp_path):
    to = tmp_path / "said.wav"
    for text, message in [
        ("crash", "stopped unexpectedly: RuntimeError: out of words"),
        ("hang", "no answer in time"),
        ("mute", "no sound"),
    ]:
        with pytest.raises(ExpertError, match=message):
            piper.speak(SpeechRequest(text, to, seconds=0.2 if text == "hang" else 20), None)
        assert not to.exists()
        assert not any(lives(pid) for pid, _ in started(piper, VOICES[1]))
    piper.speak(SpeechRequest("hello", to, seconds=20), None)
    assert len(started(piper, VOICES[1])) == 4
    loud = loudest(to)
    piper.speak(SpeechRequest("hello", to, seconds=20, volume=0.5), None)
    assert loudest(to) == pytest.approx(loud / 2, rel=0.1)
    os.kill(started(piper, VOICES[1])[-1][0], 9)
    piper._running._process.wait()
    piper.speak(SpeechRequest("hello", to, seconds=20), None)
    assert len(started(piper, VOICES[1])) == 5


def test_voices_that_go_away_are_told(tmp_path):
    program = piper_program(tmp_path / "program")
    engine = piper_voice.PiperEngine(tmp_path / "empty", program)
    engine.ready()
    with pytest.raises(UnavailableError, match="Piper voice is no longer installed"):
        engine.speak(SpeechRequest("hello", tmp_path / "said.wav"), None)


def test_another_program_of_that_name_is_told(tmp_path):
    program = tmp_path / "piper"
    program.write_text("#!/bin/sh\necho 'Usage: piper [OPTION]... configure gaming mice'\n")
    program.chmod(0o755)
    engine = piper_voice.PiperEngine(piper_voices(tmp_path / "voices"), str(program))
    with pytest.raises(UnavailableError, match="is not the voice Piper"):
        engine.ready()
    program.chmod(0o600)
    with pytest.raises(UnavailableError, match="cannot be started"):
        engine.ready()
    with pytest.raises(ExpertError, match="could not be started"):
        engine.speak(SpeechRequest("hello", tmp_path / "said.wav"), None)


async def test_the_system_speaks_what_piper_fails_at(tmp_path):
    program = piper_program(tmp_path / "program")
    told = []
    engine = PiperVoice(piper_voices(tmp_path / "voices"), program)
    voice = LocalVoice(engine=engine, tell=lambda error: told.append(error.message))
    try:
        for text in ("hello", "crash", "hello", "crash", "crash", "hello"):
            await voice.synthesise(text, tmp_path / "said.wav")
            assert loudest(tmp_path / "said.wav") > 1000
        assert told == [
            "Piper stopped unexpectedly: RuntimeError: out of words. "
            "The system's voice speaks instead."
        ]
        lines = (engine.folder / "en_US-lessac-medium.onnx.started").read_text().splitlines()
        assert len(lines) == 3  # after two failures in a row the system speaks for good
    finally:
        await voice.close()
    assert not any(lives(int(line.split()[0])) for line in lines)
