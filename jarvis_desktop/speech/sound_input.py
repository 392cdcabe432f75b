"""Records from a PortAudio input into a WAV file. Only imported in child processes.

The parent calls `open`, then `read` about ten times a second, then `close`; each read writes what
has come since the last one, so that a crash loses a tenth of a second.
"""

from __future__ import annotations

import math
import queue
import time
import wave
from pathlib import Path
from typing import Any

import av
import numpy as np

from jarvis_desktop.child import Handler
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.errors import StorageError, UnavailableError
from jarvis_desktop.speech.portaudio import info, portaudio, refresh

RATE = 16_000
SILENT_SECONDS = 1.5
"""No samples at all for so long means that the device is gone."""


def make() -> Handler:
    """The handler: the first argument names what to do."""
    session = Session()

    def handle(report: Report, what: str, *args: Any) -> object:
        try:
            if what == "open":
                return session.open(*args)
            return session.close() if what == "close" else session.read()
        except OSError as error:
            raise StorageError(
                f"The recording cannot be written: {error.strerror or error}.",
                hint="Look whether the disk is full.",
            ) from error

    return handle


class Session:
    """One recording."""

    def __init__(self) -> None:
        self._stream: Any = None
        self._file: Any = None
        self._wav: wave.Wave_write | None = None
        self._arrived: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._resampler: Any = None
        self._last = 0.0

    def open(self, to: Path, device: str | None) -> int:
        """Start to record; the device's rate."""
        self._arrived = queue.SimpleQueue()
        # Before the device, which must not stay open for want of a file. Opened by ourselves, to
        # be able to flush: the header is then right after each read.
        self._file = to.open("wb")
        try:
            self._stream = self._listen_or_refuse(device)
        except BaseException:
            self._file.close()
            to.unlink(missing_ok=True)
            raise
        rate = int(self._stream.samplerate)
        self._resampler = (
            None if rate == RATE else av.AudioResampler(format="s16", layout="mono", rate=RATE)
        )
        self._wav = wave.open(self._file, "wb")  # noqa: SIM115 - closed in close()
        self._wav.setnchannels(1)
        self._wav.setsampwidth(2)
        self._wav.setframerate(RATE)
        self._last = time.monotonic()
        return rate

    def _listen_or_refuse(self, device: str | None) -> Any:
        sounddevice = portaudio()
        try:
            return self._listen(device)
        except sounddevice.PortAudioError:
            refresh()
            try:
                return self._listen(device)
            except sounddevice.PortAudioError as error:
                raise UnavailableError(
                    f"There is no microphone{f' named {device}' if device else ''} "
                    "that can be used.",
                    hint="Plug one in, or allow this application to use it in the sound or "
                    "privacy settings of this computer.",
                ) from error

    def _listen(self, device: str | None) -> Any:
        sounddevice = portaudio()
        usual = int(info(device, "input")["default_samplerate"])
        refused: Exception | None = None
        for rate in (RATE, usual):
            try:
                # Large blocks with low latency made PortAudio wait 1.9 s for the first one.
                stream = sounddevice.RawInputStream(
                    samplerate=rate,
                    channels=1,
                    dtype="int16",
                    device=device,
                    blocksize=0,
                    latency="high",
                    callback=self._arrive,
                )
            except sounddevice.PortAudioError as error:
                refused = error
                continue
            try:
                stream.start()
            except sounddevice.PortAudioError as error:
                stream.close()
                refused = error
            else:
                return stream
        assert refused is not None
        raise refused

    def _arrive(self, data: Any, frames: int, when: Any, status: Any) -> None:
        self._arrived.put(bytes(data))

    def read(self) -> float:
        """Write what has come; its loudness, 0 to 1."""
        parts = []
        while not self._arrived.empty():
            parts.append(self._arrived.get())
        if parts:
            self._last = time.monotonic()
        elif time.monotonic() - self._last > SILENT_SECONDS:
            raise UnavailableError(
                "The microphone stopped giving sound.",
                hint="What was said until then is kept. Check that it is still plugged in.",
            )
        samples = np.frombuffer(b"".join(parts), np.int16)
        self._write(samples)
        return _loudness(samples)

    def _write(self, samples: np.ndarray[Any, Any]) -> None:
        assert self._wav is not None
        if self._resampler is not None and len(samples):
            frame = av.AudioFrame.from_ndarray(samples[None, :], format="s16", layout="mono")
            frame.sample_rate = int(self._stream.samplerate)
            pieces = [piece.to_ndarray()[0] for piece in self._resampler.resample(frame)]
            samples = np.concatenate(pieces) if pieces else samples[:0]
        self._wav.writeframes(samples.tobytes())
        self._file.flush()

    def close(self) -> float:
        """Close the device at once, then write the rest; the seconds that were recorded."""
        assert self._wav is not None
        try:
            try:
                self._stream.abort()
            finally:
                self._stream.close()
            self.read()
        finally:
            seconds = self._wav.getnframes() / RATE
            self._wav.close()
            self._file.close()
        return seconds


def _loudness(samples: np.ndarray[Any, Any]) -> float:
    """From 0 (-60 dB of full scale or less) to 1 (full scale), as meters show it."""
    if not len(samples):
        return 0.0
    level = float(np.sqrt(np.mean((samples.astype(np.float32) / 32768) ** 2)))
    return min(1.0, max(0.0, 1 + 20 * math.log10(max(level, 1e-6)) / 60))
