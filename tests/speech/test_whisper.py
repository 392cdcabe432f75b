"""One pass of Whisper with the shipped weights."""

from types import SimpleNamespace

import numpy as np
import pytest

from jarvis_desktop.speech.decoding import RATE
from jarvis_desktop.speech.recogniser import SHIPPED
from jarvis_desktop.speech.whisper import (
    MAX_HINT_TOKENS,
    WhisperDecoder,
    Word,
    _hint_tokens,
    _words,
    echoes,
    load,
    repeats,
    text,
)
from tests.synthetic_speech import spoken


@pytest.fixture(scope="module")
def passes():
    return WhisperDecoder(load(SHIPPED))


@pytest.fixture(scope="module")
def sound():
    return spoken("Set a timer for ten minutes.")


def words(said):
    return [Word(f" {word}") for word in said.split()]


def test_a_pass_goes_on_after_what_is_known_and_says_only_what_follows(passes, sound):
    whole = passes.hear(sound, language="en")
    assert len(whole.words) >= 3
    known = whole.words[:2]
    rest = passes.hear(sound, language="en", known=known)
    assert text([*known, *rest.words]) == text(whole.words)
    assert whole.logprob <= 0
    assert passes.took > 0


def test_weights_of_one_language_hear_that_one(passes, sound):
    assert passes.hear(sound, language=None).language == "en"
    assert passes.hear(sound, language="de").language == "en"


def test_the_language_is_detected_in_the_same_window_where_none_is_given(sound):
    asked: list[object] = []

    def keep(what, then):
        asked.append(what)
        return then

    detected = [[("<|de|>", 0.9), ("<|en|>", 0.1)]]
    result = SimpleNamespace(sequences_ids=[[]], scores=[-0.5], no_speech_prob=0.1)
    real = load(SHIPPED)
    ids = {"<|de|>": 5, "<|transcribe|>": 6, "<|startoftranscript|>": 7, "<|notimestamps|>": 8}
    tokenizer = real.hf_tokenizer
    whisper = SimpleNamespace(
        feature_extractor=real.feature_extractor,
        encode=lambda features: "encoded",
        hf_tokenizer=SimpleNamespace(
            token_to_id=lambda token: ids.get(token) or tokenizer.token_to_id(token),
            encode=tokenizer.encode,
            decode=tokenizer.decode,
        ),
        model=SimpleNamespace(
            is_multilingual=True,
            detect_language=lambda window: keep(window, detected),
            generate=lambda window, prompts, **options: keep(prompts[0], [result]),
        ),
    )
    guess = WhisperDecoder(whisper).hear(sound, language=None)
    assert (guess.language, guess.words) == ("de", ())
    assert asked == ["encoded", [7, 5, 6, 8]]
    WhisperDecoder(whisper).hear(sound, language="de")
    assert len(asked) == 3


def test_words_to_expect_leave_room_for_what_is_said(passes, sound):
    hints = [f"quarterly-report-{number}.pdf" for number in range(200)]
    tokenizer = passes._tokenizer("en")
    given = _hint_tokens(tokenizer, hints)
    assert given[0] == tokenizer.sot_prev
    assert 10 < len(given) <= MAX_HINT_TOKENS + 2
    assert tokenizer.decode(given[1:]).startswith(" quarterly-report-0.pdf, quarterly-report-1")
    assert tokenizer.decode(given).endswith(".pdf.")
    assert _hint_tokens(tokenizer, []) == []
    assert passes.hear(sound, language="en", hints=hints).words


def test_words_have_times_in_their_order(passes, sound):
    guess = passes.hear(sound, language="en")
    times = passes.times(guess, guess.words)
    assert len(times) == len(guess.words)
    assert all(begin <= end for begin, end in times)
    assert [begin for begin, _ in times] == sorted(begin for begin, _ in times)
    assert times[-1][1] <= len(sound) / RATE + 0.05
    assert passes.times(guess, []) == []


def test_what_is_heard_anew_is_only_taken_where_it_is_better(passes, sound):
    guess = passes.hear(sound, language="en")
    better = passes.again(sound, guess, "en", [])
    assert better is None or not better.doubtful


@pytest.mark.parametrize("samples", [0, 100, RATE * 40])
def test_any_length_of_sound_is_heard(passes, samples):
    passes.hear(np.zeros(samples, np.float32), language="en")


def test_punctuation_belongs_to_the_word_before_it(passes):
    tokenizer = passes._tokenizer("en")
    found = _words(tokenizer, tokenizer.encode(" Stop, please."))
    assert [word.text for word in found] == [" Stop,", " please."]
    assert [token for word in found for token in word.tokens] == tokenizer.encode(" Stop, please.")


def test_a_text_that_says_the_same_again_and_again_repeats():
    assert repeats("please stop " * 20)
    assert not repeats("translate the letter into French and read the translation aloud")
    assert not repeats("")


def test_the_words_to_expect_one_after_the_other_are_an_echo():
    hints = ["budget.xlsx", "Quarterly report", "Ann"]
    assert echoes(words("budget.xlsx, quarterly report, Ann"), hints)
    assert echoes(words("quarterly report"), hints)
    assert echoes(words("Ann."), hints)
    assert not echoes(words("send the quarterly report"), hints)
    assert not echoes([], hints)
    assert not echoes(words("port"), hints)
