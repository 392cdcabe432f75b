"""Whisper through faster-whisper, from weights on disk. Only imported in child processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jarvis_desktop.child import Handler
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.hearing import Segment, Transcript
from jarvis_desktop.speech.decoding import RATE, decode
from jarvis_desktop.speech.gate import Speech, find_speech, not_speech

REQUEST_SECONDS = 28.0
"""What fits into Whisper's one window: decoded in one go, without time stamps."""
THREADS = min(4, os.cpu_count() or 4)
"""More than four hardly help."""
NO_SPEECH = 0.6
LEAST_LOGPROB = -1.0
NEEDED = ("model.bin", "config.json", "tokenizer.json")


def make() -> Handler:
    """The handler: "hear" a file and give the seconds of speech, then "recognise" it.

    recognise(folder, language) takes a folder of CTranslate2 weights, kept until another is given;
    ready(folder, language) loads them.
    """
    state: dict[str, Any] = {}

    def handle(report: Report, what: str, *args: Any) -> float | Transcript | None:
        if what == "hear":
            (path,) = args
            state["name"] = path.name
            state["speech"] = find_speech(decode(path), path.name)
            return float(state["speech"].seconds)
        folder, language = args
        if state.get("folder") != folder:
            state["whisper"] = load(folder)
            state["folder"] = folder
        if what == "ready":
            return None
        speech = state.pop("speech")
        return recognise(state["whisper"], speech, state["name"], language, report)

    return handle


def load(folder: Path) -> Any:
    """The Whisper in a folder. Raises UnavailableError where it is not whole."""
    broken = UnavailableError(
        f"The Whisper weights in {folder.name} cannot be used.",
        hint="Remove them with `jarvis-desktop experts remove` and fetch them again.",
    )
    # Without its tokenizer faster-whisper would fetch one from the Hub.
    if not all((folder / name).is_file() for name in NEEDED):
        raise broken
    from faster_whisper import WhisperModel

    try:
        return WhisperModel(
            str(folder),
            device="cpu",
            compute_type="int8",
            cpu_threads=THREADS,
            local_files_only=True,
        )
    except (RuntimeError, ValueError, OSError) as error:
        raise broken from error


def recognise(
    whisper: Any, speech: Speech, name: str, language: str | None, report: Report
) -> Transcript:
    """The words of a recording. Raises InputError where none were found."""
    first, last = speech.stretches[0][0], speech.stretches[-1][1]
    sound = speech.samples[first:last]
    short = len(sound) <= REQUEST_SECONDS * RATE
    pieces, info = whisper.transcribe(
        sound,
        language=language if whisper.model.is_multilingual else "en",
        beam_size=1 if short else 5,
        temperature=0.0 if short else (0.0, 0.2, 0.4),
        condition_on_previous_text=False,
        without_timestamps=short,
        vad_filter=not short,
        vad_parameters={"min_silence_duration_ms": 500, "speech_pad_ms": 250},
    )
    offset, whole = speech.time(first), len(sound) / RATE
    segments = []
    for piece in pieces:
        report(min(1.0, piece.end / whole), "recognising speech")
        heard = piece.no_speech_prob <= NO_SPEECH or piece.avg_logprob >= LEAST_LOGPROB
        if heard and (text := piece.text.strip()):
            segments.append(Segment(piece.start + offset, piece.end + offset, text))
    if not any(letter.isalnum() for segment in segments for letter in segment.text):
        raise not_speech(name)
    text = " ".join(segment.text for segment in segments)
    return Transcript(text, engine="whisper", language=info.language, segments=tuple(segments))
