"""Steps out of what LLMs write, and the plan that they may become."""

from __future__ import annotations

import json

import pytest

from jarvis_desktop.assistant.agent.outline_writer import (
    MAX_CHARS,
    DraftStep,
    merge_outline,
    read_outline,
)
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.goal import MAX_STEPS, Outline, OutlineStep, StepState

DONE, FAILED, DROPPED, DOING = (
    StepState.DONE,
    StepState.FAILED,
    StepState.DROPPED,
    StepState.DOING,
)
OLD = Outline(
    (
        OutlineStep(1, "Fetch the prices", DONE, "as prices.csv"),
        OutlineStep(2, "Plot them", FAILED),
        OutlineStep(3, "Name the best month", DOING),
        OutlineStep(4, "Save it"),
    )
)


def words(answer: str) -> list[str]:
    return [step.text for step in read_outline(answer)]


@pytest.mark.parametrize(
    "answer",
    [
        '{"steps": [{"text": "Fetch"}, {"text": "Plot"}]}',
        '<think>{"steps": [{"text": "No"}]}</think>{"steps": ["Fetch", "Plot"]}',
        'Sure!\n```json\n{"plan": {"steps": [{"id": 1, "step": "Fetch"}, {"title": "Plot"}]}}\n```',
        "[{'id': 1, 'description': 'Fetch'}, {'id': 2, 'description': 'Plot'}]",
        '["1. Fetch", "2. Plot"]',
        '{"1": "Fetch", "2": "Plot"}',
        '{"step 1": "Fetch", "step 2": {"text": "Plot"}}',
        '{"text": "Fetch"}\n{"text": "Plot"}',
        '{"steps": "x", "text": "1. Fetch"} {"task": "Plot"}',
        '{"plan": "none", "steps": ["- [ ] 1. Fetch\\n- [ ] 2. Plot"]}',
        "Here is the plan:\n\n1. **Fetch**\n2. Plot\n\nShall I begin?",
        "- [ ] Fetch\n- [x] Plot",
        "[ ] Fetch\n[x] Plot",
        'So: {"steps": ["Fetch", "Plot"]}',
        '{"steps": [{"text": "Fetch"}, {"text": "fetch."}, {"text": "Plot"}, {"text": "..."}, 3]}',
    ],
)
def test_steps_in_whatever_form(answer: str) -> None:
    assert words(answer) == ["Fetch", "Plot"]


def test_brackets_within_a_step_are_its_words() -> None:
    assert words("1. Fetch [all] of {them}\n2. Plot") == ["Fetch [all] of {them}", "Plot"]


def test_numbers_are_kept() -> None:
    answer = '{"steps": [{"id": 3, "text": "A"}, {"id": "4", "text": "B"}, {"text": "C"}]}'
    assert read_outline(answer) == [DraftStep("A", 3), DraftStep("B", 4), DraftStep("C")]
    assert read_outline("4. A\n- B") == [DraftStep("A", 4), DraftStep("B")]


def test_a_step_is_one_line_without_a_note() -> None:
    assert words('{"steps": ["Fetch —\\n all — of \\u202e it"]}') == ["Fetch — all - of � it"]
    assert len(words(json.dumps(["a" * 900]))[0]) == 400


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("", "no steps"),
        ("I cannot plan that.", "no steps"),
        ("{}", "no steps"),
        ('{"steps": []}', "no steps"),
        ('{"steps": [{}, {"text": ""}, null]}', "no steps"),
        ('{"steps": {"steps": {"steps": {"steps": {"steps": ["Deep"]}}}}}', "no steps"),
        (json.dumps({"steps": [f"Step {at} of it" for at in range(13)]}), "13 steps; write 12"),
        ('{"steps": [{"text": "Fetch the', "breaks off"),
        ("[" * 40, "too many brackets"),
        ("x" * (MAX_CHARS + 1), "too long"),
    ],
)
def test_what_is_no_plan(answer: str, wrong: str) -> None:
    with pytest.raises(PlanError, match=wrong):
        read_outline(answer)


def lines(outline: Outline) -> list[str]:
    return outline.markdown.splitlines()


def test_a_first_plan_is_numbered_from_one() -> None:
    found = merge_outline([DraftStep("Fetch", 7), DraftStep("Plot")], None)
    assert lines(found) == ["- [ ] 1. Fetch", "- [ ] 2. Plot"]


def test_what_is_settled_stays_where_it_was_and_as_it_was() -> None:
    found = merge_outline([DraftStep("Draw a chart"), DraftStep("name the best month!")], OLD)
    assert lines(found) == [
        "- [x] 1. Fetch the prices — as prices.csv",
        "- [!] 2. Plot them",
        "- [ ] 5. Draw a chart",
        "- [~] 3. Name the best month",
    ]


def test_a_plan_says_nothing_of_what_is_done() -> None:
    """A number of a settled step, with other words, is a new step; that of an open one is not."""
    found = merge_outline([DraftStep("Begin anew", 1), DraftStep("Name the worst", 3)], OLD)
    assert lines(found)[2:] == ["- [ ] 5. Begin anew", "- [~] 3. Name the worst"]
    assert lines(found)[:2] == lines(OLD)[:2]


def test_words_count_before_numbers() -> None:
    found = merge_outline(
        [DraftStep("Save it", 3), DraftStep("Tell it", 4), DraftStep("Show it", 3)], OLD
    )
    assert [f"{step.id} {step.text}" for step in found][2:] == [
        "4 Save it",
        "5 Tell it",
        "3 Show it",
    ]


def test_what_is_done_is_not_planned_again_but_what_failed_may_be() -> None:
    again = [DraftStep("Fetch the prices"), DraftStep("Plot them"), DraftStep("Save it")]
    assert lines(merge_outline(again, OLD)) == [
        "- [x] 1. Fetch the prices — as prices.csv",
        "- [!] 2. Plot them",
        "- [ ] 5. Plot them",
        "- [ ] 4. Save it",
    ]


def test_a_number_that_was_there_once_is_not_given_again() -> None:
    assert merge_outline([DraftStep("Send it")], OLD, above=9).steps[-1].id == 10


def test_a_plan_with_nothing_to_do_is_none() -> None:
    with pytest.raises(PlanError, match="nothing to do"):
        merge_outline([DraftStep("Fetch the prices")], OLD)


def test_settled_steps_are_not_more_than_a_plan_has() -> None:
    before = Outline(tuple(OutlineStep(at, f"Try {at}", FAILED) for at in range(1, MAX_STEPS + 1)))
    found = merge_outline([DraftStep(f"New {at}") for at in range(12)], before)
    assert len(found.steps) == MAX_STEPS
    assert found.steps[0].id == 13
    assert [step.id for step in found.open] == list(range(41, 53))
