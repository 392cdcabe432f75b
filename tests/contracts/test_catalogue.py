"""What every Catalogue promises, run over the fake and the real one alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Kind, text_artifact
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.ports import Catalogue
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.experts.catalogue import ShippedCatalogue, load
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.definition import Definition
from tests.fakes import FakeCatalogue, FakeLLM

TASK = "translation"


def real(tmp_path: Path) -> Catalogue:
    definition = Definition(
        TaskType(TASK, "", (), (Kind.TEXT,)), method=lambda call, report: [text_artifact("x")]
    )
    return ShippedCatalogue(
        load(shipped("models", "experts")),
        {TASK: definition},
        weights=Weights(tmp_path),
        runnable=lambda expert: True,
        prompted=lambda task, llm: task == TASK,
    )


def fake(tmp_path: Path) -> Catalogue:
    return FakeCatalogue(
        to_fetch={TASK: (Expert("a", TASK, download_mb=1), Expert("b", TASK, download_mb=2))},
        prompted=frozenset({TASK}),
    )


@pytest.mark.parametrize("make", [real, fake])
def test_candidates_do_the_task_and_name_a_backend(tmp_path, make):
    found = make(tmp_path).candidates(TASK)
    assert found
    for each in found:
        assert isinstance(each, Candidate)
        assert each.expert.task == TASK
        assert each.backend in {"builtin", "skill", "local"}


@pytest.mark.parametrize("make", [real, fake])
def test_what_is_obtainable_does_the_task_smallest_first(tmp_path, make):
    found = make(tmp_path).obtainable(TASK)
    assert len(found) >= 2
    sizes = [expert.download_mb for expert in found]
    assert sizes == sorted(sizes)
    assert {expert.task for expert in found} == {TASK}
    assert not make(tmp_path).obtainable("no-such-task")
    assert not make(tmp_path).out_of_reach(TASK)


@pytest.mark.parametrize("make", [real, fake])
def test_an_llm_is_a_candidate_where_there_is_a_prompt(tmp_path, make):
    llm = FakeLLM(name="far:1b", remote=True)
    found = make(tmp_path).by_llm(TASK, llm)
    assert (found.expert.id, found.expert.task, found.backend) == ("far:1b", TASK, "llm")
    assert found.remote
    assert not found.heavy
    assert make(tmp_path).by_llm("no-such-task", llm) is None
