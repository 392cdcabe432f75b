"""The Voice: text to a WAV file, by a speech engine in a child process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import ExpertError, JarvisError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.process.child import Child
from jarvis_desktop.speech.voices.engine import KnownVoice, Order
from jarvis_desktop.speech.voices.neural import CHARACTERS_PER_SECOND, Neural
from jarvis_desktop.text.languages import plain_language

PYTTSX3 = "jarvis_desktop.speech.voices.system:make"
START_SECONDS = 15.0
HUNG_SECONDS = 1.5
SYSTEM_CHARACTERS_PER_SECOND = 100.0
"""Engines write to a file far faster than they speak; slower than this is hung."""

QUIETEST = 0.03
"""A volume of nothing would be a file of zeros, and those tell of an engine that failed."""

FAILURES = 2
"""Sentences in a row that a neural engine may fail at before the system's voice speaks for good."""

INSTEAD = mark("The system's voice speaks instead.")

log = logging.getLogger(__name__)


class _Speaking:
    """An engine in its child process; `speed` in characters a second is the least it must do."""

    def __init__(self, child: Child, speed: float) -> None:
        self._child = child
        self._speed = speed
        self._ready: int | None = None

    async def warm(self) -> None:
        if self._ready is None or self._child.pid != self._ready:
            await self._child.call("ready", timeout=START_SECONDS)
            self._ready = self._child.pid

    async def voices(self) -> list[KnownVoice]:
        known: list[KnownVoice] = await self._child.call("voices", timeout=START_SECONDS)
        return known

    async def language(self, text: str) -> str | None:
        found: str | None = await self._child.call("language", text, timeout=START_SECONDS)
        return found

    async def speak(self, order: Order) -> str:
        """Gives a sentence on what else should be known, mostly ""."""
        await self.warm()
        limit = HUNG_SECONDS + len(order.text) / self._speed
        remark: str = await self._child.call(
            "speak", replace(order, seconds=limit * 0.9), timeout=limit
        )
        return remark

    async def close(self) -> None:
        await self._child.close()


def _unseen(error: JarvisError) -> None:
    log.info("the chosen voice does not speak: %s", frames(error))


class LocalVoice:
    """Speaks with this computer's own voice, or with a neural one where `engine` says so.

    `rate` in words a minute, `volume` 0 to 1, `voice` by the engine's id. A text in a language
    that is not the chosen voice's gets one of its own language where there is one. Where the
    neural engine cannot speak the system's voice does; `tell` is told why, once, on the loop.
    """

    def __init__(
        self,
        *,
        rate: int = 175,
        volume: float = 1.0,
        voice: str = "",
        engine: Neural | None = None,
        tell: Callable[[JarvisError], None] = _unseen,
        system: str = PYTTSX3,
        system_args: tuple[object, ...] = (),
    ) -> None:
        self._rate = rate
        self._volume = max(volume, QUIETEST)
        self._voice = voice
        self._engine = engine
        self._tell = tell
        self._told: set[str] = set()
        self._failures = 0
        self._system = _Speaking(
            Child(system, *system_args, name="voice"), SYSTEM_CHARACTERS_PER_SECOND
        )
        self._neural = _speaking(engine)

    def choose(self, *, rate: int, volume: float, voice: str) -> None:
        """Speak so from the next sentence on."""
        self._rate, self._volume, self._voice = rate, max(volume, QUIETEST), voice

    async def choose_engine(self, engine: Neural | None) -> None:
        """Speak with another engine from the next sentence on; None is the system's."""
        before, self._engine, self._neural = self._neural, engine, _speaking(engine)
        self._failures = 0
        self._told.clear()
        if before:
            await before.close()

    async def warm(self) -> None:
        """Start the engine now, so that the first sentence need not wait for it.

        Raises UnavailableError, ExpertError, as `synthesise` would.
        """
        if neural := self._able(None):
            try:
                await neural.warm()
            except JarvisError as error:
                self._failed(error)
            else:
                return
        await self._system.warm()

    async def voices(self) -> list[KnownVoice]:
        """Those to choose from, of the engine that speaks. Raises as `synthesise`."""
        if neural := self._able(None):
            try:
                return await neural.voices()
            except JarvisError as error:
                self._failed(error)
        return await self._system.voices()

    async def synthesise(self, text: str, to: Path, *, pace: float = 1.0) -> Path:
        """Speak one stretch of text into a WAV file; `pace` times as fast as usual.

        Raises UnavailableError where there is no voice or nothing to say, ExpertError where the
        engine crashed, hung or gave no sound; the next call starts a new one.
        """
        if not any(letter.isalnum() for letter in text):
            raise UnavailableError(tr("There is nothing to say."))
        try:
            await self._speak(text, to, pace)
        except ExpertError as error:
            raise ExpertError(
                error.message,
                hint=tr("The text is shown; the next one will be tried again."),
                retryable=True,
            ) from error
        return to

    async def _speak(self, text: str, to: Path, pace: float) -> None:
        language = plain_language(text)
        if language == "?":
            language = await self._system.language(text)
        order = Order(text, to, self._rate * pace, self._volume, self._voice, language)
        if neural := self._able(language):
            try:
                self._say_once(await neural.speak(order))
                self._failures = 0
            except JarvisError as error:
                if neural is self._neural:  # else another engine was chosen meanwhile
                    self._failed(error)
            else:
                return
        if self._neural:  # the system knows nothing of its voices
            order = replace(order, voice="")
        self._say_once(await self._system.speak(order))

    def _able(self, language: str | None) -> _Speaking | None:
        """The neural engine, where it is there and speaks a language."""
        if self._engine is None or self._neural is None or self._failures >= FAILURES:
            return None
        if lacking := self._engine.lacking():
            self._say_once(f"{lacking.message} {tr(INSTEAD)}", lacking.hint)
            return None
        return self._neural if language is None or self._engine.speaks(language) else None

    def _failed(self, error: JarvisError) -> None:
        self._failures += 1
        self._say_once(f"{error.message} {tr(INSTEAD)}", error.hint)

    def _say_once(self, message: str, hint: str = "") -> None:
        if message and message not in self._told:
            self._told.add(message)
            self._tell(UnavailableError(message, hint=hint))

    async def close(self) -> None:
        """End the child processes."""
        await self._system.close()
        if self._neural:
            await self._neural.close()


def _speaking(engine: Neural | None) -> _Speaking | None:
    if engine is None:
        return None
    return _Speaking(Child(engine.factory, *engine.args, name="voice"), CHARACTERS_PER_SECOND)
