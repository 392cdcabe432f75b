"""The plan of a goal: steps in words, written with the person, kept as markdown.

A `Plan` is a graph of tasks for experts; an outline says in words what is to be reached, and in
which order. A step keeps its id for good: whoever rewrites the outline, what the log says of step 3
stays true of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.shown import one_line

MOST_STEPS = 40
LONGEST_STEP = 400
"""Characters of a step, and of its note."""


class StepState(StrEnum):
    """How far a step is."""

    OPEN = "open"
    DOING = "doing"
    DONE = "done"
    FAILED = "failed"
    DROPPED = "dropped"


MARKS: Mapping[StepState, str] = {
    StepState.OPEN: " ",
    StepState.DOING: "~",
    StepState.DONE: "x",
    StepState.FAILED: "!",
    StepState.DROPPED: "-",
}
"""What stands in the brackets of a step in markdown."""

_states = {mark: state for state, mark in MARKS.items()} | {"X": StepState.DONE}
_line = re.compile(
    r"^\s*(?:[-*+•]\s+)?(?:\[(?P<mark>[ ~xX!-])\]\s*)?(?:step\s+)?(?:(?P<id>\d{1,3})[.):]\s+)?"
    r"(?P<text>\S.*)$",
    re.IGNORECASE,
)
_marked = re.compile(
    r"^\s*(?:[-*+•]\s+|\[[ ~xX!-]\]\s*|(?:step\s+)?\d{1,3}[.):]\s+)", re.IGNORECASE
)
_note = " — "


@dataclass(frozen=True, slots=True)
class Step:
    """One step."""

    id: int
    text: str
    state: StepState = StepState.OPEN
    note: str = ""
    """What came of it, or why it failed or was dropped, in a line."""

    @property
    def is_settled(self) -> bool:
        """Whether nothing is to be done for it any more."""
        return self.state in (StepState.DONE, StepState.FAILED, StepState.DROPPED)


@dataclass(frozen=True, slots=True)
class Outline:
    """Steps in the order in which they are done. Raises PlanError where it breaks a rule."""

    steps: tuple[Step, ...]

    def __post_init__(self) -> None:
        if not self.steps:
            raise PlanError("The plan has no step.")
        if len(self.steps) > MOST_STEPS:
            raise PlanError(f"The plan has {len(self.steps)} steps; the most is {MOST_STEPS}.")
        ids = [step.id for step in self.steps]
        if len(set(ids)) < len(ids):
            raise PlanError("Two steps of the plan have the same number.")

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def step(self, step_id: int) -> Step | None:
        """The step of that id, or None."""
        return next((step for step in self.steps if step.id == step_id), None)

    def with_state(self, step_id: int, state: StepState, note: str = "") -> Outline:
        """The outline with one step's state changed. Raises PlanError where there is none such."""
        if self.step(step_id) is None:
            raise PlanError(f"The plan has no step {step_id}.")
        note = one_line(note, limit=LONGEST_STEP)
        steps = (
            replace(step, state=state, note=note) if step.id == step_id else step
            for step in self.steps
        )
        return Outline(tuple(steps))

    @property
    def open(self) -> tuple[Step, ...]:
        """The steps that something is to be done for."""
        return tuple(step for step in self.steps if not step.is_settled)

    @property
    def markdown(self) -> str:
        """A task list: `- [x] 2. Plot the prices — as plot.png`."""
        return "\n".join(
            f"- [{MARKS[step.state]}] {step.id}. {step.text}"
            + (f"{_note}{step.note}" if step.note else "")
            for step in self.steps
        )


def outline_from_markdown(text: str, before: Outline | None = None) -> Outline:
    """The outline that somebody wrote: a task list, a numbered list, or plain lines.

    A step keeps its id where its number is one of `before`, or else where its words are; a new one
    gets a number that none ever had. A number that stands twice counts the first time. What
    `before` has and the text lacks is gone. Raises PlanError, one sentence, where there is no step
    or there are too many.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if any(_marked.match(line) for line in lines):  # the rest is a heading, or talk around the list
        lines = [line for line in lines if _marked.match(line)]
    found = [match for line in lines if (match := _line.match(line))]
    known = {step.id: step for step in before or ()}
    words = {_bare(step.text): step.id for step in before or ()}
    used: set[int] = set()
    ids: list[int | None] = []
    for match in found:
        step_id = int(match["id"]) if match["id"] else None
        if before and (step_id is None or step_id not in known):
            step_id = words.get(_bare(_text_of(match)[0]))
        if step_id in used:
            step_id = None
        if step_id is not None:
            used.add(step_id)
        ids.append(step_id)
    following = max((*known, *used), default=0) + 1
    steps = []
    for match, step_id in zip(found, ids, strict=True):
        if step_id is None:
            step_id, following = following, following + 1
        steps.append(_step(step_id, match, known.get(step_id)))
    return Outline(tuple(steps))


def changes(before: Outline | None, after: Outline) -> tuple[str, ...]:
    """What is different, a sentence each, for whoever works by the plan; () where nothing is."""
    if before is None:
        return ()
    old = {step.id: step for step in before}
    new = {step.id: step for step in after}
    told = [f"Step {step.id} was taken out: {step.text}" for step in before if step.id not in new]
    for step in after:
        was = old.get(step.id)
        if was is None:
            told.append(f"Step {step.id} is new: {step.text}")
            continue
        if was.text != step.text:
            told.append(f"Step {step.id} now says: {step.text}")
        if was.state is not step.state:
            why = f" ({step.note})" if step.note else ""
            told.append(f"Step {step.id} is {step.state.value} now{why}.")
    shared = [step.id for step in after if step.id in old]
    if shared != [step.id for step in before if step.id in new]:
        order = ", ".join(str(step.id) for step in after)
        told.append(f"The order of the steps is now {order}.")
    return tuple(told)


def _step(step_id: int, match: re.Match[str], was: Step | None) -> Step:
    text, note = _text_of(match)
    unmarked = was.state if was else StepState.OPEN
    state = _states[match["mark"]] if match["mark"] else unmarked
    return Step(step_id, text, state, note)


def _text_of(match: re.Match[str]) -> tuple[str, str]:
    text, _, note = match["text"].partition(_note)
    text = one_line(text.strip().strip("*").strip(), limit=LONGEST_STEP)
    return text or one_line(match["text"], limit=LONGEST_STEP), one_line(note, limit=LONGEST_STEP)


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))
