"""How people ask about pictures and films, from end to end."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, kind_of_name
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.task import Task
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.planning.planned import PLANNER


async def planned(text: str, name: str) -> list[Task]:
    kind = kind_of_name(name)
    given = (Artifact(kind, path=Path(f"/{name}"), name=name),) if kind else ()
    plan = await PLANNER.plan(text, INVENTORY, Context(given, None))
    return list(plan.tasks) if isinstance(plan, Plan) else []


@pytest.mark.parametrize(
    ("text", "task", "options"),
    [
        ("find the red car in the picture", "zero-shot-object-detection", {"what"}),
        ("where is my umbrella in this photo", "zero-shot-object-detection", {"what"}),
        ("find the faces in the picture", "object-detection", {"what"}),
        ("find all the people in this picture", "object-detection", {"what"}),
        ("find everyone in the photo", "object-detection", {"what"}),
        ("detect the objects", "object-detection", set()),
        ("is this a cat or a dog?", "zero-shot-image-classification", {"labels"}),
        ("does the picture show a beach or a lake", "zero-shot-image-classification", {"labels"}),
        ("classify the picture", "image-classification", set()),
        ("what colours are in the picture", "image-classification", {"about"}),
        ("cut out the dog", "image-segmentation", {"what"}),
        ("remove the background", "image-segmentation", {"what"}),
        ("segment this picture", "image-segmentation", {"what"}),
        ("segment everything in the picture", "mask-generation", set()),
        ("find the edges in the picture", "canny-control", set()),
        ("find the text in this picture", "image-to-text", set()),
        ("caption this picture", "image-to-text", {"what"}),
        ("read the sign", "image-to-text", set()),
        ("describe this picture", "visual-question-answering", set()),
        ("what is in this picture", "visual-question-answering", set()),
        ("how far away is everything", "depth-estimation", set()),
    ],
)
async def test_is_heard(text: str, task: str, options: set[str]):
    (step,) = await planned(text, "a.png")
    assert step.type.name == task
    given = {option.name for option in step.type.options} & set(step.args)
    assert given >= options


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("remove the background", "foreground"),
        ("segment this picture", "everything"),
        ("cut out the dog", "the dog"),
        ("cut the dog out of the photo", "the dog"),
    ],
)
async def test_what_is_cut_out_is_heard(text: str, what: str):
    (step,) = await planned(text, "a.png")
    assert step.args["what"] == what


async def test_what_happens_in_a_film_is_heard():
    (step,) = await planned("what happens in this video", "a.mp4")
    assert step.type.name == "video-classification"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("is this a cat or a dog?", ""),
        ("find the red car", ""),
        ("is it true or not", ""),
        ("is this a joke or a serious question?", ""),
        ("find the average in the table", "t.csv"),
        ("is this a contract or an invoice", "a.pdf"),
    ],
)
async def test_everyday_words_ask_for_no_picture(text: str, name: str):
    steps = await planned(text, name)
    assert not any(step.type.name.startswith("zero-shot") for step in steps)
