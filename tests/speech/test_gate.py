import subprocess

import numpy as np
import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.speech.decoding import RATE, decode
from jarvis_desktop.speech.gate import find_speech


@pytest.fixture(scope="module")
def speech(tmp_path_factory):
    to = tmp_path_factory.mktemp("gate") / "said.wav"
    words = "please read the letter to me"
    subprocess.run(("espeak-ng", "-v", "en-us", "-w", str(to), words), check=True)
    return decode(to)


TIMES = np.arange(5 * RATE) / RATE
NOISE = np.random.default_rng(0).standard_normal(5 * RATE)


@pytest.mark.parametrize(
    ("samples", "reason"),
    [
        (np.zeros(5 * RATE), "no sound"),
        (np.zeros(0), "no sound"),
        (NOISE * 1e-4, "no sound"),
        (np.full(int(0.1 * RATE), 0.5), "too short"),
        (NOISE * 0.1, "Nobody seems to speak"),
        (NOISE * 0.002, "Nobody seems to speak"),
        (0.3 * np.sin(2 * np.pi * 440 * TIMES), "Nobody seems to speak"),
        (0.3 * np.sign(np.sin(2 * np.pi * 120 * TIMES)), "Nobody seems to speak"),
        (np.where(TIMES % 1 < 0.002, 0.9, 0.0), "Nobody seems to speak"),
    ],
)
def test_what_is_not_speech_is_refused_with_the_reason(samples, reason):
    with pytest.raises(InputError, match=reason) as caught:
        find_speech(samples.astype(np.float32), "memo.wav")
    assert "memo.wav" in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize("loudness", [1.0, 0.1, 0.01])
def test_loud_and_quiet_speech_is_found(speech, loudness):
    found = find_speech(speech * np.float32(loudness / np.abs(speech).max()), "memo.wav")
    assert 0.5 < found.seconds < len(speech) / RATE + 0.6


def test_the_silence_around_speech_is_cut_and_times_are_those_of_the_recording(speech):
    silence = np.zeros(3 * RATE, np.float32)
    found = find_speech(np.concatenate((silence, speech, silence, silence, speech)), "memo.wav")
    assert len(found.stretches) == 2
    second = 9 + len(speech) / RATE
    starts = [found.time(start) for start, _ in found.stretches]
    assert starts == pytest.approx([3, second], abs=0.5)
    assert found.seconds < 2 * (len(speech) / RATE + 0.6)


def test_a_word_that_starts_at_once_keeps_its_beginning(speech):
    begin = int(np.flatnonzero(np.abs(speech) > 0.02)[0])
    found = find_speech(speech[begin:], "memo.wav")
    assert found.time(found.stretches[0][0]) == 0
