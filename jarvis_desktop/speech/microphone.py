"""The Microphone: records from the chosen input, in a child process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.child import Child
from jarvis_desktop.core.errors import ExpertError, UnavailableError

START_SECONDS = 10.0
STALL_SECONDS = 2.0
READ_SECONDS = 0.1


class SoundMicrophone:
    """Records one thing at a time. `device` is a name as `devices()` gives it."""

    def __init__(self, device: str | None = None) -> None:
        self._device = device
        self._child = Child(
            "jarvis_desktop.speech.sound_input:make", name="microphone", network=True
        )
        self._turn = asyncio.Lock()

    async def warm(self) -> None:
        """Start the process now, so that the first words are not lost. Records nothing."""
        await self._child.start()

    async def record(self, to: Path, stop: asyncio.Event, level: Callable[[float], None]) -> Path:
        """Record 16 kHz mono into a WAV file until `stop` is set.

        The file is whole at any moment: what was said before an error is in it. Raises
        UnavailableError where there is no microphone, none that may be used, or it went away,
        StorageError where the file cannot be written.
        """
        async with self._turn:
            try:
                await self._child.call("open", to, self._device, timeout=START_SECONDS)
                while not stop.is_set():
                    with suppress(TimeoutError):
                        await asyncio.wait_for(stop.wait(), READ_SECONDS)
                    if not stop.is_set():
                        level(await self._child.call("read", timeout=STALL_SECONDS))
                await self._child.call("close", timeout=STALL_SECONDS)
            except BaseException as error:
                # Whatever ended this, the device must not stay open.
                self._child.kill()
                if not isinstance(error, ExpertError):
                    raise
                raise UnavailableError(
                    "The microphone does not answer.",
                    hint="The sound service of this computer may hang; restart it or log in again.",
                    retryable=True,
                ) from error
        return to

    async def close(self) -> None:
        """End the process."""
        await self._child.close()
