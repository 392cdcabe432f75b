"""The microphone: captures from the chosen input in a child process.

One task owns the device: it opens it, fetches the sound some thirty times a second for all
listeners, notices when the device or the sound service is gone, and opens it again. Foreign code
may hang in any call, so it runs in a process that can be killed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.speech import PRE_ROLL, RATE, WIDTH, MicrophoneState, Sound
from jarvis_desktop.process.child import Child
from jarvis_desktop.speech.played_sound import HUNG_HINT, PlayedSound

KEPT_SECONDS = PRE_ROLL + 0.25
"""More than is handed out: a listener may have begun a moment before the sound is fetched."""


class RecentSound:
    """The last moment of sound, kept in memory only."""

    def __init__(self) -> None:
        self._sounds: deque[Sound] = deque()
        self._seconds = 0.0
        self._reached = 0.0

    def add(self, sound: Sound, reached: float) -> None:
        """Append sound, whose end was heard at this moment of time.monotonic()."""
        self._reached = reached
        self._sounds.append(sound)
        self._seconds += sound.seconds
        while self._seconds - self._sounds[0].seconds >= KEPT_SECONDS:
            self._seconds -= self._sounds.popleft().seconds

    def since(self, begun: float) -> Iterable[Sound]:
        """The sound from PRE_ROLL seconds before this moment on."""
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
    """The queue of sound for one listener."""

    def __init__(self) -> None:
        self.ends = 0.0
        """When it stops listening, in time.monotonic(); 0 while that is open."""
        self._begun = time.monotonic()
        self._first = True
        self._given: asyncio.Queue[Sound | UnavailableError | None] = asyncio.Queue()

    def hear(self, sound: Sound, recent: RecentSound) -> None:
        """Add new sound, which is also the last of what is recent."""
        sounds = recent.since(self._begun) if self._first else (sound,)
        self._first = False
        for each in sounds:
            if each.pcm:
                self._given.put_nowait(each)

    def end(self, why: UnavailableError | None = None) -> None:
        """End the sound."""
        self._given.put_nowait(why)

    async def next(self) -> Sound | None:
        """Return the next sound; None at the end. Raises UnavailableError."""
        what = await self._given.get()
        if isinstance(what, UnavailableError):
            raise what
        return what


def _samples(sound: Sound) -> int:
    return len(sound.pcm) // WIDTH


def _cut(sound: Sound, at: int) -> tuple[Sound, Sound]:
    """Split a sound after some samples; what was found in it stays with the second part."""
    length = _samples(sound)
    at = min(max(at, 0), length)
    likely = len(sound.speech) * at // max(1, length)
    return (
        replace(
            sound,
            pcm=sound.pcm[: at * WIDTH],
            speech=sound.speech[:likely],
            finished=None,
        ),
        replace(sound, pcm=sound.pcm[at * WIDTH :], speech=sound.speech[likely:]),
    )


log = logging.getLogger(__name__)

UNHEARD_S = 0.015
"""Of the sound before the end of listening that is not waited for: the device delivers it later,
and nobody releases a key so soon after a word."""
POLL_S = 0.03
IDLE_POLL_S = 0.15
"""Between two reads while nobody listens: enough to notice that the device is gone."""
START_TIMEOUT_S = 20.0  # for the process to load its libraries on a busy computer
OPEN_TIMEOUT_S = 5.0
LOST_TIMEOUT_S = 30.0
"""For calls while a device is lost and nobody listens; a hung sound service may recover."""
STALL_TIMEOUT_S = 0.7
RETRY_PAUSES_S = (0.05, 0.5, 0.5, 1.0)
"""Between attempts to open a lost device; the last one repeats. An attempt takes a tenth of a
second.
The first is for a device that worked, or that replaced one."""
SLICE_S = 0.1
"""Answers are awaited in slices: a program that was itself held up loses only one of them."""


class SoundMicrophone:
    """`device` is a name as `devices()` returns it; None is the system's default. `woken` is called
    on the loop at each `wake_word`, if one is set, while the device is held open. What is `played`
    is removed from the sound. The process is kept while the device is closed, because it takes a
    while to start."""

    def __init__(
        self,
        device: str | None = None,
        *,
        wake_word: str = "",
        woken: Callable[[], None] = lambda: None,
        played: PlayedSound | None = None,
    ) -> None:
        self._device = device
        self._idle_poll = POLL_S if wake_word else IDLE_POLL_S
        self._woken = woken
        self._child = Child(
            "jarvis_desktop.speech.audio_input:make_handler",
            wake_word,
            played,
            name="microphone",
            services=True,
        )
        self.state: MicrophoneState = "closed"
        """The state, which the user must be able to see."""
        self._watchers: list[Callable[[MicrophoneState], None]] = []
        self._listeners: list[MicrophoneListener] = []
        self._recent = RecentSound()
        self._judged = b""
        """What is to be judged with the next sound."""
        self._held = False
        self._stir = asyncio.Event()
        self._keeping: asyncio.Task[None] | None = None

    def watch(self, changed: Callable[[MicrophoneState], None]) -> None:
        """Call `changed` on the loop at each change of `state`."""
        self._watchers.append(changed)

    def hold(self, *, open: bool) -> None:
        """Keep the device open while nobody listens, or no longer."""
        self._held = open
        self._wake()

    def judge(self, said: bytes) -> None:
        """Ask whether the user has finished; see the port."""
        self._judged = said

    async def listen(self, until: asyncio.Event) -> AsyncGenerator[Sound, None]:
        """Yield the sound from now on; see the port. Raises UnavailableError."""
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
        """Start the process without opening the device. Raises UnavailableError."""
        await self._ask("ready", limit=START_TIMEOUT_S)

    async def choose(self, device: str | None) -> None:
        """Capture from another device. Current listeners get an error, as if this one was gone."""
        if device == self._device:
            return
        self._device = device
        if self.state != "closed":
            self._child.kill()  # which closes the device in any state
            self._stir.set()

    async def close(self) -> None:
        """End the process and all listening."""
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
        if listener not in self._listeners:
            return
        if self.state == "open":
            listener.ends = time.monotonic() - UNHEARD_S
        else:  # nothing was heard yet, and now it is too late
            listener.end()
            self._leave(listener)
        self._stir.set()

    def _leave(self, listener: MicrophoneListener) -> None:
        if listener in self._listeners:
            self._listeners.remove(listener)
            self._stir.set()

    def _become(self, state: MicrophoneState) -> None:
        before, self.state = self.state, state
        if before != state:
            for changed in tuple(self._watchers):
                self._tell(partial(changed, state))

    def _tell(self, watcher: Callable[[], None]) -> None:
        try:
            watcher()
        except Exception as error:  # noqa: BLE001 - a watcher must not end the capture
            log.error("A watcher of the microphone failed: %s", frames(error))

    async def _keep(self) -> None:
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
                if self.state == "lost" and self._wanted:
                    await self._stirred(RETRY_PAUSES_S[min(failures, len(RETRY_PAUSES_S)) - 1])
        finally:
            self._keeping = None  # first: a watcher may want it again
            self._become("closed")
        self._wake()

    async def _open(self) -> None:
        if self.state != "lost":
            self._become("opening")
        await self._ask("ready", limit=START_TIMEOUT_S)
        await self._ask("open", self._device, limit=OPEN_TIMEOUT_S)
        self._become("open")

    async def _hear(self) -> None:
        try:
            while self._wanted:
                await self._fetch()
                if self._wanted:
                    await self._stirred(POLL_S if self._listeners else self._idle_poll)
        finally:
            self._recent.clear()

    async def _shut(self) -> None:
        """Close the device; if that hangs, kill the process and with it the device."""
        if self._child.pid is not None:
            with suppress(UnavailableError):
                await self._ask("close", limit=STALL_TIMEOUT_S)

    async def _fetch(self) -> None:
        ending = [listener for listener in self._listeners if listener.ends]
        until = max((listener.ends for listener in ending), default=0.0)
        if self._child.pid is None:  # a call would start a new process, which has no device
            raise _hung()
        judged, self._judged = self._judged, b""
        sound, reached, woken = await self._ask("read", until, judged, limit=STALL_TIMEOUT_S)
        self._recent.add(sound, reached)
        if woken and self._held:
            self._tell(self._woken)
        for listener in self._listeners:
            listener.hear(sound, self._recent)
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
        """Wait for `seconds`, or until something needs attention."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stir.wait(), seconds)
        self._stir.clear()

    async def _ask(self, *words: object, limit: float) -> Any:
        """Call the child. Raises UnavailableError after the limit, later if nobody listens."""
        call = asyncio.create_task(self._child.call(*words, timeout=LOST_TIMEOUT_S))
        waited = 0.0
        try:
            while waited < limit or (self.state == "lost" and not self._listeners):
                done, _ = await asyncio.wait({call}, timeout=SLICE_S)
                if done:
                    return call.result()
                waited += SLICE_S
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
        hint=tr(HUNG_HINT),
        retryable=True,
    )
