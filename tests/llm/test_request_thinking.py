from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.llm.request import THINKING_MARKS, Thinking


async def sent(pieces: Iterable[str]) -> AsyncGenerator[str, None]:
    for piece in pieces:
        yield piece


async def heard(
    pieces: Iterable[str], *, hold: bool = False, by: Thinking | None = None
) -> list[str]:
    thinking = by or Thinking("tiny")
    async with aclosing(thinking.removed(sent(pieces), hold=hold)) as answer:
        return [piece async for piece in answer]


async def spoken(pieces: Iterable[str], *, hold: bool = False, by: Thinking | None = None) -> str:
    return "".join(await heard(pieces, hold=hold, by=by))


@pytest.mark.parametrize(("start", "end"), THINKING_MARKS)
async def test_thinking_before_the_answer_is_taken_out(start, end):
    assert await spoken([f"\n{start}Hm. Let me see.\n{end}\n\nYes."]) == "Yes."


async def test_thinking_is_taken_out_however_it_is_cut_into_pieces():
    text = "<think>a < b, </thin, hm</think>\n\nYes, a < b."
    for size in range(1, len(text)):
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        assert await spoken(pieces) == "Yes, a < b."


async def test_an_answer_without_thinking_streams_at_once():
    assert await heard(["Hello", ", ", "Ada <3"]) == ["Hello", ", ", "Ada <3"]


async def test_what_might_become_a_mark_waits_for_the_next_piece():
    assert await heard(["<", "b>", "bold", "</", "b>"]) == ["<b>", "bold", "</b>"]
    assert await heard(["1 <", ""]) == ["1 ", "<"]
    assert await heard(["<thi"]) == ["<thi"]


async def test_two_stretches_of_thinking_are_both_taken_out():
    assert await spoken(["<think>\n\n</think>\n", "<think>again</think>Yes."]) == "Yes."


async def test_marks_in_the_middle_of_an_answer_are_part_of_it():
    text = "It thinks between <think> and </think>, then it speaks."
    assert await spoken([text]) == text
    assert await spoken(list(text)) == text
    assert await spoken([text], hold=True) == text


@pytest.mark.parametrize("text", ["<think>Hm. And then", "", " \n", "<think></think>\n"])
async def test_thinking_that_never_ends_is_no_answer(text):
    with pytest.raises(ExpertError, match="tiny gave no answer"):
        await spoken([text])


async def test_an_answer_that_begins_within_thinking_is_found_where_it_may_be_held():
    assert (
        await spoken(["Hm, the user", " wants </th", "ink>", '\n{"a": 1}'], hold=True) == '{"a": 1}'
    )
    assert await spoken(['{"a":', " 1}"], hold=True) == '{"a": 1}'


async def test_that_an_llm_begins_within_thinking_is_learnt():
    thinking = Thinking("tiny")
    first = await heard(["Hm. ", "</think>", "\n\nYes."], by=thinking)
    assert first == ["Hm. ", "Yes."]  # what was said cannot be taken back, but is not repeated
    assert await heard(["Well. ", "</think>", "No", "."], by=thinking) == ["No", "."]
    assert await heard(["Not", " this time."], by=thinking) == ["Not this time."]


async def test_one_answer_without_a_mark_is_enough_to_stream_again():
    thinking = Thinking("tiny")
    await heard(["Hm. ", "</think>", "Yes."], by=thinking)
    assert await heard(["No", "."], by=thinking) == ["No."]
    assert await heard(["No", "."], by=thinking) == ["No", "."]


async def test_a_mark_in_ticks_is_part_of_the_answer():
    thinking = Thinking("tiny")
    text = "It ends with `</think>`, then it speaks."
    assert await spoken([text], by=thinking) == text
    assert await spoken(list(text), by=thinking) == text
    assert await spoken(["Take `a`.", "</think>", "Yes."], by=thinking) == "Take `a`.Yes."
    assert await heard(["No", "."], by=thinking) == ["No", "."]


@given(
    st.lists(
        st.sampled_from(["<think>", "</think>", "<", "/", "think>", "[THINK]", "a", "`", " ", "\n"])
    ),
    st.booleans(),
)
async def test_the_pieces_never_change_the_answer(parts, hold):
    async def result(pieces: list[str]) -> list[str]:
        try:
            return (await spoken(pieces, hold=hold)).split()
        except ExpertError:
            return []

    text = "".join(parts)
    assert await result([text]) == await result(list(text)) == await result(parts)
