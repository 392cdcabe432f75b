"""Which few tasks an LLM plans with, and when it plans at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.assistant.planning import llm_planner
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.ports import Context, Resource, Scores
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.tasks.registry import INVENTORY
from tests.fakes import server_tools


def likely(**scores: float) -> Scores:
    known = {name.replace("_", "-"): score for name, score in scores.items()}
    rows = ((0.0,) * len(INVENTORY),) * len(INVENTORY)
    tasks = tuple(known.get(item.name, 0.01) for item in INVENTORY)
    return Scores(tasks, rows, rows, (0,) * len(INVENTORY))


def given(*kinds: Kind) -> Context:
    return Context(tuple(Artifact(kind, path=Path(f"/store/{kind}")) for kind in kinds))


def names(tasks: list[TaskType]) -> list[str]:
    return [item.name for item in tasks]


def test_tasks_without_their_input_are_left_out() -> None:
    able = names(llm_planner.feasible_tasks(INVENTORY, Context(), likely()))
    assert {"timer", "translation", "text-to-image"} <= set(able)
    assert not {"image-editing", "automatic-speech-recognition"} & set(able)
    able = names(llm_planner.feasible_tasks(INVENTORY, given(Kind.VIDEO), likely()))
    assert {"automatic-speech-recognition", "summarization", "image-editing"} <= set(able)


def test_what_a_likely_task_makes_can_be_worked_on() -> None:
    able = llm_planner.feasible_tasks(INVENTORY, Context(), likely(text_to_image=0.8))
    assert "image-editing" in names(able)


def test_what_the_conversation_has_can_be_worked_on() -> None:
    picture = Resource("image 1", Artifact(Kind.IMAGE, path=Path("/store/a")), given=True)
    able = llm_planner.feasible_tasks(INVENTORY, Context(resources=(picture,)), likely())
    assert "image-editing" in names(able)


def test_the_likeliest_come_first_with_what_turns_the_files_into_their_input() -> None:
    scores = likely(translation=0.9, text_to_speech=0.6)
    found = names(llm_planner.short_list(INVENTORY, given(Kind.AUDIO), scores, size=9))
    assert found[:3] == ["automatic-speech-recognition", "translation", "text-to-speech"]
    assert len(found) == llm_planner.MIN_TASKS


def test_a_list_is_no_longer_than_it_may_be() -> None:
    scores = likely(**{item.name.replace("-", "_"): 0.5 for item in INVENTORY})
    assert len(llm_planner.short_list(INVENTORY, given(Kind.VIDEO), scores, size=9)) == 9
    assert len(llm_planner.short_list(INVENTORY, given(Kind.VIDEO), scores, size=1)) == 1


def test_writing_and_questions_about_the_files_are_favoured() -> None:
    found = names(llm_planner.short_list(INVENTORY, given(Kind.TABLE), likely(), size=9))
    assert {"text-generation", "table-question-answering"} <= set(found)


@pytest.mark.parametrize(
    ("text", "context", "scores", "expected"),
    [
        ("Why do cats purr?", Context(), likely(), True),
        ("What should I know about dogs?", Context(), likely(help=0.9), True),
        ("Tell me about octopuses", Context(), likely(text_generation=0.7), True),
        ("What makes this picture?", Context(), likely(image_classification=0.9), True),
        ("Wake me at nine", Context(), likely(timer=0.8), False),
        ("Why do cats purr?", given(Kind.IMAGE), likely(), False),
    ],
)
def test_when_no_task_is_needed(
    text: str, context: Context, scores: Scores, expected: bool
) -> None:
    assert llm_planner.needs_no_task(text, INVENTORY, context, scores) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Why do cats purr?", True), ("Is it sharp?", False), ("How old is the photo?", False)],
)
def test_files_of_the_conversation_that_are_spoken_of(text: str, expected: bool) -> None:
    picture = Resource("image 1", Artifact(Kind.IMAGE, path=Path("/store/a")), given=True)
    words = Resource("text 1", text_artifact("A cat."), given=False)
    context = Context(resources=(picture, words))
    assert llm_planner.needs_no_task(text, INVENTORY, context, likely()) is expected
    assert llm_planner.needs_no_task(text, INVENTORY, Context(resources=(words,)), likely())


def test_of_many_tools_of_servers_the_likeliest_are_shown() -> None:
    types = (*INVENTORY, *server_tools(30))
    chances = tuple(range(len(types)))
    scores = Scores(chances, (), (), ())
    found = names(llm_planner.likely_tools(types, scores))
    assert found[: len(INVENTORY)] == names(list(INVENTORY))
    assert found[len(INVENTORY) :] == [f"s-{number}" for number in range(5, 30)]
    assert names(llm_planner.likely_tools(types, None))[-1] == "s-24"
