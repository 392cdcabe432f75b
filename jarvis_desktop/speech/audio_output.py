"""An output of PortAudio that is opened once, and runs only while there is something to be heard.

A stream that runs without sound has its whole buffer to play before anything new is heard, and
keeps the device awake. One that is open and stands still costs nothing and starts within some
milliseconds. Only imported in child processes.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

import numpy as np

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.speech.devices import info, portaudio, refresh
from jarvis_desktop.speech.playback_line import SoundLine

LATENCY = 0.15
"""Seconds that the sound service has in advance. Less gave gaps on a busy computer; silence does
not wait for it, because stopping drops it."""
TAIL = 0.02
"""Seconds of silence after the end, before the stream is stopped: what is told of delays is not
exact."""
RAMP = 0.03
"""Seconds from one volume to the other."""
LONGEST_DELAY = 5.0
FRESH = 5.0
"""Seconds for which PortAudio's list of devices is taken as it is."""
STALLED = 0.5
"""Seconds in which a stream that runs asks for nothing: its sound service hangs."""
HASTE = 1.0
"""Seconds of sound beyond its buffer that a device may take in advance of time."""

TO_LOAD, TO_OPEN, TO_START, TO_BEAT = 5.0, 1.8, 0.6, 0.6
"""Seconds that these may take. What is loaded may come from a slow disk for the first time."""

HUNG = mark("The sound output does not answer.")
HUNG_HINT = mark("The sound service of this computer may hang; restart it or log in again.")

Block = np.ndarray[Any, np.dtype[np.float32]]


class OutputStream:
    """The chosen output, None for the system's. `add` what is to be heard, then `run`.

    All but `silence` and `rest` belong to one thread.
    """

    rate = 0
    channels = 0

    def __init__(self, line: SoundLine, device: str | None) -> None:
        self._line = line
        self._device = device
        self._lock = threading.Lock()
        self._stream: Any = None
        self._running = False
        self._died = threading.Event()
        self._listed = time.monotonic()
        self._used = 0.0
        self._serves = 0
        self._blocks: deque[Block] = deque()
        self._at = 0
        self.added = 0
        """Frames, since the beginning."""
        self._taken = 0
        self._given = 0
        self._started = self._called = self._next = self._ends = 0.0
        self._gain = 1.0

    def begin(self, wish: int) -> bool:
        """Make ready for sound that was asked for after so many wishes for silence.

        False where there was another one since. Raises UnavailableError.
        """
        with self._lock:
            if self._serves != wish:
                self._stop()
                self._serves = wish
            if self._running and self.heard:
                self._stop()
            if self._stream is None:
                self._open()
        return not self.silenced

    def renew(self) -> None:
        """Open the device, also where it is open but not in use: its sound service may be another
        one by now, and a stream of the last one does not start. Raises UnavailableError."""
        with self._lock:
            if not self._running:
                self._line.be_patient(TO_OPEN)
                if self._stream:
                    self._close()
                self._open()

    @property
    def silenced(self) -> bool:
        """Whether silence was asked for since `begin`."""
        return self._line.silences != self._serves

    def add(self, block: Block) -> None:
        """Let this follow."""
        self._blocks.append(block)
        self.added += len(block)

    @property
    def ahead(self) -> float:
        """Seconds that were not taken by the device yet."""
        return (self.added - self._taken) / self.rate

    def begins(self, frame: int) -> float:
        """In how many seconds this frame is heard, where the stream runs."""
        since = self._ends if frame < self._taken else self._next
        return since + (frame - self._taken) / self.rate - time.monotonic()

    @property
    def ends(self) -> float:
        """In how many seconds all that the device has taken was heard."""
        return self._ends + TAIL - time.monotonic()

    @property
    def heard(self) -> bool:
        """Whether all was heard that was added."""
        return self._taken == self.added and self.ends <= 0

    def run(self) -> None:
        """Let it be heard, unless it was silenced meanwhile. Raises UnavailableError."""
        with self._lock:
            if self._running or self.silenced:
                return
            self._line.be_patient(TO_START)
            if not self._start():
                # The sound service may be another one by now, or the device have come back.
                self._close()
                self._listed = 0.0
                self._open()
                self._line.be_patient(TO_START)
                if not self._start():
                    raise _none(self._device)
            self._line.be_patient(TO_BEAT)

    def check(self) -> None:
        """Raises UnavailableError where what was added is not being heard."""
        if not self._running:
            return
        now = time.monotonic()
        if self._died.is_set():
            raise UnavailableError(tr("The sound output went away while playing."), retryable=True)
        if now - self._called > STALLED:
            raise UnavailableError(tr(HUNG), hint=tr(HUNG_HINT), retryable=True)
        if self._given / self.rate > now - self._started + self._stream.latency + HASTE:
            raise UnavailableError(
                tr("The sound output takes the sound, but does not play it."),
                hint=tr("Choose another output in the sound settings of this computer."),
                retryable=True,
            )

    def stop(self) -> None:
        """After all was heard."""
        with self._lock:
            self._stop()

    def silence(self) -> None:
        """Drop what is wished not to be heard any more. From any thread."""
        if self._running:  # while it is being opened nothing is heard, and it may take long
            with self._lock:
                if self.silenced:
                    self._stop()

    def rest(self, after: float) -> None:
        """Stop where nothing follows, and close the device after so many seconds: which one is the
        system's is found anew then. From any thread."""
        if self._lock.acquire(blocking=False):
            try:
                if self._running and (self.heard or self.silenced):
                    self._stop()
                if self._stream and not self._running and time.monotonic() - self._used > after:
                    self._close()
            finally:
                self._lock.release()

    def _open(self) -> None:
        sounddevice = portaudio()
        self._line.be_patient(TO_OPEN)
        if time.monotonic() - self._listed > FRESH:
            self._look_again()
        try:
            self._stream = self._opened()
        except sounddevice.PortAudioError:
            self._look_again()
            try:
                self._stream = self._opened()
            except sounddevice.PortAudioError as error:
                raise _none(self._device) from error
        finally:
            self._line.be_patient(TO_BEAT)
        self.rate, self.channels = int(self._stream.samplerate), self._stream.channels
        self._used = time.monotonic()

    def _look_again(self) -> None:
        refresh()
        self._listed = time.monotonic()

    def _opened(self) -> Any:
        sounddevice = portaudio()
        found = info(self._device, "output")
        usual, most = int(found["default_samplerate"]), found["max_output_channels"]
        refused: Exception | None = None
        for rate, channels in ((usual, 2), (usual, 1), (48_000, 2), (usual, most)):
            try:
                return sounddevice.OutputStream(
                    samplerate=rate,
                    channels=channels,
                    device=found["index"],
                    dtype="float32",
                    latency=max(LATENCY, found["default_high_output_latency"]),
                    callback=self._fill,
                    finished_callback=self._finished,
                    prime_output_buffers_using_stream_callback=True,
                )
            except sounddevice.PortAudioError as error:
                refused = error
        assert refused is not None
        raise refused

    def _start(self) -> bool:
        self._died.clear()
        self._given = 0
        self._gain = self._line.share
        self._started = self._called = self._next = time.monotonic()
        self._running = True
        try:
            self._stream.start()
        except portaudio().PortAudioError:
            self._running = False
        return self._running

    def _stop(self) -> None:
        if self._running:
            self._running = False
            self._stream.abort()
            if self._died.is_set():
                self._close()
        self._blocks.clear()
        self._at = 0
        self._taken = self.added
        self._used = time.monotonic()

    def _close(self) -> None:
        stream, self._stream = self._stream, None
        stream.close()

    def _finished(self) -> None:
        if self._running:
            self._died.set()

    def _fill(self, out: Block, frames: int, when: Any, status: Any) -> None:
        """PortAudio's own thread asks for the next frames."""
        delay = when.outputBufferDacTime - when.currentTime
        if not 0 <= delay < LONGEST_DELAY:
            delay = self._stream.latency
        now = time.monotonic()
        taken = self._take(out, frames) if not self.silenced else 0
        out[taken:] = 0
        self._change_volume(out, frames)
        self._called, self._next = now, now + delay + frames / self.rate
        if taken:
            self._ends = now + delay + taken / self.rate
        self._given += frames
        self._taken += taken

    def _take(self, out: Block, frames: int) -> int:
        taken = 0
        while taken < frames and self._blocks:
            part = self._blocks[0][self._at : self._at + frames - taken]
            out[taken : taken + len(part)] = part
            taken += len(part)
            self._at += len(part)
            if self._at == len(self._blocks[0]):
                self._blocks.popleft()
                self._at = 0
        return taken

    def _change_volume(self, out: Block, frames: int) -> None:
        gain, wanted = self._gain, self._line.share
        if gain == wanted:
            if gain != 1.0:
                out *= gain
            return
        steps = np.arange(1, frames + 1, dtype=np.float32) / (RAMP * self.rate)
        ramp = gain + np.clip(wanted - gain, -steps, steps)
        out *= ramp[:, np.newaxis]
        self._gain = wanted if ramp[-1] == np.float32(wanted) else float(ramp[-1])


def _none(device: str | None) -> UnavailableError:
    return UnavailableError(
        f"There is no sound output{f' named {device}' if device else ''} that can be used.",
        hint=tr("Check the loudspeaker or headset, and the sound settings of this computer."),
    )
