"""The voice: text to a WAV file, by a speech engine in a child process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from jarvis_desktop.core.errors import ExpertError, JarvisError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.process.child import Child
from jarvis_desktop.speech.voices.engine import CHARACTERS_PER_SECOND, NeuralVoice, SpeechRequest
from jarvis_desktop.text.languages import plain_language

ENGINE = "jarvis_desktop.speech.voices.engine:make_handler"
START_SECONDS = 15.0
HUNG_SECONDS = 1.5
SYSTEM_CHARACTERS_PER_SECOND = 100.0
"""Engines write files much faster than they speak; one slower than this is hung."""
MIN_VOLUME = 0.03
"""A volume of zero would give a file of zeros, which is the sign of an engine that failed."""
MAX_FAILURES = 2
"""Sentences in a row that a neural engine may fail at before the system's voice replaces it."""
INSTEAD = mark("The system's voice speaks instead.")


class _VoiceProcess:
    """An engine in its child process, which must do at least `speed` characters a second."""

    def __init__(self, child: Child, speed: float) -> None:
        self._child = child
        self._speed = speed
        self._ready: int | None = None

    async def warm(self) -> None:
        if self._ready is None or self._child.pid != self._ready:
            await self._child.call("ready", timeout=START_SECONDS)
            self._ready = self._child.pid

    async def language(self, text: str) -> str | None:
        found: str | None = await self._child.call("language", text, timeout=START_SECONDS)
        return found

    async def speak(self, order: SpeechRequest) -> str:
        """Return a remark for the user, mostly ""."""
        await self.warm()
        limit = HUNG_SECONDS + len(order.text) / self._speed
        remark: str = await self._child.call(
            "speak", replace(order, seconds=limit * 0.9), timeout=limit
        )
        return remark

    async def close(self) -> None:
        await self._child.close()


class LocalVoice:
    """Speaks with this computer's own voice, or with a neural `engine`. `rate` is in words a
    minute, `volume` 0 to 1, `voice` the engine's id. A text in another language than the chosen
    voice's gets a voice of its language, if there is one. If the neural engine fails, the system's
    voice speaks, and `tell` receives the reason once, on the loop."""

    def __init__(
        self,
        *,
        rate: int = 175,
        volume: float = 1.0,
        voice: str = "",
        engine: NeuralVoice | None = None,
        tell: Callable[[JarvisError], None] = lambda error: None,
        system_args: tuple[object, ...] = (),
    ) -> None:
        self._rate = rate
        self._volume = max(volume, MIN_VOLUME)
        self._voice = voice
        self._engine = engine
        self._tell = tell
        self._told: set[str] = set()
        self._failures = 0
        self._system = _VoiceProcess(
            Child(ENGINE, "system:SystemVoice", *system_args, name="voice"),
            SYSTEM_CHARACTERS_PER_SECOND,
        )
        self._neural = _speaking(engine)

    def choose(self, *, rate: int, volume: float, voice: str) -> None:
        """Use these settings from the next sentence on."""
        self._rate, self._volume, self._voice = rate, max(volume, MIN_VOLUME), voice

    async def choose_engine(self, engine: NeuralVoice | None) -> None:
        """Use another engine from the next sentence on; None is the system's."""
        before, self._engine, self._neural = self._neural, engine, _speaking(engine)
        self._failures = 0
        self._told.clear()
        if before:
            await before.close()

    async def warm(self) -> None:
        """Start the engine, so that the first sentence need not wait. Raises as `synthesise`."""
        if neural := self._able(None):
            try:
                return await neural.warm()
            except JarvisError as error:
                self._failed(error)
        return await self._system.warm()

    async def synthesise(self, text: str, to: Path, *, pace: float = 1.0) -> Path:
        """Speak a text to a WAV file, `pace` times as fast as usual. Raises UnavailableError if
        there is no voice or nothing to say, ExpertError if the engine crashed, hung or gave no
        sound; the next call starts a new one."""
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
            language = await (self._neural or self._system).language(text)
        order = SpeechRequest(text, to, self._rate * pace, self._volume, self._voice, language)
        if neural := self._able(language):
            try:
                self._say_once(await neural.speak(order))
                self._failures = 0
            except JarvisError as error:
                if neural is self._neural:  # unless another engine was chosen
                    self._failed(error)
            else:
                return
        if self._neural:  # the system does not know its voices
            order = replace(order, voice="")
        self._say_once(await self._system.speak(order))

    def _able(self, language: str | None) -> _VoiceProcess | None:
        """The neural engine, if it works and speaks the language."""
        if self._engine is None or self._neural is None or self._failures >= MAX_FAILURES:
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


def _speaking(engine: NeuralVoice | None) -> _VoiceProcess | None:
    if engine is None:
        return None
    return _VoiceProcess(Child(ENGINE, *engine.args, name="voice"), CHARACTERS_PER_SECOND)
