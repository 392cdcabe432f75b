"""Works out how loud a sound of any length is. Only imported in child processes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import numpy as np

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.speech.playable import opened
from jarvis_desktop.ui.media.found import Peaks

FINEST = 0.005
"""Seconds that one value stands for at first; twice as many whenever there are too many values."""
MOST = 1200
LONGEST = 24 * 3600.0
"""Seconds of sound that are listened to."""


def peaks(path: Path, stretch: float) -> Iterator[Peaks]:
    """What is known after each `stretch` seconds of work; the last is all of it.

    Raises InputError where there is no sound.
    """
    until = time.monotonic() + stretch
    with opened(path, 0.0) as file:
        loudness = _Loudness(max(1, round(FINEST * file.rate)))
        for block in file.blocks:
            # numpy takes ten times as long to reduce a short axis itself.
            loudness.add(reduce(np.maximum, np.abs(block).T))
            length = loudness.frames / file.rate
            if length > LONGEST:
                break
            if time.monotonic() > until:
                whole = max(file.length, length)
                yield Peaks(whole, loudness.values(), min(length / whole, 0.999))
                until = time.monotonic() + stretch
        if not loudness.frames:
            raise InputError(tr("{name} holds no sound at all.", name=path.name))
        yield Peaks(loudness.frames / file.rate, loudness.values())


class _Loudness:
    """The loudest frame of each stretch; the stretches grow so that there are never many."""

    def __init__(self, size: int) -> None:
        self.frames = 0
        self._size = size
        self._found = np.zeros(0, np.float32)
        self._rest = np.zeros(0, np.float32)

    def add(self, levels: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
        self.frames += len(levels)
        levels = np.concatenate((self._rest, levels))
        whole = len(levels) // self._size * self._size
        new = levels[:whole].reshape(-1, self._size).max(axis=1)
        self._found, self._rest = np.concatenate((self._found, new)), levels[whole:]
        while len(self._found) > MOST:
            odd = self._found[len(self._found) // 2 * 2 :].repeat(self._size)
            self._found = self._found[: len(self._found) // 2 * 2].reshape(-1, 2).max(axis=1)
            self._rest = np.concatenate((odd, self._rest))
            self._size *= 2

    def values(self) -> bytes:
        found = self._found if len(self._found) else self._rest.max(initial=0.0, keepdims=True)
        scaled = np.nan_to_num(found).clip(0.0, 1.0) * 255
        return scaled.astype(np.uint8).tobytes()
