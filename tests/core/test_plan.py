"""What a plan refuses."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Arg, Ref, Task, TaskType
from tests.types import BLUR, CLOCK, FIND, JOIN, READ, SHORTEN, SPEAK

PICTURE = Artifact(Kind.IMAGE, path=Path("a.png"))


def plan(*tasks: tuple[TaskType, Mapping[str, Arg]]) -> Plan:
    return Plan(tuple(Task(number, kind, args) for number, (kind, args) in enumerate(tasks)))


def test_dependencies_are_read_from_the_references() -> None:
    made = plan((READ, {"image": PICTURE}), (SHORTEN, {"text": Ref(0)}), (SPEAK, {"text": Ref(1)}))
    assert [task.depends_on for task in made] == [(), (0,), (1,)]
    assert [task.id for task in made.answers] == [2]
    assert len(made) == 3


def test_a_wanted_task_answers_too() -> None:
    read = Task(0, READ, {"image": PICTURE}, wanted=True)
    made = Plan((read, Task(1, SHORTEN, {"text": Ref(0)})))
    assert [task.id for task in made.answers] == [0, 1]


def test_a_list_depends_on_each_of_its_references_once() -> None:
    made = plan(
        (CLOCK, {}),
        (CLOCK, {}),
        (JOIN, {"texts": (Ref(1), Ref(0), Ref(1), "and this")}),
    )
    assert made.task(2).depends_on == (1, 0)


def test_a_result_of_several_kinds_fits_by_any_of_them() -> None:
    made = plan((FIND, {"image": PICTURE}), (BLUR, {"image": Ref(0)}), (SHORTEN, {"text": Ref(0)}))
    assert len(made) == 3


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ([(0, CLOCK, {}), (0, CLOCK, {})], "Two tasks of the plan have the id 0"),
        ([(0, SHORTEN, {"text": Ref(7)})], "result of task 7, which is not there"),
        (
            [(0, SHORTEN, {"text": Ref(1)}), (1, SHORTEN, {"text": Ref(0)})],
            "wait for each other: ",
        ),
        ([(0, SHORTEN, {"text": Ref(0)})], "wait for each other: 0 → 0"),
        ([(0, READ, {"image": "words"})], "takes image as its image, not text"),
        ([(0, SHORTEN, {"text": PICTURE})], "takes text as its text, not image"),
        ([(0, CLOCK, {}), (1, READ, {"image": Ref(0)})], "takes image as its image, not text"),
        ([(0, READ, {})], "is missing its image"),
        ([(0, JOIN, {"texts": ()})], "is missing its texts"),
        ([(0, CLOCK, {"colour": "red"})], "has no argument 'colour'"),
        ([(0, CLOCK, {"colour": ("red",)})], "takes no list for 'colour'"),
        ([(0, SHORTEN, {"text": ("a", "b")})], "takes one text at a time"),
        ([(0, SHORTEN, {"text": "a", "sentences": "three"})], "takes a whole number"),
        ([(0, SHORTEN, {"text": "a", "sentences": True})], "takes a whole number"),
        ([(0, SHORTEN, {"text": "a", "sentences": (3,)})], "takes no list"),
        ([(0, BLUR, {"image": PICTURE, "strong": 1})], "takes yes or no as its strong"),
        ([(0, BLUR, {"image": PICTURE, "edit": "explode"})], "knows no edit 'explode'"),
    ],
)
def test_what_is_refused(tasks: list[tuple[int, TaskType, dict[str, Arg]]], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        Plan(tuple(Task(number, kind, args) for number, kind, args in tasks))


def test_options_may_be_given_as_whole_numbers() -> None:
    assert plan((SHORTEN, {"text": text_artifact("a"), "share": 1, "sentences": 2}))


def test_other_tasks_give_new_checked_plans() -> None:
    made = plan((READ, {"image": PICTURE}), (SHORTEN, {"text": Ref(0)}))
    longer = made.with_task(Task(2, SPEAK, {"text": Ref(1)}))
    assert [task.id for task in longer] == [0, 1, 2]
    changed = longer.replacing(Task(1, SHORTEN, {"text": Ref(0), "sentences": 1}))
    assert changed.task(1).args["sentences"] == 1
    assert made.task(1).args == {"text": Ref(0)}
    with pytest.raises(PlanError, match="no task 9"):
        longer.replacing(Task(9, CLOCK))


def test_titles_are_words() -> None:
    assert READ.title == "image to text"
    assert READ.port("sound") is None
    assert READ.option("size") is None
