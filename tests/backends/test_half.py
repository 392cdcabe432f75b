"""Experts of words and sound in 16 bits, as they are where memory is short."""

from __future__ import annotations

import numpy as np
import pytest

from jarvis_desktop.core.placement import Placement
from jarvis_desktop.tasks.audio.media import write_wav

HALF = Placement(half=True)
TEXT = {"text": "Ada Lovelace met Bo in Paris ."}


@pytest.mark.parametrize(
    ("task", "builder", "inputs", "options", "base"),
    [
        ("token-classification", "tiny_words:labeller", TEXT, {}, ""),
        ("text-classification", "tiny_words:judge", TEXT, {}, ""),
        ("zero-shot-classification", "tiny:sorter", TEXT, {"labels": "sport, politics"}, ""),
        ("fill-mask", "tiny:gap_filler", {"text": "the ___ sat"}, {}, ""),
        ("summarization", "tiny:summariser", TEXT, {}, ""),
        ("text-generation", "tiny:writer", {"prompt": "the cat"}, {}, ""),
        ("feature-extraction", "tiny_words:vectors", TEXT, {}, ""),
        (
            "question-answering",
            "tiny_words:reader",
            {"question": "Ada met Bo in ?", "context": "Ada met Bo in Paris . A dog ran ."},
            {},
            "",
        ),
        ("text-to-speech", "tiny_sound:voice", {"text": "the cat sat"}, {}, ""),
        (
            "text-to-speech",
            "tiny_sound:reader_aloud",
            {"text": "the cat sat"},
            {},
            "tiny_sound:vocoder",
        ),
        ("text-to-audio", "tiny_sound:composer", {"prompt": "a song"}, {"seconds": 1.0}, ""),
    ],
)
def test_words(bench, task, builder, inputs, options, base):
    first, *_ = bench.run(task, builder, inputs, options, base=base, place=HALF)
    assert first.text or first.path


@pytest.mark.parametrize(
    ("task", "builder"),
    [
        ("automatic-speech-recognition", "tiny_sound:scribe"),
        ("automatic-speech-recognition", "tiny_sound:speller"),
        ("automatic-speech-recognition", "tiny_sound:moonshine"),
        ("audio-classification", "tiny_sound:wave_namer"),
        ("audio-classification", "tiny_media:listener"),
    ],
)
def test_sound(bench, tmp_path, task, builder):
    noise = np.random.default_rng(1).normal(0, 0.1, 16_000).astype(np.float32)
    path = write_wav(tmp_path / "noise.wav", noise, 16_000)
    (result,) = bench.run(task, builder, {"audio": path}, place=HALF)
    assert result.text


def test_a_table_is_read(bench, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("name,count\na,7\nb,3\n", "utf-8")
    asked = {"table": path, "question": "how many"}
    (result,) = bench.run("table-question-answering", "tiny_words:table_pointer", asked, place=HALF)
    assert result.text == "7"
