from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.text.extraction import KEYWORD_EXTRACTION, extract, keywords
from tests.tasks.calls import call_of, quiet, text_of

TEXT = """Solar panels turn sunlight into electricity. The price of solar panels has fallen by
ninety percent in ten years. Many towns now build solar farms on old airfields, and battery storage
keeps the electricity for the night. Without battery storage a solar farm is idle after sunset."""


def test_lists_what_the_text_is_about(tmp_path: Path):
    found = text_of(
        extract(call_of(KEYWORD_EXTRACTION.type, tmp_path, text=TEXT, count=5), quiet)
    ).split(", ")
    assert len(found) == 5
    assert "solar" in " ".join(found).lower()
    assert "battery storage" in [phrase.lower() for phrase in found]


def test_no_phrase_is_part_of_a_better_one():
    found = [set(phrase.lower().split()) for phrase in keywords(TEXT, 10)]
    assert not any(words <= better for at, words in enumerate(found) for better in found[:at])


def test_knows_the_function_words_of_the_text_s_language():
    text = "Die Sonne scheint auf die Dächer der Stadt und die Dächer der Dörfer. " * 3
    assert not {"die", "der", "und"} & {phrase.lower() for phrase in keywords(text, 10)}


def test_needs_words(tmp_path: Path):
    with pytest.raises(InputError):
        extract(call_of(KEYWORD_EXTRACTION.type, tmp_path, text="12 34"), quiet)
