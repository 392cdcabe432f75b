"""Speech that is recognised while it goes on, in a child process that may end at any moment.

The sound is kept here until the transcript is whole, so that another process, or another engine,
can take over and hears all of it.

The child's side of live speech: goes on with what it knows, or asks for all of it again."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, Protocol

from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import RATE, WIDTH, Partial, Transcript
from jarvis_desktop.process.child import Child

log = logging.getLogger(__name__)

LEAST_SECONDS = 0.032
"""Of sound that the child is given at once, while more is to come."""
START_SECONDS = 60.0
"""For a call that may load the engine."""
SECONDS_PER_SECOND = 8.0
"""An engine that needs longer than this for one second of speech is hung."""
SHORTEST_LIMIT, SLOWER = 10.0, 40.0
"""A pass is hung that takes longer than this, and so many times as long as the slowest before."""

RESTARTED_NOTE = mark(
    "The recogniser stopped in the middle and was started again; nothing was lost."
)

_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Heard:
    """What the child has understood so far."""

    settled: str = ""
    rest: str = ""
    transcript: Transcript | None = None
    """The end of it."""
    took: float = 0.0
    """Seconds that the last pass took."""


@dataclass(eq=False)
class EngineRoute:
    """An engine, and what to say where it had to be taken."""

    child: Child
    setting: tuple[object, ...] = ()
    """What its calls are given besides the sound."""
    note: str = ""
    broken: str = ""
    """Said before the note of the next one, where this one cannot be used."""
    crashed: str = ""
    """The same where it crashed or hung."""
    slowest: float = 0.0
    """Seconds that its slowest pass has taken; 0 where it has made none."""

    def noted(self, heard: Transcript, before: str) -> Transcript:
        """What it heard, with what the person should know."""
        return replace(heard, note=before + self.note)


class Calls:
    """Calls of children that nobody may wait for any more; a cancelled one would kill its child."""

    def __init__(self) -> None:
        self._running: set[asyncio.Future[Any]] = set()

    async def make(self, call: Coroutine[Any, Any, Heard | None]) -> Heard | None:
        """The result; the call goes on where this is cancelled."""
        task = asyncio.ensure_future(call)
        self._running.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    async def end(self) -> None:
        """Wait for those that go on; their children are to be ended before."""
        if self._running:
            await asyncio.wait(tuple(self._running))

    def _done(self, task: asyncio.Future[Any]) -> None:
        self._running.discard(task)
        forget(task)


def forget(task: asyncio.Future[Any]) -> None:
    """What came of it was told to whoever waited."""
    if not task.cancelled():
        task.exception()


class LiveHearing:
    """Takes the first of the roads that works; where one stops in the middle, the next.

    It is among the `others` until it is `done`, behind those that were begun before.
    """

    def __init__(
        self,
        roads: list[EngineRoute],
        show: Callable[[Partial], None],
        calls: Calls,
        others: list[LiveHearing],
        done: Callable[[], None],
    ) -> None:
        self._roads = roads
        self._show = show
        self._shown = Partial()
        self._calls = calls
        self._others = others
        self._pcm = bytearray()
        self._whole = False
        self._news = asyncio.Event()
        self._task = asyncio.ensure_future(self._recognise())
        self._task.add_done_callback(self._done)
        self._when_done = done
        others.append(self)

    def add(self, pcm: bytes) -> None:
        """Go on with this sound. What comes after `finish` is not heard."""
        if not self._whole:
            self._pcm += pcm
            self._news.set()

    async def finish(self) -> Transcript:
        """What was said in all of it; as the port says."""
        self._whole = True
        self._news.set()
        return await self._task

    def drop(self) -> None:
        """Forget it. A pass that is being made comes to its end, and nobody hears of it."""
        self._task.cancel()
        self._whole = True
        self._pcm.clear()

    def _done(self, task: asyncio.Task[Transcript]) -> None:
        forget(task)
        self._others.remove(self)
        self._when_done()

    async def _recognise(self) -> Transcript:
        before = ""
        for road in self._roads[:-1]:
            try:
                return road.noted(*await self._twice(road, before))
            except UnavailableError as error:
                log.info("another recogniser takes over: %s", frames(error))
                before = road.broken
            except ExpertError as error:  # such as an instruction that an old processor lacks
                log.info("another recogniser takes over: %s", frames(error))
                before = road.crashed
        return self._roads[-1].noted(*await self._twice(self._roads[-1], before))

    async def _twice(self, road: EngineRoute, before: str) -> tuple[Transcript, str]:
        """A process may have been ended by chance: a new one is told everything again."""
        try:
            return await self._listen(road), before
        except ExpertError as error:
            if error.fault is not Fault.CRASH:
                raise
            log.info("the recogniser is started again: %s", frames(error))
        return await self._listen(road), before + tr(RESTARTED_NOTE) + " "

    async def _listen(self, road: EngineRoute) -> Transcript:
        number, told, fresh = next(_numbers), 0, True
        while True:
            await self._wait_for_earlier()
            final = self._whole
            end = len(self._pcm) // WIDTH * WIDTH
            given = bytes(self._pcm[told:end])
            heard = await self._calls.make(
                road.child.call(
                    "listen",
                    number,
                    told,
                    given,
                    final,
                    *road.setting,
                    timeout=_limit(road, len(given), fresh=fresh),
                )
            )
            fresh = heard is None
            if heard is None:  # a process that knows nothing of what was told before
                told = 0
                continue
            told = end
            road.slowest = max(road.slowest, heard.took)
            if heard.transcript:
                return heard.transcript
            self._tell(Partial(heard.settled, heard.rest))
            await self._more(told)

    async def _wait_for_earlier(self) -> None:
        """A child knows of one hearing only: what is said next would make it forget the last."""
        for other in self._others[: self._others.index(self)]:
            if other._whole and not other._task.done():
                await asyncio.wait({other._task})

    def _tell(self, partial: Partial) -> None:
        if partial != self._shown:
            self._shown = partial
            self._show(partial)

    async def _more(self, told: int) -> None:
        while not self._whole and len(self._pcm) - told < LEAST_SECONDS * RATE * WIDTH:
            self._news.clear()
            await self._news.wait()


def _limit(road: EngineRoute, size: int, *, fresh: bool) -> float:
    limit = max(SHORTEST_LIMIT, SLOWER * road.slowest) + SECONDS_PER_SECOND * size / RATE / WIDTH
    return max(START_SECONDS, limit) if fresh or not road.slowest else limit


class Listener(Protocol):
    """An engine that hears speech which goes on."""

    def hear(self, pcm: bytes, *, final: bool) -> Heard:
        """Go on with this sound; `final` is the last one and gives the transcript.

        Raises InputError where nothing was said.
        """
        ...


class OneHearing:
    """The speech that is being heard in this process; another one takes its place."""

    def __init__(self) -> None:
        self._number = 0
        self._told = 0
        self._listener: Listener | None = None

    def listen(
        self, begin: Callable[[], Listener], number: int, told: int, pcm: bytes, final: bool
    ) -> Heard | None:
        """Go on with this sound; None where this process lacks the `told` bytes before it."""
        if told == 0:
            self._listener, self._number, self._told = begin(), number, 0
        if self._listener is None or (number, told) != (self._number, self._told):
            return None
        listener = self._listener
        if final:
            self._listener = None
        self._told += len(pcm)
        return listener.hear(pcm, final=final)
