from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.text.similarity import SENTENCE_SIMILARITY, compare, similarity
from tests.tasks.calls import call_of, quiet, text_of


def test_orders_pairs_as_people_do():
    same = similarity("A cat sits on the mat.", "a cat sits on the mat")
    near = similarity("A cat sits on the mat.", "A cat is sitting on a mat.")
    far = similarity("A cat sits on the mat.", "The dog sleeps on the mat.")
    none = similarity("A cat sits on the mat.", "Prices rose in July.")
    assert same == pytest.approx(1)
    assert same > near > far > none


def test_is_symmetric():
    one, other = "The red car won.", "A red car lost the race."
    assert similarity(one, other) == pytest.approx(similarity(other, one))


def test_says_that_it_knows_no_meaning(tmp_path: Path):
    call = call_of(
        SENTENCE_SIMILARITY.type,
        tmp_path,
        text_1="The car is quick.",
        text_2="The automobile is fast.",
    )
    assert "words, not meaning" in text_of(compare(call, quiet))


def test_needs_two_texts(tmp_path: Path):
    with pytest.raises(InputError):
        compare(call_of(SENTENCE_SIMILARITY.type, tmp_path, text_1="a word", text_2="!"), quiet)
