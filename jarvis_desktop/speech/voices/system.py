"""The system's own voice through pyttsx3, to a file. Only imported in child processes.

In pyttsx3 2.99 only one save_to_file and runAndWait at a time are reliable: say() overwrites
what was queued before, returns before the sound ends, and cannot be stopped.
"""

from __future__ import annotations

import importlib
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.speech.voices.engine import KnownVoice, SpeechRequest, audible, keep

LATE_SECONDS = 0.3
"""How long to wait for a file: some engines return before the system has written it."""
OUR_NAMES = {"cmn": "zh", "nb": "no"}  # eSpeak's codes that differ from ISO 639-1
DEFAULT_LANGUAGE = "en-us"  # of the default English voice, if the system has it


class SystemVoice:
    """Speaks with pyttsx3: eSpeak, SAPI or macOS. `engine` names what makes pyttsx3's."""

    def __init__(self, engine: str = "pyttsx3:init") -> None:
        self._made_by = engine
        self._engine: Any = None
        self.voices: list[KnownVoice] = []
        """Listed once: that takes eSpeak longer than speaking a sentence."""
        self._voice: str | None = None
        self._settle: Callable[[], None] = lambda: None
        self._run: Callable[[], None] = lambda: None
        self._late = LATE_SECONDS

    def ready(self) -> None:
        """Start it."""
        # pyttsx3 prints a line after saving, from a thread; standard output is for answers only.
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 - for as long as the process lives
        module, _, function = self._made_by.partition(":")
        try:
            self._engine = getattr(importlib.import_module(module), function)()
        except (ImportError, OSError, RuntimeError, KeyError) as error:
            raise UnavailableError(
                tr("This computer has no voice to speak with."),
                hint=tr(
                    "Install one: sudo apt install espeak-ng (Debian, Ubuntu) or "
                    "brew install espeak-ng (macOS)."
                ),
            ) from error
        self._run = self._engine.runAndWait
        if getattr(self._engine, "driver_name", "") == "espeak":
            loop = EspeakLoop(self._engine)
            self._settle, self._run, self._late = loop.settle, loop.run, 0.0
        self.voices = _known(self._engine.getProperty("voices"))

    def speak(self, order: SpeechRequest, voice: KnownVoice | None) -> None:
        """Speak a text to its file."""
        part = order.to.with_name(f".{order.to.stem}.part.wav")
        self._settle()
        if voice and voice.id != self._voice:
            self._engine.setProperty("voice", voice.id)
            self._voice = voice.id
        self._engine.setProperty("rate", round(order.rate))
        self._engine.setProperty("volume", order.volume)
        self._settle()
        try:
            self._engine.save_to_file(order.text, str(part))
            self._run()
            late = time.monotonic() + self._late
            while not audible(part) and time.monotonic() < late:
                time.sleep(0.005)
            keep(part, order.to)
        finally:
            part.unlink(missing_ok=True)


class EspeakLoop:
    """Runs an utterance of pyttsx3's eSpeak driver exactly to its end. eSpeak works in its own
    thread, and the driver's loop has two bugs with it. The first runAndWait returns while that
    thread still speaks, which then ends whatever loop runs by then; so the first one is run with
    nothing to say. Each one begins by cancelling what eSpeak does, even setting a new rate, and
    with it the utterance; so eSpeak must be idle. The loop checks every 10 ms whether it is done; a
    listener for the end knows at once."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._at_rest: Callable[[], object] = importlib.import_module(
            "pyttsx3.drivers._espeak"
        ).Synchronize
        self._done = threading.Event()
        self._error: Exception | None = None
        self._running: threading.Thread | None = None
        engine.connect("finished-utterance", lambda **_: self._done.set())
        self._at_rest()
        engine.runAndWait()

    def settle(self) -> None:
        """Wait until everything that was said or set before is done."""
        if self._running:
            self._running.join()
        self._at_rest()

    def run(self) -> None:
        """Speak what was queued; the file is written when this returns."""
        self._done.clear()
        self._running = threading.Thread(target=self._loop, daemon=True)
        self._running.start()
        self._done.wait()
        if self._error:
            raise self._error

    def _loop(self) -> None:
        self._error = None
        try:
            self._engine.runAndWait()
        except Exception as error:  # noqa: BLE001 - raised by `run`
            self._error = error
            self._done.set()


def _known(voices: list[Any]) -> list[KnownVoice]:
    """The system's voices, the plainest one of each language first."""
    known = []
    for voice in voices:
        names = [_language(each) for each in getattr(voice, "languages", None) or ()]
        languages = tuple(dict.fromkeys(_two_letters(name) for name in names))
        oddity = min(map(_oddity, names), default=99)
        known.append((oddity, KnownVoice(str(voice.id), languages)))
    return [voice for _, voice in sorted(known, key=lambda each: each[0])]


def _oddity(name: str) -> int:
    """How far a voice is from the standard of its language: fr, fr-fr, fr-be."""
    language, _, region = name.partition("-")
    if name == DEFAULT_LANGUAGE:
        return 0
    return 1 if region in ("", language) else 1 + len(name)


def _language(given: bytes | str) -> str:
    name = given.decode("ascii", "ignore") if isinstance(given, bytes) else str(given)
    return name.strip("\x05").lower().replace("_", "-")


def _two_letters(name: str) -> str:
    plain = name.partition("-")[0]
    return OUR_NAMES.get(plain, plain)
