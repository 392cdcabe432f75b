import subprocess
import sys

import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.speech.decoding import RATE, decode
from jarvis_desktop.speech.wake_word import WAKE_WORD_REST_S, WakeWordDetector

VOICE = ("-v", "en-us+f4", "-s", "175")
"""Of the voices of espeak-ng one that the weights, which learnt from people, take for a person."""


@pytest.fixture(scope="module")
def say(tmp_path_factory):
    folder = tmp_path_factory.mktemp("said")

    def say(text):
        to = folder / "said.wav"
        subprocess.run(("espeak-ng", *VOICE, "-w", str(to), text), check=True)
        silence = bytes(RATE)
        return silence + (decode(to) * 32767).astype("<i2").tobytes() + silence

    return say


def times(word, pcm):
    """How often it is heard, in pieces as the microphone gives them."""
    return sum(word.take(pcm[at : at + 960]) for at in range(0, len(pcm), 960))


def test_it_is_heard_once_each_time_it_is_said(say):
    word = WakeWordDetector("hey_jarvis")
    pause = bytes(round(2 * RATE * WAKE_WORD_REST_S))
    assert times(word, (say("Hey Jarvis") + pause) * 3) == 3


def test_what_is_said_right_after_it_does_not_count_again(say):
    assert times(WakeWordDetector("hey_jarvis"), say("Hey Jarvis") * 2) == 1


@pytest.mark.parametrize("text", ["Hey Travis, what is new?", "The jar holds many services"])
def test_other_words_are_not_the_word(say, text):
    assert times(WakeWordDetector("hey_jarvis"), say(text)) == 0


@pytest.mark.parametrize("name", ["hey_nobody", "/nowhere/word.json"])
def test_a_word_that_is_not_there_is_refused_with_those_that_are(name):
    with pytest.raises(UnavailableError, match="There is no wake word") as refused:
        WakeWordDetector(name)
    assert "hey_jarvis" in refused.value.hint


def test_without_its_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymicro_wakeword", None)
    with pytest.raises(UnavailableError, match="pymicro-wakeword") as refused:
        WakeWordDetector("hey_jarvis")
    assert "jarvis-desktop[wake]" in refused.value.hint
