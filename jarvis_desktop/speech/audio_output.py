"""A PortAudio output that is opened once, and runs only while there is something to play.

A stream that runs without sound must play its whole buffer before anything new, and keeps the
device awake. One that is open but stopped costs nothing and starts within milliseconds. Only
imported in child processes.

The process is polled many times a second: an answer is the heartbeat, so that a hung sound server
is noticed within a second and ended with its process. Silence is passed beside the calls, through
shared memory (`speech/played_sound.py`).
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

import numpy as np

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.speech.devices import open_stream, portaudio, refresh
from jarvis_desktop.speech.played_sound import HUNG_HINT, SoundLine

LATENCY_S = 0.15
"""How far the sound service is ahead; less caused gaps on a busy computer."""
TAIL_S = 0.02  # silence after the end, before the stream is stopped: reported delays are not exact
RAMP_S = 0.03  # for a change of volume
MAX_DELAY_S = 5.0
DEVICE_LIST_S = 5.0  # how long PortAudio's list of devices is trusted
STALLED_S = 0.5  # the sound service hangs if a running stream asks for nothing for this long
MAX_LEAD_S = 1.0  # how much more sound than its buffer a device may take ahead of time
LOAD_TIMEOUT_S, OPEN_TIMEOUT_S, START_TIMEOUT_S, BEAT_TIMEOUT_S = 15.0, 1.8, 0.6, 0.6
"""Libraries may be loaded from a slow disk for the first time, on a busy computer."""
HUNG = mark("The sound output does not answer.")

Block = np.ndarray[Any, np.dtype[np.float32]]


class OutputStream:
    """The chosen output, None for the system's. `add` sound, then `run`. All methods except
    `silence` and `rest` belong to one thread."""

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
        """Frames in all."""
        self._taken = 0
        self._given = 0
        self._started = self._called = self._next = self._ends = 0.0
        self._gain = 1.0

    def begin(self, wish: int) -> bool:
        """Prepare for sound that was requested after `wish` requests for silence. Returns False if
        silence was requested since. Raises UnavailableError."""
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
        """Open the device, again if it is not in use: its sound service may have been restarted,
        and then a stream of the old one does not start. Raises UnavailableError."""
        with self._lock:
            if not self._running:
                self._line.be_patient(OPEN_TIMEOUT_S)
                if self._stream:
                    self._close()
                self._open()

    @property
    def silenced(self) -> bool:
        """Whether silence was requested since `begin`."""
        return bool(self._line.shared.silences != self._serves)

    def add(self, block: Block) -> None:
        """Append sound."""
        self._blocks.append(block)
        self.added += len(block)

    @property
    def ahead(self) -> float:
        """Seconds that the device has not taken yet."""
        return (self.added - self._taken) / self.rate

    def begins(self, frame: int) -> float:
        """In how many seconds a frame is heard, if the stream runs."""
        since = self._ends if frame < self._taken else self._next
        return since + (frame - self._taken) / self.rate - time.monotonic()

    @property
    def ends(self) -> float:
        """In how many seconds the last frame that the device has taken is heard."""
        return self._ends + TAIL_S - time.monotonic()

    @property
    def heard(self) -> bool:
        """Whether all sound was heard."""
        return self._taken == self.added and self.ends <= 0

    def run(self) -> None:
        """Start playing, unless silenced. Raises UnavailableError."""
        with self._lock:
            if self._running or self.silenced:
                return
            self._line.be_patient(START_TIMEOUT_S)
            if not self._start():
                # The sound service may have been restarted, or the device come back.
                self._close()
                self._listed = 0.0
                self._open()
                self._line.be_patient(START_TIMEOUT_S)
                if not self._start():
                    raise _no_output(self._device)
            self._line.be_patient(BEAT_TIMEOUT_S)

    def check(self) -> None:
        """Raise UnavailableError if the sound is not being heard."""
        if not self._running:
            return
        now = time.monotonic()
        if self._died.is_set():
            raise UnavailableError(tr("The sound output went away while playing."), retryable=True)
        if now - self._called > STALLED_S:
            raise UnavailableError(tr(HUNG), hint=tr(HUNG_HINT), retryable=True)
        if self._given / self.rate > now - self._started + self._stream.latency + MAX_LEAD_S:
            raise UnavailableError(
                tr("The sound output takes the sound, but does not play it."),
                hint=tr("Choose another output in the sound settings of this computer."),
                retryable=True,
            )

    def stop(self) -> None:
        """Stop after all was heard."""
        with self._lock:
            self._stop()

    def silence(self) -> None:
        """Drop the sound if silence was requested. Thread-safe."""
        if self._running:  # nothing is heard while it is being opened, and that may take long
            with self._lock:
                if self.silenced:
                    self._stop()

    def rest(self, after: float) -> None:
        """Stop if nothing follows, and close the device after `after` seconds, so that the
        system's default is looked up again. Thread-safe."""
        if self._lock.acquire(blocking=False):
            try:
                if self._running and (self.heard or self.silenced):
                    self._stop()
                if self._stream and not self._running and time.monotonic() - self._used > after:
                    self._close()
            finally:
                self._lock.release()

    def _open(self) -> None:
        self._line.be_patient(OPEN_TIMEOUT_S)
        try:
            if time.monotonic() - self._listed > DEVICE_LIST_S:
                refresh()
                self._listed = time.monotonic()
            missing = _no_output(self._device)
            self._stream = open_stream(self._device, "output", _forms, self._opened, missing)
        finally:
            self._line.be_patient(BEAT_TIMEOUT_S)
        self.rate, self.channels = int(self._stream.samplerate), self._stream.channels
        self._used = time.monotonic()

    def _opened(self, **form: Any) -> Any:
        return portaudio().OutputStream(
            dtype="float32",
            callback=self._fill,
            finished_callback=self._finished,
            prime_output_buffers_using_stream_callback=True,
            **form,
        )

    def _start(self) -> bool:
        self._died.clear()
        self._given = 0
        self._gain = self._line.shared.share
        self._started = self._called = self._next = time.monotonic()
        self._line.played.begin(self.rate)
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
            self._line.played.stop(time.monotonic())
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
        delay = when.outputBufferDacTime - when.currentTime
        if not 0 <= delay < MAX_DELAY_S:
            delay = self._stream.latency
        now = time.monotonic()
        taken = self._take(out, frames) if not self.silenced else 0
        out[taken:] = 0
        self._change_volume(out, frames)
        self._line.played.add(out, now + delay)
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
        gain, wanted = self._gain, self._line.shared.share
        if gain == wanted:
            if gain != 1.0:
                out *= gain
            return
        steps = np.arange(1, frames + 1, dtype=np.float32) / (RAMP_S * self.rate)
        ramp = gain + np.clip(wanted - gain, -steps, steps)
        out *= ramp[:, np.newaxis]
        self._gain = wanted if ramp[-1] == np.float32(wanted) else float(ramp[-1])


def _forms(found: Any) -> list[dict[str, Any]]:
    usual, most = int(found["default_samplerate"]), found["max_output_channels"]
    latency = max(LATENCY_S, found["default_high_output_latency"])
    return [
        {"samplerate": rate, "channels": channels, "latency": latency}
        for rate, channels in ((usual, 2), (usual, 1), (48_000, 2), (usual, most))
    ]


def _no_output(device: str | None) -> UnavailableError:
    told = tr("There is no sound output that can be used.")
    if device:
        told = tr("There is no sound output named {device} that can be used.", device=device)
    return UnavailableError(
        told,
        hint=tr("Check the loudspeaker or headset, and the sound settings of this computer."),
    )
