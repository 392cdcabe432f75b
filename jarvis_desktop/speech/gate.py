"""Finds where people speak in a recording, before anything guesses words in noise.

Uses the Silero VAD that ships with faster-whisper (no torch). Only imported in child processes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from faster_whisper.vad import VadOptions, get_speech_timestamps, get_vad_model

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.speech.decoding import RATE, Samples

SHORTEST_SECONDS = 0.15
SILENT_PEAK = 0.001
"""-60 dB of full scale: a muted or unplugged microphone gives less."""
QUIET_PEAK = 0.03
"""Quieter recordings are lifted to this: below it Silero starts to miss speech."""

SPEECH_FRAMES = 4
SURE = 0.65
LIKELY = 0.5
"""Speech is four frames that are likely speech and one that surely is: measured on 120 recordings
of speech and 24 of other sounds, where music, animals and kitchens stay below both."""

SETTLE = RATE // 2
PADDING_SECONDS = 0.25
PAUSE_SECONDS = 0.5

Stretch = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Speech:
    """A recording with silence before and after, and the stretches in which somebody speaks."""

    samples: Samples
    stretches: tuple[Stretch, ...]

    def time(self, sample: int) -> float:
        """The second of the recording at which a sample was heard."""
        return max(0, sample - SETTLE) / RATE

    @property
    def seconds(self) -> float:
        """How long is spoken."""
        return sum(end - start for start, end in self.stretches) / RATE

    def parts(self) -> list[Samples]:
        """The stretches one by one."""
        return [self.samples[start:end] for start, end in self.stretches]


def find_speech(samples: Samples, name: str) -> Speech:
    """Where is spoken. Raises InputError that says why there is nothing to recognise."""
    peak = float(np.abs(samples).max()) if len(samples) else 0.0
    if peak < SILENT_PEAK:
        raise InputError(
            f"There is no sound in {name}.",
            hint="Check that the right microphone is chosen and not muted.",
        )
    if len(samples) < SHORTEST_SECONDS * RATE:
        raise InputError(
            f"{name} is too short to hold a word.",
            hint="Hold the key for as long as you speak.",
        )
    if peak < QUIET_PEAK:
        samples = samples * np.float32(QUIET_PEAK / peak)
    # Silence around it lets the detector settle before a word that starts at once.
    around = np.zeros(SETTLE, np.float32)
    padded = np.concatenate((around, samples, around))
    likely = get_vad_model()(np.pad(padded, (0, -len(padded) % 512))).ravel()
    if (likely >= LIKELY).sum() < SPEECH_FRAMES or likely.max() < SURE:
        raise not_speech(name)
    found: list[dict[str, Any]] = get_speech_timestamps(
        padded,
        VadOptions(
            threshold=LIKELY,
            min_silence_duration_ms=int(PAUSE_SECONDS * 1000),
            speech_pad_ms=int(PADDING_SECONDS * 1000),
        ),
    )
    return Speech(padded, tuple((stretch["start"], stretch["end"]) for stretch in found))


def not_speech(name: str) -> InputError:
    """The reason where there is sound but nobody speaks."""
    return InputError(
        f"Nobody seems to speak in {name}.", hint="Speak closer to the microphone and try again."
    )
