"""Reads audio and video with PyAV, and writes WAV.

A file is opened as a file object, with a list of allowed formats and no other protocol: given a
name, FFmpeg would fetch URLs, and playlist formats would open other files.
"""

from __future__ import annotations

import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import mark, tr

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.float32]

FORMATS = (
    "aac,ac3,aiff,amr,ape,asf,au,avi,caf,eac3,flac,flv,gif,h264,hevc,ivf,m4v,matroska,mov,mp3,mp4,"
    "mpeg,mpegts,mpegvideo,ogg,tta,w64,wav,webm,wv"
)
MAX_SECONDS = 2 * 3600
MAX_SAMPLES = 2 * MAX_SECONDS * 16_000
"""Samples held in memory at once: 2 h of 16 kHz stereo, 40 min of CD audio."""

MAX_BROKEN_SHARE = 0.05
"""The share of broken packets above which a file counts as damaged; players skip a few as well."""


class MediaFile:
    """An open file for PyAV, which guesses some formats by its name. A broken file may seek to a
    place before its beginning. PyAV prints the traceback of an exception that is raised here, so -1
    is returned."""

    def __init__(self, file: BinaryIO) -> None:
        self.name = file.name
        self.read = file.read
        self.tell = file.tell
        self._seek = file.seek

    def seek(self, offset: int, whence: int = 0) -> int:
        """Return the new position, or -1 if it is invalid."""
        try:
            return self._seek(offset, whence)
        except (OSError, ValueError):
            return -1


@contextmanager
def open_media(path: Path, *, name: str = "", longest: float = MAX_SECONDS) -> Iterator[Any]:
    """Open an `av` container. Raises InputError if the file is not audio or video, or is longer
    than `longest` seconds. Errors that PyAV raises inside the block are translated too."""
    import av

    name = name or path.name
    av.logging.set_level(av.logging.PANIC)
    try:
        if not path.stat().st_size:
            raise InputError(
                tr("{name} is empty.", name=name), hint=tr("Give the original file again.")
            )
        options = {"format_whitelist": FORMATS, "protocol_whitelist": "pipe"}
        with (
            path.open("rb") as file,
            av.open(MediaFile(file), "r", options=options, metadata_errors="ignore") as container,
        ):
            if (container.duration or 0) / av.time_base > longest:
                raise _too_long(name)
            yield container
    except av.FFmpegError as error:
        raise InputError(
            tr("{name} cannot be read as sound or video.", name=name),
            hint=tr("It may be damaged, cut off or of another type than its name says."),
        ) from error
    except OSError as error:
        raise InputError(
            tr("{name} cannot be opened: {strerror}.", name=name, strerror=error.strerror)
        ) from error


def read_audio(
    path: Path, *, rate: int | None = None, mono: bool = False, name: str = ""
) -> tuple[Samples, int]:
    """Read the sound of an audio or video file: float32 (channels, samples) and its rate in Hz.
    `rate` and `mono` convert it; `name` is what the user calls the file. Raises InputError if there
    is no sound, more than a twentieth of it is broken, or it is too long."""
    import numpy as np

    sound: Samples | None = None
    filled, at = 0, 0
    for block, at in audio_blocks(path, rate=rate, mono=mono, name=name):
        channels, count = block.shape
        if sound is None:
            sound = np.empty((channels, max(count, 30 * at)), np.float32)
        if (filled + count) * channels > MAX_SAMPLES:
            raise _too_long(name or path.name)
        if filled + count > sound.shape[1]:
            grown = np.empty((channels, int((filled + count) * 1.5)), np.float32)
            grown[:, :filled] = sound[:, :filled]
            sound = grown
        sound[:, filled : filled + count] = block
        filled += count
    if sound is None:
        raise InputError(
            tr("{name} contains no sound.", name=name or path.name), hint=tr(_SILENT_HINT)
        )
    return sound[:, :filled], at


def audio_blocks(
    path: Path, *, rate: int | None = None, mono: bool = False, name: str = ""
) -> Iterator[tuple[Samples, int]]:
    """Yield the same sound in blocks of some milliseconds, each with its rate: for any length."""
    import av
    import numpy as np

    name = name or path.name
    with open_media(path, name=name) as container:
        if not container.streams.audio:
            raise InputError(tr("{name} has no sound track.", name=name), hint=tr(_SILENT_HINT))
        stream = container.streams.audio[0]
        # More than two channels are mixed down: listeners and recognisers need no more.
        layout = "mono" if mono or stream.channels == 1 else "stereo"
        target = rate or stream.rate
        if not target or not stream.channels:
            raise InputError(tr("{name} is damaged: its sound has no sample rate.", name=name))
        resampler = av.AudioResampler(format="fltp", layout=layout, rate=target)
        taken = 0
        for frame in _frames(container, stream, name):
            # The resampler refuses frames with gaps and jumps in damaged time stamps.
            frame.pts = None
            for part in resampler.resample(frame):
                taken += part.samples
                if taken > MAX_SECONDS * target:
                    raise _too_long(name)
                yield np.asarray(part.to_ndarray(), np.float32), target
        for part in resampler.resample(None):
            yield np.asarray(part.to_ndarray(), np.float32), target


def write_wav(path: Path, samples: Samples, rate: int) -> Path:
    """Write (channels, samples) or (samples,) in -1 to 1 as a 16-bit WAV; louder samples are
    clipped. Raises InputError if there are no samples or some are not numbers."""
    import numpy as np

    block = np.atleast_2d(samples)
    if not block.size:
        raise InputError(tr("There is no sound to write to {name}.", name=path.name))
    if not np.isfinite(block).all():
        raise InputError(
            tr("The sound for {name} is damaged: it has values without a size.", name=path.name)
        )
    with wave.open(str(path), "wb") as file:
        _head(file, len(block), rate)
        file.writeframes(_pcm(block))
    return path


def write_wav_blocks(path: Path, blocks: Iterator[tuple[Samples, int]]) -> float:
    """Write blocks one by one as a 16-bit WAV; return its length in seconds, 0 if none."""
    count, rate = 0, 1
    with wave.open(str(path), "wb") as file:
        _head(file, 1, 16_000)
        for block, rate in blocks:
            if not count:
                _head(file, len(block), rate)
            file.writeframes(_pcm(block))
            count += block.shape[1]
    return count / rate


_SILENT_HINT = mark("Give a recording, or a video with sound.")


def _frames(container: Any, stream: Any, name: str) -> Iterator[Any]:
    """The frames of a stream; a few broken packets are skipped, as every player does."""
    import av

    packets, broken = 0, 0
    for packet in container.demux(stream):
        packets += 1
        try:
            yield from packet.decode()
        except av.InvalidDataError:
            broken += 1
    if broken > MAX_BROKEN_SHARE * packets:
        raise InputError(
            tr(
                "{name} is damaged: {broken} of its {packets} parts cannot be decoded.",
                name=name,
                broken=broken,
                packets=packets,
            ),
            hint=tr("Give the original file again."),
        )


def _head(file: wave.Wave_write, channels: int, rate: int) -> None:
    file.setnchannels(channels)
    file.setsampwidth(2)
    file.setframerate(rate)


def _pcm(block: Samples) -> bytes:
    import numpy as np

    clipped = np.clip(np.nan_to_num(block), -1.0, 1.0)
    return np.ascontiguousarray((clipped * 32767.0).round().T.astype("<i2")).tobytes()


class TooLongError(InputError):
    """The sound is too long."""


def _too_long(name: str) -> TooLongError:
    return TooLongError(
        tr("{name} is too long to process at once.", name=name),
        hint=tr(
            "The limit is two hours, less for many channels or a high rate: cut it into parts."
        ),
    )
