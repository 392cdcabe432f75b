"""What a player and its process tell each other beside the calls, at once: memory that both see,
and a pipe that wakes the process."""

from __future__ import annotations

import ctypes
import math
import multiprocessing


class _Shared(ctypes.Structure):
    silences: int
    silent: int
    beats: int
    patience: float
    share: float
    zero: float
    _fields_ = (
        ("silences", ctypes.c_int64),
        ("silent", ctypes.c_int64),
        ("beats", ctypes.c_int64),
        ("patience", ctypes.c_double),
        ("share", ctypes.c_double),
        ("zero", ctypes.c_double),
    )


class SoundLine:
    """Goes to the process as an argument of its factory.

    Not a message for each thing: a process that is killed while it reads one would leave the next
    process half of it. What wakes is therefore empty, and may come once too often.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._shared: _Shared = context.RawValue(_Shared)
        self._shared.share = 1.0
        self._shared.zero = math.nan
        self._hears, self._wakes = context.Pipe(duplex=False)

    @property
    def silences(self) -> int:
        """How often silence was asked for."""
        return self._shared.silences

    def ask_for_silence(self) -> int:
        """Nothing that was asked for until now is to be heard any more; the number of this wish."""
        self._shared.silences += 1
        return self._shared.silences

    @property
    def silent(self) -> int:
        """The last wish for silence that was fulfilled."""
        return self._shared.silent

    @silent.setter
    def silent(self, wish: int) -> None:
        self._shared.silent = wish

    @property
    def share(self) -> float:
        """At which share of the volume is played, 0 to 1."""
        return self._shared.share

    @share.setter
    def share(self, share: float) -> None:
        self._shared.share = share

    @property
    def zero(self) -> float:
        """When the beginning of the file that plays was heard, or would have been, by the clock
        `time.monotonic`, which is the same in all processes; NaN while none plays."""
        return self._shared.zero

    @zero.setter
    def zero(self, moment: float) -> None:
        self._shared.zero = moment

    @property
    def beats(self) -> int:
        """How often the process has shown that it is not stuck."""
        return self._shared.beats

    def beat(self) -> None:
        """Show it once more."""
        self._shared.beats += 1

    @property
    def patience(self) -> float:
        """For how many seconds it may show nothing."""
        return self._shared.patience

    def be_patient(self, seconds: float) -> None:
        """Show it, and then nothing for at most so many seconds."""
        self.beat()
        self._shared.patience = seconds

    def wake(self) -> None:
        """Let `wait` return. Only where a process lives: the pipe takes some thousand of these."""
        self._wakes.send_bytes(b"")

    def wait(self, seconds: float) -> bool:
        """Wait until somebody wakes; False where nobody did."""
        woken = self._hears.poll(seconds)
        if woken:
            self._hears.recv_bytes()
        return woken
