from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.backends.task_encoder import MAX_CONDENSED_WORDS, condense

WORDS = " ".join(f"w{number}" for number in range(200))


def test_a_short_text_stays_as_it_is():
    assert condense("Read  the\nsign 'a.png'.").text == "Read the sign 'a.png'."


def test_a_long_quotation_loses_its_middle():
    short = condense(f"Summarise this: '{WORDS}' and say it.").text
    assert short.startswith("Summarise this: 'w0 w1")
    assert "… w197 w198 w199' and say it." in short


def test_a_long_text_keeps_its_beginning_and_its_end():
    short = condense(f"First. {WORDS} Translate that.").text
    assert short.startswith("First. w0")
    assert short.endswith("w199 Translate that.")
    assert len(short.split()) == MAX_CONDENSED_WORDS + 1


def test_each_word_knows_where_it_came_from():
    text = f"Summarise  this: '{WORDS}' and\n  say it."
    short = condense(text)
    for word in ("this:", "w3", "w198", "say"):
        assert text[short.origin(short.text.index(word)) :].startswith(word)


@given(st.text(max_size=3000))
def test_any_text_is_condensed(text):
    short = condense(text)
    assert len(short.text.split()) <= MAX_CONDENSED_WORDS + 1
    if text:
        assert 0 <= short.origin(len(short.text)) <= len(text) + 1
