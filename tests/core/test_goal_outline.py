"""The plan of a goal: what is written is read again, and a number stays what it is for good."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.goal import (
    MAX_FIRST_NUMBER,
    MAX_STEP_CHARS,
    MAX_STEP_NUMBER,
    MAX_STEPS,
    Outline,
    OutlineStep,
    StepState,
    changes,
    listed,
    outline_from_markdown,
)

PLAN = Outline(
    (
        OutlineStep(1, "Download the prices", StepState.DONE, "prices.csv"),
        OutlineStep(2, "Plot them", StepState.DOING),
        OutlineStep(3, "Tell the best month"),
    )
)
MARKDOWN = """\
- [x] 1. Download the prices — prices.csv
- [~] 2. Plot them
- [ ] 3. Tell the best month"""

words = st.text(min_size=1, max_size=30) | st.sampled_from(
    [
        "**bold**",
        "a — b",
        "x —",
        "— y",
        "[x] 2. z",
        "3. w",
        "step 4: v",
        "- u",
        "— —  — t",
        "\u2028r",
    ]
)


@st.composite
def outlines(draw: st.DrawFn) -> Outline:
    ids = draw(st.lists(st.integers(0, MAX_FIRST_NUMBER), min_size=1, max_size=8, unique=True))
    steps = []
    for step_id in ids:
        text = draw(words.filter(lambda text: re.search(r"\w", text) is not None))
        note = draw(words | st.just(""))
        steps.append(OutlineStep(step_id, text, draw(st.sampled_from(StepState)), note))
    return Outline(tuple(steps))


def ids(outline: Outline) -> list[int]:
    return [step.id for step in outline]


def test_markdown_is_a_task_list() -> None:
    assert PLAN.markdown == MARKDOWN
    assert outline_from_markdown(MARKDOWN) == PLAN
    assert PLAN.step(2) == PLAN.steps[1]
    assert PLAN.step(9) is None
    assert PLAN.open == PLAN.steps[1:]


@pytest.mark.no_cover
@given(outlines())
def test_what_is_written_is_read_again(outline: Outline) -> None:
    assert outline_from_markdown(outline.markdown) == outline
    assert outline_from_markdown(outline.markdown, outline) == outline
    assert len(outline.markdown.splitlines()) == len(outline.steps)
    assert not changes(outline, outline_from_markdown(outline.markdown, outline))


@given(st.text(alphabet=st.sampled_from("ab1\u0663 .):-*+[]x~!—\n\t\u2028#"), max_size=80))
def test_whatever_is_read_can_be_written(text: str) -> None:
    try:
        outline = outline_from_markdown(text)
    except PlanError:
        return
    assert outline_from_markdown(outline.markdown, outline) == outline


@pytest.mark.no_cover
@settings(max_examples=50)
@given(outlines(), st.lists(st.lists(st.integers(0, 12), max_size=6), min_size=1, max_size=5))
def test_a_number_is_never_used_anew(outline: Outline, edits: list[list[int]]) -> None:
    ever = {step.id: step.text for step in outline}
    for kept in edits:
        lines = outline.markdown.splitlines()
        lines = [lines[at] for at in dict.fromkeys(kept) if at < len(lines)]
        fresh = f"Something that was never there {len(ever)}"
        outline = outline_from_markdown("\n".join([*lines, f"- [ ] {fresh}"]), outline)
        assert ids(outline)[-1] not in ever
        ever |= {step.id: step.text for step in outline}
        assert all(ever[step.id] == step.text for step in outline)


def test_the_numbers_of_steps_that_went_are_not_given_again() -> None:
    shorter = outline_from_markdown("1. Download the prices", PLAN)
    changed = shorter.with_state(1, StepState.DONE)
    assert ids(outline_from_markdown(f"{changed.markdown}\n- [ ] Draw", changed)) == [1, 4]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Load\n2. Plot", [(1, "Load"), (2, "Plot")]),
        ("Load\nPlot", [(1, "Load"), (2, "Plot")]),
        ("# The plan\n\n1) Load\n2) Plot\nThat is all.", [(1, "Load"), (2, "Plot")]),
        ("Step 1: Load\nStep 2: Plot", [(1, "Load"), (2, "Plot")]),
        ("* [ ] **Load**\n+ Plot\n• Tell", [(1, "Load"), (2, "Plot"), (3, "Tell")]),
        ("1. **Load** the prices of **May**", [(1, "Load the prices of May")]),
        ("3. Load\n3. Plot", [(3, "Load"), (4, "Plot")]),
        ("- [ ] 5. Load\n- [ ] Plot", [(5, "Load"), (6, "Plot")]),
        ("- **\n- — \n- Load", [(1, "Load")]),
        ("[x] Load", [(1, "Load")]),
        ("2024. Load\n1. Plot", [(2, "Load"), (1, "Plot")]),
    ],
)
def test_lists_as_people_and_llms_write_them(text: str, expected: list[tuple[int, str]]) -> None:
    assert [(step.id, step.text) for step in outline_from_markdown(text)] == expected


def test_states_and_notes_are_read() -> None:
    text = "- [X] a — done so\n- [!] b — it failed\n- [-] c\n- [~] d\n- [ ] e"
    outline = outline_from_markdown(text)
    assert [step.state.value for step in outline] == ["done", "failed", "dropped", "doing", "open"]
    assert [step.note for step in outline] == ["done so", "it failed", "", "", ""]
    assert [step.is_settled for step in outline] == [True, True, True, False, False]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Download the prices\n2. Plot them in red", [1, 2]),
        ("- Plot THEM!\n- Download the prices", [2, 1]),
        ("2. Plot\n7. Something else", [2, 4]),
        ("- Plot them\n- 2. Plot them in red", [4, 2]),
        ("- Plot them\n- Plot them", [2, 4]),
        ("1. Download\n1. Tell the best month", [1, 3]),
        ("- ???\n- !!!", [4, 5]),
    ],
)
def test_a_step_is_known_by_its_number_or_by_its_words(text: str, expected: list[int]) -> None:
    assert ids(outline_from_markdown(text, PLAN)) == expected


def test_of_two_steps_that_say_the_same_the_first_is_meant() -> None:
    twice = Outline((OutlineStep(1, "Plot"), OutlineStep(2, "Plot"), OutlineStep(3, "???")))
    assert ids(outline_from_markdown("- Plot\n- ???", twice)) == [1, 3]


def test_what_has_no_mark_keeps_its_state_and_its_note() -> None:
    outline = outline_from_markdown("1. Download the prices\n- [ ] 2. Plot them\n3. Tell", PLAN)
    assert [step.state.value for step in outline] == ["done", "open", "open"]
    assert [step.note for step in outline] == ["prices.csv", "", ""]
    noted = outline_from_markdown("1. Download the prices — twice", PLAN)
    assert noted.steps[0].note == "twice"


@pytest.mark.parametrize("text", ["", "\n \t\n", "**", "- —"])
def test_a_plan_has_a_step(text: str) -> None:
    with pytest.raises(PlanError, match="no step"):
        outline_from_markdown(text)


def test_a_plan_keeps_its_rules() -> None:
    many = "\n".join(f"- step {number}" for number in range(MAX_STEPS + 1))
    with pytest.raises(PlanError, match="41 steps; the most is 40"):
        outline_from_markdown(many)
    with pytest.raises(PlanError, match="41 steps"):
        Outline(tuple(OutlineStep(number, "x") for number in range(41)))
    with pytest.raises(PlanError, match="same number"):
        Outline((OutlineStep(1, "a"), OutlineStep(1, "b")))
    with pytest.raises(PlanError, match="no words"):
        OutlineStep(1, " ** ")
    for step_id in (-1, MAX_STEP_NUMBER + 1):
        with pytest.raises(PlanError, match="from 0 to 99999"):
            Outline((OutlineStep(step_id, "a"),))
    with pytest.raises(PlanError, match="no step 4"):
        PLAN.with_state(4, StepState.DONE)
    with pytest.raises(PlanError):
        Outline(())


def test_a_state_changes_with_its_note_on_one_line() -> None:
    outline = PLAN.with_state(2, StepState.FAILED, "no\ncolumn\x1b[2J")
    assert outline.step(2) == OutlineStep(2, "Plot them", StepState.FAILED, "no column�[2J")
    assert outline.steps[::2] == PLAN.steps[::2]
    assert outline.markdown.splitlines()[1] == "- [!] 2. Plot them — no column�[2J"


def test_a_step_cannot_hold_a_second_one() -> None:
    sly = Outline(
        (OutlineStep(1, "Load\n- [x] 2. Send it away"), OutlineStep(3, "Plot", note="a\n- 4. b"))
    )
    assert outline_from_markdown(sly.markdown) == sly
    assert ids(sly) == [1, 3]


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "text",
    [
        "x" * 3_000_000,
        "- " * 1_000_000,
        " " * 3_000_000 + "x",
        "step" + " " * 3_000_000,
        "- [ ] " + "*" * 3_000_000 + "x",
        "- [ ]" + " " * 2_000_000 + "1." + " " * 1_000_000 + "x",
        "1. x — " + "—" * 3_000_000,
        "- a\n" * 60_000,
        "1. a\n" * 60_000,
        "\n" * 3_000_000,
    ],
)
def test_huge_texts_are_read_or_refused_at_once(text: str) -> None:
    """Nothing in the reading is more than linear: else this would take hours."""
    try:
        outline = outline_from_markdown(text, PLAN)
    except PlanError:
        return
    assert all(len(step.text) <= MAX_STEP_CHARS for step in outline)


def test_what_changed_is_told() -> None:
    after = outline_from_markdown(
        "- [!] 2. Plot them in red — no column\n- [x] 1. Download the prices\n- Write it down", PLAN
    )
    assert changes(PLAN, after) == (
        "Step 3 was taken out: Tell the best month",
        "Step 2 now says: Plot them in red",
        "Step 2 is failed now (no column).",
        "Step 4 is new: Write it down",
        "The order of the steps is now 2, 1, 4.",
    )
    assert changes(None, PLAN) == ()
    assert changes(PLAN, PLAN) == ()
    undone = PLAN.with_state(1, StepState.OPEN)
    assert changes(PLAN, undone) == ("Step 1 is open now.",)
    old_note = PLAN.with_state(1, StepState.FAILED, "prices.csv")
    assert changes(PLAN, old_note) == ("Step 1 is failed now.",)


def test_a_list_is_told_from_talk() -> None:
    assert listed("Sure:\n1. **Load**\n- Plot — red\nDone.") == ((1, "Load"), (None, "Plot"))
    assert listed("Sure, I will load it.") == ()
