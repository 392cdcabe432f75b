from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.text.thinking import THINKING_MARKS, ThinkingFilter


def heard(pieces: Iterable[str], *, hold: bool = False) -> list[str]:
    reader = ThinkingFilter(hold)
    return [piece for piece in [*map(reader.feed, pieces), reader.rest()] if piece]


def spoken(pieces: Iterable[str], *, hold: bool = False) -> str:
    return "".join(heard(pieces, hold=hold))


@pytest.mark.parametrize(("start", "end"), THINKING_MARKS)
def test_thinking_before_the_answer_is_taken_out(start, end):
    assert spoken([f"\n{start}Hm. Let me see.\n{end}\n\nYes."]) == "Yes."


def test_thinking_is_taken_out_however_it_is_cut_into_pieces():
    text = "<think>a < b, </thin, hm</think>\n\nYes, a < b."
    for size in range(1, len(text)):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert spoken(pieces) == "Yes, a < b."


def test_an_answer_without_thinking_streams_at_once():
    assert heard(["Hello", ", ", "Ada <3"]) == ["Hello", ", ", "Ada <3"]


def test_what_might_become_a_mark_waits_for_the_next_piece():
    assert heard(["<", "b>", "bold", "</", "b>"]) == ["<b>", "bold", "</b>"]
    assert heard(["1 <", ""]) == ["1 ", "<"]
    assert heard(["<thi"]) == ["<thi"]


def test_two_stretches_of_thinking_are_both_taken_out():
    assert spoken(["<think>\n\n</think>\n", "<think>again</think>Yes."]) == "Yes."


def test_marks_in_the_middle_of_an_answer_are_part_of_it():
    text = "It thinks between <think> and </think>, then it speaks."
    assert spoken([text]) == text
    assert spoken(list(text)) == text
    assert spoken([text], hold=True) == text


@pytest.mark.parametrize("text", ["<think>Hm. And then", "", " \n", "<think></think>\n"])
def test_thinking_that_never_ends_is_no_answer(text):
    assert not spoken([text])


def test_an_answer_that_begins_within_thinking_is_found_if_it_may_be_held():
    assert spoken(["Hm, the user", " wants </th", "ink>", '\n{"a": 1}'], hold=True) == '{"a": 1}'
    assert spoken(['{"a":', " 1}"], hold=True) == '{"a": 1}'


def test_a_mark_in_ticks_is_part_of_the_answer():
    text = "It ends with `</think>`, then it speaks."
    assert spoken([text]) == text
    assert spoken(list(text)) == text
    assert spoken(["Take `a`.", "</think>", "Yes."]) == "Take `a`.Yes."


@given(
    st.lists(
        st.sampled_from(["<think>", "</think>", "<", "/", "think>", "[THINK]", "a", "`", " ", "\n"])
    ),
    st.booleans(),
)
def test_the_pieces_never_change_the_answer(parts, hold):
    text = "".join(parts)
    whole = spoken([text], hold=hold).split()
    assert whole == spoken(list(text), hold=hold).split() == spoken(parts, hold=hold).split()
