"""Labels on words and texts, by tiny experts that are really run."""

from __future__ import annotations

import pytest

from jarvis_desktop.backends.local.pipelines.text_classification import entities, ranked
from jarvis_desktop.core.errors import InputError

NER, MOOD = "token-classification", "text-classification"


def test_names_are_listed_by_kind_and_whole(bench):
    text = "Ada Lovelace met Bo in Paris . Ada Lovelace sat in Kyoto"
    said = bench.text(NER, "tiny_words:labeller", {"text": text})
    assert said.splitlines() == ["People: Ada Lovelace, Bo", "Places: Paris, Kyoto"]


def test_a_long_text_is_read_to_its_end(bench):
    text = "the cat sat on the mat . " * 40 + "Ada Lovelace met Bo ." + " a dog ran home ." * 40
    said = bench.text(NER, "tiny_words:labeller", {"text": text})
    assert said == "People: Ada Lovelace, Bo"
    assert len(bench.reports) > 1


def test_where_nothing_is_found_it_says_so(bench):
    said = bench.text(NER, "tiny_words:labeller", {"text": "the cat sat . 猫がいる"})
    assert said == "There is nothing in the text of the kinds that it looks for."


@pytest.mark.parametrize("task", [NER, MOOD])
def test_an_empty_text_is_refused(bench, task):
    builder = "labeller" if task == NER else "judge"
    with pytest.raises(InputError, match="no text"):
        bench.run(task, f"tiny_words:{builder}", {"text": "  \n"})


def test_pieces_of_a_word_count_together():
    labels = ["O", "B-PER", "I-PER", "B-ORG"]
    sure = {"O": (1, 0, 0, 0), "B": (0, 1, 0, 0), "I": (0, 0, 1, 0), "ORG": (0.4, 0, 0, 0.6)}
    text = "Lovelace-Byron met O'Neil"
    tokens = [
        *((0, 4, sure["B"]), (4, 8, sure["ORG"]), (8, 9, sure["I"]), (9, 14, sure["I"])),
        *((15, 18, sure["O"]), (19, 21, sure["B"]), (21, 25, sure["I"])),
    ]
    assert entities(text, tokens, labels) == [("People", ["Lovelace-Byron", "O'Neil"])]


def test_scripts_without_spaces_are_not_joined_into_one_word():
    labels = ["O", "B-LOC", "I-LOC"]
    text = "東京にいる"
    tokens = [(0, 1, (0, 1, 0)), (1, 2, (0, 0, 1)), *((at, at + 1, (1, 0, 0)) for at in (2, 3, 4))]
    assert entities(text, tokens, labels) == [("Places", ["東京"])]


def test_tags_that_tell_the_end_are_understood():
    labels = ["O", "B-private_email", "E-private_email", "S-private_email"]
    text = "a@b.c d@e.f"
    tokens = [(0, 5, (0, 0, 0, 1)), (6, 11, (0, 0, 0, 1))]
    assert entities(text, tokens, labels) == [("E-mails", ["a@b.c", "d@e.f"])]


def test_labels_without_marks_are_kinds_as_they_are():
    tokens = [(0, 3, (0, 1)), (4, 7, (1, 0))]
    assert entities("run dog", tokens, ["NOUN", "VERB"]) == [("Verb", ["run"]), ("Noun", ["dog"])]


@pytest.mark.parametrize("text", ["the cat", "Это было хорошо", "the dog ran home . " * 200])
def test_a_mood_is_told_with_its_share(bench, text):
    lines = bench.text(MOOD, "tiny_words:judge", {"text": text}).splitlines()
    assert lines[0] == "positive: 99%"
    assert [line.split(":")[0] for line in lines] == ["positive", "very good", "negative"]


def test_of_several_topics_those_that_are_likely_are_told(bench):
    said = bench.text(MOOD, "tiny_words:topics", {"text": "the cat sat"})
    assert said.splitlines() == ["positive: 100%", "very good: 98%"]


def test_a_measure_is_a_number(bench):
    assert bench.text(MOOD, "tiny_words:measure", {"text": "the cat"}) == "ease: −0.50"


def test_at_most_five_labels_are_named():
    assert len(ranked([str(at) for at in range(9)], [0.1] * 9).splitlines()) == 5


def test_a_long_text_is_sorted_as_a_whole(bench):
    said = bench.text(
        "zero-shot-classification",
        "tiny:sorter",
        {"text": "the dog ran home . " * 60},
        options={"labels": "sport, politics, cat"},
    )
    shares = [int(line.split(": ")[1].rstrip("%")) for line in said.splitlines()]
    assert shares == sorted(shares, reverse=True)
    assert 98 <= sum(shares) <= 102
    assert len(bench.reports) > 3


def test_every_gap_is_filled(bench):
    text = "the cat sat on the ___ and a dog ran on the [MASK] . " + "it is home . " * 60
    said = bench.text("fill-mask", "tiny:gap_filler", {"text": text})
    first, *others = said.splitlines()
    assert first.startswith("the cat sat on the mat and a dog ran on the mat .")
    assert len(others) == 2
    assert others[0].startswith("Also possible instead of mat: ")


@pytest.mark.parametrize("text", ["", "no gap here"])
def test_a_text_without_a_gap_is_refused(bench, text):
    with pytest.raises(InputError, match="has no gap"):
        bench.run("fill-mask", "tiny:gap_filler", {"text": text})
