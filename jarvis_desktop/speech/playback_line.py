"""What cannot wait for a call between the player and its process: shared memory and a pipe."""

from __future__ import annotations

import ctypes
import math
import multiprocessing

from jarvis_desktop.core.i18n import mark
from jarvis_desktop.speech.played_sound import PlayedSound

HUNG_HINT = mark("The sound service of this computer may hang; restart it or log in again.")


class SharedPlayback(ctypes.Structure):
    """The shared memory."""

    silences: int  # requests for silence
    silent: int  # the last request for silence that was served
    beats: int  # signs of life of the process
    patience: float  # for how many seconds the process may give no sign of life
    share: float  # the volume, 0 to 1
    zero: float
    """When the beginning of the current file was heard, or would have been, by `time.monotonic`,
    which is the same in all processes; NaN if none is playing."""
    _fields_ = (
        *((name, ctypes.c_int64) for name in ("silences", "silent", "beats")),
        *((name, ctypes.c_double) for name in ("patience", "share", "zero")),
    )


class SoundLine:
    """Is passed to the process as an argument of its factory. There are no messages: a process that
    is killed while it reads one would leave half of it to the next process. The wake-up signal is
    therefore empty, and may come once too often. `played` receives what is heard."""

    def __init__(self, played: PlayedSound | None = None) -> None:
        self.played = played or PlayedSound(wanted=False)
        context = multiprocessing.get_context("spawn")
        self.shared: SharedPlayback = context.RawValue(SharedPlayback)
        self.shared.share = 1.0
        self.shared.zero = math.nan
        self._hears, self._wakes = context.Pipe(duplex=False)

    def ask_for_silence(self) -> int:
        """Silence everything requested so far; returns the number of this request."""
        self.shared.silences += 1
        return self.shared.silences

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
