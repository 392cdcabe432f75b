"""Makes the finished WAV file of what an engine left, if there is sound in it.

An engine that was given what it cannot say returns as if all were well.
"""

from __future__ import annotations

import wave
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.core.errors import ExpertError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SILENT = "The voice gave no sound for this text."


def audible(part: Path) -> bool:
    """Whether a WAV or AIFF file is complete and there is sound in it."""
    try:
        with part.open("rb") as file:
            if file.read(4) == b"RIFF":
                return _wave_sounds(part)
        import soundfile

        with soundfile.SoundFile(part) as sound:
            return any(abs(block).max() > 0 for block in sound.blocks(65_536, dtype="int16"))
    except (OSError, EOFError, wave.Error, RuntimeError):
        return False


def _wave_sounds(part: Path) -> bool:
    """Needs no library that takes long to load."""
    with wave.open(str(part), "rb") as file:
        samples = file.readframes(file.getnframes())
        whole = len(samples) == file.getnframes() * file.getnchannels() * file.getsampwidth()
        return whole and samples.count(0) < len(samples)


def keep(part: Path, to: Path) -> None:
    """Put a file that an engine wrote where it belongs, as WAV. Raises ExpertError if silent."""
    if not audible(part):
        raise ExpertError(SILENT)
    with part.open("rb") as file:
        is_wave = file.read(4) == b"RIFF"
    if is_wave:
        part.replace(to)
    else:  # macOS writes AIFF whatever the name
        import soundfile

        samples, rate = soundfile.read(part, dtype="int16")
        soundfile.write(to, samples, rate, format="WAV", subtype="PCM_16")


def write(samples: NDArray[np.float32], rate: int, to: Path, volume: float) -> None:
    """A WAV file of samples between -1 and 1. Raises ExpertError where they are silence."""
    import numpy as np

    if not samples.size or not np.isfinite(samples).all() or np.abs(samples).max() < 1 / 32768:
        raise ExpertError(SILENT)
    whole = (np.clip(samples, -1, 1) * volume * 32767).astype("<i2")
    part = to.with_name(f".{to.stem}.part.wav")
    try:
        with wave.open(str(part), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(whole.tobytes())
        part.replace(to)
    finally:
        part.unlink(missing_ok=True)
