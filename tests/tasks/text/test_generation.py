import time
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.text.generation import SUMMARIZATION, summarise, summary
from tests.tasks.calls import Reports, call_of, quiet, text_of

ARTICLE = """HARBOUR NEWS

The city council voted on Monday to rebuild the old harbour bridge. The harbour bridge was closed
last year after engineers found cracks in its steel. Rebuilding the harbour bridge will cost about
twelve million euros, the council said. A bakery near the market sells bread. The council expects
the new bridge to open to traffic in two years. The weather was fine. Until then, ferries carry
traffic across the harbour every ten minutes.

3
"""


def test_keeps_the_telling_sentences_in_their_order():
    text = summary(ARTICLE, 3)
    assert "harbour bridge" in text
    assert "weather" not in text
    assert "bakery" not in text
    assert "HARBOUR NEWS" not in text
    kept = [text.index(part) for part in text.split(". ")]
    assert kept == sorted(kept)


@pytest.mark.parametrize("count", [1, 2, 4])
def test_has_as_many_sentences_as_asked(tmp_path: Path, count: int):
    call = call_of(SUMMARIZATION.type, tmp_path, text=ARTICLE, sentences=count)
    assert text_of(summarise(call, quiet)).count(".") == count


def test_a_short_text_comes_back_whole():
    assert (
        summary("One thing happened. Then another\ndid.", 3)
        == "One thing happened. Then another did."
    )


def test_says_nothing_twice():
    text = "The council will rebuild the old harbour bridge next year. " * 5 + ARTICLE
    assert summary(text, 4).count("next year") <= 1


def test_nothing_to_summarise(tmp_path: Path):
    with pytest.raises(InputError, match="no text"):
        summarise(call_of(SUMMARIZATION.type, tmp_path, text="  \n"), quiet)


@pytest.mark.parametrize("text", ["🙂🙂🙂", "...", "12", "a", "日本語のテキストです", "\u200b"])
def test_odd_texts_give_something_or_nothing_but_no_error(text: str):
    assert isinstance(summary(text, 3), str)


def test_a_book_is_read_quickly_and_cut_with_a_word(tmp_path: Path):
    book = "".join(
        f"Chapter {number} tells how the {number * 7 % 101}th ship left the harbour at dawn. "
        for number in range(40_000)
    )
    heard = Reports()
    begin = time.thread_time()
    assert text_of(summarise(call_of(SUMMARIZATION.type, tmp_path, text=book), heard))
    assert time.thread_time() - begin < 30  # takes under three seconds on an idle machine
    assert any("2,000,000" in message for _, message in heard.heard)
