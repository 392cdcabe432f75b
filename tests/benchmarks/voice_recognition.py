"""Speech recognised while it is spoken, beside the same recognised after it: time and words.

    python3 -m tests.benchmarks.voice_recognition [--count 20] [--whisper WEIGHTS]

Requests of four to six seconds, spoken by espeak-ng, are told at the pace of a voice; each ends
with the fifth of a second in which people let a key go after their last word, and is also measured
without it. "Whole" is the same sound told at once after the release, to the same process and
weights. Word error rates are those of recognition.py. WEIGHTS are the shipped ones unless named.
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import jiwer
import numpy as np

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.speech import RATE, Partial
from jarvis_desktop.speech.recogniser import SHIPPED, LocalRecogniser
from tests.benchmarks.recognition import NORMALISED, REQUESTS
from tests.synthetic_speech import spoken

RELEASE_SECONDS = 0.2
"""Between the last word and the release of the key."""
PORTION = RATE // 31
SHORTEST, LONGEST = 4.0, 6.0
VOICES = (("en-us", 150), ("en-gb", 140), ("en-us+f3", 160), ("en-us+m3", 150))

Row = tuple[str, str, str]


@dataclass
class Told:
    """What became of one request."""

    said: str
    live: str = ""
    whole: str = ""
    release: float = 0.0
    """Seconds from the release to the transcript."""
    release_at_once: float = 0.0
    """The same where the key is let go with the last sound of the last word."""
    whole_seconds: float = 0.0
    delays: list[float] = field(default_factory=list)
    """Seconds from when a stretch of voice was over to when a partial had heard all of it."""


def requests(count: int) -> list[tuple[str, np.ndarray]]:
    """Sentences, one after the other up to their length."""
    sentences = REQUESTS
    made: list[tuple[str, np.ndarray]] = []
    at = 0
    while len(made) < count:
        voice, speed = VOICES[len(made) % len(VOICES)]
        said = sentences[at % len(sentences)]
        samples = spoken(said, voice=voice, speed=speed, before=0.2, after=0.0)
        at += 1
        while len(samples) < SHORTEST * RATE:
            more = sentences[at % len(sentences)]
            at += 1
            pause = spoken(more, voice=voice, speed=speed, before=0.25, after=0.0)
            said, samples = f"{said} {more}", np.concatenate((samples, pause))
        if len(samples) <= LONGEST * RATE:
            made.append((said, samples))
    return made


async def _tell(
    recogniser: LocalRecogniser, samples: np.ndarray, show: Callable[[Partial], None], pace: float
) -> tuple[str, float]:
    """What was understood, and the seconds from the last sound to it; at `pace` 1 it comes as it
    is spoken, at 0 all at once."""
    pcm = (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()
    begun = time.perf_counter()
    hearing = recogniser.hear(show)
    for at in range(0, len(pcm), 2 * PORTION):
        due = begun + min(len(pcm), at + 2 * PORTION) / 2 / RATE * pace
        if (early := due - time.perf_counter()) > 0:
            await asyncio.sleep(early)
        hearing.add(pcm[at : at + 2 * PORTION])
    begun = time.perf_counter()
    try:
        text = (await hearing.finish()).text
    except InputError:
        text = ""
    return text, time.perf_counter() - begun


async def _request(recogniser: LocalRecogniser, said: str, samples: np.ndarray) -> Told:
    told = Told(said)
    begun = time.perf_counter()
    shown: list[tuple[float, int]] = []

    def show(partial: Partial) -> None:
        shown.append((time.perf_counter() - begun, len(partial.text.split())))

    lasting = np.pad(samples, (0, int(RELEASE_SECONDS * RATE)))
    told.live, told.release = await _tell(recogniser, lasting, show, 1.0)
    told.whole, told.whole_seconds = await _tell(recogniser, lasting, lambda partial: None, 0.0)
    _, told.release_at_once = await _tell(recogniser, samples, lambda partial: None, 1.0)
    told.delays = _delays(said, samples, shown)
    return told


def _delays(said: str, samples: np.ndarray, shown: list[tuple[float, int]]) -> list[float]:
    """How long after a word was over a partial first had as many words; words are taken to be as
    long as they have letters. Those that only the transcript had are left out."""
    words = said.split()
    ends = np.cumsum([len(word) + 1 for word in words])
    over = 0.2 + (len(samples) / RATE - 0.2) * ends / ends[-1]
    delays = []
    for count, end in enumerate(over.tolist(), 1):
        times = [at for at, seen in shown if seen >= count]
        if times:
            delays.append(max(0.0, min(times) - end))
    return delays


async def measure(weights: Path, count: int) -> list[Told]:
    """All requests, one after the other."""
    recogniser = LocalRecogniser(find_weights=lambda: weights, language="en")
    try:
        await recogniser.warm()
        given = requests(count)
        await _tell(recogniser, given[0][1], lambda partial: None, 0.0)
        return [await _request(recogniser, said, samples) for said, samples in given]
    finally:
        await recogniser.close()


def _rate(told: list[Told], heard: Callable[[Told], str]) -> float:
    return float(
        jiwer.wer(
            [each.said for each in told],
            [heard(each) or "∅" for each in told],
            reference_transform=NORMALISED,
            hypothesis_transform=NORMALISED,
        )
    )


def _spread(seconds: list[float]) -> str:
    middle, most = np.percentile(seconds, [50, 95]) * 1000
    return f"p50 {middle:.0f} ms, p95 {most:.0f} ms"


def rows(name: str, told: list[Told]) -> list[Row]:
    """What is shown of one engine."""
    ratio = [each.release / each.whole_seconds for each in told]
    at_once = [each.release_at_once / each.whole_seconds for each in told]
    delays = [delay for each in told for delay in each.delays]
    return [
        (f"{name}: release to transcript", _spread([each.release for each in told]), ""),
        (f"{name}: whole after release", _spread([each.whole_seconds for each in told]), ""),
        (f"{name}: their ratio", f"p50 {np.median(ratio):.2f}, mean {np.mean(ratio):.2f}", "0.50"),
        (f"{name}: ratio, let go with the last sound", f"p50 {np.median(at_once):.2f}", ""),
        (f"{name}: partial behind the voice", _spread(delays) if delays else "none", "700 ms"),
        (f"{name}: words wrong, live", f"{_rate(told, lambda each: each.live):.3f}", ""),
        (f"{name}: words wrong, whole", f"{_rate(told, lambda each: each.whole):.3f}", "live"),
    ]


def table(count: int = 20, weights: Path = SHIPPED, name: str = "Whisper") -> list[Row]:
    """What was measured, and its limit."""
    return rows(name, asyncio.run(measure(weights, count)))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--whisper", type=Path, default=SHIPPED, metavar="WEIGHTS")
    chosen = parser.parse_args()
    made = table(chosen.count, chosen.whisper)
    for what, figure, limit in made:
        print(f"{what:46} {figure:28} {limit}")


if __name__ == "__main__":
    main()
