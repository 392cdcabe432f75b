"""How near texts are to words."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.storage.code_search import (
    by_direction,
    by_words,
    packed,
    stems,
    weighted,
    words,
)


def test_words_that_say_nothing_are_left_out_unless_there_are_no_others():
    assert words("Please plot the prices, and plot THEM") == ["plot", "prices"]
    assert words("download_prices2 für Zürich") == ["download", "prices2", "für", "zürich"]
    assert words("What is this?") == ["what", "is", "this"]
    assert words("?!") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("plot", "plotted"),
        ("plots", "plotting"),
        ("price", "prices"),
        ("download", "downloading"),
        ("copy", "copied"),
        ("resize", "resizing"),
        ("writer", "writing"),
        ("recording", "recordings"),
    ],
)
def test_endings_make_no_difference(one: str, other: str):
    assert stems(one) == stems(other)


@settings(deadline=None)  # the first call loads the stemmer
@given(st.text())
def test_stems_come_of_any_text(text: str):
    assert all(stems(text))


def test_a_rare_word_counts_more_than_a_common_one():
    texts = [weighted([(text, 1.0)]) for text in ("plot prices", "plot photos", "plot words")]
    near = by_words("plot photos", texts)
    assert near[1] > near[0] == near[2] > 0
    assert by_words("elephants", texts) == by_words("", texts) == [0.0, 0.0, 0.0]
    assert by_words("plot", []) == []


def test_a_word_counts_more_where_it_weighs_more():
    texts = [weighted([("plot", 0.3), ("prices", 3.0)]), weighted([("plot", 3.0), ("plot", 0.3)])]
    near = by_words("plot", texts)
    assert 1.0 > near[1] > near[0] > 0.0


def test_what_points_alike_is_near():
    vectors = [packed(each) for each in ([1.0, 0.0, 0.2], [0.0, 2.0, 0.1], [-5.0, 0.0, 0.0])]
    near = by_direction([3.0, 0.1, 0.5], vectors)
    assert near[0] == pytest.approx(1.0, abs=0.01)
    assert near[1] < 0.2
    assert near[2] == 0.0


def test_what_all_have_in_common_says_nothing():
    vectors = [packed([10.0, *(float(at == other) for other in range(8))]) for at in range(8)]
    near = by_direction([10.0, 0.0, 1.0, *[0.0] * 6], vectors)
    assert max(range(8), key=near.__getitem__) == 1
    assert sum(value > 0.5 for value in near) == 1


def test_vectors_of_another_length_or_none_are_near_to_nothing():
    assert by_direction([1.0, 0.0], [b"", packed([1.0]), packed([1.0, 0.0])]) == [0.0, 0.0, 1.0]
    assert by_direction([], [b"", b"x"]) == [0.0, 0.0]
    assert by_direction([1.0], []) == []
    assert by_direction([0.0, 0.0], [packed([0.0, 0.0])]) == [0.0]
