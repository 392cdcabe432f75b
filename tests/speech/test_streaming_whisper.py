"""When a pass is made, what is settled by it, and where long speech is parted."""

import itertools
from typing import Any

import numpy as np
import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.speech import streaming_whisper
from jarvis_desktop.speech.decoding import RATE
from jarvis_desktop.speech.streaming_whisper import StreamingWhisper, read
from jarvis_desktop.speech.whisper import WhisperGuess, Word
from tests.synthetic_speech import spoken, write

PORTION = 1024
"""Samples that are told at once: two frames."""


class Scripted:
    """A Whisper that hears what the test says, one pass after the other, then the last again."""

    def __init__(self, *passes, took=0.0, logprob=-0.1, no_speech=0.0, better=None):
        self._passes = list(passes)
        self.took = took
        self.logprob = logprob
        self.no_speech = no_speech
        self.better = better
        self.alone, self.alone_logprob = "", -0.1
        """What is heard where nothing is expected."""
        self.heard = []

    def hear(self, sound, *, language, hints=(), known=(), beam=1):
        if beam > 1:
            return self._guess(self.alone.split(), language, self.alone_logprob)
        self.heard.append((len(sound) / RATE, [word.text.strip() for word in known], language))
        said = self._passes.pop(0) if len(self._passes) > 1 else self._passes[0]
        words = said.split()[len(known) :]
        return self._guess(words, language)

    def again(self, sound, before, language, known):
        return self.better and self._guess(self.better.split(), language, logprob=-0.1)

    def times(self, guess, words):
        return [(at * 0.5, at * 0.5 + 0.4) for at, _ in enumerate(words)]

    def _guess(self, words, language, logprob=None):
        made = tuple(Word(f" {word}", (at,)) for at, word in enumerate(words))
        logprob = self.logprob if logprob is None else logprob
        return WhisperGuess(made, language or "de", logprob, self.no_speech, None, 0)


def listening(passes: Any, language: Any, hints: Any) -> Any:
    return StreamingWhisper(passes, language, hints)


def tell(live, samples, portion=PORTION):
    """All that was understood, portion by portion."""
    pcm = (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
    starts = range(0, len(pcm), 2 * portion)
    return [live.hear(pcm[at : at + 2 * portion], final=False) for at in starts]


def silence(seconds):
    return np.zeros(int(seconds * RATE), np.float32)


@pytest.fixture(scope="module")
def sentence():
    """Three seconds of speech without a pause, and little silence around it."""
    said = "a very long row of words without any pause between one and the other"
    return spoken(said, before=0.2, after=0)[: 3 * RATE]


def test_a_recording_is_read_unless_more_is_said_in_it(sentence, tmp_path, monkeypatch):
    recording = write(sentence, tmp_path / "sentence.wav")
    assert read(recording, 1.0) is None
    assert len(read(recording, 60.0) or b"") == 2 * len(sentence)
    monkeypatch.setattr(streaming_whisper, "MAX_SOUND_SECONDS", 1.0)
    assert read(recording, 60.0) is None


def test_nothing_is_heard_before_somebody_speaks():
    passes = Scripted("thank you for watching")
    live = listening(passes, "en", ())
    tell(live, np.random.default_rng(0).standard_normal(4 * RATE) * 0.05)
    assert passes.heard == []
    with pytest.raises(InputError, match="Nobody seems to speak in your recording"):
        live.hear(b"", final=True)


def test_passes_hear_more_and_more_and_go_on_after_what_is_settled(sentence):
    passes = Scripted("one two", "one two three four", "one two three four five six")
    live = listening(passes, "en", ())
    heard = tell(live, sentence)
    lengths = [length for length, _, _ in passes.heard]
    assert len(lengths) > 5
    assert lengths == sorted(lengths)
    assert [known for _, known, _ in passes.heard[:4]] == [
        [],
        [],
        ["one"],
        ["one", "two", "three"],
    ]
    settled = [each.settled for each in heard]
    assert all(after.startswith(before) for before, after in itertools.pairwise(settled))
    assert settled[-1] == "one two three four five"
    assert heard[-1].rest == "six"


def test_slow_passes_are_made_more_rarely(sentence):
    def passes(took):
        scripted = Scripted("one two three", took=took)
        tell(listening(scripted, "en", ()), sentence)
        return len(scripted.heard)

    assert passes(0.5) < passes(0.2) < passes(0.01)


def test_the_voice_falling_silent_begins_a_pass_that_is_final_if_nothing_follows(sentence):
    passes = Scripted("what time", "what time is it")
    live = listening(passes, "en", ())
    tell(live, np.concatenate((sentence, silence(0.4))))
    made = len(passes.heard)
    heard = live.hear(b"", final=True)
    assert heard.transcript.text == "what time is it"
    assert len(passes.heard) == made


def test_what_was_said_after_the_last_pass_is_heard_at_the_end(sentence):
    passes = Scripted("what time is it", took=100.0)
    live = listening(passes, "en", ())
    tell(live, sentence)
    assert passes.heard == []
    assert live.hear(b"", final=True).transcript.text == "what time is it"
    assert len(passes.heard) == 1
    assert passes.heard[0][0] == pytest.approx(3.0, abs=0.5)


def test_the_segment_lies_where_was_spoken(sentence):
    live = listening(Scripted("what time is it"), "en", ())
    tell(live, np.concatenate((silence(1), sentence)))
    (segment,) = live.hear(b"", final=True).transcript.segments
    assert segment.start == pytest.approx(1.0, abs=0.3)
    assert segment.end == pytest.approx(4.0, abs=0.3)


def test_a_long_pause_settles_all_and_something_new_begins(sentence):
    passes = Scripted("first of all")
    live = listening(passes, "en", ())
    heard = tell(live, np.concatenate((sentence, silence(2))))
    assert (heard[-1].settled, heard[-1].rest) == ("first of all", "")
    passes._passes = ["and then"]
    tell(live, sentence)
    transcript = live.hear(b"", final=True).transcript
    assert transcript.text == "first of all and then"
    assert transcript.segments[1].start == pytest.approx(5.0, abs=0.4)
    assert max(length for length, _, _ in passes.heard) < 3.5


def test_a_short_pause_parts_only_long_speech(sentence):
    passes = Scripted("one two three")
    live = listening(passes, "en", ())
    tell(live, np.concatenate((sentence, silence(0.8), sentence)))
    assert len(live.hear(b"", final=True).transcript.segments) == 1
    live = listening(passes, "en", ())
    tell(live, np.concatenate((*[sentence] * 3, silence(0.8), sentence)))
    assert len(live.hear(b"", final=True).transcript.segments) == 2


def test_speech_without_a_pause_is_cut_where_it_is_settled(sentence):
    passes = Scripted(" ".join(f"word{number}" for number in range(20)))
    live = listening(passes, "en", ())
    heard = tell(live, np.concatenate([sentence] * 8))
    assert max(length for length, _, _ in passes.heard) < 25
    settled = [each.settled for each in heard]
    assert all(after.startswith(before) for before, after in itertools.pairwise(settled))
    assert len(live.hear(b"", final=True).transcript.segments) > 1


def test_all_of_a_long_speech_at_once_is_heard_part_by_part(sentence):
    passes = Scripted("one part")
    live = listening(passes, "en", ())
    whole = np.concatenate([*[sentence] * 4, silence(0.7), *[sentence] * 10])
    pcm = (np.clip(whole, -1, 1) * 32767).astype("<i2").tobytes()
    heard = live.hear(pcm, final=True)
    assert max(length for length, _, _ in passes.heard) <= 25
    assert len(heard.transcript.segments) == 3
    assert heard.transcript.segments[0].end == pytest.approx(12.5, abs=0.5)


def test_nothing_is_settled_before_the_language_is_known(sentence):
    passes = Scripted("eins zwei drei vier fünf")
    live = listening(passes, None, ())
    heard = tell(live, sentence[: 2 * RATE])
    assert {each.settled for each in heard} == {""}
    assert heard[-1].rest
    heard = tell(live, np.concatenate([sentence, sentence]))
    assert heard[-1].settled
    assert passes.heard[0][2] is None
    assert passes.heard[-1][2] == "de"
    assert live.hear(b"", final=True).transcript.language == "de"


def test_words_that_whisper_doubts_to_be_speech_are_never_shown(sentence):
    live = listening(Scripted("thank you", logprob=-2.0, no_speech=0.9), "en", ())
    heard = tell(live, sentence)
    assert {(each.settled, each.rest) for each in heard} == {("", "")}
    with pytest.raises(InputError, match="Nobody seems to speak"):
        live.hear(b"", final=True)


def test_what_repeats_itself_is_not_shown(sentence):
    live = listening(Scripted("no " * 60), "en", ())
    assert {(each.settled, each.rest) for each in tell(live, sentence)} == {("", "")}


@pytest.mark.parametrize(
    "doubt",
    [
        {"said": "what tame is it", "logprob": -1.5},
        {"said": "one two " * 40},
        {
            "said": "invoice receipt letter contract",
            "hints": ["invoice", "receipt letter contract"],
        },
    ],
)
def test_a_doubtful_end_is_heard_anew_as_a_whole(sentence, doubt):
    passes = Scripted(doubt["said"], logprob=doubt.get("logprob", -0.1), better="what time is it")
    passes.alone = "what time is it"
    live = listening(passes, "en", doubt.get("hints", ()))
    tell(live, sentence)
    assert live.hear(b"", final=True).transcript.text == "what time is it"


@pytest.mark.parametrize(("alone", "logprob"), [("", -0.1), ("thank you", -1.1)])
def test_an_expected_word_is_not_written_if_nothing_sure_is_heard_without_it(
    sentence, alone, logprob
):
    passes = Scripted("Ada,")
    passes.alone, passes.alone_logprob = alone, logprob
    live = listening(passes, "en", ["Ada"])
    tell(live, sentence)
    with pytest.raises(InputError, match="Nobody seems to speak"):
        live.hear(b"", final=True)


def test_an_expected_word_that_was_said_keeps_its_spelling(sentence):
    passes = Scripted("Ada,")
    passes.alone = "Ayda"
    live = listening(passes, "en", ["Ada"])
    tell(live, sentence)
    assert live.hear(b"", final=True).transcript.text == "Ada,"


def test_settled_words_stay_as_they_were_shown(sentence):
    passes = Scripted("what tame is it now", better="tomorrow")
    live = listening(passes, "en", ())
    settled = tell(live, sentence)[-1].settled
    assert settled == "what tame is it"
    passes.logprob = -1.5
    tell(live, sentence)
    text = live.hear(b"", final=True).transcript.text
    assert text == f"{settled} tomorrow"


def test_a_doubtful_end_stays_where_nothing_better_is_heard(sentence):
    live = listening(Scripted("what tame is it", logprob=-1.5), "en", ())
    tell(live, sentence)
    assert live.hear(b"", final=True).transcript.text == "what tame is it"


def test_a_long_silence_is_not_kept(sentence):
    live = listening(Scripted("before"), "en", ())
    tell(live, np.concatenate((sentence, silence(2))))
    tell(live, silence(100), portion=RATE)
    assert len(live._sound._samples) < 61 * RATE
    tell(live, sentence)
    assert live.hear(b"", final=True).transcript.text == "before before"
