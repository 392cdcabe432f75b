"""The store of what is learnt from: log-mel spectra of spoken phrases and of noises.

Made once, kept in two files; the front end is faster-whisper's, without its last step, the clipping
below the loudest place, since sounds are cut, joined and mixed before it.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import phrases
from faster_whisper.feature_extractor import FeatureExtractor
from phrases import Phrase, Phrases
from speaking import RATE, Manner, Samples, espeak, manner

HOP = 160
FLOOR = -10.0
"""The logarithm of what digital silence is taken for."""
QUIET = 4e-3
NOISES = 400
TIMES_SENTENCE, TIMES_WORD, TIMES_SHORT = 9, 6, 16
WALKS, SALADS = 4_500, 1_200

Mel = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class Recording:
    """A phrase as somebody said it; frames of the store from `at` on."""

    phrase: Phrase
    voice: str
    at: int
    length: int
    starts: tuple[int | None, ...]
    """The frame at which each word begins."""


@dataclass(frozen=True)
class Store:
    """Everything that examples are made of."""

    frames: np.ndarray[Any, np.dtype[np.float16]]
    spoken: list[Recording]
    noises: list[tuple[int, int]]

    def mel(self, at: int, length: int) -> Mel:
        """Some frames, each 80 logarithms."""
        return self.frames[at : at + length].astype(np.float32)


@cache
def _extractor() -> Any:
    return FeatureExtractor()


def spectrum(samples: Samples) -> Mel:
    """faster-whisper's log-mel spectrum (frames, 80) before it is clipped and scaled."""
    front = _extractor()
    window = np.hanning(front.n_fft + 1)[:-1].astype("float32")
    padded = np.pad(samples, (0, HOP))
    wave = front.stft(padded, front.n_fft, HOP, window=window, return_complex=True)
    power = np.abs(wave[..., :-1].astype("complex64")) ** 2
    log = np.log10(np.clip(front.mel_filters @ power, 1e-10, None))
    return np.ascontiguousarray(log.T[:-1], dtype=np.float32)


def _spoken(job: tuple[Phrase, Manner]) -> tuple[np.ndarray[Any, Any], tuple[int | None, ...]]:
    """The frames until the voice ends, and the words' first frames."""
    said = espeak().say(*job)
    loud = np.flatnonzero(np.abs(said.samples) > QUIET)
    end = min(len(said.samples), (int(loud[-1]) if len(loud) else 0) + RATE // 25)
    starts = tuple(None if at is None else at // HOP for at in said.starts)
    return spectrum(said.samples[:end]).astype(np.float16), starts


def noise(dice: np.random.Generator) -> Samples:
    """Three seconds of something that is not speech."""
    count = 3 * RATE
    times = np.arange(count) / RATE
    sound = np.zeros(count)
    kind = dice.choice(["coloured", "hum", "tone", "clicks", "chirp", "chord", "mixed"])
    if kind in ("coloured", "mixed", "hum"):
        shape = np.fft.rfftfreq(count, 1 / RATE) + 20
        white = np.fft.rfft(dice.standard_normal(count)) * shape ** -dice.uniform(0, 1.2)
        if dice.random() < 0.4:
            middle, width = dice.uniform(200, 6000), dice.uniform(100, 3000)
            white *= np.exp(-(((shape - middle) / width) ** 2))
        coloured = np.fft.irfft(white, count)
        sound += coloured / np.abs(coloured).max()
    if kind in ("hum", "tone", "mixed", "chord"):
        for _ in range(int(dice.integers(1, 5))):
            pitch = 50.0 if kind == "hum" else float(dice.uniform(60, 4000))
            shake = 1 + 0.5 * np.sin(2 * np.pi * dice.uniform(0.2, 8) * times)
            strength = dice.uniform(0.1, 1)
            for overtone in range(1, int(dice.integers(2, 6))):
                sound += strength / overtone * shake * np.sin(2 * np.pi * pitch * overtone * times)
    if kind == "chirp":
        low, high = dice.uniform(100, 4000, 2)
        sound += np.sin(2 * np.pi * (low * times + (high - low) * times**2 / 6))
    if kind in ("clicks", "mixed"):
        for at in dice.integers(0, count - 2000, int(dice.integers(1, 15))):
            fading = np.exp(-np.arange(2000) / dice.uniform(10, 400))
            sound[at : at + 2000] += dice.uniform(0.2, 3) * dice.standard_normal(2000) * fading
    return np.asarray(0.5 * sound / np.abs(sound).max(), np.float32)


def jobs(known: Phrases, dice: random.Random) -> Iterator[tuple[Phrase, Manner]]:
    """Who says what."""
    twins = {"to", "two", "for", "four", "right", "write", "sea", "see"}
    words = [word for word in known.words if word not in twins]
    said = [
        phrase
        for phrase in known.taught
        for _ in range(TIMES_SHORT if len(phrase) < 4 else TIMES_SENTENCE)
    ]
    said += [phrases.ended([word]) for word in words for _ in range(TIMES_WORD)]
    said += phrases.walks(known, WALKS, dice) + phrases.salads(words, SALADS, dice)
    dice.shuffle(said)
    return ((phrase, manner(dice)) for phrase in said)


def make(folder: Path, known: Phrases, seed: int) -> Store:
    """The store in a folder, made where it is not there yet."""
    index, data = folder / "index.pickle", folder / "frames.f16"
    if not index.is_file():
        todo = list(jobs(known, random.Random(seed)))
        spoken: list[Recording] = []
        noises: list[tuple[int, int]] = []
        at = 0
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool, data.open("wb") as to:
            results = pool.map(_spoken, todo, chunksize=50)
            for (phrase, how), (frames, starts) in zip(todo, results, strict=True):
                to.write(frames.tobytes())
                spoken.append(Recording(phrase, how.voice, at, len(frames), starts))
                at += len(frames)
            for number in range(NOISES):
                frames = spectrum(noise(np.random.default_rng(number))).astype(np.float16)
                to.write(frames.tobytes())
                noises.append((at, len(frames)))
                at += len(frames)
        index.write_bytes(pickle.dumps((spoken, noises)))
    spoken, noises = pickle.loads(index.read_bytes())  # noqa: S301 - our own
    frames = np.memmap(data, np.float16, "r").reshape(-1, 80)
    return Store(frames, spoken, noises)
