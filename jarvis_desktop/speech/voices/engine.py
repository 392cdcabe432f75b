"""What an engine is told to say, and the voices it has; both go between processes.

Makes the finished WAV file of what an engine left, if there is sound in it.

An engine that was given what it cannot say returns as if all were well."""

from __future__ import annotations

import wave
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child_main import Handler
from jarvis_desktop.text.languages import language_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


USUAL_RATE = 175
"""Words a minute at which neural voices speak of themselves."""


@dataclass(frozen=True, slots=True)
class KnownVoice:
    """A voice that can be chosen; `languages` as two- or three-letter codes, the first its own."""

    id: str
    name: str
    languages: tuple[str, ...] = ()

    def speaks(self, language: str) -> bool:
        """Whether it was made for this language."""
        return language in self.languages


@dataclass(frozen=True, slots=True)
class Order:
    """One stretch of text to be said into a WAV file."""

    text: str
    to: Path
    rate: float = USUAL_RATE
    """Words a minute."""
    volume: float = 1.0
    """0 to 1."""
    voice: str = ""
    """The id of the one the person chose."""
    language: str | None = None
    """Two-letter code of the language of the text; None where the text does not tell."""
    seconds: float = 2.0
    """How long it may take."""

    @property
    def pace(self) -> float:
        """How many times as fast as usual."""
        return self.rate / USUAL_RATE


class Engine(Protocol):
    """What each engine does in its child process."""

    def ready(self) -> None:
        """Load all that takes time. Raises UnavailableError."""
        ...

    def voices(self) -> Sequence[KnownVoice]:
        """Those that are there, the usual one of each language before its others."""
        ...

    def speak(self, order: Order, voice: KnownVoice | None) -> None:
        """Say it with this voice, the usual one where there is none.

        Raises JarvisError where no sound came of it.
        """
        ...


def choose(voices: Sequence[KnownVoice], order: Order) -> KnownVoice | None:
    """The voice for a text: the chosen one for its own languages and for what says little, else
    one of the text's language. None is the engine's usual one."""
    chosen = next((voice for voice in voices if voice.id == order.voice), None)
    if order.language is None or (chosen and chosen.speaks(order.language)):
        return chosen or _of_language(voices, "en")
    return _of_language(voices, order.language) or chosen or _of_language(voices, "en")


def _of_language(voices: Sequence[KnownVoice], language: str) -> KnownVoice | None:
    return next((voice for voice in voices if voice.speaks(language)), None)


def serve(engine: Callable[[], Engine]) -> Handler:
    """The handler of a child process: ready, language(text), voices, or speak(order), which gives
    a sentence on what else should be known, mostly ""."""
    started: list[Engine] = []

    def handle(report: Report, what: str, *args: object) -> object:
        if what == "language":
            return language_of(str(args[0]))
        if not started:
            made = engine()
            made.ready()
            started.append(made)
        if what == "voices":
            return list(started[0].voices())
        if what == "speak" and isinstance(order := args[0], Order):
            voices = started[0].voices()
            started[0].speak(order, choose(voices, order))
            if order.voice and order.voice not in {voice.id for voice in voices}:
                return f"There is no voice named {order.voice}; the usual one speaks."
        return ""

    return handle


SILENT = "The voice gave no sound for this text."


def audible(part: Path) -> bool:
    """Whether a WAV or AIFF file is complete and there is sound in it."""
    try:
        with part.open("rb") as file:
            if file.read(4) == b"RIFF":
                return _wave_sounds(part)
        import soundfile

        with soundfile.SoundFile(part) as sound:
            return any(abs(block).max() > 0 for block in sound.blocks(65_536, dtype="int16"))
    except (OSError, EOFError, wave.Error, RuntimeError):
        return False


def _wave_sounds(part: Path) -> bool:
    """Needs no library that takes long to load."""
    with wave.open(str(part), "rb") as file:
        samples = file.readframes(file.getnframes())
        whole = len(samples) == file.getnframes() * file.getnchannels() * file.getsampwidth()
        return whole and samples.count(0) < len(samples)


def keep(part: Path, to: Path) -> None:
    """Put a file that an engine wrote where it belongs, as WAV. Raises ExpertError if silent."""
    if not audible(part):
        raise ExpertError(SILENT)
    with part.open("rb") as file:
        is_wave = file.read(4) == b"RIFF"
    if is_wave:
        part.replace(to)
    else:  # macOS writes AIFF whatever the name
        import soundfile

        samples, rate = soundfile.read(part, dtype="int16")
        soundfile.write(to, samples, rate, format="WAV", subtype="PCM_16")


def write(samples: NDArray[np.float32], rate: int, to: Path, volume: float) -> None:
    """A WAV file of samples between -1 and 1. Raises ExpertError where they are silence."""
    import numpy as np

    if not samples.size or not np.isfinite(samples).all() or np.abs(samples).max() < 1 / 32768:
        raise ExpertError(SILENT)
    whole = (np.clip(samples, -1, 1) * volume * 32767).astype("<i2")
    part = to.with_name(f".{to.stem}.part.wav")
    try:
        with wave.open(str(part), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(whole.tobytes())
        part.replace(to)
    finally:
        part.unlink(missing_ok=True)
