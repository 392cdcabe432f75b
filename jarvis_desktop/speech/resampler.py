"""Resamples what a device gives or takes to RATE. Only imported in child processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from jarvis_desktop.core.speech import RATE

Samples = np.ndarray[Any, np.dtype[np.int16]]


class Resampler:
    """Resamples from the rate of a device to RATE, block by block."""

    def __init__(self, rate: int) -> None:
        import av

        self._rate = rate
        self._frame = av.AudioFrame
        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)

    def __call__(self, samples: Samples) -> Samples:
        """Resample a block; its last samples come with the next one."""
        if not len(samples):
            return samples
        frame = self._frame.from_ndarray(samples[None, :], format="s16", layout="mono")
        frame.sample_rate = self._rate
        pieces = [piece.to_ndarray()[0] for piece in self._resampler.resample(frame)]
        return np.concatenate(pieces) if pieces else samples[:0]
