"""The Microphone: hears with the chosen input, in a child process.

One task keeps the device: it opens it, fetches what was heard some thirty times a second, hands it
to all who listen, notices that the device or the sound service is gone, and opens it again. Foreign
code may hang for ever in any call, which is why it runs in a process that can be killed.

One of those who listen to the microphone, and what it heard shortly before they began."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.speech import PRE_ROLL, RATE, WIDTH, MicrophoneState, Sound
from jarvis_desktop.process.child import Child

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


log = logging.getLogger(__name__)

READ_SECONDS = 0.03
RESTING_SECONDS = 0.15
"""Between two looks at the device while nobody listens: enough to notice that it is gone."""

START_SECONDS = 20.0
"""For the process to load what it needs, on a computer that is busy."""
OPEN_SECONDS = 5.0
RETURN_SECONDS = 30.0
"""For whatever is asked while a device is lost and nobody waits for it: where the sound service
hangs, that may as well stay until it goes on."""
STALL_SECONDS = 0.7
RETRY_SECONDS = (0.05, 0.5, 0.5, 1.0)
"""Pauses between attempts to open a lost device, the last one again and again: an attempt costs a
tenth of a second of work. The first is for a device that was well, or one that took its place."""

SLICE = 0.1
"""An answer is waited for in slices: a program that was held up itself loses one, not its whole
patience with the child."""


class SoundMicrophone:
    """`device` is a name as `devices()` gives it; None is the system's default.

    `wake_word` is what Sound.woken tells of; "" for none. The process stays between two times the
    device is open, because it takes a while to start.
    """

    def __init__(self, device: str | None = None, *, wake_word: str = "") -> None:
        self._device = device
        self._child = Child(
            "jarvis_desktop.speech.audio_input:make", wake_word, name="microphone", services=True
        )
        self._state: MicrophoneState = "closed"
        self._watchers: list[Callable[[MicrophoneState], None]] = []
        self._listeners: list[MicrophoneListener] = []
        self._remembered = Remembered()
        self._held = False
        self._stir = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None

    @property
    def state(self) -> MicrophoneState:
        """What the person must be able to see."""
        return self._state

    def watch(self, changed: Callable[[MicrophoneState], None]) -> None:
        """Call this on the loop at each change of `state`."""
        self._watchers.append(changed)

    def hold(self, *, open: bool) -> None:
        """Keep the device open also while nobody listens; or not any more."""
        self._held = open
        self._wake()

    async def listen(self, until: asyncio.Event) -> AsyncGenerator[Sound, None]:
        """What is heard from now on; the port says the rest. Raises UnavailableError."""
        listener = MicrophoneListener()
        self._listeners.append(listener)
        self._wake()
        ending = asyncio.create_task(until.wait())
        ending.add_done_callback(lambda _: self._end(listener))
        try:
            while (sound := await listener.next()) is not None:
                yield sound
        finally:
            ending.cancel()
            self._leave(listener)

    async def warm(self) -> None:
        """Start the process now, so that the first words are not lost. Opens nothing.

        Raises UnavailableError.
        """
        await self._ask("ready", limit=START_SECONDS)

    async def choose(self, device: str | None) -> None:
        """Hear with another device from now on. Whoever listens is told that this one went away."""
        if device == self._device:
            return
        self._device = device
        if self._state != "closed":
            self._child.kill()  # with it the device is closed, whatever state that is in
            self._stir.set()

    async def close(self) -> None:
        """End the process, and with it whatever is heard."""
        self._held = False
        for listener in tuple(self._listeners):
            listener.end()
            self._leave(listener)
        if keeping := self._keeping:
            keeping.cancel()
            await asyncio.wait({keeping})
        await self._child.close()

    def _wake(self) -> None:
        self._stir.set()
        if self._keeping is None and self._wanted:
            self._keeping = asyncio.create_task(self._keep())

    @property
    def _wanted(self) -> bool:
        return self._held or bool(self._listeners)

    def _end(self, listener: MicrophoneListener) -> None:
        """Its `until` was set, or it left."""
        if listener not in self._listeners:
            return
        if self._state == "open":
            listener.ends = time.monotonic()
        else:  # nothing was heard, and what will be comes too late
            listener.end()
            self._leave(listener)
        self._stir.set()

    def _leave(self, listener: MicrophoneListener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)
            self._stir.set()

    def _become(self, state: MicrophoneState) -> None:
        before, self._state = self._state, state
        if before != state:
            for changed in tuple(self._watchers):
                try:
                    changed(state)
                except Exception as error:  # noqa: BLE001 - who watches must not end what hears
                    log.error("A change of the microphone could not be told: %s", frames(error))

    async def _keep(self) -> None:
        """Have the device open for as long as it is wanted."""
        failures = 0
        try:
            while self._wanted:
                try:
                    await self._open()
                    failures = 0
                    await self._hear()
                except UnavailableError as error:
                    log.info("the microphone is lost: %s", frames(error))
                    self._lose(error)
                    failures += 1
                await self._shut()
                if self._state == "lost" and self._wanted:
                    await self._stirred(RETRY_SECONDS[min(failures, len(RETRY_SECONDS)) - 1])
        finally:
            self._keeping = None  # first: whoever watches may want it again
            self._become("closed")
        self._wake()

    async def _open(self) -> None:
        if self._state != "lost":
            self._become("opening")
        await self._ask("ready", limit=START_SECONDS)
        await self._ask("open", self._device, limit=OPEN_SECONDS)
        self._become("open")

    async def _hear(self) -> None:
        """Hand out what is heard until nobody wants it."""
        try:
            while self._wanted:
                await self._fetch()
                if self._wanted:
                    await self._stirred(READ_SECONDS if self._listeners else RESTING_SECONDS)
        finally:
            self._remembered.clear()

    async def _shut(self) -> None:
        """Close the device; where that hangs, the process ends and the device with it."""
        if self._child.pid is not None:
            with suppress(UnavailableError):
                await self._ask("close", limit=STALL_SECONDS)

    async def _fetch(self) -> None:
        ending = [listener for listener in self._listeners if listener.ends]
        until = max((listener.ends for listener in ending), default=0.0)
        if self._child.pid is None:  # a call would start a new process, which has no device
            raise _hung()
        sound, reached = await self._ask("read", until, limit=STALL_SECONDS)
        self._remembered.add(sound, reached)
        for listener in self._listeners:
            listener.hear(sound, self._remembered)
        for listener in ending:
            listener.end()
            self._leave(listener)

    def _lose(self, error: UnavailableError) -> None:
        self._become("lost")
        for listener in tuple(self._listeners):
            listener.end(error)
            self._leave(listener)
        self._stir.clear()

    async def _stirred(self, seconds: float) -> None:
        """Wait, unless something happens that is to be looked at now."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stir.wait(), seconds)
        self._stir.clear()

    async def _ask(self, *words: object, limit: float) -> Any:
        """What the child answers. Raises UnavailableError where it does not within the limit, which
        is longer while the device is lost and nobody waits for it."""
        call = asyncio.create_task(self._child.call(*words, timeout=RETURN_SECONDS))
        waited = 0.0
        try:
            while waited < limit or (self._state == "lost" and not self._listeners):
                done, _ = await asyncio.wait({call}, timeout=SLICE)
                if done:
                    return call.result()
                waited += SLICE
        except ExpertError as error:
            raise _hung() from error
        finally:
            if not call.done():
                self._child.kill()
                call.cancel()
        raise _hung()


def _hung() -> UnavailableError:
    return UnavailableError(
        tr("The microphone does not answer."),
        hint=tr("The sound service of this computer may hang; restart it or log in again."),
        retryable=True,
    )
