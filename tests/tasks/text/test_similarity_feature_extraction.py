from __future__ import annotations

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.text.similarity import FEATURE_EXTRACTION, MAX_TEXTS, split_text
from tests.tasks.calls import call_of

TEXT = "The cat sat on the mat.\nIt is happy.\n\nA dog ran home."


@pytest.mark.parametrize(
    ("each", "parts"),
    [
        ("text", [TEXT]),
        ("line", ["The cat sat on the mat.", "It is happy.", "A dog ran home."]),
        ("sentence", ["The cat sat on the mat.", "It is happy.", "A dog ran home."]),
    ],
)
def test_a_text_is_taken_apart_as_it_was_asked(tmp_path, each, parts):
    assert split_text(call_of(FEATURE_EXTRACTION.type, tmp_path, text=TEXT, each=each)) == parts


def test_paragraphs_are_parted_by_blank_lines(tmp_path):
    assert (
        len(split_text(call_of(FEATURE_EXTRACTION.type, tmp_path, text=TEXT, each="paragraph")))
        == 2
    )


def test_a_table_of_vectors_has_an_end(tmp_path):
    call = call_of(FEATURE_EXTRACTION.type, tmp_path, text="a\n" * (MAX_TEXTS + 5), each="line")
    assert len(split_text(call)) == MAX_TEXTS


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_text_is_refused(tmp_path, text):
    with pytest.raises(InputError, match="no text"):
        split_text(call_of(FEATURE_EXTRACTION.type, tmp_path, text=text, each="line"))
