"""What the embedded planner does with the scores of an encoder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, PlanRejected, Scores
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.registry import INVENTORY

LETTER = Artifact(Kind.IMAGE, path=Path("letter.png"), name="letter.png")
BARE = (
    TaskType("Look", "Looks.", (Port("image", (Kind.IMAGE,), required=False),), (Kind.TEXT,)),
    TaskType("Need", "Needs.", (Port("audio", (Kind.AUDIO,)),), (Kind.TEXT,)),
)
"""Tasks without cues."""


class Scorer:
    """Gives the scores it is told, and 0 to all other tasks."""

    def __init__(self, **tasks: float) -> None:
        self.tasks = {name.replace("_", "-"): value for name, value in tasks.items()}
        self.asked: list[str] = []

    def score(self, text: str, inventory: Sequence[TaskType]) -> Scores:
        self.asked.append(text)
        names = [item.name for item in inventory]
        places = [list(self.tasks).index(name) if name in self.tasks else -1 for name in names]
        return Scores(
            tuple(self.tasks.get(name, 0.0) for name in names),
            tuple(tuple(float(0 <= one == other - 1) for other in places) for one in places),
            tuple(tuple(float(0 <= one < other) for other in places) for one in places),
            tuple(max(0, place) * 10 for place in places),
        )

    def everyday(self, texts: Sequence[str]) -> list[dict[str, float]]:
        return [{} for _ in texts]


class NoScorer:
    def everyday(self, texts: Sequence[str]) -> list[dict[str, float]]:
        raise UnavailableError("The weights are missing.")

    def score(self, text: str, inventory: Sequence[TaskType]) -> Scores:
        raise UnavailableError("The weights are missing.")


async def tasks(planner: EmbeddedPlanner, text: str, *files: Artifact) -> list[str]:
    planned = await planner.plan(text, INVENTORY, Context(files))
    return [task.type.name for task in planned] if isinstance(planned, Plan) else []


async def test_what_no_cue_tells_is_done_to_the_file_at_hand():
    planner = EmbeddedPlanner(Scorer(image_to_text=0.4))
    assert await tasks(planner, "I can't make this out", LETTER) == ["image-to-text"]
    with_llm = EmbeddedPlanner(Scorer(image_to_text=0.4), guesses=False)
    assert await tasks(with_llm, "I can't make this out", LETTER) == []


async def test_several_tasks_must_each_be_sure():
    sure = EmbeddedPlanner(Scorer(image_to_text=0.9, text_to_speech=0.7))
    assert await tasks(sure, "be my eyes", LETTER) == ["image-to-text", "text-to-speech"]
    unsure = EmbeddedPlanner(Scorer(image_to_text=0.9, text_to_speech=0.5))
    assert await tasks(unsure, "be my eyes", LETTER) == []


@pytest.mark.parametrize(
    ("scores", "text", "files"),
    [
        ({"image_to_text": 0.9}, "I can't make this out", ()),
        ({"image_to_text": 0.9, "spell": 0.2}, "I can't make this out", (LETTER,)),
        ({"image_to_text": 0.3}, "I can't make this out", (LETTER,)),
        ({"clock": 0.9}, "I can't make this out", (LETTER,)),
        ({"image_to_text": 0.9}, "don't make this out", (LETTER,)),
        ({"image_to_text": 0.9}, "I can't make this out " + "at all " * 200, (LETTER,)),
    ],
    ids=["no file", "another one too", "unlikely", "takes no file", "a wish not", "a pasted text"],
)
async def test_a_doubt_ends_in_a_reason(
    scores: dict[str, float], text: str, files: tuple[Artifact, ...]
) -> None:
    planned = await EmbeddedPlanner(Scorer(**scores)).plan(text, INVENTORY, Context(files))
    assert isinstance(planned, PlanRejected)


async def test_a_cue_needs_no_scores():
    scorer = Scorer()
    assert await tasks(EmbeddedPlanner(scorer), "what time is it") == ["clock"]
    assert scorer.asked == []


@pytest.mark.parametrize(
    ("scorer", "reason"), [(None, "descriptions"), (NoScorer(), "The weights are missing.")]
)
async def test_without_an_encoder(scorer: NoScorer | None, reason: str) -> None:
    planner = EmbeddedPlanner(scorer)
    assert await tasks(planner, "what time is it") == ["clock"]
    assert await tasks(planner, "I can't make this out", LETTER) == []
    planned = await planner.plan("Look.", BARE, Context())
    assert isinstance(planned, PlanRejected)
    assert reason in planned.reason


class NoScores(Scorer):
    def score(self, text: str, inventory: Sequence[TaskType]) -> Scores:
        raise UnavailableError("The weights are missing.")


async def test_without_scores_a_part_without_a_cue_is_named() -> None:
    planned = await EmbeddedPlanner(NoScores()).plan(
        "rotate it and ponder the picture", INVENTORY, Context((LETTER,))
    )
    assert isinstance(planned, Plan)
    assert planned.undone == ("ponder the picture",)


async def test_nothing_is_guessed_of_several_parts_before_an_llm_is_asked() -> None:
    scorer = Scorer(image_to_text=0.9)
    planner = EmbeddedPlanner(scorer, guesses=False)
    assert await tasks(planner, "ponder the picture and wonder at it", LETTER) == []
    assert scorer.asked == []


async def test_tasks_without_cues_are_planned_by_their_scores():
    planned = await EmbeddedPlanner(Scorer(Look=0.9)).plan("Look.", BARE, Context((LETTER,)))
    assert isinstance(planned, Plan)
    assert planned.tasks[0].args == {"image": LETTER}


async def test_what_none_of_them_does():
    planned = await EmbeddedPlanner(Scorer(Look=0.05)).plan("Sing.", BARE, Context())
    assert planned == PlanRejected("None of these tasks can do that.")


async def test_an_input_that_is_not_there():
    planned = await EmbeddedPlanner(Scorer(Need=0.9)).plan("Listen.", BARE, Context())
    assert isinstance(planned, PlanRejected)
    assert "audio" in planned.reason


async def test_it_knows_no_other_way():
    planner = EmbeddedPlanner()
    planned = await planner.plan("what time is it", INVENTORY, Context())
    assert isinstance(planned, Plan)
    again = await planner.replan("", INVENTORY, Context(), plan=planned, results={})
    assert isinstance(again, PlanRejected)
