"""Who works on a goal: each role is data for the one controller and the one plan writer."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.goal import Choice
from jarvis_desktop.core.result import Status

if TYPE_CHECKING:
    from jarvis_desktop.assistant.agent.desk import Desk


@dataclass(frozen=True, slots=True)
class Branch:
    """What a controller can choose. `args` are JSON Schemas by name; all that are listed as
    `required` must be there."""

    name: str
    summary: str
    args: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    required: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Role:
    """A kind of controller."""

    name: str
    """Part of the path in logs: "assistant", "coder", "librarian"."""
    prompt: str
    """The template of its system message, without ".md"."""
    writes: str
    """The template by which its plan is written; "" where it works without a plan."""
    branches: tuple[Branch, ...]
    shows_library: bool = False
    """Whether its prompt lists the functions of the code library."""
    rounds: int = 30
    """The most of one call; those of the whole goal are counted besides."""


@dataclass(frozen=True, slots=True)
class Observation:
    """What a branch gave."""

    text: str
    """For the controller's next prompt and for the log."""
    status: Status = Status.DONE
    artifacts: tuple[Artifact, ...] = ()
    code: str = ""
    trusted: bool = False
    """Whether all of the text is the person's or ours; else it is marked off as data."""
    ends: bool = False
    """Whether the controller has finished with it."""


class Running(Protocol):
    """What carries a branch out."""

    def __call__(self, desk: Desk, choice: Choice) -> Awaitable[Observation]:
        """Do it. What fails is an Observation with FAILED and a reason; raises only what must end
        the turn."""
        ...
