"""When a turn is taken to be over: sentences that are cut off, and the time waited after the end.

    python3 -m tests.benchmarks.end_of_turn FOLDER

FOLDER holds recordings of people at 16 kHz and a manifest.jsonl with a line for each: "file" and
"transcript" ("" if nobody speaks). Each is heard as from the microphone, frame by frame, with three
seconds of its own faint noise after it. What ends a turn is `EndDetector`, as in the application:
by silence alone, and with the judgements of Smart Turn, two frames after each was asked for.

Pauses of a fifth of a second and more are those between words (by the word times of the shipped
recogniser); after a word without a full stop, question or exclamation mark the sentence goes on,
and an end there cuts it off. What comes after a pause that was taken for the end is heard on, so
that each pause counts once. The wait is from the last frame of speech to the end.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from jarvis_desktop.assistant.talk.barge_in import (
    FRAME_SECONDS,
    MIN_SPEECH_FRAMES,
    SILENCE_PROBABILITY,
    SPEECH_PROBABILITY,
    EndDetector,
)
from jarvis_desktop.core.speech import FRAME, RATE
from jarvis_desktop.paths import shipped
from jarvis_desktop.speech.decoding import decode
from jarvis_desktop.speech.end_of_turn import SmartTurn
from jarvis_desktop.speech.vad import Silero

LEAD_S, AFTER_S = 0.3, 3.0
MIN_PAUSE_S = 0.2
DELAY = 2  # frames until a judgement arrives
SILENCES = (0.3, 0.5, 0.8, 1.0, 1.2, 1.5, 2.0)
PATIENCE_S = 60.0

Judge = Callable[[int], float]
"""The probability of the end of the turn, for speech up to this frame."""


@dataclass(frozen=True)
class Recording:
    """A recording as it is heard."""

    samples: Any
    likely: tuple[float, ...]
    last: int
    """The last frame of speech."""
    within: tuple[tuple[int, int], ...]
    """The pauses within sentences: their first frame, and the first one of speech after them."""


def recordings(folder: Path) -> Iterator[Recording]:
    """The recordings of speech in a folder."""
    from faster_whisper import WhisperModel

    whisper = WhisperModel(str(shipped("models", "recogniser")), device="cpu", compute_type="int8")
    random = np.random.default_rng(0)
    for line in (folder / "manifest.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        if not row.get("transcript"):
            continue
        plain = decode(folder / row["file"])
        frames = plain[: len(plain) // FRAME * FRAME].reshape(-1, FRAME)
        faint = np.percentile(np.sqrt((frames**2).mean(axis=1)), 5) if len(frames) else 0.0
        noise = random.standard_normal(round((LEAD_S + AFTER_S) * RATE)) * np.clip(
            faint, 1e-4, 0.01
        )
        lead = round(LEAD_S * RATE)
        samples = np.concatenate([noise[:lead], plain, noise[lead:]]).astype(np.float32)
        likely = Silero().hear(samples)
        spoken = [at for at, each in enumerate(likely) if each >= SPEECH_PROBABILITY]
        if len(spoken) < MIN_SPEECH_FRAMES:
            continue
        heard, _ = whisper.transcribe(plain, language="en", beam_size=1, word_timestamps=True)
        words = [word for part in heard for word in part.words or ()]
        within = tuple(_within(likely, spoken, words))
        yield Recording(samples, likely, spoken[-1], within)


def _within(likely: Any, spoken: list[int], words: list[Any]) -> Iterator[tuple[int, int]]:
    for before, after in pairwise(spoken):
        quiet = sum(each < SILENCE_PROBABILITY for each in likely[before:after])
        if quiet * FRAME_SECONDS < MIN_PAUSE_S or spoken.index(before) < MIN_SPEECH_FRAMES:
            continue
        at = before * FRAME_SECONDS - LEAD_S + 0.1
        said = [word.word.strip() for word in words if (word.start + word.end) / 2 <= at]
        if said and not said[-1].endswith((".", "?", "!")):
            yield before + 1, after


def ends(recording: Recording, silence: float, judge: Judge | None) -> Iterator[int]:
    """The frames at which a turn is over."""
    detector = EndDetector(pause=silence, patience=PATIENCE_S)
    coming: dict[int, float] = {}
    over = False
    for at, likely in enumerate(recording.likely):
        if over and likely >= SPEECH_PROBABILITY:  # it is heard on
            detector, coming, over = EndDetector(pause=silence, patience=PATIENCE_S), {}, False
            detector.take([1.0] * MIN_SPEECH_FRAMES)
        if over:
            continue
        over = detector.take((likely,), coming.pop(at, None))
        if over:
            yield at
        elif judge and detector.asks():
            coming[at + DELAY] = judge(at)


def measure(found: list[Recording], silence: float, judges: list[Judge] | None) -> str:
    """A row of the table."""
    cut, pauses, waits = 0, 0, []
    for number, recording in enumerate(found):
        over = list(ends(recording, silence, judges[number] if judges else None))
        pauses += len(recording.within)
        cut += sum(any(first <= at < last for at in over) for first, last in recording.within)
        end = next((at for at in over if at > recording.last), len(recording.likely))
        waits.append((end - recording.last) * FRAME_SECONDS)
    p50, p90 = np.percentile(waits, 50), np.percentile(waits, 90)
    return (
        f"{cut:3} of {pauses} pauses within sentences cut them off; waited after the end: mean "
        f"{np.mean(waits):.2f} s, p50 {p50:.2f} s, p90 {p90:.2f} s, {len(found)} recordings"
    )


def judging(recording: Recording, network: SmartTurn, taken: list[float]) -> Judge:
    """Judges a recording, each frame once; `taken` gets the seconds of work."""
    known: dict[int, float] = {}

    def judge(at: int) -> float:
        if at not in known:
            begun = time.perf_counter()
            known[at] = network.finished(recording.samples[: (at + 1) * FRAME])
            taken.append(time.perf_counter() - begun)
        return known[at]

    return judge


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    found = list(recordings(parser.parse_args().folder))
    network, taken = SmartTurn(), list[float]()
    judges = [judging(each, network, taken) for each in found]
    for silence in SILENCES:
        print(f"{silence:.1f} s of silence alone:        {measure(found, silence, None)}")
    for silence in SILENCES[3:]:
        print(f"judged, or {silence:.1f} s of silence: {measure(found, silence, judges)}")
    print(f"a judgement takes {np.median(taken) * 1000:.0f} ms (median of {len(taken)})")


if __name__ == "__main__":
    main()
