"""Start listening at the wake word instead of a key.

The microphone is open all the time then. What it hears is checked in its own process and forgotten.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing

from jarvis_desktop.assistant.talk.barge_in import TalkStarter
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.speech import Microphone, MicrophoneState

log = logging.getLogger(__name__)


class WakeWordListener:
    """Starts to listen at the wake word."""

    def __init__(self, talk: TalkStarter, microphone: Microphone) -> None:
        self._talk = talk
        self._microphone = microphone
        self._back = asyncio.Event()
        self._attending: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Open the microphone and wait for the word."""
        self._microphone.watch(self._changed)
        self._microphone.hold(open=True)
        self._attending = asyncio.create_task(self._attend())

    async def close(self) -> None:
        """Stop waiting."""
        if self._attending:
            self._attending.cancel()
            await asyncio.gather(self._attending, return_exceptions=True)

    def _wake(self) -> None:
        try:
            self._talk.start()
        except Exception as error:  # noqa: BLE001 - the next wake word must still work
            log.error("The wake word woke nobody: %s", frames(error))

    def _changed(self, state: MicrophoneState) -> None:
        if state == "open":
            self._back.set()

    async def _attend(self) -> None:
        never = asyncio.Event()
        while True:
            self._back.clear()
            try:
                async with aclosing(self._microphone.listen(never)) as sounds:
                    async for sound in sounds:
                        if sound.woken and not sound.before:
                            self._wake()
            except JarvisError as error:
                log.info("The wake word is not heard: %s", frames(error))
            await self._back.wait()  # it reopens as soon as it is available
