"""A backend whose calls wait until a test lets them go."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.task import Call, Report


@dataclass
class GatedBackend:
    """Answers with the texts it was given, in brackets; calls are known by those texts."""

    name: str = "builtin"
    lane: str = "instant"
    started: list[str] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)
    experts: list[str] = field(default_factory=list)
    stubborn: bool = False
    """Whether a call gives its result all the same when it is stopped."""
    reports: list[Report] = field(default_factory=list)
    _open: defaultdict[str, asyncio.Event] = field(
        default_factory=lambda: defaultdict(asyncio.Event)
    )
    _moved: asyncio.Event = field(default_factory=asyncio.Event)

    def question(self, call: Call) -> str:
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        texts = (item.text or "" for items in call.inputs.values() for item in items)
        name = "+".join(texts) or call.task
        self.started.append(name)
        self.experts.append(candidate.expert.id)
        self.reports.append(report)
        self._moved.set()
        try:
            await self._open[name].wait()
        except asyncio.CancelledError:
            self.stopped.append(name)
            if not self.stubborn:
                raise
        return [text_artifact(f"<{name}>")]

    def open(self, *names: str) -> None:
        """Let these go."""
        for name in names:
            self._open[name].set()

    async def until_started(self, *names: str) -> None:
        """Wait for these."""
        while not set(names) <= set(self.started):
            self._moved.clear()
            await self._moved.wait()
