import subprocess

import numpy as np
import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.speech import FRAME
from jarvis_desktop.speech.decoding import RATE, decode
from jarvis_desktop.speech.vad import SURE, Silero, find_speech
from tests.benchmarks.sounds_without_speech import sounds


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


def test_frames_that_are_known_already_are_not_heard_again(speech):
    silero = Silero()
    silero.hear(np.zeros(FRAME * 16, np.float32))
    known = find_speech(speech, "memo.wav", silero.hear(speech))
    itself = find_speech(speech, "memo.wav")
    assert known.stretches == itself.stretches
    with pytest.raises(InputError, match="Nobody seems to speak"):
        find_speech(speech, "memo.wav", [0.1] * (len(speech) // FRAME))


def test_a_melody_that_resembles_a_voice_here_and_there_is_refused():
    melodies = [samples for kind, samples in sounds() if kind == "melody"]
    likely = [max(Silero().hear(samples.astype(np.float32))) for samples in melodies]
    assert max(likely) > SURE  # alone, the detector would take it for speech
    for samples in melodies:
        with pytest.raises(InputError, match="Nobody seems to speak"):
            find_speech(samples.astype(np.float32), "memo.wav")


def test_a_key_that_clicks_louder_than_one_speaks_changes_nothing(speech):
    quiet = np.pad(speech * np.float32(0.05 / np.abs(speech).max()), 4000)
    quiet[1000:1100] = quiet[-1100:-1000] = 0.9
    assert find_speech(quiet, "memo.wav").seconds > 0.5
