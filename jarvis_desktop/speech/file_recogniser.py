"""The child process in which Whisper recognises files. Only imported in child processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jarvis_desktop.child_main import Handler
from jarvis_desktop.core.call import Report
from jarvis_desktop.speech.decoding import RATE, decode
from jarvis_desktop.speech.file_transcription import Opened, Part
from jarvis_desktop.speech.gate import find_speech
from jarvis_desktop.speech.long_recording import Reader
from jarvis_desktop.speech.whisper_loading import load

EXPECTED = 30
"""Words to expect that Whisper is told of: of many it writes some that nobody said."""


def make() -> Handler:
    """The handler: "open" a file, then ask for one "part" after the other.

    part(windows, words, folder, language, expected, device, compute_type) takes the slice of the
    windows that are recognised at once, and weights which are kept until others are asked for.
    """
    state: dict[str, Any] = {}

    def handle(report: Report, what: str, *args: Any) -> Opened | Part:
        if what == "open":
            state["reader"], opened = _open(*args)
            return opened
        chosen, words, folder, language, expected, device, compute_type = args
        if state.get("loaded") != (folder, device, compute_type):
            state.pop("whisper", None)  # two at once may be more than the memory holds
            state["whisper"] = load(folder, device=device, compute_type=compute_type)
            state["loaded"] = folder, device, compute_type
        reader: Reader = state["reader"]
        whisper, expected = state["whisper"], expected[:EXPECTED]
        return reader.part(whisper, chosen, language, expected, words=words)

    return handle


def _open(path: Path) -> tuple[Reader, Opened]:
    samples = decode(path)
    reader = Reader(find_speech(samples, path.name))
    lengths = tuple((window.end - window.start) / RATE for window in reader.windows)
    return reader, Opened(len(samples) / RATE, lengths)
