"""A place to talk in for tests, and sounds to talk with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from jarvis_desktop.assistant.talk.dictation import DictationState
from jarvis_desktop.core.speech import FRAME, WIDTH, Sound, TalkEvent, Talking, Transcript


def sound(*speech: float, before: bool = False) -> Sound:
    """One frame for each of these likelihoods."""
    return Sound(b"\x01" * FRAME * WIDTH * len(speech), 0.5, speech, before=before)


def speaking(seconds: float) -> Sound:
    """Somebody speaks."""
    return sound(*[0.9] * round(seconds / 0.032))


def silence(seconds: float) -> Sound:
    """Nobody does."""
    return sound(*[0.01] * round(seconds / 0.032))


@dataclass
class FakeFront:
    """Keeps what it is told, in order."""

    events: list[TalkEvent] = field(default_factory=list)
    barged: int = 0
    said: list[str] = field(default_factory=list)
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def barge_in(self) -> None:
        self.barged += 1

    def show(self, event: TalkEvent) -> None:
        self.events.append(event)
        self._changed.set()

    def heard(self, transcript: Transcript) -> None:
        self.said.append(transcript.text)
        self._changed.set()

    async def until(self, true: Callable[[], bool]) -> None:
        """Wait for it, for some seconds at most."""
        async with asyncio.timeout(60):
            while not true():
                self._changed.clear()
                await self._changed.wait()

    async def shows(self, state: str) -> None:
        """Wait until this is what happens now."""
        await self.until(lambda: self.states[-1:] == [state])

    @property
    def states(self) -> list[str]:
        return [event.state for event in self.events if isinstance(event, Talking)]


@dataclass
class FakeDictationFront:
    """Keeps what it shows of a dictation; `own` is a field of its own that has the focus."""

    states: list[DictationState] = field(default_factory=list)
    levels: list[float] = field(default_factory=list)
    own: list[str] | None = None
    refuses: str | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def show(self, state: DictationState) -> None:
        self.states.append(state)
        self._changed.set()

    def level(self, level: float) -> None:
        self.levels.append(level)
        self._changed.set()

    async def objection(self) -> str | None:
        return self.refuses if self.own is None else ""

    async def take(self, text: str) -> bool:
        if self.own is None:
            return False
        self.own.append(text)
        return True

    async def until(self, phase: str) -> DictationState:
        async with asyncio.timeout(60):
            while not self.states or self.states[-1].phase != phase:
                self._changed.clear()
                await self._changed.wait()
        return self.states[-1]

    async def hears(self, count: int = 1) -> None:
        async with asyncio.timeout(60):
            while len(self.levels) < count:
                self._changed.clear()
                await self._changed.wait()

    @property
    def phases(self) -> list[str]:
        found = [state.phase for state in self.states]
        return [each for at, each in enumerate(found) if at == 0 or found[at - 1] != each]
