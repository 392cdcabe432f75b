"""Live speech recognition in a child process that may end at any moment.

The parent keeps the sound until the transcript is complete, so that another process or engine can
take over and hear all of it. The child continues with what it knows, or asks for all of it again.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import RATE, WIDTH, Partial, Transcript
from jarvis_desktop.process.child import Child

log = logging.getLogger(__name__)

MIN_CHUNK_SECONDS = 0.032  # of sound in one call, while more is to come
START_SECONDS = 60.0  # for a call that may load the engine
SECONDS_PER_SECOND = 8.0  # an engine that needs longer than this for one second of speech is hung
MIN_LIMIT, SLOWDOWN = 10.0, 40.0
"""A pass is hung if it takes longer than this in seconds, and than this multiple of the slowest."""
RESTARTED_NOTE = mark(
    "The recogniser stopped in the middle and was started again; nothing was lost."
)

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class StreamingResult:
    """What the child has understood so far."""

    settled: str = ""
    rest: str = ""
    transcript: Transcript | None = None  # set at the end
    took: float = 0.0  # seconds of the last pass


@dataclass(eq=False)
class EngineRoute:
    """An engine that is tried, with notes for the user if it did not work."""

    child: Child
    setting: tuple[object, ...] = ()  # the arguments of its calls besides the sound
    broken: str = ""  # put before the next engine's note if this one cannot be used
    crashed: str = ""  # the same if it crashed or hung
    slowest: float = 0.0  # seconds of its slowest pass so far


async def first_that_works(
    routes: Sequence[EngineRoute], transcribe: Callable[[EngineRoute], Awaitable[Transcript]]
) -> Transcript:
    """Transcribe with the first engine that works, and note why the others did not."""
    note = ""
    for route in routes[:-1]:
        try:
            return _with_note(await transcribe(route), note)
        except UnavailableError as error:
            log.info("another recogniser takes over: %s", frames(error))
            note = route.broken
        except ExpertError as error:  # such as an instruction that an old processor lacks
            log.info("another recogniser takes over: %s", frames(error))
            note = route.crashed
    return _with_note(await transcribe(routes[-1]), note)


def _with_note(heard: Transcript, before: str) -> Transcript:
    return replace(heard, note=f"{before} {heard.note}".strip())


def _ignore_result(task: asyncio.Future[Any]) -> None:
    """Mark a task's error as seen: the awaiting caller has already received it."""
    if not task.cancelled():
        task.exception()


class LiveTranscription:
    """Recognises live speech with the first engine that works; the next takes over if it stops. It
    is in `others`, after those that began before, until it is `done`. Its calls are in `calls`
    while they run, even after it was dropped: cancelling one would kill the child process."""

    def __init__(
        self,
        routes: list[EngineRoute],
        show: Callable[[Partial], None],
        calls: set[asyncio.Future[StreamingResult | None]],
        others: list[LiveTranscription],
        done: Callable[[], None],
    ) -> None:
        self._routes = routes
        self._show = show
        self._shown = Partial()
        self._calls = calls
        self._others = others
        self._pcm = bytearray()
        self._whole = False
        self._news = asyncio.Event()
        self._task = asyncio.ensure_future(first_that_works(self._routes, self._twice))
        self._task.add_done_callback(self._done)
        self._when_done = done
        others.append(self)

    def add(self, pcm: bytes) -> None:
        """Add sound. Sound after `finish` is ignored."""
        if not self._whole:
            self._pcm += pcm
            self._news.set()

    async def finish(self) -> Transcript:
        """Return the transcript of all sound; see the port."""
        self._whole = True
        self._news.set()
        return await self._task

    def drop(self) -> None:
        """Discard it. A running pass is completed, but its result ignored."""
        self._task.cancel()
        self._whole = True
        self._pcm.clear()

    def _done(self, task: asyncio.Task[Transcript]) -> None:
        _ignore_result(task)
        self._others.remove(self)
        self._when_done()

    async def _twice(self, route: EngineRoute) -> Transcript:
        """A crash may be a coincidence: a new process hears everything again."""
        try:
            return await self._listen(route)
        except ExpertError as error:
            if error.fault is not Fault.CRASH:
                raise
            log.info("the recogniser is started again: %s", frames(error))
        heard = await self._listen(route)
        return replace(heard, note=tr(RESTARTED_NOTE))

    async def _listen(self, route: EngineRoute) -> Transcript:
        number, told, fresh = next(_numbers), 0, True
        while True:
            await self._wait_for_earlier()
            final = self._whole
            end = len(self._pcm) // WIDTH * WIDTH
            given = bytes(self._pcm[told:end])
            limit = _limit(route, len(given), fresh=fresh)
            said = number, told, given, final
            call: asyncio.Future[StreamingResult | None] = asyncio.ensure_future(
                route.child.call("listen", *said, *route.setting, timeout=limit)
            )
            self._calls.add(call)
            call.add_done_callback(self._calls.discard)
            call.add_done_callback(_ignore_result)
            heard = await asyncio.shield(call)
            fresh = heard is None
            if heard is None:  # a process that has not heard the sound before
                told = 0
                continue
            told = end
            route.slowest = max(route.slowest, heard.took)
            if heard.transcript:
                return heard.transcript
            if (partial := Partial(heard.settled, heard.rest)) != self._shown:
                self._shown = partial
                self._show(partial)
            await self._more(told)

    async def _wait_for_earlier(self) -> None:
        """A child remembers one hearing only, so the next one must wait."""
        for other in self._others[: self._others.index(self)]:
            if other._whole and not other._task.done():
                await asyncio.wait({other._task})

    async def _more(self, told: int) -> None:
        while not self._whole and len(self._pcm) - told < MIN_CHUNK_SECONDS * RATE * WIDTH:
            self._news.clear()
            await self._news.wait()


def _limit(route: EngineRoute, size: int, *, fresh: bool) -> float:
    limit = max(MIN_LIMIT, SLOWDOWN * route.slowest) + SECONDS_PER_SECOND * size / RATE / WIDTH
    return max(START_SECONDS, limit) if fresh or not route.slowest else limit


class StreamingSession:
    """The live speech of this process; new speech replaces it."""

    def __init__(self) -> None:
        self._number = 0
        self._told = 0
        self._listener: Any = None

    def listen(
        self, begin: Callable[[], Any], number: int, told: int, pcm: bytes, final: bool
    ) -> StreamingResult | None:
        """Add sound to what `begin` returns, such as a StreamingWhisper; None if this process has
        not heard the `told` bytes before it."""
        if told == 0:
            self._listener, self._number, self._told = begin(), number, 0
        if self._listener is None or (number, told) != (self._number, self._told):
            return None
        listener = self._listener
        if final:
            self._listener = None
        self._told += len(pcm)
        result: StreamingResult = listener.hear(pcm, final=final)
        return result
