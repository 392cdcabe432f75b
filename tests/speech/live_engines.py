"""Recognisers of live speech that go wrong; loaded by name in child processes.

They take the sound as text of two letters each: what was understood is what was told.
"""

import os
import time
from pathlib import Path

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.speech import Transcript
from jarvis_desktop.speech.streaming import StreamingResult, StreamingSession


class Parrot:
    """Repeats what it is told; some words make it go wrong, the first time or ever, except with the
    weights in a folder named "shipped"."""

    def __init__(self, folder: Path, device: str) -> None:
        self._folder = folder if folder.name != "shipped" else None
        self._device = device
        self._told = ""

    def hear(self, pcm, *, final):
        self._told += pcm.decode()
        for word, fate in (("CRASH!", os.abort), ("HANGS!", lambda: time.sleep(60))):
            if word in self._told and self._folder and self._first(word):
                fate()
        if "NO-CARD" in self._told and self._device == "cuda":
            os.abort()
        if "ALWAYS" in self._told and self._folder:
            os.abort()
        if "UNUSED" in self._told and self._folder:
            raise UnavailableError("The weights cannot be used.")
        if final and not self._told.strip("."):
            raise InputError("Nobody seems to speak in your recording.")
        engine = "whisper" if self._folder else "shipped"
        transcript = Transcript(self._told, engine, "en") if final else None
        return StreamingResult(self._told[:-2], self._told[-2:], transcript, took=0.001)

    def _first(self, word: str) -> bool:
        assert self._folder
        try:
            (self._folder / word).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def parrot():
    """A Whisper that is given a folder to remember in."""
    live = StreamingSession()

    def handle(report, what, *args):
        if what == "ready":
            return None
        *given, folder, _, _, device, _ = args
        return live.listen(lambda: Parrot(folder, device), *given)

    return handle
