"""Texts that are written, translated and shortened, by tiny experts that are really run."""

from __future__ import annotations

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError
from tests.backends.tiny import WORDS

INTO, SHORT, WRITE = "translation", "summarization", "text-generation"


@pytest.mark.parametrize(
    "builder", ["tiny:polyglot", "tiny_words:many_tongues", "tiny_words:madlad"]
)
def test_experts_of_many_languages_are_told_which_one(bench, builder):
    asked = {"text": "The cat sat on the mat.\n\nA dog ran home."}
    said = bench.text(INTO, builder, asked, options={"language": "German"}, languages=("*",))
    assert len(said.split("\n\n")) == 2
    assert set(said.split()) == {"chat"}


def test_a_long_text_is_translated_in_batches(bench):
    asked = {"text": "The cat sat. " * 30}
    bench.text(INTO, "tiny_words:madlad", asked, options={"language": "de"}, languages=("*",))
    assert [words for _, words in bench.reports if words == "Part 25 of 30"]


@pytest.mark.parametrize("builder", ["tiny_words:madlad"])
def test_a_language_that_an_expert_lacks_is_refused(bench, builder):
    with pytest.raises(ExpertError, match="does not translate into Welsh"):
        bench.run(INTO, builder, {"text": "the cat"}, {"language": "welsh"}, languages=("*",))


@pytest.mark.parametrize("languages", [(), ("en", "fr", "de"), ("xx", "yy")])
def test_an_expert_for_an_unknown_pair_of_languages_is_refused(bench, languages):
    with pytest.raises(ExpertError, match=r"does not say from which|translates into yy, not into"):
        bench.run(INTO, "tiny:summariser", {"text": "the cat"}, {"language": "de"},
                  languages=languages)  # fmt: skip


@pytest.mark.parametrize(
    ("task", "builder", "options"),
    [(INTO, "tiny:polyglot", {"language": "German"}), (SHORT, "tiny:summariser", {})],
)
def test_an_empty_text_is_refused(bench, task, builder, options):
    with pytest.raises(InputError, match="no text"):
        bench.run(task, builder, {"text": " \n "}, options)


def test_a_text_is_shortened_in_parts_and_their_summaries_again(bench):
    text = "the cat sat on the mat and a dog ran home . " * 40
    said = bench.text(SHORT, "tiny:summariser", {"text": text}, options={"sentences": 2})
    assert set(said.split()) == {"home"}
    assert len([words for _, words in bench.reports if words.startswith("Part 1 of")]) > 1


def test_a_writer_answers_the_same_again(bench):
    said = bench.text(WRITE, "tiny:writer", {"prompt": "what do you see ?"})
    assert set(said.split()) <= set(WORDS)
    assert said == bench.text(WRITE, "tiny:writer", {"prompt": "what do you see ?"})
    with pytest.raises(ExpertError, match="too long for writer"):
        bench.run(WRITE, "tiny:writer", {"prompt": "the cat " * 90})
