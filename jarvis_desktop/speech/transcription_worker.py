"""The child process that transcribes recordings of any length with Whisper, part by part.

Each window holds what is said within Whisper's half a minute, with the pauses in it. Decoding many
windows at once is several times as fast. faster-whisper's own batches join distant speech and lose
the end of a window whose last time stamp is missing (issues 1179, 1270, 1427): measured on five
minutes of recordings of people, a ninth of all words. So the windows are ours, and what was lost or
is doubtful is decoded again, one window at a time.

Time stamps are always requested: without them Whisper ends a window at its first pause (a sixth of
the words of the same recordings).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from jarvis_desktop.core.speech import Segment
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child_main import Handler
from jarvis_desktop.speech.decoding import RATE, Samples, decode
from jarvis_desktop.speech.transcription import OpenedRecording, TranscriptPart
from jarvis_desktop.speech.vad import SpeechSegments, Stretch, find_speech
from jarvis_desktop.speech.whisper import (
    FALLBACK_TEMPERATURES,
    MAX_COMPRESSION,
    MIN_LOGPROB,
    NO_SPEECH,
    check_language,
    load,
)

WINDOW_SECONDS = 28.0
MAX_PAUSE_SECONDS = 3.0  # a longer pause ends a window: Whisper invents words in silence
QUIET_SECONDS = 0.1  # the length of the quietest place, where speech without a pause is cut
BEAM = 5
LOST_SECONDS = 1.0
"""Of speech without a word at the end of a window, from which it is decoded again."""
LANGUAGE_WINDOWS = 4  # in which the language is detected, if the first ones leave it in doubt


def windows(speech: SpeechSegments) -> tuple[Stretch, ...]:
    """All speech, in as few stretches that fit Whisper as possible."""
    most, far = int(WINDOW_SECONDS * RATE), int(MAX_PAUSE_SECONDS * RATE)
    found: list[Stretch] = []
    for start, end in _short(speech, most):
        last = found[-1] if found else None
        if last and end - last[0] <= most and start - last[1] <= far:
            found[-1] = last[0], end
        else:
            found.append((start, end))
    return tuple(found)


def _short(speech: SpeechSegments, most: int) -> Iterator[tuple[int, int]]:
    """The stretches of speech; long ones are cut at their quietest places."""
    step = int(QUIET_SECONDS * RATE)
    for start, end in speech.stretches:
        while end - start > most:
            sound = speech.samples[start + most // 2 : start + most]
            loudness = (sound[: len(sound) // step * step].reshape(-1, step) ** 2).sum(axis=1)
            cut = start + most // 2 + int(np.argmin(loudness)) * step + step // 2
            yield start, cut
            start = cut
        yield start, end


class RecordingReader:
    """Recognises the windows of one recording, some in each call."""

    def __init__(self, speech: SpeechSegments) -> None:
        self.windows = windows(speech)
        self._speech = speech

    def part(
        self,
        whisper: Any,
        chosen: slice,
        language: str | None,
        expected: Sequence[str],
        *,
        words: bool,
    ) -> TranscriptPart:
        """Decode some of the windows at once. `expected` are words that may be said; `words` asks
        for the times of each word, which takes longer."""
        some = self.windows[chosen]
        language = self._language(whisper, some, language)
        ways = {
            "language": language,
            "beam_size": BEAM,
            "word_timestamps": words,
            "hotwords": ", ".join(expected) or None,
        }
        found: list[Segment] = []
        again = 0
        for window, pieces, twice in self._decoded(whisper, some, ways):
            found += self._segments(window, pieces)
            again += twice
        return TranscriptPart(tuple(found), language, self._speech.time(some[-1][1]), again)

    def _language(self, whisper: Any, chosen: Sequence[Stretch], language: str | None) -> str:
        known = whisper.supported_languages
        check_language(known, language)
        if language or len(known) == 1:
            return language or str(known[0])
        sound = np.concatenate([self._sound(window) for window in chosen])
        found, _, _ = whisper.detect_language(sound, language_detection_segments=LANGUAGE_WINDOWS)
        return str(found)

    def _decoded(
        self, whisper: Any, chosen: Sequence[Stretch], ways: dict[str, Any]
    ) -> Iterator[tuple[Stretch, list[Any], bool]]:
        """Each window with its pieces, and whether all of it was decoded twice; times in seconds
        from its beginning."""
        if len(chosen) == 1:
            yield chosen[0], self._alone(whisper, chosen[0], 0.0, ways), False
            return
        together = self._together(whisper, chosen, ways)
        for window in chosen:
            pieces = together[window]
            until = max((piece.end for piece in pieces), default=0.0)
            if doubtful := any(
                piece.avg_logprob < MIN_LOGPROB or piece.compression_ratio > MAX_COMPRESSION
                for piece in pieces
            ):
                pieces, until = [], 0.0
            start, end = window
            if (end - start) / RATE - until > LOST_SECONDS:
                pieces = [*pieces, *self._alone(whisper, window, until, ways)]
            yield window, pieces, doubtful

    def _together(
        self, whisper: Any, chosen: Sequence[Stretch], ways: dict[str, Any]
    ) -> dict[Stretch, list[Any]]:
        from faster_whisper import BatchedInferencePipeline

        pieces, _ = BatchedInferencePipeline(whisper).transcribe(
            np.concatenate([self._sound(window) for window in chosen]),
            clip_timestamps=list(_clips(chosen)),
            batch_size=len(chosen),
            without_timestamps=False,
            **ways,
        )
        found: dict[Stretch, list[Any]] = defaultdict(list)
        starts = [clip["start"] for clip in _clips(chosen)]
        for piece in pieces:
            # The hundredth of a second at which its window begins.
            at = int(np.argmin([abs(start * 100 - piece.seek) for start in starts]))
            found[chosen[at]].append(_moved(piece, -starts[at]))
        return found

    def _alone(
        self, whisper: Any, window: Stretch, since: float, ways: dict[str, Any]
    ) -> list[Any]:
        pieces, _ = whisper.transcribe(
            self._sound(window)[int(since * RATE) :],
            temperature=FALLBACK_TEMPERATURES,
            condition_on_previous_text=False,
            **ways,
        )
        return [_moved(piece, since) for piece in pieces]

    def _sound(self, window: Stretch) -> Samples:
        return self._speech.samples[slice(*window)]

    def _segments(self, window: Stretch, pieces: Iterable[Any]) -> Iterator[Segment]:
        """What was certainly said, with its times in the recording."""
        start, end = window
        begin, latest = self._speech.time(start), (end - start) / RATE

        def when(seconds: float) -> float:
            return float(round(begin + min(max(0.0, seconds), latest), 2))

        for piece in pieces:
            invented = piece.no_speech_prob > NO_SPEECH and piece.avg_logprob < MIN_LOGPROB
            if invented or not (text := piece.text.strip()):
                continue
            words = tuple(
                Segment(when(word.start), when(word.end), word.word) for word in piece.words or ()
            )
            first, last = when(piece.start), when(piece.end)
            yield Segment(first, max(first, last), text, words)


def _clips(chosen: Sequence[Stretch]) -> Iterator[dict[str, float]]:
    at = 0
    for start, end in chosen:
        yield {"start": at / RATE, "end": (at + end - start) / RATE}
        at += end - start


def _moved(piece: Any, seconds: float) -> Any:
    words = [
        replace(word, start=word.start + seconds, end=word.end + seconds)
        for word in piece.words or ()
    ]
    return replace(piece, start=piece.start + seconds, end=piece.end + seconds, words=words)


MAX_EXPECTED_WORDS = 30  # passed to Whisper: given many, it writes some that nobody said


def make_handler() -> Handler:
    """The handler: "open" a file, then request one "part" after the other. part(windows, words,
    folder, language, expected, device, compute_type) takes the slice of the windows that are
    decoded at once, and weights, which stay loaded."""
    state: dict[str, Any] = {}

    def handle(report: Report, what: str, *args: Any) -> OpenedRecording | TranscriptPart:
        if what == "open":
            state["reader"], opened = _open(*args)
            return opened
        chosen, words, folder, language, expected, device, compute_type = args
        if state.get("loaded") != (folder, device, compute_type):
            state.pop("loaded", None)
            state.pop("whisper", None)  # the memory may not hold two
            state["whisper"] = load(folder, device=device, compute_type=compute_type)
            state["loaded"] = folder, device, compute_type
        reader: RecordingReader = state["reader"]
        whisper, expected = state["whisper"], expected[:MAX_EXPECTED_WORDS]
        return reader.part(whisper, chosen, language, expected, words=words)

    return handle


def _open(path: Path) -> tuple[RecordingReader, OpenedRecording]:
    samples = decode(path)
    reader = RecordingReader(find_speech(samples, path.name))
    lengths = tuple((end - start) / RATE for start, end in reader.windows)
    return reader, OpenedRecording(len(samples) / RATE, lengths)
