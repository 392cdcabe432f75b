"""Agent mode: goals, their outlines and logs, and the port to their memory.

A `Plan` is a graph of tasks for experts; an outline says in words what is to be reached, in which
order. It is written with the user and shown as markdown. A step keeps its id, so that the log's
entries on step 3 stay true when the outline is rewritten.

A plan lives for one run, an outline as long as the goal; neither is made from the other.
"""

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
"""The highest number when none existed before, which leaves room above."""


class StepState(StrEnum):
    """The state of a step."""

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
"""The character in the brackets of a step in markdown."""

_states = {mark: state for state, mark in MARKS.items()} | {"X": StepState.DONE}
_line = re.compile(
    r"^\s*(?:[-*+•]\s+)?(?:\[(?P<mark>[ ~xX!-])\]\s*)?(?:step\s+)?(?:(?P<id>\d{1,5})[.):]\s+)?"
    r"(?P<text>\S.*)$",
    re.IGNORECASE,
)
_marked = re.compile(
    r"^\s*(?:[-*+•]\s+|\[[ ~xX!-]\]\s*|(?:step\s+)?\d{1,5}[.):]\s+)", re.IGNORECASE
)
_bold = re.compile(r"\*\*([^*]+)\*\*")
_note = " — "
_dash = re.compile(r" —(?= )")


@dataclass(frozen=True, slots=True)
class OutlineStep:
    """One step of an outline."""

    id: int
    text: str
    state: StepState = StepState.OPEN
    note: str = ""
    """Its result, or why it failed or was dropped, in a line."""

    def __post_init__(self) -> None:
        # Text written to markdown must be read back the same.
        text = _dash.sub(" -", _trimmed(self.text))
        if not text:
            raise PlanError(tr("A step of the plan has no words."))
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "note", one_line(self.note, limit=MAX_STEP_CHARS))

    @property
    def is_settled(self) -> bool:
        """Whether nothing is left to do for it."""
        return self.state in (StepState.DONE, StepState.FAILED, StepState.DROPPED)


@dataclass(frozen=True, slots=True)
class Outline:
    """Steps in the order in which they are done. Raises PlanError if it breaks a rule."""

    steps: tuple[OutlineStep, ...]
    highest: int = field(default=0, compare=False)
    """The highest number that a step of this plan ever had; new steps get higher ones."""

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
        """Return the step of that id, or None."""
        return next((step for step in self.steps if step.id == step_id), None)

    def with_state(self, step_id: int, state: StepState, note: str = "") -> Outline:
        """Return the outline with one step's state changed. Raises PlanError for an unknown id."""
        if self.step(step_id) is None:
            raise PlanError(tr("The plan has no step {step_id}.", step_id=step_id))
        steps = (
            replace(step, state=state, note=note) if step.id == step_id else step
            for step in self.steps
        )
        return replace(self, steps=tuple(steps))

    @property
    def open(self) -> tuple[OutlineStep, ...]:
        """The steps that are not settled."""
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
    """Read an outline from a task list, a numbered list, or plain lines.

    A step keeps its id if its number, or else its text, is one of `before`; new steps get unused
    numbers. A repeated number counts the first time. Steps that the text lacks are removed. Raises
    PlanError, one sentence, if there is no step or too many.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    # Lines around a list are headings or remarks.
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
    """Return the list in a text: each step's number, if any, and its text.

    Other lines are ignored; without a list the result is ().
    """
    return tuple(
        (int(match["id"]) if match["id"] else None, _text_of(match)[0])
        for match in _matches(line for line in text.splitlines() if _marked.match(line))
    )


def changes(before: Outline | None, after: Outline) -> tuple[str, ...]:
    """Describe the differences between two plans, a sentence each; () if there are none."""
    if before is None:
        return ()
    old = {step.id: step for step in before}
    new = {step.id: step for step in after}
    sentences = [
        f"Step {step.id} was taken out: {step.text}" for step in before if step.id not in new
    ]
    for step in after:
        was = old.get(step.id)
        if was is None:
            sentences.append(f"Step {step.id} is new: {step.text}")
            continue
        if was.text != step.text:
            sentences.append(f"Step {step.id} now says: {step.text}")
        if was.state is not step.state:
            # An older note does not explain the change, and may be anyone's words.
            why = f" ({step.note})" if step.note not in ("", was.note) else ""
            sentences.append(f"Step {step.id} is {step.state.value} now{why}.")
    shared = [step.id for step in after if step.id in old]
    if shared != [step.id for step in before if step.id in new]:
        order = ", ".join(str(step.id) for step in after)
        sentences.append(f"The order of the steps is now {order}.")
    return tuple(sentences)


def _matches(lines: Iterable[str]) -> list[re.Match[str]]:
    """Return the matches of the lines that have text."""
    found = (match for line in lines if (match := _line.match(line)))
    return [match for match in found if _text_of(match)[0]]


def _recognised(found: Sequence[re.Match[str]], before: Outline | None) -> list[int | None]:
    """Return the number of each line's step; None for a new step."""
    ids: list[int | None] = []
    for match in found:
        number = int(match["id"]) if match["id"] else None
        if number is not None:
            known = before.step(number) is not None if before else number <= MAX_FIRST_NUMBER
            number = number if known and number not in ids else None
        ids.append(number)
    # A line with the text of a step is that step, if no line has its number.
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
    """Return the text on one line, without emphasis and without a dash that would begin a note."""
    words = _bold.sub(r"\1", text).strip("*— \t")
    return one_line(words, limit=MAX_STEP_CHARS).strip("*— ")


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold())) or text


class CodeTerms(StrEnum):
    """When the user is asked about code."""

    ASK = "ask"
    """Before each run."""
    SANDBOXED = "sandboxed"
    """Not for code that runs in a sandbox and only reaches hosts that the user named."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What the user agreed to in advance, for one goal. No text can change it."""

    plan_accepted: bool = False
    """Whether the first plan needs no review."""
    code: CodeTerms | None = None
    """None: as in the settings."""
    hosts: tuple[str, ...] = ()
    """Hosts that code may reach, as HOST or HOST:PORT."""


@dataclass(frozen=True, slots=True)
class GoalLimits:
    """How much one goal may use before the user is asked."""

    rounds: int = 60
    seconds: float = 3600.0
    tokens: int = 400_000
    """Estimated tokens of prompts and answers."""
    repairs: int = 4
    """Attempts to repair one piece of code."""


@dataclass(frozen=True, slots=True)
class BranchChoice:
    """The branch that a controller chose, checked against its schema."""

    branch: str
    args: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""
    """The LLM's reason, one line."""


@dataclass(frozen=True, slots=True)
class LogEntry:
    """The record of one round. `observation` is data: output of a program, a file or an expert."""

    number: int
    """Counted over the whole goal, from 1."""
    path: str
    """Whose round it was: "assistant", "assistant/coder", "assistant/coder/librarian"."""
    branch: str
    what: str
    """The task of the round, in a line."""
    status: Status
    observation: str
    at: datetime
    artifacts: tuple[Artifact, ...] = ()
    code: str = ""
    """The script that ran, as it ran."""
    seconds: float = 0.0
    """Its duration without waiting for the user; 0 if unknown."""


@dataclass(frozen=True, slots=True)
class ControllerFrame:
    """The state of a controller between two rounds.

    The frames of a goal form a stack: the assistant's, below it the one of the coder that it
    called, and so on.
    """

    role: str
    task: str
    """What it is to reach."""
    outline: Outline | None = None
    rounds: int = 0
    tokens: int = 0
    summary: str = ""
    """A summary of its log up to entry `summed`."""
    summed: int = 0
    notices: tuple[str, ...] = ()
    """Notices for its next prompt: who changed the plan, how and why; the user's comment on
    stopping a branch."""
    observation: str = ""
    """The result of its last branch."""
    last: str = ""
    """Its last answer as JSON. Its dialogue is that answer and the result, under a new system
    message."""
    pending: BranchChoice | None = None
    """A branch that is chosen but not yet run."""
    tainted: bool = False
    """Whether it has read foreign text: a file, a page, an expert's output."""
    kept: Mapping[str, str] = field(default_factory=dict)
    """State of a branch between its rounds, such as code under repair."""


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
    """Durable plans and logs of goals: a kill at any moment loses no finished round.

    Every method may raise StorageError.
    """

    def begin(self, goal: Goal, frames: Sequence[ControllerFrame]) -> None:
        """Save a new goal; it replaces one with the same id."""

    def goal(self, goal_id: str) -> Goal | None:
        """Return a goal, or None."""

    def frames(self, goal_id: str) -> Sequence[ControllerFrame]:
        """Return its controllers, the outermost first."""

    def keep(
        self, goal_id: str, frames: Sequence[ControllerFrame], entries: Sequence[LogEntry] = ()
    ) -> None:
        """Save the current stack and the new entries in one transaction."""

    def log(self, goal_id: str, *, path: str = "") -> Sequence[LogEntry]:
        """Return the entries, oldest first; only those of `path`, if given."""

    def end(self, goal_id: str, status: Status, answer: str) -> None:
        """End a goal; its plan and log stay."""

    def list(self, most: int = 50) -> Sequence[Goal]:
        """Return the newest goals first."""

    def like(self, words: str, most: int) -> Sequence[Goal]:
        """Return reached goals, the nearest to the words first."""

    def remove(self, goal_id: str) -> None:
        """Delete a goal with its plan and log. Raises InputError if it does not exist."""
