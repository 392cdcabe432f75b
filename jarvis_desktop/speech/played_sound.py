"""What the processes of sound share: what is being played, for the microphone's, and what cannot
wait for a call between the player and its own. Moments are those of `time.monotonic`, which is the
same in all processes."""

from __future__ import annotations

import ctypes
import math
import multiprocessing
from typing import Any

from jarvis_desktop.core.i18n import mark

CAPACITY = 1 << 17
"""Frames that are kept: 2.7 s at 48 kHz. A device takes sound a fraction of a second early."""
FULL_SCALE = 32767


class _Shared(ctypes.Structure):
    _fields_ = (
        ("wanted", ctypes.c_int64),  # whether anybody needs it; otherwise nothing is written
        ("rate", ctypes.c_int64),  # frames per second; 0 before the first one
        ("begun", ctypes.c_int64),  # the first frame of the stream that runs
        ("end", ctypes.c_int64),  # frames written so far
        ("zero", ctypes.c_double),  # when frame 0 of that stream would have been heard
        ("ring", ctypes.c_int16 * CAPACITY),
    )


class PlayedSound:
    """The last seconds that were given to the sound device, and when they are heard. Is passed to
    both processes as an argument of their factories. One thread writes; there are no locks, because
    a process that is killed would leave them locked."""

    def __init__(self, *, wanted: bool = True) -> None:
        self.shared: Any = multiprocessing.get_context("spawn").RawValue(_Shared)
        self.shared.wanted = wanted

    def begin(self, rate: int) -> None:
        """Begin a stream."""
        shared = self.shared
        shared.zero, shared.begun, shared.rate = 0.0, shared.end, rate

    def add(self, block: Any, heard: float) -> None:
        """Append frames (-1 to 1, in any number of channels), the first of which is heard at a
        moment of `time.monotonic`."""
        import numpy as np

        shared = self.shared
        if not shared.wanted:
            return
        at, count = shared.end % CAPACITY, len(block)
        shared.zero = heard - shared.end / shared.rate
        mono = np.clip(block.mean(axis=1) * FULL_SCALE, -FULL_SCALE, FULL_SCALE).astype(np.int16)
        ring = np.frombuffer(shared.ring, np.int16)
        first = min(count, CAPACITY - at)
        ring[at : at + first], ring[: count - first] = mono[:first], mono[first:]
        shared.end += count

    def stop(self, now: float) -> None:
        """Forget what was given to the device and is not heard any more."""
        shared = self.shared
        if shared.zero:
            heard = int((now - shared.zero) * shared.rate)
            shared.end = max(shared.begun, min(shared.end, heard))

    def coming(self, after: float) -> bool:
        """Whether something is heard after this moment."""
        shared = self.shared
        return bool(
            shared.wanted and shared.zero and shared.zero + shared.end / shared.rate > after
        )

    def place(self, moment: float) -> int:
        """The frame that is heard at this moment."""
        return round(float((moment - self.shared.zero) * self.shared.rate))

    def frames(self, start: int, count: int) -> Any:
        """Frames (int16) from a place on; zeros for what is not played."""
        import numpy as np

        shared = self.shared
        found = np.zeros(count, np.int16)
        first = max(start, shared.begun, shared.end - CAPACITY)
        last = min(start + count, shared.end)
        if first < last:
            ring = np.frombuffer(shared.ring, np.int16)
            found[first - start : last - start] = ring[np.arange(first, last) % CAPACITY]
        return found


HUNG_HINT = mark("The sound service of this computer may hang; restart it or log in again.")


class _SharedPlayback(ctypes.Structure):
    _fields_ = (
        ("silences", ctypes.c_int64),  # requests for silence
        ("silent", ctypes.c_int64),  # the last request for silence that was served
        ("beats", ctypes.c_int64),  # signs of life of the process
        ("patience", ctypes.c_double),  # for how many seconds the process may give no sign of life
        ("share", ctypes.c_double),  # the volume, 0 to 1
        # When the beginning of the current file was heard, or would have been; NaN if none plays.
        ("zero", ctypes.c_double),
    )


class SoundLine:
    """Is passed to the process as an argument of its factory. There are no messages: a process that
    is killed while it reads one would leave half of it to the next process. The wake-up signal is
    therefore empty, and may come once too often. `played` receives what is heard."""

    def __init__(self, played: PlayedSound | None = None) -> None:
        self.played = played or PlayedSound(wanted=False)
        context = multiprocessing.get_context("spawn")
        self.shared: Any = context.RawValue(_SharedPlayback)
        self.shared.share = 1.0
        self.shared.zero = math.nan
        self._hears, self._wakes = context.Pipe(duplex=False)

    def beat(self) -> None:
        """Give a sign of life."""
        self.shared.beats += 1

    def be_patient(self, seconds: float) -> None:
        """Give a sign of life, and the next one within `seconds`."""
        self.beat()
        self.shared.patience = seconds

    def wake(self) -> None:
        """Let `wait` return. Only while a process runs: the pipe holds some thousand of these."""
        self._wakes.send_bytes(b"")

    def wait(self, seconds: float) -> bool:
        """Wait until woken; False after a timeout."""
        woken = self._hears.poll(seconds)
        if woken:
            self._hears.recv_bytes()
        return woken
