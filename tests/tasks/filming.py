"""Videos that tests make."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np


def film(
    path: Path, *, seconds: int = 4, sound: bool = True, rate: int = 10, codec: str = "mpeg4"
) -> Path:
    """A video whose grey grows by 50 each second, from 25 on, with a tone if it has `sound`."""
    with av.open(str(path), "w") as out:
        video: Any = out.add_stream(codec, rate=rate)
        video.width, video.height, video.pix_fmt = 96, 64, "yuv420p"
        video.bit_rate = 400_000
        audio = out.add_stream("aac", rate=16_000, layout="mono") if sound else None
        for i in range(seconds * rate):
            grey = np.full((64, 96, 3), 25 + 50 * (i // rate), np.uint8)
            out.mux(video.encode(av.VideoFrame.from_ndarray(grey, format="rgb24")))
        out.mux(video.encode())
        if audio is not None:
            times = np.arange(seconds * 16_000) / 16_000
            tone = (0.5 * np.sin(2 * np.pi * 440 * times)).astype(np.float32)
            for start in range(0, len(tone), 1024):
                frame = av.AudioFrame.from_ndarray(
                    tone[None, start : start + 1024], format="fltp", layout="mono"
                )
                frame.sample_rate, frame.pts = 16_000, start
                out.mux(audio.encode(frame))
            out.mux(audio.encode())
    return path
