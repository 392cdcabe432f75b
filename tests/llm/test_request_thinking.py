from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing

import pytest

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.llm.request import Thinking


async def sent(pieces: Iterable[str]) -> AsyncGenerator[str, None]:
    for piece in pieces:
        yield piece


async def heard(pieces: Iterable[str], thinking: Thinking) -> list[str]:
    async with aclosing(thinking.removed(sent(pieces), hold=False)) as answer:
        return [piece async for piece in answer]


@pytest.mark.parametrize("text", ["<think>Hm. And then", "", " \n", "<think></think>\n"])
async def test_thinking_that_never_ends_is_no_answer(text):
    with pytest.raises(ExpertError, match="tiny gave no answer"):
        await heard([text], Thinking("tiny"))


async def test_that_an_llm_begins_within_thinking_is_learnt():
    thinking = Thinking("tiny")
    first = await heard(["Hm. ", "</think>", "\n\nYes."], thinking)
    assert first == ["Hm. ", "Yes."]  # what was said cannot be taken back, but is not repeated
    assert await heard(["Well. ", "</think>", "No", "."], thinking) == ["No", "."]
    assert await heard(["Not", " this time."], thinking) == ["Not this time."]


async def test_one_answer_without_a_mark_is_enough_to_stream_again():
    thinking = Thinking("tiny")
    await heard(["Hm. ", "</think>", "Yes."], thinking)
    assert await heard(["No", "."], thinking) == ["No."]
    assert await heard(["No", "."], thinking) == ["No", "."]


async def test_a_mark_in_ticks_teaches_nothing():
    thinking = Thinking("tiny")
    assert await heard(["Take `a`.", "</think>", "Yes."], thinking) == ["Take `a`.", "Yes."]
    assert await heard(["No", "."], thinking) == ["No", "."]
