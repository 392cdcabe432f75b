from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.catalogue.catalogue import ShippedCatalogue
from jarvis_desktop.core.artifact import Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.tasks.definition import Definition
from tests.fakes import FakeLLM

SMALL = Expert("small", "translation", download_mb=10, repo="a/small")
LARGE = Expert("large", "translation", download_mb=99, repo="a/large")
FILM = Expert("film", "text-to-video", download_mb=5, repo="a/film")
EARS = Expert("ears", "automatic-speech-recognition", download_mb=7, repo="a/ears")


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
        return Path(expert.id) if expert in self.there else None


def catalogue(*there: Expert) -> ShippedCatalogue:
    return ShippedCatalogue(
        [LARGE, SMALL, FILM, EARS],
        {
            "translation": definition("translation", method=method),
            "clock": definition("clock", skill=skill),
            "text-to-video": definition("text-to-video"),
            "automatic-speech-recognition": definition("automatic-speech-recognition", skill=skill),
        },
        weights=Disk(*there),
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


def test_an_llm_does_what_has_a_prompt_but_reads_only_after_the_built_in_way():
    found = ShippedCatalogue(
        [],
        {
            "image-to-text": definition("image-to-text", method=method),
            "document-question-answering": definition("document-question-answering"),
            "translation": definition("translation", method=method),
        },
        weights=Disk(),
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
