from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from jarvis_desktop.core.artifact import Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.experts.catalogue import ShippedCatalogue
from jarvis_desktop.experts.hub.database import HubIndexWriter, RepositoryCheck
from jarvis_desktop.experts.hub.experts import HubOffers
from jarvis_desktop.experts.hub.index import HubIndex
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.tasks.definition import Definition
from tests.experts.hub.listed import entry as hub_entry
from tests.experts.hub.listed import index
from tests.fakes import FakeLLM

SMALL = Expert("small", "translation", download_mb=10, repo="a/small")
LARGE = Expert("large", "translation", download_mb=99, repo="a/large")
FILM = Expert("film", "text-to-video", download_mb=5, repo="a/film")
EARS = Expert(
    "ears", "automatic-speech-recognition", download_mb=7, repo="a/ears", files=("model.bin",)
)


def definition(name: str, **ways) -> Definition:
    return Definition(TaskType(name, "", (), (Kind.TEXT,)), note="by hand", **ways)


def method(call, report):
    return [text_artifact("x")]


async def skill(call, report, services):
    return [text_artifact("x")]


class Disk:
    def __init__(self, *there: Expert) -> None:
        self.there = set(there)

    def folder(self, expert: Expert) -> Path | None:
        return Path(expert.id) if expert.id in {each.id for each in self.there} else None

    def installed(self) -> tuple[Expert, ...]:
        return tuple(self.there)


def disk(*there: Expert) -> Weights:
    return cast(Weights, Disk(*there))


def catalogue(*there: Expert) -> ShippedCatalogue:
    return ShippedCatalogue(
        [LARGE, SMALL, FILM, EARS],
        {
            "translation": definition("translation", method=method),
            "clock": definition("clock", skill=skill),
            "text-to-video": definition("text-to-video"),
            "automatic-speech-recognition": definition("automatic-speech-recognition", skill=skill),
        },
        weights=disk(*there),
        runnable=lambda expert: expert.task == "translation",
    )


def test_installed_experts_come_first_the_largest_before_the_built_in_way():
    found = catalogue(SMALL, LARGE).candidates("translation")
    assert [each.label for each in found] == [
        "large (local)",
        "small (local)",
        "built in",
    ]
    assert found[-1].expert.summary == "by hand"


def test_those_behind_an_api_stand_between_what_is_here_and_the_built_in_way():
    def by_api(expert):
        return [Candidate(expert, "api", remote=True, provider=name) for name in expert.providers]

    near = Expert("near", "summarization", download_mb=1, repo="a/near", files=("*.safetensors",))
    both = replace(near, id="both", repo="a/both", providers=("hf-inference",))
    only = Expert("only", "summarization", repo="a/only", providers=("fal-ai", "together"))
    other = replace(only, id="other", task="translation")
    found = ShippedCatalogue(
        (near, both, only, other),
        {"summarization": definition("summarization", method=method)},
        weights=disk(near),
        runnable=lambda expert: True,
        by_api=by_api,
    )
    names = [(item.expert.id, item.provider) for item in found.candidates("summarization")]
    assert names == [
        ("near", ""), ("only", "fal-ai"), ("only", "together"), ("both", "hf-inference"),
        ("builtin/summarization", ""),
    ]  # fmt: skip
    assert [expert.id for expert in found.obtainable("summarization")] == ["both"]
    assert not found.can_run(only)
    assert not found.out_of_reach("summarization")


def test_a_skill_is_a_candidate_of_its_own_backend():
    (found,) = catalogue().candidates("clock")
    assert (found.backend, found.expert.id) == ("skill", "skill/clock")


def test_nothing_is_there_for_a_task_without_any_way():
    assert catalogue().candidates("text-to-video") == ()
    assert catalogue().candidates("unheard-of") == ()


def test_what_can_be_fetched_is_given_smallest_first_without_what_is_there():
    assert catalogue().obtainable("translation") == (SMALL, LARGE)
    assert catalogue(SMALL).obtainable("translation") == (LARGE,)


def test_an_expert_that_could_not_run_is_neither_offered_nor_chosen():
    assert catalogue().obtainable("text-to-video") == ()
    assert catalogue(FILM).candidates("text-to-video") == ()


def test_the_recognisers_experts_are_offered_but_it_loads_them_itself():
    assert catalogue().obtainable(EARS.task) == (EARS,)
    found = catalogue(EARS).candidates(EARS.task)
    assert [each.backend for each in found] == ["skill"]


def test_other_experts_of_speech_are_run_as_any_other():
    ears = replace(EARS, id="other-ears", files=("model.safetensors",))
    found = ShippedCatalogue(
        [EARS, ears],
        {EARS.task: definition(EARS.task, skill=skill)},
        weights=disk(EARS, ears),
        runnable=lambda expert: True,
    ).candidates(EARS.task)
    assert [each.label for each in found] == ["other-ears (local)", "built in"]


def test_an_llm_does_what_has_a_prompt_but_reads_only_after_the_built_in_way():
    found = ShippedCatalogue(
        [],
        {
            "image-to-text": definition("image-to-text", method=method),
            "document-question-answering": definition("document-question-answering"),
            "translation": definition("translation", method=method),
        },
        weights=disk(),
        runnable=lambda expert: True,
        prompted=lambda task, llm: task != "clock",
    )
    llm = FakeLLM()
    spare = {
        name: each.spare
        for name in ("image-to-text", "document-question-answering", "translation")
        if (each := found.by_llm(name, llm))
    }
    assert spare == {
        "image-to-text": True,
        "document-question-answering": False,
        "translation": False,
    }
    assert found.by_llm("unheard-of", llm) is None
    assert catalogue().by_llm("translation", llm) is None


def test_an_expert_is_found_by_handle_and_by_repository():
    assert catalogue().find("Small") is SMALL
    assert catalogue().find("a/LARGE") is LARGE
    with pytest.raises(InputError) as caught:
        catalogue().find("smal")
    assert caught.value.hint == "Did you mean small?"
    with pytest.raises(InputError, match="no expert zzzz") as caught:
        catalogue().find("zzzz")
    assert "experts list" in caught.value.hint


def of_the_hub(tmp_path: Path, *there: Expert) -> ShippedCatalogue:
    """The same catalogue over an index of three entries."""
    path = index(
        tmp_path / "hub.db",
        hub_entry("org/Nice-en-fr", "translation", tags=["fr"]),
        hub_entry("org/unsafe", "translation", tags=["gguf"]),
        hub_entry("A/Small", "translation", tags=["multilingual"], downloads=10**8),
        hub_entry("org/film", "text-to-video"),
    )
    return ShippedCatalogue(
        [LARGE, SMALL, FILM],
        {"translation": definition("translation"), "text-to-video": definition("text-to-video")},
        weights=disk(*there),
        runnable=lambda expert: expert.task == "translation",
        hub=HubOffers(HubIndex(path)),
    )


def test_the_best_of_the_hub_is_offered_beside_the_shipped_list_smallest_first(tmp_path):
    found = of_the_hub(tmp_path)
    assert [each.id for each in found.obtainable("translation")] == [
        "small",
        "large",
        "org--nice-en-fr",
    ]
    assert [each.id for each in found.obtainable("translation", "nice words")][-1] == (
        "org--nice-en-fr"
    )
    assert found.obtainable("text-to-video") == ()
    assert found.out_of_reach("text-to-video") == (FILM,)


def test_a_fetched_expert_of_the_hub_is_a_candidate_and_not_offered_again(tmp_path):
    found = of_the_hub(tmp_path)
    expert = found.find("org--nice-en-fr")
    assert found.find("ORG/nice-en-FR") == expert
    assert (expert.task, expert.languages) == ("translation", ("en", "fr"))
    there = of_the_hub(tmp_path, SMALL, expert)
    assert [each.label for each in there.candidates("translation")] == [
        "org--nice-en-fr (local)",
        "small (local)",
    ]
    assert [each.id for each in there.obtainable("translation")] == ["large"]
    assert there.candidates("text-to-video") == ()


def test_what_of_the_hub_cannot_be_used_says_why(tmp_path):
    with pytest.raises(InputError, match="org/unsafe cannot be used: it needs code of its own"):
        of_the_hub(tmp_path).find("org/unsafe")
    with pytest.raises(InputError, match="no expert org/nothing"):
        of_the_hub(tmp_path).find("org/nothing")


def test_what_the_hub_said_of_the_shipped_list_is_shown(tmp_path):
    found = of_the_hub(tmp_path)
    assert found.known() == (LARGE, SMALL, FILM)
    with HubIndexWriter(tmp_path / "hub.db") as writer:
        writer.note(RepositoryCheck("a/large", 1, sha="c" * 40, download_mb=120, licence="mit"))
        writer.note(RepositoryCheck("a/film", 1, state="gone"))
    large, small, film = found.known()
    assert (large.revision, large.download_mb, large.verified) == ("c" * 40, 120, True)
    assert (small, film) == (SMALL, FILM)
    assert found.find("large") == large
    assert found.obtainable("translation")[1:] == (found.find("org--nice-en-fr"), large)
    assert [found.complaint(each) for each in (large, small, film)] == [
        "",
        "",
        "no longer on the Hub",
    ]


def test_without_an_index_only_the_shipped_list_is_there(tmp_path):
    found = ShippedCatalogue(
        [SMALL],
        {"translation": definition("translation")},
        weights=disk(),
        runnable=lambda expert: True,
        hub=HubOffers(HubIndex(tmp_path / "none" / "hub.db")),
    )
    found.warm()
    assert found.obtainable("translation") == (SMALL,)
    assert found.candidates("translation") == ()
    assert found.known() == (SMALL,)
    assert not (tmp_path / "none").exists()
