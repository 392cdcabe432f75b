"""Builds resources/sounds/ring.wav, the two-tone bell of a timer, from partials of a small bell.

python3 packaging/build_sounds.py [FOLDER]
"""

from __future__ import annotations

import sys
import wave
from pathlib import Path
from typing import Any

import numpy as np

RATE = 22_050
TONES = ((0.0, 987.77), (0.42, 783.99))
"""When each tone begins (seconds) and how high it is (hertz): B5, then G5."""
PARTIALS = ((1.0, 1.0, 3.2), (2.0, 0.45, 4.5), (2.76, 0.30, 6.5), (5.40, 0.12, 11.0))
"""Of each partial: its frequency over the tone's, its loudness, how fast it fades (1/seconds)."""
SECONDS = 1.6
LOUDNESS = 0.6


def ring() -> np.ndarray[Any, np.dtype[np.int16]]:
    """The bell as 16-bit samples."""
    sound = np.zeros(int(SECONDS * RATE))
    for begins, frequency in TONES:
        times = np.arange(len(sound)) / RATE - begins
        struck = times >= 0
        for ratio, loud, fade in PARTIALS:
            wave_form = np.sin(2 * np.pi * frequency * ratio * times)
            sound += np.where(struck, loud * wave_form * np.exp(-fade * np.maximum(times, 0)), 0)
    # A short rise and fall, or the ends would click.
    ends = np.minimum(np.arange(len(sound)), np.arange(len(sound))[::-1]) / (0.01 * RATE)
    sound *= np.clip(ends, 0, 1)
    return np.asarray(sound / np.abs(sound).max() * LOUDNESS * 32767, dtype=np.int16)


def main(folder: Path) -> None:
    """Write the sounds into a folder."""
    to = folder / "ring.wav"
    with wave.open(str(to), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(ring().astype("<i2").tobytes())
    print(f"{to}: {to.stat().st_size:,} bytes")


if __name__ == "__main__":
    default = Path(__file__).parents[1] / "resources" / "sounds"
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else default)
