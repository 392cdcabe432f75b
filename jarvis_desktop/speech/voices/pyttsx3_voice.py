"""The system's own voice through pyttsx3, to a file. Only imported in child processes.

Nothing but one save_to_file and runAndWait at a time is reliable in pyttsx3 2.99: say() overwrites
what was queued before, returns before the sound ends, and cannot be stopped.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from pathlib import Path
from typing import Any

import soundfile

from jarvis_desktop.child import Handler
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.speech.voices.language import foreign_language

ENGLISH = "en-us"
LATE_SECONDS = 1.0
ESPEAK_NAMES = {"zh": "cmn", "no": "nb"}


def make(engine: str = "pyttsx3:init") -> Handler:
    """The handler: ready, language(text), or speak(text, path, rate, voice, language) to a WAV."""
    # pyttsx3 prints where it saved, from a thread; our standard output is for answers only.
    sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for as long as the process lives
    module, _, function = engine.partition(":")
    started: list[Any] = []

    def handle(report: Report, what: str, *args: Any) -> str | None:
        if not started:
            started.append(_start(module, function))
        if what == "language":
            return foreign_language(*args)
        if what == "speak":
            _speak(started[0], *args)
        return None

    return handle


def _start(module: str, function: str) -> Any:
    try:
        return getattr(importlib.import_module(module), function)()
    except (ImportError, OSError, RuntimeError, KeyError) as error:
        raise UnavailableError(
            "This computer has no voice to speak with.",
            hint="Install one: sudo apt install espeak-ng (Debian, Ubuntu) or "
            "brew install espeak-ng (macOS).",
        ) from error


def _speak(
    engine: Any, text: str, to: Path, rate: int, voice: str | None, language: str | None
) -> None:
    part = to.with_name(f".{to.stem}.part.wav")
    chosen = (_voice_of(engine, language) if language else voice) or _voice_of(engine, ENGLISH)
    if chosen:
        try:
            engine.setProperty("voice", chosen)
        except ValueError as error:
            raise UnavailableError(
                f"There is no voice named {chosen}.", hint="Choose another one in the settings."
            ) from error
    engine.setProperty("rate", rate)
    try:
        engine.save_to_file(text, str(part))
        engine.runAndWait()
        # The first runAndWait of an engine may return before its thread has written the file.
        late = time.monotonic() + LATE_SECONDS
        while not _audible(part) and time.monotonic() < late:
            time.sleep(0.005)
        _keep(part, to)
    finally:
        part.unlink(missing_ok=True)


def _voice_of(engine: Any, language: str) -> str | None:
    """The engine's voice for a language, the plainest first; None where it has none."""
    wanted = ESPEAK_NAMES.get(language, language)
    fitting = []
    for voice in engine.getProperty("voices"):
        for spoken in getattr(voice, "languages", None) or ():
            name = spoken.decode("ascii", "ignore") if isinstance(spoken, bytes) else str(spoken)
            name = name.strip("\x05").lower().replace("_", "-")
            if name == wanted or name.startswith(f"{wanted}-"):
                fitting.append((len(name), voice.id))
    return str(min(fitting)[1]) if fitting else None


def _audible(part: Path) -> bool:
    """Whether a file is complete and there is sound in it."""
    try:
        with soundfile.SoundFile(part) as file:
            return any(abs(block).max() > 0 for block in file.blocks(65_536, dtype="int16"))
    except (soundfile.SoundFileError, OSError):
        return False


def _keep(part: Path, to: Path) -> None:
    """Make a finished file of what the engine left, if there is sound in it.

    An engine that was given what it cannot say returns as if all were well.
    """
    if not _audible(part):
        raise ExpertError("The voice gave no sound for this text.")
    if soundfile.info(part).format == "WAV":
        part.replace(to)
    else:  # macOS writes AIFF whatever the name
        samples, rate = soundfile.read(part, dtype="int16")
        soundfile.write(to, samples, rate, format="WAV", subtype="PCM_16")
