"""What all that work on one goal share: its memory, its turn, the stack of controllers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from jarvis_desktop.assistant.agent.interrupts import Interrupts
from jarvis_desktop.assistant.live import Live
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.goal import Frame, Goal, GoalMemory, Limits, LogEntry
from jarvis_desktop.core.ports import Context
from jarvis_desktop.core.shown import one_line

SECONDS = "seconds of work"
"""Where the outermost frame keeps how long the goal was worked on."""
SAID = "what the person said"
"""Where it keeps what the person answered: the only words of a log that no one else can have
written."""
LONGEST_SAID = 600
MOST_SAID = 30


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
        self.log = sorted(log, key=lambda entry: entry.number)
        """All that was done, of all controllers."""
        # A round ends after those of the controller that it called, whatever their numbers.
        ended = sorted(self.log, key=lambda entry: entry.at)
        self.made: list[Artifact] = [item for entry in ended for item in entry.artifacts]
        """What rounds made, oldest first."""
        self.number = self._highest = max((entry.number for entry in self.log), default=0)
        """Of the round that runs, or ran last."""
        self.earlier: tuple[str, ...] | None = None
        """Goals like this one, in words, once they were looked for."""
        self.inner = 0
        """The depth of the innermost controller at work: that of the branch that runs. After a
        crash the frames of those that were called by it are there as well."""
        self._loop = asyncio.get_running_loop()
        self._since = self._loop.time() - live.waited
        self._before = float(frames[0].kept.get(SECONDS, 0)) if frames else 0.0

    def path(self, depth: int) -> str:
        """Whose round it is at a depth of the stack: "assistant/coder"."""
        return "/".join(frame.role for frame in self.frames[: depth + 1])

    def change(self, depth: int, **fields: Any) -> Frame:
        """Change the frame at a depth, durably."""
        self.frames[depth] = replace(self.frames[depth], **fields)
        self._keep()
        return self.frames[depth]

    def remember(self, depth: int, **values: str) -> Frame:
        """Keep values for a branch across rounds, beside what else is kept in the frame; ""
        forgets one."""
        kept = {**self.frames[depth].kept, **values}
        return self.change(depth, kept={key: value for key, value in kept.items() if value})

    def tell(self, depth: int, *sentences: str) -> Frame:
        """What the controller at a depth must be told in its next prompt. Trusted text only."""
        return self.change(depth, notices=(*self.frames[depth].notices, *sentences))

    def heard(self, question: str, answer: str) -> None:
        """Keep what the person answered, for all prompts of this goal."""
        line = f"- On “{one_line(question, limit=120)}”: {one_line(answer, limit=LONGEST_SAID)}"
        self.remember(0, **{SAID: "\n".join([*self.said, line][-MOST_SAID:])})

    @property
    def said(self) -> Sequence[str]:
        """What the person answered so far, a line each, oldest first."""
        return self.frames[0].kept.get(SAID, "").splitlines()

    def spend(self, depth: int, tokens: int) -> None:
        """Count tokens of an LLM, of a prompt or of an answer; durable with the next change."""
        frame = self.frames[depth]
        self.frames[depth] = replace(frame, tokens=frame.tokens + tokens)

    def begin_round(self) -> int:
        """The number of a new round."""
        self._highest += 1
        self.number = self._highest
        return self.number

    def push(self, depth: int, frame: Frame) -> None:
        """Begin a controller that the one at a depth calls, in the place of any other."""
        self.drop_called(depth)
        self.frames.append(frame)
        self._keep()

    def drop_called(self, depth: int) -> None:
        """The controllers that the one at a depth called are gone, durably with the next change;
        what they spent and read counts for it."""
        frame, *called = self.frames[depth:]
        tokens = sum(each.tokens for each in (frame, *called))
        tainted = any(each.tainted for each in (frame, *called))
        self.frames[depth:] = [replace(frame, tokens=tokens, tainted=tainted)]

    def end_round(self, depth: int, entry: LogEntry, **fields: Any) -> None:
        """Write down what a round did, with its frame, in one go; whom it called is gone."""
        self.drop_called(depth)
        frame = replace(self.frames[depth], **fields)
        tainted = frame.tainted or self.frames[depth].tainted
        self.frames[depth] = replace(frame, rounds=frame.rounds + 1, tainted=tainted)
        self.log.append(entry)
        self.made += entry.artifacts
        self._keep(entry)

    def done_by(self, depth: int) -> Sequence[LogEntry]:
        """What the controller at a depth did since it was called, oldest first."""
        path, rounds = self.path(depth), self.frames[depth].rounds
        own = [entry for entry in self.log if entry.path == path]
        return sorted(own, key=lambda entry: entry.number)[len(own) - min(rounds, len(own)) :]

    @property
    def rounds(self) -> int:
        """How many rounds there were, of all controllers."""
        return len(self.log)

    @property
    def tokens(self) -> int:
        """How many tokens all of it took."""
        return sum(frame.tokens for frame in self.frames)

    @property
    def seconds(self) -> float:
        """How long the goal was worked on, without waiting for the person."""
        return self._before + self._loop.time() - self._since - self.live.waited

    @property
    def highest(self) -> int:
        """The highest number that a round was given so far."""
        return self._highest

    def _keep(self, *entries: LogEntry) -> None:
        kept = {**self.frames[0].kept, SECONDS: f"{self.seconds:.1f}"}
        self.frames[0] = replace(self.frames[0], kept=kept)
        self.memory.keep(self.goal.id, self.frames, entries)
