"""Prompts and answers, whoever runs the LLM."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.llm import (
    MAX_TOKEN_CHARS,
    Message,
    MessageRole,
    Prompt,
    Usage,
    answer,
    estimated_tokens,
)
from tests.fakes import FakeLLM


@pytest.mark.parametrize(
    ("text", "least"), [("", 0), ("3.14159265", 9), ("2026" * 100, 400), ("\u8bed" * 50, 50)]
)
def test_a_text_has_no_more_tokens_than_estimated(text: str, least: int) -> None:
    assert estimated_tokens(text) > least


def test_words_are_not_taken_for_numbers() -> None:
    assert estimated_tokens("the cat sat there " * 10) == 61


def test_a_usage_is_one_line() -> None:
    usage = Usage(read=43, cached=143, written=11, reading_s=0.1, writing_s=0.3)
    assert usage.summary == "Read 43 tokens, 143 from the cache; wrote 11 in 0.4 s."


async def test_an_answer_without_an_end_is_left() -> None:
    llm = FakeLLM(["so on " * 100])
    asked = Prompt((Message(MessageRole.USER, "Count."),), longest=20)
    with pytest.raises(ExpertError, match="fake:1b does not end"):
        await answer(llm, asked)
    assert llm.stopped == 1


class _Plain(FakeLLM):
    """One whose pieces are an iterator, and no generator."""

    def stream(self, prompt: Prompt) -> AsyncIterator[str]:
        return _Pieces()


class _Pieces:
    left = 2

    def __aiter__(self) -> _Pieces:
        return self

    async def __anext__(self) -> str:
        self.left -= 1
        if self.left < 0:
            raise StopAsyncIteration
        return "a" * MAX_TOKEN_CHARS


async def test_an_answer_may_be_as_long_as_was_said() -> None:
    asked = Prompt((Message(MessageRole.USER, "Count."),), longest=2)
    assert await answer(_Plain(), asked) == "a" * 2 * MAX_TOKEN_CHARS
