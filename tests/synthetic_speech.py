"""Sentences by espeak-ng or by the shipped voice, which the shipped recogniser understands."""

from __future__ import annotations

import subprocess
import tempfile
import wave
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from jarvis_desktop.speech.decoding import RATE, decode

NEURAL = "heart"
"""The shipped voice: clearer than espeak-ng, for words that must be heard whatever the timing."""


@cache
def _neural() -> Any:
    from hibari import Hibari

    return Hibari(NEURAL)


def spoken(
    text: str,
    *,
    voice: str = "en-us",
    speed: int = 150,
    pitch: int = 50,
    before: float = 0.25,
    after: float = 0.25,
) -> np.ndarray:
    """A sentence at RATE; seconds of silence before and after it."""
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.wav"
        if voice == NEURAL:
            said = _neural().from_phonemes(_neural().g2p(text), seed=0)
            write(said, raw, rate=_neural().sample_rate)
        else:
            how = ("-v", voice, "-s", str(speed), "-p", str(pitch))
            subprocess.run(("espeak-ng", *how, "-w", str(raw), text), check=True)
        samples = decode(raw)
    loud = np.flatnonzero(np.abs(samples) > 0.002)
    samples = samples[: loud[-1] + 1]
    return np.pad(samples, (int(before * RATE), int(after * RATE)))


def write(samples: np.ndarray, to: Path, *, rate: int = RATE) -> Path:
    """A WAV of samples."""
    with wave.open(str(to), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return to


def speak(text: str, to: Path, **how) -> Path:
    """A 16 kHz WAV of a sentence; `how` as `spoken` takes it."""
    return write(spoken(text, **how), to)
