"""The built-in recogniser, while somebody speaks."""

from typing import Any

import jiwer
import numpy as np
import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.paths import shipped
from jarvis_desktop.speech import pocketsphinx
from jarvis_desktop.speech.decoding import RATE
from jarvis_desktop.speech.pocketsphinx import Ears, LivePocketsphinx
from tests.instrument import spoken

REQUEST = "summarize the report in three sentences and read it to me"


@pytest.fixture(scope="module")
def ears():
    speech = shipped("resources", "speech")
    return Ears(speech / "commands.arpa", speech / "commands.dict")


def listening(ears: Ears) -> Any:
    return LivePocketsphinx(ears)


def tell(live, samples):
    """All that was understood, 64 ms at a time."""
    pcm = (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
    return [live.hear(pcm[at : at + 2048], final=False) for at in range(0, len(pcm), 2048)]


def test_a_request_is_understood_while_it_is_spoken_and_at_its_end(ears):
    tell(listening(ears), spoken("stop talking"))  # and is left: it must not disturb
    live = listening(ears)
    heard = tell(live, spoken(REQUEST))
    assert any(each.settled for each in heard)
    transcript = live.hear(b"", final=True).transcript
    assert jiwer.wer(REQUEST, transcript.text) <= 0.25
    (segment,) = transcript.segments
    assert 0 <= segment.start < 0.5 < segment.end


def test_a_word_that_is_too_short_to_know_the_voice_is_heard_at_the_end():
    speech = shipped("resources", "speech")
    live = listening(Ears(speech / "commands.arpa", speech / "commands.dict"))
    heard = tell(live, spoken("what time is it"))
    assert {(each.settled, each.rest) for each in heard} == {("", "")}
    assert live.hear(b"", final=True).transcript.text == "what time is it"


def test_dictation_is_parted_at_its_pauses(ears, monkeypatch):
    monkeypatch.setattr(pocketsphinx, "REQUEST_SECONDS", 1.5)
    one = np.concatenate((spoken("and watched the children"), np.zeros(RATE, np.float32)))
    live = listening(ears)
    heard = tell(live, np.concatenate([one] * 3))
    transcript = live.hear(b"", final=True).transcript
    assert len(transcript.segments) == 3
    steps = np.diff([segment.start for segment in transcript.segments])
    assert steps == pytest.approx([len(one) / RATE] * 2, abs=0.3)
    assert transcript.text.startswith(heard[-1].settled.split()[0])


def test_noise_is_refused(ears):
    live = listening(ears)
    tell(live, np.random.default_rng(0).standard_normal(2 * RATE) * 0.05)
    with pytest.raises(InputError, match="Nobody seems to speak in your recording"):
        live.hear(b"", final=True)
