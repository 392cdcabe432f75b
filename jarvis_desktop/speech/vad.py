"""Voice activity detection with Silero v6, frame by frame and in whole recordings.

Its ONNX file is in the faster-whisper package, which is not imported: that would load CTranslate2
and more into processes that only listen. Only imported in child processes.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.speech import FRAME, RATE
from jarvis_desktop.process.onnx import small_network

if TYPE_CHECKING:
    from jarvis_desktop.speech.decoding import Samples

CONTEXT = 64  # samples of the previous frame that the model sees again
WEIGHTS = "silero_vad_v6.onnx"

Floats = np.ndarray[Any, np.dtype[np.float32]]


class Silero:
    """Detects speech in one sound from its beginning to its end, in blocks of any size."""

    def __init__(self) -> None:
        self._session = _session()
        self._memory = [np.zeros((1, 1, 128), np.float32), np.zeros((1, 1, 128), np.float32)]
        self._before = np.zeros(CONTEXT, np.float32)
        self._rest = np.zeros(0, np.float32)

    def hear(self, samples: Floats) -> tuple[float, ...]:
        """The probability of speech in each frame that ended with `samples` (-1 to 1, 16 kHz)."""
        samples = np.concatenate((self._rest, samples), dtype=np.float32)
        count = len(samples) // FRAME
        self._rest = samples[count * FRAME :]
        if not count:
            return ()
        frames = samples[: count * FRAME].reshape(count, FRAME)
        ends = np.concatenate((self._before[None], frames[:-1, -CONTEXT:]))
        self._before = frames[-1, -CONTEXT:]
        h, c = self._memory
        given = {"input": np.concatenate((ends, frames), axis=1), "h": h, "c": c}
        likely, *self._memory = self._session.run(None, given)
        return tuple(likely.ravel().tolist())


@functools.cache
def _session() -> Any:
    if weights := faster_whisper_file("assets", WEIGHTS):
        return small_network(weights)
    raise UnavailableError(
        tr("The detector of speech is missing, which comes with faster-whisper."),
        hint=tr("Install this application again."),
    )


def faster_whisper_file(*names: str) -> Path | None:
    """A file in that package, without importing it; None if it is not there."""
    package = importlib.util.find_spec("faster_whisper")
    folders = (package and package.submodule_search_locations) or ()
    files = (Path(folder, *names) for folder in folders)
    return next((file for file in files if file.is_file()), None)


MIN_RECORDING_SECONDS = 0.15
SILENT_PEAK = 0.001  # -60 dB of full scale: a muted or unplugged microphone gives less
QUIET_PEAK = 0.03  # quieter recordings are amplified to this: below it Silero starts to miss speech
SPEECH_FRAMES = 4
SURE = 0.65
LIKELY = 0.5
"""Speech is four frames that are likely speech and one that surely is: measured on 120 recordings
of speech and 24 of other sounds; music, animals and kitchens stay below both."""
UNLIKELY = LIKELY - 0.15  # below this speech has stopped; Silero's own choice
CERTAIN = 0.95
MIN_VOICE_SHARE = 0.45
"""Some frames of music resemble a voice. Unless one frame is certainly speech, this share of the
power must be in or beside frames with speech: most of the sound of speech is the voice, of music
only a note here and there. Steady power is noise and left out. Of 2,800 recordings of single words,
most of them in noise and with keys clicking, this refuses one in 150; of 230 melodies and songs it
accepts 11, where 132 passed without it."""
STEADY_PERCENT = 20  # the share of a recording without speech, whose loudest part is steady noise
SETTLE_FRAMES = 16
SETTLE = SETTLE_FRAMES * FRAME
"""Silence around a recording, in which the detector settles before a word that starts at once."""
PADDING_SECONDS = 0.25
PAUSE_SECONDS = 0.5

Stretch = tuple[int, int]
FloatSamples = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class SpeechSegments:
    """A recording with silence around it, and the stretches with speech."""

    samples: Samples
    stretches: tuple[Stretch, ...]

    def time(self, sample: int) -> float:
        """The time of a sample in the recording, in seconds."""
        return max(0, sample - SETTLE) / RATE

    @property
    def seconds(self) -> float:
        """Of speech."""
        return sum(end - start for start, end in self.stretches) / RATE


def find_speech(
    samples: Samples, name: str, likely: Sequence[float] | None = None
) -> SpeechSegments:
    """Find the speech in a recording. `likely` is the probability of speech in each FRAME of the
    samples, if known. Raises InputError if there is no speech."""
    peak = float(np.abs(samples).max()) if len(samples) else 0.0
    if peak < SILENT_PEAK:
        raise InputError(
            tr("There is no sound in {name}.", name=name),
            hint=tr("Check that the right microphone is chosen and not muted."),
        )
    if len(samples) < MIN_RECORDING_SECONDS * RATE:
        raise InputError(
            tr("{name} is too short to hold a word.", name=name),
            hint=tr("Hold the key for as long as you speak."),
        )
    if peak < QUIET_PEAK:
        samples = samples * np.float32(QUIET_PEAK / peak)
    around = np.zeros(SETTLE, np.float32)
    padded = np.concatenate((around, samples, around))
    if likely is None:
        found = np.array(Silero().hear(np.pad(padded, (0, -len(padded) % FRAME))))
    else:
        found = np.pad(likely, SETTLE_FRAMES)
    if not _is_speech(padded, found):
        raise not_speech(name)
    return SpeechSegments(padded, tuple(_stretches(found, len(padded))))


def not_speech(name: str) -> InputError:
    """There is sound but no speech."""
    return InputError(
        tr("Nobody seems to speak in {name}.", name=name),
        hint=tr("Speak closer to the microphone and try again."),
    )


def _is_speech(samples: Samples, likely: FloatSamples) -> bool:
    where = np.flatnonzero(likely >= LIKELY)
    if len(where) < SPEECH_FRAMES or likely.max() < SURE:
        return False
    return (
        bool(likely.max() >= CERTAIN)
        or _share_of_voice(samples, likely >= LIKELY) >= MIN_VOICE_SHARE
    )


def _share_of_voice(samples: Samples, spoken: FloatSamples) -> float:
    """The share of the power in frames with speech; the silence around does not count."""
    whole = np.pad(samples, (0, FRAME))[: len(spoken) * FRAME].astype(np.float64)
    power = np.mean(whole.reshape(-1, FRAME) ** 2, axis=1)[SETTLE_FRAMES:-SETTLE_FRAMES]
    power = np.maximum(0, power - np.percentile(power, STEADY_PERCENT))
    beside = np.convolve(spoken, np.ones(3), "same")[SETTLE_FRAMES:-SETTLE_FRAMES] > 0
    return float(power[beside].sum() / max(power.sum(), 1e-12))


def _stretches(likely: FloatSamples, count: int) -> list[Stretch]:
    """The stretches with speech, with some silence around and short pauses within."""
    pause, padding = int(PAUSE_SECONDS * RATE), int(PADDING_SECONDS * RATE)
    found: list[list[int]] = []
    speaks = False
    for frame, probability in enumerate(likely.tolist()):
        start = frame * FRAME
        speaks = probability >= (UNLIKELY if speaks else LIKELY)
        if not speaks:
            continue
        if found and start - found[-1][1] < pause:
            found[-1][1] = start + FRAME
        else:
            found.append([start, start + FRAME])
    return [(max(0, start - padding), min(count, end + padding)) for start, end in found]
