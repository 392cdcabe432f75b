"""The Voice: text to a WAV file, by a speech engine in a child process."""

from __future__ import annotations

from pathlib import Path

from jarvis_desktop.child import Child
from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.speech.voices.language import plainly_english

PYTTSX3 = "jarvis_desktop.speech.voices.pyttsx3_voice:make"
START_SECONDS = 15.0
HUNG_SECONDS = 2.0
CHARACTERS_PER_SECOND = 50.0
"""Engines write to a file far faster than they speak; slower than this is hung."""


class LocalVoice:
    """Speaks with this computer's own voice. `rate` in words a minute; `voice` by the engine's id.

    Text that clearly is in another language gets a voice of that language where there is one.
    """

    def __init__(
        self,
        *,
        rate: int = 175,
        voice: str | None = None,
        engine: str = PYTTSX3,
        engine_args: tuple[object, ...] = (),
    ) -> None:
        self._rate = rate
        self._voice = voice
        self._child = Child(engine, *engine_args, name="voice")
        self._ready: int | None = None

    async def warm(self) -> None:
        """Start the engine now, so that the first sentence need not wait for it."""
        if self._ready is None or self._child.pid != self._ready:
            await self._child.call("ready", timeout=START_SECONDS)
            self._ready = self._child.pid

    async def synthesise(self, text: str, to: Path) -> Path:
        """Speak one stretch of text into a WAV file.

        Raises UnavailableError where there is no voice or nothing to say, ExpertError where the
        engine crashed, hung or gave no sound; the next call starts a new one.
        """
        if not any(letter.isalnum() for letter in text):
            raise UnavailableError("There is nothing to say.")
        try:
            await self.warm()
            limit = HUNG_SECONDS + len(text) / CHARACTERS_PER_SECOND
            language = None
            if not plainly_english(text):
                language = await self._child.call("language", text, timeout=START_SECONDS)
            request = ("speak", text, to, self._rate, self._voice, language)
            await self._child.call(*request, timeout=limit)
        except ExpertError as error:
            raise ExpertError(
                error.message, hint="The text is shown; the next one is tried anew.", retryable=True
            ) from error
        return to

    async def close(self) -> None:
        """End the child process."""
        await self._child.close()
