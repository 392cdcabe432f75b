"""The judgement whether somebody has finished, with its real weights."""

import importlib.util
import subprocess
from pathlib import Path

import numpy as np
import pytest
from transformers import WhisperFeatureExtractor

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.speech import RATE
from jarvis_desktop.speech.decoding import decode
from jarvis_desktop.speech.end_of_turn import SAMPLES, EndOfTurn, SmartTurn
from jarvis_desktop.speech.voices.engine import SpeechRequest
from jarvis_desktop.speech.voices.hibari import HibariEngine


@pytest.fixture(scope="module")
def network():
    return SmartTurn()


def said(text: str, folder: Path) -> np.ndarray:
    to = folder / "said.wav"
    subprocess.run(["espeak-ng", "-v", "en-us", "-w", str(to), text], check=True)
    return decode(to)


def pcm(samples: np.ndarray) -> bytes:
    return (samples * 32767).astype("<i2").tobytes()


@pytest.mark.parametrize("seconds", [0.5, 3.0, 8.0, 11.0])
def test_the_features_are_those_of_whisper(network, seconds):
    random = np.random.default_rng(3)
    samples = (random.standard_normal(round(seconds * RATE)) * 0.05).astype(np.float32)
    last = samples[-SAMPLES:]
    padded = np.pad(last, (SAMPLES - len(last), 0))
    whole = WhisperFeatureExtractor(chunk_length=8)(
        padded, sampling_rate=RATE, do_normalize=True, return_tensors="np"
    )
    assert network.features(samples) == pytest.approx(whole.input_features[0], abs=1e-3)


def test_a_whole_question_is_finished_and_one_that_breaks_off_is_not(network, tmp_path):
    voice = HibariEngine()
    voice.ready()
    text = "What is the weather like in Berlin today?"
    voice.speak(SpeechRequest(text, tmp_path / "said.wav"), None)
    samples, pause = decode(tmp_path / "said.wav"), np.zeros(RATE // 4, np.float32)
    loud = np.flatnonzero(np.abs(samples) > 1e-3)
    spoken = samples[loud[0] : loud[-1]]
    broken_off = spoken[: round(len(spoken) * 0.45)]
    assert network.finished(np.concatenate([spoken, pause])) > 0.9
    assert network.finished(np.concatenate([broken_off, pause])) < 0.5


def verdict(end: EndOfTurn) -> float | None:
    """The next one, once the thread is done with it."""
    end._judged[0].exception()
    return end.verdict()


def test_each_is_judged_once_in_their_order(network, tmp_path):
    end, speech = EndOfTurn(), said("Good morning.", tmp_path)
    assert end.verdict() is None
    for part in (speech[: RATE // 4], speech):
        end.judge(pcm(part))
    assert verdict(end) == pytest.approx(network.finished(speech[: RATE // 4]), abs=0.05)
    assert verdict(end) == pytest.approx(network.finished(speech), abs=0.05)
    assert end.verdict() is None


def test_without_weights_there_is_no_verdict(tmp_path, caplog):
    caplog.set_level("INFO")
    (tmp_path / "broken.onnx").write_bytes(b"no weights")
    for name in ("none.onnx", "broken.onnx"):
        end = EndOfTurn(tmp_path / name)
        end.judge(bytes(32_000))
        assert verdict(end) is None
    reason = "The weights that tell the end of speech are missing or damaged."
    assert caplog.messages == [f"only silence ends what is said: {reason}"] * 2
    with pytest.raises(UnavailableError):
        SmartTurn(tmp_path / "broken.onnx")


def test_the_features_come_with_a_package(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match="faster-whisper"):
        SmartTurn()


def test_a_fault_of_our_own_is_not_taken_for_broken_weights(monkeypatch):
    import onnxruntime

    def fault(*args: object, **how: object) -> None:
        raise TypeError("a fault")

    monkeypatch.setattr(onnxruntime, "InferenceSession", fault)
    with pytest.raises(TypeError):
        SmartTurn()
