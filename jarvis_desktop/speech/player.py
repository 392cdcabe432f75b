"""The Player: sound on the chosen output, from a process that can be ended at any moment."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.child import Child
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError

START_SECONDS = 10.0
STALL_SECONDS = 2.0
LONGEST = 24 * 3600.0


class SoundPlayer:
    """Plays one file after the other in a child process.

    A hung sound server cannot be told to close a stream, and PortAudio's abort waits for it; ending
    the process silences it in all cases. `device` is a name as `devices()` gives it.
    """

    def __init__(self, device: str | None = None) -> None:
        self._device = device
        self._child = Child(
            # The sound server may be on another computer.
            "jarvis_desktop.speech.sound_output:make",
            name="sound output",
            network=True,
        )
        self._turn = asyncio.Lock()
        self._warming: asyncio.Task[None] | None = None

    async def warm(self) -> None:
        """Start the process now, so that the first sound need not wait for it."""
        await self._child.start()

    async def play(self, audio: Path) -> None:
        """Play a sound file to its end; cancelling silences it.

        Raises InputError where it is none, UnavailableError where nothing can play it.
        """
        if not audio.is_file():  # noqa: ASYNC240 - a look at a local file
            raise InputError(f"There is no sound file {audio.name}.")
        async with self._turn:
            loop = asyncio.get_running_loop()
            try:
                async with asyncio.timeout(START_SECONDS) as limit:

                    def beat(fraction: float | None, message: str) -> None:
                        limit.reschedule(loop.time() + STALL_SECONDS)

                    await self._child.call(audio, self._device, timeout=LONGEST, report=beat)
            except TimeoutError as error:
                self._warm_again()
                raise UnavailableError(
                    "The sound output does not answer.",
                    hint="The sound service of this computer may hang; restart it or log in again.",
                    retryable=True,
                ) from error
            except ExpertError as error:
                raise UnavailableError(error.message, retryable=True) from error
            except asyncio.CancelledError:
                self._warm_again()
                raise

    def _warm_again(self) -> None:
        """The next thing to play must not wait for a new process."""
        if self._warming is None or self._warming.done():
            self._warming = asyncio.create_task(self._try_to_warm())

    async def _try_to_warm(self) -> None:
        with suppress(ExpertError):  # the next thing to play tells
            await self._child.start()

    async def close(self) -> None:
        """End the process."""
        if self._warming:
            self._warming.cancel()
            with suppress(asyncio.CancelledError):
                await self._warming
        await self._child.close()
