"""What a person may change about a plan: each edit gives a valid plan, or says why not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.plan import Ask, Plan, is_asked_about, is_simple
from jarvis_desktop.core.task import Port, Ref, Task, TaskType
from tests.types import CLOCK, JOIN, READ, SHORTEN, SPEAK, TEXT

PICTURE = Artifact(Kind.IMAGE, path=Path("a.png"))
SAVE = TaskType("save-file", "Saves.", (Port("content", (TEXT,)),), (TEXT,), guarded=True)
TITLED = TaskType(
    "titled", "Joins.", (Port("text", (TEXT,)), Port("title", (TEXT,), required=False)), (TEXT,)
)
CHAIN = Plan(
    (
        Task(0, READ, {"image": PICTURE}),
        Task(1, SHORTEN, {"text": Ref(0)}),
        Task(2, SPEAK, {"text": Ref(1)}),
    )
)


def ids(plan: Plan) -> list[int]:
    return [task.id for task in plan]


def test_an_argument_is_another_one() -> None:
    assert CHAIN.with_arg(1, "sentences", 2).task(1).args == {"text": Ref(0), "sentences": 2}
    assert CHAIN.with_arg(2, "text", Ref(0)).task(2).depends_on == (0,)
    assert CHAIN.with_arg(1, "sentences", 2).with_arg(1, "sentences", None) == CHAIN
    assert CHAIN.task(1).args == {"text": Ref(0)}


def test_a_task_more_gets_an_id_of_its_own() -> None:
    longer = CHAIN.without(2).add(SPEAK, {"text": Ref(0)})
    assert ids(longer) == [0, 1, 2]
    assert ids(Plan(()).add(CLOCK, {})) == [0]
    assert ids(replace(CHAIN, tasks=(replace(CHAIN.task(0), id=7),)).add(CLOCK, {})) == [7, 8]


def test_what_needs_a_task_goes_with_it_or_keeps_it() -> None:
    assert ids(CHAIN.without(2)) == [0, 1]
    assert ids(CHAIN.without(1, cascade=True)) == [0]
    assert ids(CHAIN.without(0, cascade=True)) == []
    with pytest.raises(InputError, match="left out alone: “Text to speech” needs its result"):
        CHAIN.without(1)


def test_what_can_do_without_a_result_does() -> None:
    plan = Plan(
        (
            Task(0, CLOCK),
            Task(1, CLOCK),
            Task(2, JOIN, {"texts": (Ref(0), "and", Ref(1))}),
            Task(3, TITLED, {"text": "a", "title": Ref(0)}),
        )
    )
    shorter = plan.without(0)
    assert shorter.task(2).args == {"texts": ("and", Ref(1))}
    assert shorter.task(3).args == {"text": "a"}


def test_a_task_stands_elsewhere_but_behind_its_inputs() -> None:
    plan = CHAIN.add(CLOCK, {})
    assert ids(plan.moved(3, before=0)) == [3, 0, 1, 2]
    assert ids(plan.moved(3, before=0).moved(3, before=None)) == [0, 1, 2, 3]
    assert plan.moved(1, before=1) is plan
    with pytest.raises(InputError, match="“Text to speech” takes the result of “Summarization”"):
        plan.moved(2, before=1)
    with pytest.raises(InputError, match="“Summarization” takes the result of “Image to text”"):
        plan.moved(0, before=None)


def test_an_expert_is_chosen_for_a_task() -> None:
    pinned = CHAIN.pinned(1, "bart")
    assert [task.expert for task in pinned] == ["", "bart", ""]
    assert pinned.pinned(1, "") == CHAIN


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda: CHAIN.with_arg(9, "text", "a"), "no task 9"),
        (lambda: CHAIN.with_arg(1, "text", None), "missing its text"),
        (lambda: CHAIN.with_arg(1, "text", PICTURE), "takes text as its text, not image"),
        (lambda: CHAIN.with_arg(1, "text", Ref(2)), "takes text as its text, not audio"),
        (lambda: CHAIN.with_arg(1, "text", Ref(1)), "wait for each other"),
        (lambda: CHAIN.add(SPEAK, {}), "missing its text"),
        (lambda: CHAIN.without(9), "no task 9"),
        (lambda: CHAIN.moved(9, before=None), "no task 9"),
        (lambda: CHAIN.moved(1, before=9), "no task 9"),
        (lambda: CHAIN.pinned(9, "bart"), "no task 9"),
    ],
)
def test_what_cannot_be_is_refused(edit: Callable[[], Plan], why: str) -> None:
    with pytest.raises(InputError, match=why):
        edit()


def test_what_is_unchanged_and_what_depends() -> None:
    assert CHAIN.unchanged(CHAIN) == {0, 1, 2}
    assert CHAIN.with_arg(1, "sentences", 2).unchanged(CHAIN) == {0}
    assert CHAIN.pinned(0, "blip").unchanged(CHAIN) == set()
    assert CHAIN.add(CLOCK, {}).moved(3, before=0).unchanged(CHAIN) == {0, 1, 2}
    wanted = CHAIN.replacing(replace(CHAIN.task(0), wanted=True))
    assert wanted.unchanged(CHAIN) == {0, 1, 2}
    assert CHAIN.depending_on({1, 9}) == {1, 2}


def test_a_simple_plan_is_small_and_has_no_guarded_step() -> None:
    assert is_simple(CHAIN)
    assert not is_simple(CHAIN.add(CLOCK, {}))
    assert not is_simple(Plan((Task(0, SAVE, {"content": "a"}),)))


@pytest.mark.parametrize(
    ("ask", "simple", "larger"),
    [("always", True, True), ("larger", False, True), ("never", False, False)],
)
def test_who_is_asked(ask: Ask, simple: bool, larger: bool) -> None:
    assert is_asked_about(CHAIN, ask) is simple
    assert is_asked_about(CHAIN.add(CLOCK, {}), ask) is larger


@st.composite
def edited(draw: st.DrawFn) -> tuple[Plan, Plan | str]:
    """A plan of joins, and what an edit of it gives."""
    size = draw(st.integers(1, 5))
    chosen = st.sets(st.integers(0, size - 1))
    refs = [sorted(number for number in draw(chosen) if number < at) for at in range(size)]
    plan = Plan(tuple(Task(at, JOIN, {"texts": ("x", *map(Ref, refs[at]))}) for at in range(size)))
    which, other = (draw(st.integers(0, size)) for _ in range(2))
    edit = draw(
        st.sampled_from(
            [
                lambda: plan.with_arg(which, "texts", (Ref(other),)),
                lambda: plan.without(which, cascade=draw(st.booleans())),
                lambda: plan.moved(which, before=draw(st.none() | st.just(other))),
                lambda: plan.add(JOIN, {"texts": (Ref(which), Ref(other))}),
                lambda: plan.pinned(which, "bart"),
            ]
        )
    )
    try:
        return plan, edit()
    except InputError as error:
        return plan, error.message


@given(edited())
def test_any_edit_gives_a_valid_plan_or_a_sentence(case: tuple[Plan, Plan | str]) -> None:
    plan, outcome = case
    if isinstance(outcome, str):
        assert outcome.endswith(".")
        return
    assert Plan(outcome.tasks) == outcome
    same = outcome.unchanged(plan)
    assert all(set(outcome.task(number).depends_on) <= same for number in same)
