"""The player: sound on the chosen output, from a process that can be killed at any moment."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child import Child
from jarvis_desktop.speech.played_sound import HUNG_HINT, PlayedSound, SoundLine

START_TIMEOUT_S = 20.0  # until the process says itself how long it may take
POLL_S = 0.05
SILENCE_TIMEOUT_S = 0.3  # for a request for silence, until the process is killed
MAX_PLAY_S = 24 * 3600.0


class SoundPlayer:
    """Plays files in sequence in a child process, without a gap if they come in time. A hung sound
    server cannot close a stream, and PortAudio's abort waits for it; killing the process silences
    it in all cases. Silence and volume reach the process beside its calls. `device` is a name as
    `devices()` returns it; `played` receives what is heard."""

    def __init__(self, device: str | None = None, *, played: PlayedSound | None = None) -> None:
        self._line = SoundLine(played)
        self._line.be_patient(START_TIMEOUT_S)
        self._child = self._child_on(device)
        self._turn = asyncio.Lock()
        self._ready: int | None = None
        self._closed = False
        self._coming: list[asyncio.TimerHandle] = []
        self._warming: asyncio.Task[None] | None = None

    async def warm(self) -> None:
        """Start the process and open the device, so that the next file need not wait. An open
        device that plays nothing costs nothing, and is closed after some seconds. Raises
        UnavailableError."""
        if not self._turn.locked():  # else it is in use
            async with self._turn:
                await self._ask("open")

    async def play(
        self,
        audio: Path,
        *,
        start: float = 0.0,
        more: bool = False,
        begun: Callable[[], None] = lambda: None,
    ) -> None:
        """Play a file; see the port."""
        if not audio.is_file():  # noqa: ASYNC240 - a look at a local file
            raise InputError(tr("There is no sound file {name}.", name=audio.name))
        wish = self._line.shared.silences
        async with self._turn:
            if self._line.shared.silences == wish:  # not silenced while it waited
                await self._ask("play", audio, more, max(start, 0.0), begun=begun)

    @property
    def position(self) -> float | None:
        """How many seconds of the current file were heard; see the port."""
        zero: float = self._line.shared.zero
        return None if math.isnan(zero) else max(time.monotonic() - zero, 0.0)

    async def drain(self) -> None:
        """Wait until what `more` left was heard. Cancelling silences it."""
        async with self._turn:
            if self._child.pid is not None:
                await self._ask("drain")

    def silence(self) -> None:
        """Silence what is playing; the call that plays it returns."""
        self._line.shared.silences += 1
        wish: int = self._line.shared.silences
        self._forget()
        pid = self._child.pid
        if pid is not None:
            self._line.wake()
        if pid is not None and pid == self._ready:
            asyncio.get_running_loop().call_later(SILENCE_TIMEOUT_S, self._insist, wish, pid)

    def duck(self, share: float) -> None:
        """Play at this share of the volume from now on; it changes within a fifth of a second."""
        self._line.shared.share = min(max(share, 0.0), 1.0)

    async def choose(self, device: str | None) -> None:
        """Play on another device from now on; silences what is playing."""
        self.silence()
        async with self._turn:
            await self._child.close()
            self._child = self._child_on(device)

    def _child_on(self, device: str | None) -> Child:
        return Child(
            "jarvis_desktop.speech.audio_output_worker:make_handler",
            self._line,
            device,
            name="sound output",
            # The sound server may be on another computer.
            services=True,
        )

    async def close(self) -> None:
        """End the process."""
        self._closed = True
        if self._warming:
            self._warming.cancel()
            with suppress(asyncio.CancelledError):
                await self._warming
        await self._child.close()

    def _insist(self, wish: int, pid: int) -> None:
        if self._child.pid == pid and self._line.shared.silent < wish:
            self._child.kill()
            if not self._turn.locked():  # otherwise the running call notices that it has ended
                self._end()

    async def _ask(
        self, what: str, *args: object, begun: Callable[[], None] = lambda: None
    ) -> None:
        """Call the process, and kill it if it gives no sign of life."""
        wish = self._line.shared.silences
        if self._child.pid is None:
            self._line.be_patient(START_TIMEOUT_S)
        asked = self._child.call(
            what, wish, *args, timeout=MAX_PLAY_S, report=self._announce(wish, begun)
        )
        call = asyncio.create_task(asked)
        try:
            await self._watch(call)
            self._ready = self._child.pid
        except asyncio.CancelledError:
            self.silence()
            done, _ = await asyncio.wait({call}, timeout=SILENCE_TIMEOUT_S)
            # Nobody waits for its error any more, and asyncio logs one that nobody looks at.
            await asyncio.gather(*done, return_exceptions=True)
            raise
        except (ExpertError, UnavailableError) as error:
            if isinstance(error, ExpertError) or error.retryable:
                self._end()  # it may never close what it has open
            if self._line.shared.silences == wish:
                raise UnavailableError(
                    error.message, hint=error.hint, retryable=error.retryable
                ) from error
        finally:
            if not call.done():
                call.cancel()
                await asyncio.gather(call, return_exceptions=True)
                self._start_again()
            self._line.shared.zero = math.nan

    def _announce(self, wish: int, begun: Callable[[], None]) -> Report:
        """Return a report that calls `begun` after the seconds that the process reports."""

        def begins(seconds: float | None, message: str) -> None:
            if self._line.shared.silences == wish:
                loop = asyncio.get_running_loop()
                self._coming.append(loop.call_later(max(seconds or 0.0, 0.0), heard))

        def heard() -> None:
            self._coming.pop(0)  # requests are heard in order
            begun()

        return begins

    async def _watch(self, call: asyncio.Task[None]) -> None:
        """Wait for the answer while the process gives signs of life."""
        loop = asyncio.get_running_loop()
        beats, since = self._line.shared.beats, loop.time()
        while not (await asyncio.wait({call}, timeout=POLL_S))[0]:
            patience = self._line.shared.patience  # before the beats: a beat may shorten it
            if beats != self._line.shared.beats:
                beats, since = self._line.shared.beats, loop.time()
            elif loop.time() - since > patience:
                raise UnavailableError(
                    tr("The sound output does not answer."), hint=tr(HUNG_HINT), retryable=True
                )
        await call

    def _end(self) -> None:
        self._forget()
        self._child.kill()
        self._line.be_patient(START_TIMEOUT_S)
        self._start_again()

    def _forget(self) -> None:
        for coming in self._coming:
            coming.cancel()
        self._coming.clear()

    def _start_again(self) -> None:
        """Start a new process, so that the next file need not wait for it."""
        if not self._closed and (self._warming is None or self._warming.done()):
            self._warming = asyncio.create_task(self._try_to_start())

    async def _try_to_start(self) -> None:
        with suppress(ExpertError):  # the next file reports it
            await self._child.start()
