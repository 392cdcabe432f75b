"""The voice in the box, with its real weights."""

import importlib.util
import sys
import wave
from pathlib import Path
from typing import Any

import hibari.voices
import numpy as np
import onnxruntime
import pytest

from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.speech.voice import LocalVoice
from jarvis_desktop.speech.voices.engine import HibariVoice, SpeechRequest, neural_voice
from jarvis_desktop.speech.voices.hibari import HibariEngine

TEXT = "The summary says that the meeting was moved to Tuesday."
GERMAN = "Guten Tag, die Zusammenfassung des Berichts ist fertig und wurde gespeichert."


@pytest.fixture(scope="module")
def engine():
    engine = HibariEngine()
    engine.ready()
    return engine


def samples(path: Path) -> tuple[int, Any]:
    with wave.open(str(path)) as file:
        frames = file.readframes(file.getnframes())
        return file.getframerate(), np.frombuffer(frames, "<i2").astype(float) / 32767


def test_it_is_the_one_of_its_name_and_is_there(tmp_path, monkeypatch):
    voice = neural_voice("hibari", tmp_path)
    assert voice == HibariVoice()
    assert voice.lacking() is None
    assert (voice.speaks("en"), voice.speaks("de")) == (True, False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "pip install hibari-tts" in str(voice.lacking())


async def test_english_is_its_and_other_languages_are_the_systems(tmp_path):
    told: list[JarvisError] = []
    voice = LocalVoice(engine=HibariVoice(), tell=told.append)
    try:
        rates = [
            samples(await voice.synthesise(text, tmp_path / "said.wav"))[0]
            for text in (TEXT, GERMAN, "36")
        ]
    finally:
        await voice.close()
    assert rates == [24_000, 22_050, 24_000]
    assert told == []


async def test_without_the_systems_voice_english_is_spoken_and_the_rest_is_told(tmp_path):
    voice = LocalVoice(engine=HibariVoice(), system_args=("tests.speech.engines:missing",))
    try:
        await voice.synthesise(TEXT, tmp_path / "said.wav")
        with pytest.raises(UnavailableError) as caught:
            await voice.synthesise(GERMAN, tmp_path / "german.wav")
    finally:
        await voice.close()
    assert "espeak-ng" in caught.value.hint


def test_speech_begins_at_once_and_sentences_have_a_pause_without_a_click(engine, tmp_path):
    engine.speak(SpeechRequest("It is late.", tmp_path / "one.wav"), None)
    engine.speak(SpeechRequest("It is late. It is late.", tmp_path / "two.wav"), None)
    rate, one = samples(tmp_path / "one.wav")
    _, two = samples(tmp_path / "two.wav")
    assert np.flatnonzero(np.abs(one) > 1e-3)[0] < 0.001 * rate
    assert two == pytest.approx(np.concatenate([one, one]))
    joint = len(one)
    assert np.abs(np.diff(two[joint - 50 : joint + 50])).max() < 0.002
    loud = np.flatnonzero(np.abs(one) > 1e-3)
    assert 0.2 < (joint - loud[-1]) / rate < 0.35


def test_our_name_is_a_word(engine, tmp_path):
    for name in ("JARVIS", "Jarvis", "HTTPS"):
        engine.speak(SpeechRequest(f"{name} heard you.", tmp_path / f"{name}.wav"), None)
    ours, plain, spelled = (
        len(samples(tmp_path / f"{name}.wav")[1]) for name in ("JARVIS", "Jarvis", "HTTPS")
    )
    assert ours == plain < 0.8 * spelled


def test_what_is_too_long_for_one_run_is_whole(engine, tmp_path):
    sentence = "and then they went on to the next one of the many towns, " * 5
    engine.speak(SpeechRequest(f"They came, {sentence}.", tmp_path / "long.wav"), None)
    engine.speak(SpeechRequest("They came.", tmp_path / "short.wav"), None)
    (rate, long), (_, short) = (samples(tmp_path / name) for name in ("long.wav", "short.wav"))
    assert len(long) > 10 * rate > 5 * len(short)


def test_broken_weights_are_told_with_what_to_do(monkeypatch):
    monkeypatch.setattr(hibari.voices, "sha256_of", lambda path: "another")
    with pytest.raises(UnavailableError, match="cannot be used") as caught:
        HibariEngine().ready()
    assert "hibari-tts" in caught.value.hint


def test_weights_that_the_runtime_refuses(monkeypatch, tmp_path):
    (tmp_path / "hibari.onnx").write_bytes(b"no weights")
    wanted = hibari.voices.VOICES["heart"]["sha256"]
    monkeypatch.setattr(hibari.voices, "sha256_of", lambda path: wanted)
    monkeypatch.setattr(
        hibari.voices, "voice_path", lambda *_, **how: str(tmp_path / "hibari.onnx")
    )
    with pytest.raises(UnavailableError, match="cannot be used"):
        HibariEngine().ready()
    monkeypatch.setitem(sys.modules, "hibari", None)
    with pytest.raises(UnavailableError, match="cannot be used"):
        HibariEngine().ready()


def test_a_fault_of_our_own_is_not_taken_for_broken_weights(monkeypatch):
    def fault(*args: object, **how: object) -> None:
        raise TypeError("a fault")

    monkeypatch.setattr(onnxruntime, "InferenceSession", fault)
    with pytest.raises(TypeError, match="a fault"):
        HibariEngine().ready()
