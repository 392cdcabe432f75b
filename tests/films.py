"""Small films for tests: each second has a brightness of its own, by which a frame is known."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import soundfile

STEP = 20
"""How much brighter a second is than the one before, from 0 to 255."""


def write_film(
    to: Path,
    *,
    seconds: float = 0.0,
    size: tuple[int, int] = (64, 48),
    rate: int = 25,
    sound: Path | None = None,
    delay: float = 0.0,
) -> Path:
    """A film of MPEG-4, with the sound of a WAV file, which begins `delay` seconds late."""
    samples, hertz = soundfile.read(sound, dtype="float32") if sound else (np.zeros(0), 1)
    seconds = seconds or len(samples) / hertz
    with av.open(str(to), "w") as container:
        stream: Any = container.add_stream("mpeg4", rate=rate)
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        track: Any = container.add_stream("aac", rate=hertz, layout="mono") if sound else None
        for number in range(round(seconds * rate)):
            grey = np.full((size[1], size[0], 3), STEP * (number // rate) % 256, np.uint8)
            frame = av.VideoFrame.from_ndarray(grey, format="rgb24")
            frame.pts = number
            frame.time_base = Fraction(1, rate)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
        if track:
            for at in range(0, len(samples), 1024):
                block = np.ascontiguousarray(samples[np.newaxis, at : at + 1024], np.float32)
                sounds = av.AudioFrame.from_ndarray(block, format="fltp", layout="mono")
                sounds.sample_rate = hertz
                sounds.pts = at + round(delay * hertz)
                sounds.time_base = Fraction(1, hertz)
                container.mux(track.encode(sounds))
            container.mux(track.encode(None))
    return to
