"""How well the test recogniser hears, through faster-whisper as the application uses it."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jiwer
import numpy as np
from phrases import Phrase, Phrases
from recordings import noise
from speaking import RATE, Manner, Samples, espeak, manner, unheard

NO_SPEECH, LEAST_LOGPROB = 0.6, -1.0
"""As in jarvis_desktop/speech/streaming_whisper.py."""
NORMALISED = jiwer.Compose(
    [
        jiwer.ToLowerCase(),
        jiwer.RemovePunctuation(),  # type: ignore[no-untyped-call]
        jiwer.RemoveMultipleSpaces(),
        jiwer.Strip(),
        jiwer.ReduceToListOfListOfWords(),
    ]
)


@dataclass(frozen=True)
class Heard:
    """What came of one sound."""

    text: str
    no_speech: float
    log_probability: float
    """Of the least sure segment; 0 where there is none."""
    spans: tuple[tuple[float, float], ...]


def hear(whisper: Any, sound: Samples, *, timed: bool = False) -> Heard:
    """The words, by the application's settings."""
    found, _ = whisper.transcribe(
        sound,
        language="en",
        beam_size=1,
        temperature=0.0,
        condition_on_previous_text=False,
        without_timestamps=not timed,
    )
    pieces = list(found)
    kept = [
        piece
        for piece in pieces
        if piece.no_speech_prob <= NO_SPEECH or piece.avg_logprob >= LEAST_LOGPROB
    ]
    return Heard(
        " ".join(piece.text.strip() for piece in kept),
        max((piece.no_speech_prob for piece in pieces), default=1.0),
        min((piece.avg_logprob for piece in pieces), default=0.0),
        tuple((piece.start, piece.end) for piece in pieces),
    )


def said(phrase: Phrase, how: Manner) -> Samples:
    """Somebody says it, with a quarter of a second of silence on both sides."""
    quarter = np.zeros(RATE // 4, np.float32)
    return np.concatenate((quarter, espeak().say(phrase, how).samples, quarter))


Voices = Callable[[random.Random], Manner]


@dataclass
class Figures:
    """What came of some sentences."""

    rate: float
    """Words that are wrong, as a share."""
    wrong: list[str]
    heard: list[Heard]


def figures(whisper: Any, phrases: Iterable[Phrase], voices: Voices, seed: int) -> Figures:
    """Each phrase is said by some voice."""
    dice = random.Random(seed)
    truth: list[str] = []
    found = Figures(0, [], [])
    for phrase in phrases:
        how = voices(dice)
        found.heard.append(hear(whisper, said(phrase, how)))
        truth.append(" ".join(phrase))
        if jiwer.wer(truth[-1], found.heard[-1].text, NORMALISED, NORMALISED) > 0:
            found.wrong.append(f"{how.voice} {how.speed}: {truth[-1]} -> {found.heard[-1].text}")
    guesses = [heard.text for heard in found.heard]
    found.rate = jiwer.wer(truth, guesses, NORMALISED, NORMALISED)
    return found


def quick(folder: Path, known: Phrases) -> float:
    """A rough figure while training goes on."""
    whisper = load(folder)
    some = random.Random(5).sample(known.taught, 30)
    one = figures(whisper, some, unheard, 1)
    other = figures(whisper, known.held_out[:30], manner, 2)
    silent = sum(bool(hear(whisper, sound).text) for sound in _silences()[:8])
    print("\n".join((one.wrong + other.wrong)[::4]))
    print(
        f"unheard voices {one.rate:.3f}, held-out sentences {other.rate:.3f}, "
        f"silence heard {silent}/8",
        flush=True,
    )
    return (one.rate + other.rate) / 2


def load(folder: Path) -> Any:
    """As the application loads it."""
    from faster_whisper import WhisperModel

    return WhisperModel(
        str(folder), device="cpu", compute_type="int8", cpu_threads=1, local_files_only=True
    )


def _silences() -> list[Samples]:
    """Digital silence, then noises loud and quiet."""
    still = [np.zeros(int(RATE * seconds), np.float32) for seconds in (0.5, 1, 3, 10)]
    noises = [noise(np.random.default_rng(10_000 + number)) for number in range(40)]
    return still + [sound * np.float32(0.02 if n % 2 else 0.6) for n, sound in enumerate(noises)]


def whole(folder: Path, known: Phrases) -> str:
    """Every figure, as a table for the card."""
    whisper = load(folder)
    dice = random.Random(3)
    sets: list[tuple[str, Iterable[Phrase], Voices]] = [
        ("as tests say them: taught sentences, en-us, 150 words a minute", known.taught, usual),
        ("taught sentences, known voices", known.taught, manner),
        ("taught sentences, unheard voices", known.taught, unheard),
        ("held-out sentences, en-us, 150 words a minute", known.held_out, usual),
        ("held-out sentences, known voices", known.held_out, manner),
        ("held-out sentences, unheard voices", known.held_out, unheard),
    ]
    rows = ["| | |", "|---|---|"]
    for at, (name, phrases, voices) in enumerate(sets):
        some = dice.sample(list(phrases), 50)
        found = figures(whisper, some, voices, 100 + at)
        print("\n".join(found.wrong[:20]), flush=True)
        clean = f"{len(some) - len(found.wrong)} of {len(some)} without a mistake"
        rows.append(f"| word error rate, {name} | {100 * found.rate:.1f} %, {clean} |")
    silences = [hear(whisper, sound) for sound in _silences()]
    invented = sum(bool(heard.text) for heard in silences)
    rows.append(f"| words heard in {len(silences)} silences and noises | {invented} times |")
    speech = found.heard
    rows.append(f"| highest `no_speech_prob` of speech | {max(s.no_speech for s in speech):.2f} |")
    lowest = min(heard.no_speech for heard in silences)
    rows.append(f"| lowest `no_speech_prob` of silences and noises | {lowest:.2f} |")
    middle = sorted(s.log_probability for s in speech)
    rows.append(f"| `avg_logprob` of speech, median | {middle[len(middle) // 2]:.2f} |")
    rows.append(f"| the same, lowest of {len(speech)} | {middle[0]:.2f} |")
    for seconds in (3, 5):
        sound = _long(known, seconds)
        began = time.process_time()
        for _ in range(5):
            hear(whisper, sound)
        took = (time.process_time() - began) / 5
        rows.append(f"| processor time to hear {seconds} s | {took:.2f} s |")
    return "\n".join(rows)


def usual(dice: random.Random) -> Manner:
    """The voice of most tests."""
    return Manner("en-us", 150, 50, 50)


def _long(known: Phrases, seconds: float) -> Samples:
    how = Manner("en-us", 150, 50, 50)
    sounds = np.concatenate([said(phrase, how) for phrase in known.held_out[:6]])
    return sounds[: int(seconds * RATE)]
