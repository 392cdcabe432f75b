"""Agent mode: a goal, what is known of it from round to round, and the seam to its memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.outline import Outline
from jarvis_desktop.core.result import Status


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
class Limits:
    """What one goal may take before the person is asked."""

    rounds: int = 60
    seconds: float = 3600.0
    tokens: int = 400_000
    """Of prompts and answers together, estimated."""
    repairs: int = 4
    """Tries to mend one piece of code."""


@dataclass(frozen=True, slots=True)
class Choice:
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
class Frame:
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
    pending: Choice | None = None
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

    def begin(self, goal: Goal, frames: Sequence[Frame]) -> None:
        """Write a new goal down; it takes the place of one of the same id."""
        ...

    def goal(self, goal_id: str) -> Goal | None:
        """One goal."""
        ...

    def frames(self, goal_id: str) -> Sequence[Frame]:
        """Its controllers, the outermost first."""
        ...

    def keep(self, goal_id: str, frames: Sequence[Frame], entries: Sequence[LogEntry] = ()) -> None:
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
