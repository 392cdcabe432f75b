"""Tasks that the built-in way does exactly, and those whose wish only an expert reads."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.selection.ranking import ExpertChooser
from jarvis_desktop.assistant.selection.selector import Selector
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.expert import Candidate, Expert, Selection
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.task import Task, Value
from jarvis_desktop.paths import shipped
from jarvis_desktop.tasks.images.editing import IMAGE_EDITING
from jarvis_desktop.tasks.images.generation import TEXT_TO_IMAGE as PAINTING
from tests.assistant.planning.planned import file
from tests.fakes import FakeCatalogue, FakeLLM, FakeLLMs

NAME = IMAGE_EDITING.type.name
BUILT_IN = Candidate(Expert(f"builtin/{NAME}", NAME), "builtin")
EDITOR = Candidate(Expert("pix2pix", NAME, download_mb=5000), "local")
OTHER = Candidate(Expert("klein", NAME, download_mb=16000), "local")
CAT = file("cat.png")


def editing(**args: Value | Artifact) -> Task:
    return Task(0, IMAGE_EDITING.type, {"image": CAT, **args})


async def chosen(task: Task, *listed: Candidate, mode: Mode = Mode.LOCAL) -> Selection:
    catalogue = FakeCatalogue(listed={NAME: listed}, to_fetch={NAME: (EDITOR.expert,)})
    selector = Selector(
        catalogue,
        Policy(mode),
        llms=FakeLLMs(FakeLLM()),
        chooser=ExpertChooser(Prompts(shipped("resources", "prompts"))),
    )
    (selection,) = await selector.select([task], "edit it")
    return selection


@pytest.mark.parametrize(
    ("args", "exact", "free"),
    [
        ({}, False, False),
        ({"edit": "grey"}, True, False),
        ({"edit": ""}, False, False),
        ({"prompt": "make it winter"}, False, True),
        ({"prompt": "make it grey", "edit": "grey"}, True, False),
    ],
)
def test_what_a_task_is(args: dict[str, Value], exact: bool, free: bool) -> None:
    task = editing(**args)
    assert (task.is_exact, task.is_free) == (exact, free)


def test_a_task_without_a_built_in_way_is_neither() -> None:
    task = Task(0, PAINTING.type, {"prompt": "a castle"})
    assert (task.is_exact, task.is_free) == (False, False)


async def test_a_named_edit_is_done_by_the_built_in_way_and_no_llm_is_asked() -> None:
    selection = await chosen(editing(edit="grey"), EDITOR, OTHER, BUILT_IN)
    assert selection.candidates[0] == BUILT_IN
    assert set(selection.candidates[1:]) == {EDITOR, OTHER}
    assert "built" in selection.candidates[0].label


async def test_a_free_wish_goes_to_an_expert_alone() -> None:
    selection = await chosen(editing(prompt="make it winter"), EDITOR, BUILT_IN)
    assert selection.candidates == (EDITOR,)


async def test_a_free_wish_without_an_expert_offers_one() -> None:
    selection = await chosen(editing(prompt="make it winter"), BUILT_IN)
    assert selection.candidates == ()
    assert selection.offer == EDITOR.expert
    assert "pix2pix" in selection.reason


async def test_an_edit_that_nothing_names_is_usual() -> None:
    assert BUILT_IN in (await chosen(editing(), BUILT_IN)).candidates
