"""One of those who listen to the microphone, and what it heard shortly before they began."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import replace

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.hearing import PRE_ROLL, RATE, WIDTH, Sound

KEPT_SECONDS = PRE_ROLL + 0.25
"""More than is handed out: who listens may have begun a moment before the sound is fetched."""


class Remembered:
    """The last moment, kept in memory to be forgotten."""

    def __init__(self) -> None:
        self._sounds: deque[Sound] = deque()
        self._seconds = 0.0
        self._reached = 0.0

    def add(self, sound: Sound, reached: float) -> None:
        """Go on with this, the end of which was heard at this moment of time.monotonic()."""
        self._reached = reached
        self._sounds.append(sound)
        self._seconds += sound.seconds
        while self._seconds - self._sounds[0].seconds >= KEPT_SECONDS:
            self._seconds -= self._sounds.popleft().seconds

    def since(self, begun: float) -> Iterable[Sound]:
        """What was heard from PRE_ROLL seconds before this moment on."""
        length = sum(_samples(sound) for sound in self._sounds)
        now = length - round((self._reached - begun) * RATE)
        start = now - round(PRE_ROLL * RATE)
        for sound in self._sounds:
            _, wanted = _cut(sound, start)
            before, after = _cut(wanted, now - max(0, start))
            yield replace(before, before=True)
            yield after
            start -= _samples(sound)
            now -= _samples(sound)

    def clear(self) -> None:
        """Forget it."""
        self._sounds.clear()
        self._seconds = 0.0


class MicrophoneListener:
    """What one who listens has not taken yet."""

    def __init__(self) -> None:
        self.ends = 0.0
        """The moment of time.monotonic() up to which is listened; 0 while that is open."""
        self._begun = time.monotonic()
        self._first = True
        self._given: asyncio.Queue[Sound | UnavailableError | None] = asyncio.Queue()

    def hear(self, sound: Sound, remembered: Remembered) -> None:
        """This was heard, and is the last of what is remembered."""
        sounds = remembered.since(self._begun) if self._first else (sound,)
        self._first = False
        for each in sounds:
            if each.pcm:
                self._given.put_nowait(each)

    def end(self, why: UnavailableError | None = None) -> None:
        """There is no more."""
        self._given.put_nowait(why)

    async def next(self) -> Sound | None:
        """What comes next; None at the end. Raises UnavailableError."""
        what = await self._given.get()
        if isinstance(what, UnavailableError):
            raise what
        return what


def _samples(sound: Sound) -> int:
    return len(sound.pcm) // WIDTH


def _cut(sound: Sound, at: int) -> tuple[Sound, Sound]:
    """Its first samples, and the others with what was found in it last."""
    length = _samples(sound)
    at = min(max(at, 0), length)
    likely = len(sound.speech) * at // max(1, length)
    return (
        replace(sound, pcm=sound.pcm[: at * WIDTH], speech=sound.speech[:likely], woken=False),
        replace(sound, pcm=sound.pcm[at * WIDTH :], speech=sound.speech[likely:]),
    )
