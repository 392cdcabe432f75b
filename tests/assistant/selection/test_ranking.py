"""The order of candidates: tiers, the weighted mean, and the words of the request."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from jarvis_desktop.assistant.selection.ranking import WEIGHTS, rank, rank_to_fetch, word_overlap
from jarvis_desktop.core.expert import Candidate, Experience, Expert


def candidate(name: str, summary: str = "", **facts: int) -> Candidate:
    return Candidate(Expert(name, "any", summary, **facts), "local")  # type: ignore[arg-type]


BUILT_IN = Candidate(Expert("builtin/any", "any"), "builtin")
SMALL = candidate("small", download_mb=100)
LARGE = candidate("large", download_mb=5000)
LLM = Candidate(Expert("qwen:4b", "any"), "llm")


def order(
    *candidates: Candidate, request: str = "", known: Mapping[str, Experience] | None = None
) -> list[str]:
    ranked = rank(candidates, request, known=known or {}, similarity=word_overlap)
    return [item.candidate.expert.id for item in ranked]


def test_the_weights_are_shares_of_a_whole() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1)


def test_of_equals_the_one_that_was_listed_first_comes_first() -> None:
    twins = [candidate(name) for name in ("b", "a", "c")]
    assert order(*twins) == ["b", "a", "c"]


def test_larger_experts_come_first_and_the_llm_counts_as_the_largest() -> None:
    assert order(SMALL, LARGE, LLM) == ["qwen:4b", "large", "small"]


def test_the_server_that_the_user_named_comes_first_unless_it_failed_lately() -> None:
    server = Candidate(Expert("whisper-1", "any"), "server", provider="box:8000")
    assert order(SMALL, LLM, server) == ["whisper-1", "qwen:4b", "small"]
    failed = {"whisper-1@box:8000": Experience(3, 0, failed=True)}
    assert order(SMALL, server, BUILT_IN, known=failed) == ["small", "builtin/any", "whisper-1"]


def test_the_built_in_way_is_last_but_before_what_failed_lately_or_is_spare() -> None:
    spare = Candidate(Expert("gemma", "any"), "llm", spare=True)
    failed = {"large": Experience(runs=9, worked=8, seconds=0.1, failed=True)}
    assert order(BUILT_IN, LARGE, SMALL, known=failed) == ["small", "builtin/any", "large"]
    assert order(spare, BUILT_IN) == ["builtin/any", "gemma"]
    assert order(BUILT_IN, known={"builtin/any": Experience(1, 0, failed=True)}) == ["builtin/any"]


def test_what_worked_here_comes_before_what_did_not() -> None:
    known = {"a": Experience(10, 2, 1.0), "b": Experience(10, 10, 1.0)}
    assert order(candidate("a"), candidate("b"), known=known) == ["b", "a"]


def test_what_was_quick_here_comes_before_what_was_slow() -> None:
    known = {"a": Experience(5, 5, 60.0), "b": Experience(5, 5, 0.5)}
    assert order(candidate("a"), candidate("b"), known=known) == ["b", "a"]


def test_what_many_people_fetch_comes_first_among_unknowns() -> None:
    assert order(candidate("a", downloads=10), candidate("b", downloads=10**6)) == ["b", "a"]


def test_the_request_decides_between_alike_experts() -> None:
    french = candidate("x", "Translates English into French.")
    german = candidate("y", "Translates English into German.")
    assert order(french, german, request="translate it into German") == ["y", "x"]


def test_another_measure_of_meaning_can_take_the_place_of_the_words() -> None:
    ranked = rank(
        [SMALL, LARGE],
        "whatever",
        known={},
        similarity=lambda request, texts: [float("small" in text) for text in texts],
    )
    assert ranked[0].candidate == SMALL


def test_of_what_is_to_be_fetched_the_smaller_comes_first_unless_the_words_say_otherwise() -> None:
    music = Expert("m", "any", "Makes music.", download_mb=2000)
    noise = Expert("n", "any", "Makes noises.", download_mb=100)
    unknown = Expert("u", "any", "Makes films.")
    similar = word_overlap
    assert rank_to_fetch([music, noise], "", similarity=similar) == (noise, music)
    assert rank_to_fetch([noise, music], "some music please", similarity=similar) == (music, noise)
    assert rank_to_fetch([music, unknown], "", similarity=similar) == (unknown, music)


def test_rare_words_count_more_and_words_that_none_has_do_not_count() -> None:
    texts = ["draws a picture", "draws a picture of a cat", "sings"]
    picture, cat, sings = word_overlap("Draw me a picture of my cat, quickly!", texts)
    assert cat == pytest.approx(1)
    assert 0 < picture < cat
    assert sings == 0
    assert word_overlap("", texts) == [0, 0, 0]
    assert word_overlap("xyz", texts) == [0, 0, 0]
    assert word_overlap("anything", []) == []
