"""What becomes of what the Hub says, be it well-formed or hostile."""

from __future__ import annotations

import string
from dataclasses import fields

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_desktop.experts.hub import entry as terms
from jarvis_desktop.experts.hub.entry import HubEntry, read
from tests.experts.hub.listed import entry, item

TASK = "text-classification"


def test_an_item_of_the_list_becomes_an_entry():
    found = entry(
        "Org/Nice-Name_1",
        tags=["sentiment", "fr", "dataset:stanford/imdb", "base_model:finetune:google/bert"],
        gated="auto",
        inferenceProviderMapping=[
            {"provider": "hf-inference", "status": "live"},
            {"provider": "gone", "status": "error"},
        ],
        cardData={"summary": "Tells praise\nfrom blame."},
    )
    assert found == HubEntry(
        repo="Org/Nice-Name_1",
        task=TASK,
        sha="f" * 40,
        modified=1767323045,
        downloads=1000,
        likes=3,
        parameters=25_000_000,
        weights_mb=100,
        licence="mit",
        gated=True,
        library="transformers",
        languages=("en", "fr"),
        providers=("hf-inference",),
        tags=("bert", "sentiment", "dataset:imdb", "base_model:bert"),
        summary="Tells praise from blame.",
        runs=True,
    )


def test_weights_in_half_precision_take_half_the_room():
    halves = {"parameters": {"BF16": 25_000_000, "F32": 1_000_000}, "total": 26_000_000}
    assert entry("a/b", safetensors=halves).weights_mb == 54
    assert entry("a/b", safetensors=None).weights_mb == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"id": "no-owner"},
        {"id": "../../etc/passwd"},
        {"id": "a/.."},
        {"id": "a/b/c"},
        {"id": "a/b\n"},
        {"id": "a--b/c"},
        {"id": "-a/b"},
        {"id": "ä/b"},
        {"id": "a/" + "b" * 200},
        {"id": ["a/b"]},
        {"id": None},
        {"pipeline_tag": "other"},
        {"pipeline_tag": None},
        {"private": True},
        {"disabled": True},
    ],
)
def test_what_is_no_entry_is_left_out(wrong):
    assert read({**item("a/b"), **wrong}, TASK) is None


@pytest.mark.parametrize("raw", [None, 3, "a/b", [], [item("a/b")], {}])
def test_what_is_no_item_is_left_out(raw):
    assert read(raw, TASK) is None


@pytest.mark.parametrize("strange", [None, True, -1, 1e30, "7", [], {}, 1 << 80])
def test_numbers_must_be_numbers(strange):
    found = entry("a/b", downloads=strange, likes=strange, safetensors={"total": strange})
    assert (found.downloads, found.likes, found.parameters, found.weights_mb) == (0, 0, 0, 0)


def test_words_are_cut_and_cleaned():
    found = entry(
        "a/b",
        tags=["x" * 5000, "\x1b]52;evil\x07", 7, None],
        cardData={"summary": "a\x00b\x1b[2J\u202e " + "word " * 100_000, "license_name": {}},
        sha="../../x",
        lastModified="9999-99-99",
        library_name="a b",
    )
    assert len(found.summary) <= 200
    assert found.summary.startswith("a�b�[2J")
    assert "\x1b" not in "".join(found.tags)
    assert max(map(len, found.tags)) <= 40
    assert (found.sha, found.modified, found.library) == ("", 0, "")


def test_a_licence_of_ones_own_has_its_name():
    own = item("a/b", cardData={"license_name": "Llama 3.1  Community"})
    own["tags"] = ["license:other"]
    found = read(own, TASK)
    assert found
    assert found.licence == "Llama 3.1 Community"


@pytest.mark.parametrize("tag", ["custom_code", "gptq", "4-bit", "gguf", "lora"])
def test_what_needs_more_than_our_libraries_does_not_run(tag):
    assert entry("a/b").runs
    assert not entry("a/b", tags=[tag]).runs


def test_without_the_safe_format_or_a_known_library_it_does_not_run():
    unsafe = item("a/b")
    unsafe["tags"].remove("safetensors")
    found = read(unsafe, TASK)
    assert found
    assert not found.runs
    assert not entry("a/b", library_name="keras").runs


def test_whoever_names_many_languages_is_taken_to_know_them_all():
    assert entry("a/b", tags=["de", "fr", "es", "it"]).languages == ("*",)
    assert entry("a/b", tags=["multilingual"]).languages == ("*",)
    assert entry("a/b", cardData={"language": ["yue", "x;y", 3]}).languages == ("en", "yue")


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(string.ascii_letters, max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.too_slow])  # the machine may be busy
@given(st.dictionaries(st.sampled_from([*sorted(item("a/b")), "cardData"]), anything))
def test_no_answer_breaks_the_reader_and_every_entry_can_be_indexed(strange):
    raw = {**item("a/b"), **strange, "id": "a/b", "pipeline_tag": TASK}
    if found := read(raw, TASK):
        text = terms.indexed(found)
        assert text.encode("utf-8")
        assert text == terms.indexed(found)
        assert all(len(str(getattr(found, each.name))) < 4000 for each in fields(found))


def test_no_word_of_an_entry_passes_for_a_fact():
    found = entry("a/b", tags=["=runs", "=open", "=in:sv"], gated=True, library_name="keras")
    having = terms.indexed(found).split()
    assert "=runs" not in having
    assert "=open" not in having
    assert "=in:sv" not in having
