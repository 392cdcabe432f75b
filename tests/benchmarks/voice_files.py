"""Long recordings: what decoding many windows at once gains, and that it loses no words.

    python -m tests.benchmarks.voice_files [FOLDER] [--whisper WEIGHTS] [--minutes 5]

The recording is made by espeak-ng from the requests of recognition.py. FOLDER holds recordings of
people with a manifest.jsonl (see there); they follow one another. The peer is faster-whisper's own
BatchedInferencePipeline. Times are those of the processor, in which other programs do not count.
Word error rates are those of recognition.py.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import jiwer
import numpy as np

from jarvis_desktop.speech.decoding import RATE, Samples, decode
from jarvis_desktop.speech.recogniser import SHIPPED
from jarvis_desktop.speech.transcription import BATCH_SIZES
from jarvis_desktop.speech.transcription_worker import RecordingReader
from jarvis_desktop.speech.vad import SpeechSegments, find_speech
from jarvis_desktop.speech.whisper import load
from jarvis_desktop.tasks.audio.recognition import LINE_CHARS, cues
from tests.benchmarks.recognition import NORMALISED, REQUESTS, recordings
from tests.synthetic_speech import spoken

Row = tuple[str, str, str]
"""What, its figure, its limit."""

VOICES = ("en-us", "en-gb", "en-us+f3", "en-gb+m7")
PAUSES = (0.4, 0.7, 1.2)
"""Seconds between two sentences."""


def by_espeak() -> Iterator[tuple[Samples, str]]:
    """Sentences without end."""
    for number, text in enumerate(itertools.cycle(REQUESTS)):
        yield spoken(text, voice=VOICES[number % len(VOICES)]), text


def by_people(folder: Path) -> Iterator[tuple[Samples, str]]:
    """Recordings of people, once, in an order that mixes them."""
    given = [each for each in recordings(folder) if each.transcript]
    for at in np.random.default_rng(1).permutation(len(given)):
        yield decode(given[at].path), given[at].transcript


def joined(pieces: Iterable[tuple[Samples, str]], seconds: float) -> tuple[Samples, str]:
    """One recording of so many seconds, and what is said in it."""
    sounds: list[Samples] = []
    said: list[str] = []
    for number, (sound, text) in enumerate(pieces):
        pause = PAUSES[number % len(PAUSES)]
        sounds += [sound, np.zeros(int(pause * RATE), np.float32)]
        said.append(text)
        if sum(map(len, sounds)) > seconds * RATE:
            break
    return np.concatenate(sounds).astype(np.float32), " ".join(said)


def table(weights: Path = SHIPPED, folder: Path | None = None, minutes: float = 5) -> list[Row]:
    """What was measured, the figure, and its limit."""
    sound, said = joined(by_people(folder) if folder else by_espeak(), minutes * 60)
    speech, whisper = find_speech(sound, "the recording"), load(weights)
    batch = BATCH_SIZES["cpu"]
    alone, alone_seconds = _timed(lambda: _read(whisper, speech, 1))
    many, many_seconds = _timed(lambda: _read(whisper, speech, batch))
    peer, peer_seconds = _timed(lambda: _peer(whisper, speech, batch))
    length = len(sound) / RATE
    rates = [_rate(said, [each.text for each in some]) for some in (alone, many, peer)]
    shown = cues(many)
    longest = max(len(line) for cue in shown for line in cue.lines)
    return [
        (f"{length:.0f} s, one window at a time", f"{length / alone_seconds:.1f} x real time", ""),
        (
            f"{batch} windows at once",
            f"{alone_seconds / many_seconds:.2f} x as fast",
            ">= 1",
        ),
        ("word error rate, one at a time", f"{rates[0]:.3f}", ""),
        ("word error rate, at once", f"{rates[1]:.3f}", f"<= {rates[0] + 0.01:.3f}"),
        ("words lost, at once", f"{_lost(said, many)}", f"<= {_lost(said, alone) + 5}"),
        (
            "faster-whisper's own way",
            f"{alone_seconds / peer_seconds:.2f} x as fast, word error rate {rates[2]:.3f}, "
            f"{_lost(said, peer)} words lost",
            "",
        ),
        ("subtitles, widest line", f"{longest} letters of {len(shown)}", f"<= {LINE_CHARS}"),
    ]


def _timed(work: Callable[[], list[Any]]) -> tuple[list[Any], float]:
    begun = time.process_time()
    return work(), time.process_time() - begun


def _read(whisper: Any, speech: SpeechSegments, batch: int) -> list[Any]:
    reader = RecordingReader(speech)
    found: list[Any] = []
    for at in range(0, len(reader.windows), batch):
        found += reader.part(whisper, slice(at, at + batch), "en", (), words=False).segments
    return found


def _peer(whisper: Any, speech: SpeechSegments, batch: int) -> list[Any]:
    from faster_whisper import BatchedInferencePipeline

    pieces, _ = BatchedInferencePipeline(whisper).transcribe(
        speech.samples, language="en", batch_size=batch, without_timestamps=False
    )
    return list(pieces)


def _compared(said: str, texts: list[str]) -> jiwer.WordOutput:
    return jiwer.process_words(
        [said],
        [" ".join(texts) or "∅"],
        reference_transform=NORMALISED,
        hypothesis_transform=NORMALISED,
    )


def _rate(said: str, texts: list[str]) -> float:
    return float(_compared(said, texts).wer)


def _lost(said: str, found: list[Any]) -> int:
    return int(_compared(said, [each.text for each in found]).deletions)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--whisper", type=Path, metavar="WEIGHTS", default=SHIPPED)
    parser.add_argument("--minutes", type=float, default=5)
    chosen = parser.parse_args()
    for what, figure, limit in table(chosen.whisper, chosen.folder, chosen.minutes):
        print(f"{what:32} {figure:56} {limit}")


if __name__ == "__main__":
    main()
