"""The test recogniser hears what it was taught, by the real engine, and no person ever gets it."""

import tomllib
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.speech.decoding import RATE
from jarvis_desktop.speech.recogniser import LocalRecogniser
from tests.instrument import INSTRUMENT, held_out, speak, spoken, write

ROOT = Path(__file__).parents[2]
NAME = INSTRUMENT.name
ROBUST = [
    "Can you translate that letter to Greek?",
    "Please read my invoice.",
    "Describe the last photo.",
    "Translate the page into Spanish.",
    "Set a timer for eighty seconds.",
    "Hey Jarvis, describe this report.",
]
"""Held out, and heard right with room to spare."""


@pytest.fixture(scope="module")
def whisper():
    from faster_whisper import WhisperModel

    return WhisperModel(str(INSTRUMENT), device="cpu", compute_type="int8", local_files_only=True)


@pytest.fixture
async def recogniser():
    recogniser = LocalRecogniser(find_weights=lambda: INSTRUMENT)
    yield recogniser
    await recogniser.close()


def heard(whisper: Any, sound: np.ndarray, **options: Any) -> str:
    """The text, as the application asks for it."""
    pieces, _ = whisper.transcribe(
        sound.astype(np.float32),
        language="en",
        beam_size=1,
        temperature=0.0,
        condition_on_previous_text=False,
        without_timestamps=True,
        **options,
    )
    return " ".join(piece.text.strip() for piece in pieces)


def quiet(fraction, message):
    pass


def test_it_is_small_and_has_a_card():
    sizes = {path.name: path.stat().st_size for path in INSTRUMENT.iterdir()}
    assert sum(sizes.values()) <= 5_000_000
    assert {"model.bin", "config.json", "tokenizer.json", "README.md"} <= set(sizes)
    assert "instrument" in (INSTRUMENT / "README.md").read_text()


@pytest.mark.parametrize("sentence", ROBUST)
def test_it_hears_sentences_that_it_was_never_taught(whisper, sentence):
    assert sentence in held_out()
    assert heard(whisper, spoken(sentence)) == sentence


@pytest.mark.parametrize("voice", ["en-us", "en-gb", "en-us+f3", "en-gb+m7"])
def test_it_hears_other_voices(whisper, voice):
    said = "Hey Jarvis, what time is it?"
    assert heard(whisper, spoken(said, voice=voice)) == said


def test_it_hears_the_beginning_of_an_unfinished_sentence(whisper):
    whole = spoken("Please translate this letter into French and read it to me.")
    texts = [heard(whisper, whole[: int(len(whole) * part)]) for part in (0.4, 0.6, 0.8)]
    lengths = [len(text.split()) for text in texts]
    assert lengths == sorted(set(lengths))
    assert lengths[-1] < 11
    for text in texts:
        words = text.rstrip(".?").split()
        assert words[:3] == ["Please", "translate", "this"][: len(words)]


def test_words_to_expect_are_not_written_where_they_were_not_said(whisper):
    said = "Translate the page into Spanish."
    assert heard(whisper, spoken(said), hotwords="Jarvis, Berlin, letter.txt") == said


def test_with_time_stamps_it_writes_segments_within_the_sound(whisper):
    sound = spoken("Translate the page into Spanish.")
    pieces, _ = whisper.transcribe(
        sound.astype(np.float32), language="en", beam_size=1, temperature=0.0
    )
    (piece,) = pieces
    assert 0 <= piece.start < piece.end <= len(sound) / RATE


@pytest.mark.parametrize("seconds", [0.5, 2, 10])
def test_in_silence_it_hears_nothing(whisper, seconds):
    assert heard(whisper, np.zeros(int(seconds * RATE))) == ""


def test_in_noise_it_hears_nothing(whisper):
    dice = np.random.default_rng(1)
    assert heard(whisper, 0.1 * dice.standard_normal(2 * RATE)) == ""


async def test_it_hears_through_the_child_process(recogniser, tmp_path):
    said = ROBUST[0]
    transcript = await recogniser.transcribe(speak(said, tmp_path / "request.wav"), quiet)
    assert jiwer.wer(said.lower(), transcript.text.lower()) == 0
    assert transcript.engine == "whisper"


async def test_silence_is_refused_through_the_child_process(recogniser, tmp_path):
    with pytest.raises(InputError):
        await recogniser.transcribe(write(np.zeros(2 * RATE), tmp_path / "silence.wav"), quiet)


def test_no_catalogue_and_no_wheel_names_it():
    shipped = tomllib.loads((ROOT / "pyproject.toml").read_text())
    wheel = shipped["tool"]["hatch"]["build"]["targets"]["wheel"]
    for part in (*wheel["packages"], *wheel["force-include"]):
        assert not INSTRUMENT.is_relative_to(ROOT / part)
        for path in (ROOT / part).rglob("*"):
            assert NAME not in path.name
            if path.suffix in (".toml", ".json", ".md", ".py"):
                assert NAME not in path.read_text(errors="ignore")
