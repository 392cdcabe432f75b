"""The child process of the microphone: a PortAudio input, speech detection and the wake word.

The parent calls `open`, then `read` some thirty times a second, then `close`. Nothing is written to
disk. PortAudio's own thread only stores what arrives; all work is done in `read`.
"""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from typing import Any

import numpy as np

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.speech import RATE, Sound
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child_main import Handler
from jarvis_desktop.speech.devices import open_stream, portaudio
from jarvis_desktop.speech.echo_canceller import EchoCanceller
from jarvis_desktop.speech.end_of_turn import EndOfTurn
from jarvis_desktop.speech.played_sound import PlayedSound
from jarvis_desktop.speech.resampler import Resampler, Samples
from jarvis_desktop.speech.vad import Silero
from jarvis_desktop.speech.wake_word import WakeWordDetector

log = logging.getLogger(__name__)

FIRST_SOUND_S = 3.0  # how long a device may take until its first sound: one needed 1.9 s
DEAD_AFTER_S = 0.8  # a device that delivers no samples for this long, not even zeros, is gone
MAX_COUNTED_S = 0.2
"""How much of that one empty read counts at most: if this process or its parent was held up, much
sound may just not have been fetched."""
FLUSH_S = 0.2
"""How long to wait for the system's buffers to deliver what was said up to a moment: PulseAudio
needs 10 ms, a wireless headset a tenth of a second."""
MAX_AGE_S = 1.0  # some systems do not know how old a sound is; PortAudio then returns nonsense
MAX_BLOCKS = 12_000  # stored if the parent does not read: about a minute


def make_handler(wake_word: str = "", played: PlayedSound | None = None) -> Handler:
    """The handler of the child process; the first argument names the method."""
    session = CaptureSession(_detector(wake_word), EndOfTurn(), played)

    def handle(report: Report, what: str, *args: Any) -> object:
        return getattr(session, what)(*args)

    return handle


def _detector(wake_word: str) -> WakeWordDetector | None:
    """Without a working wake word the microphone must still work; the health check says why."""
    try:
        return WakeWordDetector(wake_word) if wake_word else None
    except UnavailableError as error:
        log.info("no wake word: %s", error.message)
        return None


class CaptureSession:
    """Captures from one device at a time. `word` is listened for, and `end` judges whether the user
    has finished. What is `played` is removed from the sound."""

    def __init__(
        self,
        word: WakeWordDetector | None = None,
        end: EndOfTurn | None = None,
        played: PlayedSound | None = None,
    ) -> None:
        self._word = word
        self._end = end or EndOfTurn()
        self._cancel = EchoCanceller(played or PlayedSound())
        self._stream: Any = None
        self._rate = RATE
        self._arrived: deque[bytes] = deque(maxlen=MAX_BLOCKS)
        self._reached = 0.0
        self._ended = False
        self._resample: Resampler | None = None
        self._detector: Silero | None = None
        self._silent = 0.0
        self._read = 0.0

    def ready(self) -> None:
        """Load what takes time. Raises UnavailableError without PortAudio."""
        portaudio()
        self._end.load()

    def open(self, device: str | None) -> None:
        """Start capturing; returns with the first sound. Raises UnavailableError."""
        self._detector = Silero()
        self._cancel.restart()
        self._stream = open_stream(device, "input", _rates, self._start, _no_microphone(device))
        self._resample = None if self._rate == RATE else Resampler(self._rate)
        end = time.monotonic() + FIRST_SOUND_S
        while not self._arrived and not self._ended and time.monotonic() < end:
            time.sleep(0.002)
        if not self._arrived:
            self.close()
            raise UnavailableError(
                tr("No sound comes from the microphone."),
                hint=tr("Look whether another program keeps it for itself, or plug it in again."),
                retryable=True,
            )
        self._silent, self._read = 0.0, time.monotonic()

    def _start(self, device: int, samplerate: int) -> Any:
        self._arrived.clear()
        self._rate, self._reached, self._ended = samplerate, 0.0, False
        # Large blocks with low latency made PortAudio wait 1.9 s for the first block.
        stream = portaudio().RawInputStream(
            samplerate=samplerate,
            channels=1,
            dtype="int16",
            device=device,
            blocksize=0,
            latency="high",
            callback=self._arrive,
            finished_callback=self._finish,
        )
        try:
            stream.start()
        except portaudio().PortAudioError:
            stream.close()
            raise
        return stream

    def _arrive(self, data: Any, frames: int, when: Any, status: Any) -> None:
        self._arrived.append(bytes(data))
        age = when.currentTime - when.inputBufferAdcTime - frames / self._rate
        self._reached = time.monotonic() - (age if 0 <= age < MAX_AGE_S else 0.0)

    def _finish(self) -> None:
        self._ended = True

    def read(self, until: float = 0.0, judged: bytes = b"") -> tuple[Sound, float, bool]:
        """Return the sound since the last call, when its end was heard, and whether the wake word
        ended in it. With `until`, wait for what was said up to that moment. Moments are those of
        time.monotonic(). Begins to judge whether the user has finished who said `judged`; a later
        call returns the answer. Raises UnavailableError if the device is gone."""
        if judged:
            self._end.judge(judged)
        self._await(until)
        reached = self._reached
        parts = [self._arrived.popleft() for _ in range(len(self._arrived))]
        self._watch(bool(parts))
        samples: Samples = np.frombuffer(b"".join(parts), np.int16)
        if self._resample is not None:
            samples = self._resample(samples)
        samples = self._cancel(samples, reached)
        reached -= self._cancel.held / RATE
        assert self._detector is not None
        likely = self._detector.hear(samples.astype(np.float32) / np.float32(32768))
        pcm = samples.tobytes()
        woken = self._word is not None and self._word.take(pcm)
        # Nobody hears of what comes without sound: then the next sound brings the verdict.
        finished = self._end.verdict() if len(samples) else None
        level = _loudness(samples)
        return Sound(pcm, level, likely, finished=finished), reached, woken

    def _await(self, until: float) -> None:
        end = min(time.monotonic(), until) + FLUSH_S
        while self._reached < until and not self._ended and time.monotonic() < end:
            time.sleep(0.002)

    def _watch(self, given: bool) -> None:
        now = time.monotonic()
        self._silent = 0.0 if given else self._silent + min(now - self._read, MAX_COUNTED_S)
        self._read = now
        if not given and (self._ended or self._silent > DEAD_AFTER_S):
            raise UnavailableError(
                tr("The microphone stopped giving sound."),
                hint=tr("What was said until then is kept. Check that it is still plugged in."),
                retryable=True,
            )

    def close(self) -> None:
        """Close the device at once; unread sound is lost."""
        stream, self._stream = self._stream, None
        if stream is None:
            return
        try:
            stream.abort()
        finally:
            stream.close()
            self._arrived.clear()


def _rates(found: Any) -> list[dict[str, Any]]:
    return [{"samplerate": rate} for rate in (RATE, int(found["default_samplerate"]))]


def _no_microphone(device: str | None) -> UnavailableError:
    if device:
        return UnavailableError(
            tr("There is no microphone named {device} that can be used.", device=device),
            hint=tr("Plug it in, or choose another one or the system's default in the settings."),
            retryable=True,
        )
    return UnavailableError(
        tr("There is no microphone that can be used."),
        hint=tr(
            "Plug one in, or allow this application to use it in the sound or privacy settings "
            "of this computer."
        ),
        retryable=True,
    )


def _loudness(samples: Samples) -> float:
    """The level as meters show it: 0 (-60 dB of full scale or less) to 1 (full scale)."""
    if not len(samples):
        return 0.0
    level = float(np.sqrt(np.mean((samples.astype(np.float32) / 32768) ** 2)))
    return min(1.0, max(0.0, 1 + 20 * math.log10(max(level, 1e-6)) / 60))
