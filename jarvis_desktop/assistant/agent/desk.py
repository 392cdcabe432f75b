"""What all that work on one goal share: its memory, its turn, the stack of controllers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from jarvis_desktop.assistant.agent.interrupts import Interrupts
from jarvis_desktop.assistant.live import Live
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.goal import Frame, Goal, GoalMemory, Limits, LogEntry
from jarvis_desktop.core.ports import Context


class Desk:
    """The work on one goal. Every change of it is durable before anything builds on it."""

    def __init__(
        self,
        goal: Goal,
        frames: Sequence[Frame],
        *,
        live: Live,
        context: Context,
        memory: GoalMemory,
        limits: Limits,
        now: Callable[[], datetime],
        log: Sequence[LogEntry] = (),
    ) -> None:
        """`frames` and `log` as the memory has them; the goal is begun there already."""
        self.goal = goal
        self.live = live
        self.context = context
        """What the person gave and said; what was made besides is `made`."""
        self.memory = memory
        self.limits = limits
        self.now = now
        self.interrupts = Interrupts()
        self.frames = list(frames)
        self.made: list[Artifact] = [item for entry in log for item in entry.artifacts]
        """What rounds made, oldest first."""
        self.number = max((entry.number for entry in log), default=0)
        """Of the round that runs, or ran last."""

    def path(self, depth: int) -> str:
        """Whose round it is at a depth of the stack: "assistant/coder"."""
        return "/".join(frame.role for frame in self.frames[: depth + 1])

    def change(self, depth: int, **fields: Any) -> Frame:
        """Change the frame at a depth, durably."""
        self.frames[depth] = replace(self.frames[depth], **fields)
        self.memory.keep(self.goal.id, self.frames)
        return self.frames[depth]

    @property
    def inner(self) -> int:
        """The depth of the innermost controller: that of the branch that runs."""
        return len(self.frames) - 1
