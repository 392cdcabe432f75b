"""Agent mode: a goal, what is known of it from round to round, and the seam to its memory.

The plan of a goal: steps in words, written with the person, kept as markdown.

A `Plan` is a graph of tasks for experts; an outline says in words what is to be reached, and in
which order. A step keeps its id for good: whoever rewrites the outline, what the log says of step 3
stays true of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.i18n import tr

MAX_STEPS = 40
MAX_STEP_CHARS = 400
"""Characters of a step, and of its note."""
MAX_STEP_NUMBER = 99_999
"""The highest number of a step."""
MAX_FIRST_NUMBER = 999
"""The same where nothing was numbered before, so that there is room above."""


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
    r"^\s*(?:[-*+•]\s+)?(?:\[(?P<mark>[ ~xX!-])\]\s*)?(?:step\s+)?(?:(?P<id>\d{1,5})[.):]\s+)?"
    r"(?P<text>\S.*)$",
    re.IGNORECASE,
)
_marked = re.compile(
    r"^\s*(?:[-*+•]\s+|\[[ ~xX!-]\]\s*|(?:step\s+)?\d{1,5}[.):]\s+)", re.IGNORECASE
)
_note = " — "
_dash = re.compile(r" —(?= )")


@dataclass(frozen=True, slots=True)
class OutlineStep:
    """One step."""

    id: int
    text: str
    state: StepState = StepState.OPEN
    note: str = ""
    """What came of it, or why it failed or was dropped, in a line."""

    def __post_init__(self) -> None:
        # Whatever the words are, they are read from markdown as they were written into it.
        text = _dash.sub(" -", _trimmed(self.text))
        if not text:
            raise PlanError(tr("A step of the plan has no words."))
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "note", one_line(self.note, limit=MAX_STEP_CHARS))

    @property
    def is_settled(self) -> bool:
        """Whether nothing is to be done for it any more."""
        return self.state in (StepState.DONE, StepState.FAILED, StepState.DROPPED)


@dataclass(frozen=True, slots=True)
class Outline:
    """Steps in the order in which they are done. Raises PlanError where it breaks a rule."""

    steps: tuple[OutlineStep, ...]
    highest: int = field(default=0, compare=False)
    """The highest number that a step of this plan ever had: a new one gets a higher one."""

    def __post_init__(self) -> None:
        if not self.steps:
            raise PlanError(tr("The plan has no step."))
        if len(self.steps) > MAX_STEPS:
            raise PlanError(
                tr(
                    "The plan has {steps} steps; the most is {most_steps}.",
                    steps=len(self.steps),
                    most_steps=MAX_STEPS,
                )
            )
        ids = [step.id for step in self.steps]
        if len(set(ids)) < len(ids):
            raise PlanError(tr("Two steps of the plan have the same number."))
        if not all(0 <= step_id <= MAX_STEP_NUMBER for step_id in ids):
            raise PlanError(
                tr("The steps of a plan have numbers from 0 to {highest}.", highest=MAX_STEP_NUMBER)
            )
        object.__setattr__(self, "highest", max(self.highest, *ids))

    def __iter__(self) -> Iterator[OutlineStep]:
        return iter(self.steps)

    def step(self, step_id: int) -> OutlineStep | None:
        """The step of that id, or None."""
        return next((step for step in self.steps if step.id == step_id), None)

    def with_state(self, step_id: int, state: StepState, note: str = "") -> Outline:
        """The outline with one step's state changed. Raises PlanError where there is none such."""
        if self.step(step_id) is None:
            raise PlanError(tr("The plan has no step {step_id}.", step_id=step_id))
        steps = (
            replace(step, state=state, note=note) if step.id == step_id else step
            for step in self.steps
        )
        return replace(self, steps=tuple(steps))

    @property
    def open(self) -> tuple[OutlineStep, ...]:
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
    # What stands around a list is a heading, or talk.
    found = _matches(line for line in lines if _marked.match(line)) or _matches(lines)
    if len(found) > MAX_STEPS:
        raise PlanError(
            tr(
                "The plan has {found} steps; the most is {most_steps}.",
                found=len(found),
                most_steps=MAX_STEPS,
            )
        )
    known = {step.id: step for step in before or ()}
    ids = _recognised(found, before)
    following = max((before.highest if before else 0, *filter(None, ids)), default=0) + 1
    steps = []
    for match, step_id in zip(found, ids, strict=True):
        if step_id is None:
            step_id, following = following, following + 1
        steps.append(_step(step_id, match, known.get(step_id)))
    return Outline(tuple(steps), highest=following - 1)


def listed(text: str) -> tuple[tuple[int | None, str], ...]:
    """The list in a text: the number that each step was written with, if any, and its words.

    () where there is none: what stands around a list is no step.
    """
    return tuple(
        (int(match["id"]) if match["id"] else None, _text_of(match)[0])
        for match in _matches(line for line in text.splitlines() if _marked.match(line))
    )


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
            # A note from before says nothing of the change, and may be anybody's words.
            why = f" ({step.note})" if step.note not in ("", was.note) else ""
            told.append(f"Step {step.id} is {step.state.value} now{why}.")
    shared = [step.id for step in after if step.id in old]
    if shared != [step.id for step in before if step.id in new]:
        order = ", ".join(str(step.id) for step in after)
        told.append(f"The order of the steps is now {order}.")
    return tuple(told)


def _matches(lines: Iterable[str]) -> list[re.Match[str]]:
    """The lines that have words."""
    found = (match for line in lines if (match := _line.match(line)))
    return [match for match in found if _text_of(match)[0]]


def _recognised(found: Sequence[re.Match[str]], before: Outline | None) -> list[int | None]:
    """The number that each line's step has or had; None for one that is new."""
    ids: list[int | None] = []
    for match in found:
        number = int(match["id"]) if match["id"] else None
        if number is not None:
            known = before.step(number) is not None if before else number <= MAX_FIRST_NUMBER
            number = number if known and number not in ids else None
        ids.append(number)
    # A line that says what a step says is that step, where no line has its number.
    left = {_bare(step.text): step.id for step in reversed(before.steps if before else ())}
    left = {words: step_id for words, step_id in left.items() if step_id not in ids}
    return [
        left.pop(_bare(_text_of(match)[0]), None) if step_id is None else step_id
        for match, step_id in zip(found, ids, strict=True)
    ]


def _step(step_id: int, match: re.Match[str], was: OutlineStep | None) -> OutlineStep:
    text, note = _text_of(match)
    if match["mark"] or was is None:
        return OutlineStep(step_id, text, _states[match["mark"] or MARKS[StepState.OPEN]], note)
    return OutlineStep(step_id, text, was.state, note or was.note)


def _text_of(match: re.Match[str]) -> tuple[str, str]:
    text, _, note = match["text"].partition(_note)
    return _trimmed(text), one_line(note, limit=MAX_STEP_CHARS)


def _trimmed(text: str) -> str:
    """On one line, without what makes it bold, and without a dash that a note would follow."""
    return one_line(text.strip("*— \t"), limit=MAX_STEP_CHARS).strip("*— ")


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold())) or text


class CodeTerms(StrEnum):
    """When a person is asked about code."""

    ASK = "ask"
    """Before each run."""
    SANDBOXED = "sandboxed"
    """Not for what runs in a sandbox and reaches nothing but the hosts that the person named."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a person agreed to in advance, for one goal. No text can change it."""

    plan_accepted: bool = False
    """The first plan is not asked about."""
    code: CodeTerms | None = None
    """None: as the settings say."""
    hosts: tuple[str, ...] = ()
    """What code may reach, as HOST or HOST:PORT."""


@dataclass(frozen=True, slots=True)
class GoalLimits:
    """What one goal may take before the person is asked."""

    rounds: int = 60
    seconds: float = 3600.0
    tokens: int = 400_000
    """Of prompts and answers together, estimated."""
    repairs: int = 4
    """Tries to mend one piece of code."""


@dataclass(frozen=True, slots=True)
class BranchChoice:
    """The branch that a controller took, checked against its schema."""

    branch: str
    args: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    """In the LLM's words, one line."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """What one round did. `observation` is data: what a program, a file or an expert said."""

    number: int
    """Counted over the whole goal, from 1."""
    path: str
    """Whose round it was: "assistant", "assistant/coder", "assistant/coder/librarian"."""
    branch: str
    what: str
    """What was asked for, in a line."""
    status: Status
    observation: str
    at: datetime
    artifacts: tuple[Artifact, ...] = ()
    code: str = ""
    """The script that ran, as it ran."""
    seconds: float = 0.0
    """How long it took, without waiting for the person; 0 where that is not known."""


@dataclass(frozen=True, slots=True)
class ControllerFrame:
    """A controller at work, as it is between two rounds. Those of a goal form a stack: the
    assistant's, under it the coder's that it called, and so on."""

    role: str
    task: str
    """What it is to reach."""
    outline: Outline | None = None
    rounds: int = 0
    tokens: int = 0
    summary: str = ""
    """Of its log up to entry `summed`."""
    summed: int = 0
    notices: tuple[str, ...] = ()
    """What it must be told in its next prompt: who changed the plan, how and why; what the person
    said on stopping a branch."""
    observation: str = ""
    """What its last branch gave."""
    last: str = ""
    """Its own last answer, as JSON: the window over the dialogue is that answer and what it led
    to, under a system message written anew."""
    pending: BranchChoice | None = None
    """Chosen, and not yet done."""
    tainted: bool = False
    """Whether it has read what others than the person wrote: a file, a page, an expert's words."""
    kept: Mapping[str, str] = field(default_factory=dict)
    """What a branch keeps across its rounds, such as the code that is being mended."""


@dataclass(frozen=True, slots=True)
class Goal:
    """What is to be reached. It has the id of its turn."""

    id: str
    conversation: str
    text: str
    terms: Terms
    started: datetime
    status: Status | None = None
    """None while it is open."""
    answer: str = ""


class GoalMemory(Protocol):
    """Plans and logs of goals, durable: a kill at any moment loses no finished round.

    Every method may raise StorageError.
    """

    def begin(self, goal: Goal, frames: Sequence[ControllerFrame]) -> None:
        """Write a new goal down; it takes the place of one of the same id."""
        ...

    def goal(self, goal_id: str) -> Goal | None:
        """One goal."""
        ...

    def frames(self, goal_id: str) -> Sequence[ControllerFrame]:
        """Its controllers, the outermost first."""
        ...

    def keep(
        self, goal_id: str, frames: Sequence[ControllerFrame], entries: Sequence[LogEntry] = ()
    ) -> None:
        """Write the stack as it is now, and what was done since, in one transaction."""
        ...

    def log(self, goal_id: str, *, path: str = "", after: int = 0) -> Sequence[LogEntry]:
        """The entries with a number greater than `after`, oldest first; of one `path` alone, or
        of all."""
        ...

    def end(self, goal_id: str, status: Status, answer: str) -> None:
        """The goal is over; its plan and log stay."""
        ...

    def list(self, most: int = 50) -> Sequence[Goal]:
        """The newest first."""
        ...

    def like(self, words: str, most: int) -> Sequence[Goal]:
        """Goals that were reached, nearest to the words first."""
        ...

    def remove(self, goal_id: str) -> None:
        """Forget a goal with its plan and log. Raises InputError where there is none."""
        ...
