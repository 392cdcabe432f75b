"""Recognises a recording of any length with Whisper, part by part. Only imported in children.

Each window holds what is said within Whisper's half a minute, with the pauses in it. Many windows
are decoded at once: that is up to several times as fast. faster-whisper's own way to do so joins
distant speech and loses the end of a window in which the last time stamp is missing (issues 1179,
1270, 1427): measured on five minutes of recordings of people, a ninth of all words. Therefore the
windows are ours, and what was lost or doubtful is decoded again, one window at a time.

Time stamps are always asked for: without them Whisper ends a window at its first pause (a sixth of
the words of the same recordings).

The child process in which Whisper recognises files. Only imported in child processes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.speech import Segment
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child_main import Handler
from jarvis_desktop.speech.decoding import RATE, Samples, decode
from jarvis_desktop.speech.transcription import Opened, TranscriptPart
from jarvis_desktop.speech.vad import SpeechSegments, find_speech
from jarvis_desktop.speech.whisper import load

WINDOW_SECONDS = 28.0
FAR_SECONDS = 3.0
"""A pause that is longer ends a window: in silence Whisper invents."""
QUIET_SECONDS = 0.1
"""How long the quietest place must be at least, at which speech without a pause is cut."""
BEAM = 5
WAYS_OUT = (0.0, 0.2, 0.4)
"""Temperatures for a doubtful window."""
LOST_SECONDS = 1.0
"""Of speech at the end of a window without a word, from which on it is decoded again."""
LANGUAGE_WINDOWS = 4
"""In how many windows the language is looked for, where the first ones leave it in doubt."""

NO_SPEECH = 0.6
LEAST_LOGPROB = -1.0
MOST_REPEATED = 2.4
"""Whisper's own: whether nobody spoke, whether a guess is doubtful, whether it goes in circles."""


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of a recording that fits Whisper; its places are samples."""

    start: int
    end: int
    spoken: int
    """Where the last of its speech ends."""


def windows(speech: SpeechSegments) -> tuple[Window, ...]:
    """All that is spoken, in as few windows as hold it."""
    most, far = int(WINDOW_SECONDS * RATE), int(FAR_SECONDS * RATE)
    found: list[Window] = []
    for start, end in _short(speech, most):
        last = found[-1] if found else None
        if last and end - last.start <= most and start - last.end <= far:
            found[-1] = Window(last.start, end, end)
        else:
            found.append(Window(start, end, end))
    return tuple(found)


def _short(speech: SpeechSegments, most: int) -> Iterator[tuple[int, int]]:
    """The stretches of speech; those that are too long are cut where it is quietest."""
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
    """Recognises the windows of one recording, some at each call."""

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
        """What is said in some of the windows, which are decoded at once.

        `expected` are words that may be said; `words` is whether each word is to have its times,
        which takes longer.
        """
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
        return TranscriptPart(tuple(found), language, self._speech.time(some[-1].end), again)

    def _language(self, whisper: Any, chosen: Sequence[Window], language: str | None) -> str:
        known = whisper.supported_languages
        if language and language not in known:
            raise InputError(
                tr(
                    "The recogniser on this computer knows no language “{language}”.",
                    language=one_line(language),
                ),
                hint=tr("Give its two letters, such as en, de or fr."),
            )
        if language or len(known) == 1:
            return language or str(known[0])
        sound = np.concatenate([self._sound(window) for window in chosen])
        found, _, _ = whisper.detect_language(sound, language_detection_segments=LANGUAGE_WINDOWS)
        return str(found)

    def _decoded(
        self, whisper: Any, chosen: Sequence[Window], ways: dict[str, Any]
    ) -> Iterator[tuple[Window, list[Any], bool]]:
        """Each window with what was found in it, and whether all of it was decoded twice; times in
        seconds from its beginning."""
        if len(chosen) == 1:
            yield chosen[0], self._alone(whisper, chosen[0], 0.0, ways), False
            return
        together = self._together(whisper, chosen, ways)
        for window in chosen:
            pieces = together[window]
            until = max((piece.end for piece in pieces), default=0.0)
            if doubtful := _doubtful(pieces):
                pieces, until = [], 0.0
            if (window.spoken - window.start) / RATE - until > LOST_SECONDS:
                pieces = [*pieces, *self._alone(whisper, window, until, ways)]
            yield window, pieces, doubtful

    def _together(
        self, whisper: Any, chosen: Sequence[Window], ways: dict[str, Any]
    ) -> dict[Window, list[Any]]:
        from faster_whisper import BatchedInferencePipeline

        pieces, _ = BatchedInferencePipeline(whisper).transcribe(
            np.concatenate([self._sound(window) for window in chosen]),
            clip_timestamps=list(_clips(chosen)),
            batch_size=len(chosen),
            without_timestamps=False,
            **ways,
        )
        found: dict[Window, list[Any]] = defaultdict(list)
        starts = [clip["start"] for clip in _clips(chosen)]
        for piece in pieces:
            # Each carries the hundredth of a second at which its window begins.
            at = int(np.argmin([abs(start * 100 - piece.seek) for start in starts]))
            found[chosen[at]].append(_moved(piece, -starts[at]))
        return found

    def _alone(self, whisper: Any, window: Window, since: float, ways: dict[str, Any]) -> list[Any]:
        pieces, _ = whisper.transcribe(
            self._sound(window)[int(since * RATE) :],
            temperature=WAYS_OUT,
            condition_on_previous_text=False,
            **ways,
        )
        return [_moved(piece, since) for piece in pieces]

    def _sound(self, window: Window) -> Samples:
        return self._speech.samples[window.start : window.end]

    def _segments(self, window: Window, pieces: Iterable[Any]) -> Iterator[Segment]:
        """What was surely said, with its times in the recording."""
        begin = self._speech.time(window.start)
        latest = (window.end - window.start) / RATE

        def when(seconds: float) -> float:
            return float(round(begin + min(max(0.0, seconds), latest), 2))

        for piece in pieces:
            invented = piece.no_speech_prob > NO_SPEECH and piece.avg_logprob < LEAST_LOGPROB
            if invented or not (text := piece.text.strip()):
                continue
            words = tuple(
                Segment(when(word.start), when(word.end), word.word) for word in piece.words or ()
            )
            start, end = when(piece.start), when(piece.end)
            yield Segment(start, max(start, end), text, words)


def _clips(chosen: Sequence[Window]) -> Iterator[dict[str, float]]:
    """Where each window lies when they follow one another."""
    at = 0
    for window in chosen:
        length = window.end - window.start
        yield {"start": at / RATE, "end": (at + length) / RATE}
        at += length


def _moved(piece: Any, seconds: float) -> Any:
    """A piece of faster-whisper, later by so many seconds."""
    from dataclasses import replace

    words = [
        replace(word, start=word.start + seconds, end=word.end + seconds)
        for word in piece.words or ()
    ]
    return replace(piece, start=piece.start + seconds, end=piece.end + seconds, words=words)


def _doubtful(pieces: Sequence[Any]) -> bool:
    """Whether a window is to be decoded again in other ways."""
    return any(
        piece.avg_logprob < LEAST_LOGPROB or piece.compression_ratio > MOST_REPEATED
        for piece in pieces
    )


EXPECTED = 30
"""Words to expect that Whisper is told of: of many it writes some that nobody said."""


def make() -> Handler:
    """The handler: "open" a file, then ask for one "part" after the other.

    part(windows, words, folder, language, expected, device, compute_type) takes the slice of the
    windows that are recognised at once, and weights which are kept until others are asked for.
    """
    state: dict[str, Any] = {}

    def handle(report: Report, what: str, *args: Any) -> Opened | TranscriptPart:
        if what == "open":
            state["reader"], opened = _open(*args)
            return opened
        chosen, words, folder, language, expected, device, compute_type = args
        if state.get("loaded") != (folder, device, compute_type):
            state.pop("whisper", None)  # two at once may be more than the memory holds
            state["whisper"] = load(folder, device=device, compute_type=compute_type)
            state["loaded"] = folder, device, compute_type
        reader: RecordingReader = state["reader"]
        whisper, expected = state["whisper"], expected[:EXPECTED]
        return reader.part(whisper, chosen, language, expected, words=words)

    return handle


def _open(path: Path) -> tuple[RecordingReader, Opened]:
    samples = decode(path)
    reader = RecordingReader(find_speech(samples, path.name))
    lengths = tuple((window.end - window.start) / RATE for window in reader.windows)
    return reader, Opened(len(samples) / RATE, lengths)
