"""Decodes a recording of any format to 16 kHz mono samples. Only imported in child processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import av
import numpy as np

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.tasks.audio.media import FORMATS

RATE = 16_000
MAX_SECONDS = 2 * 3600

Samples = np.ndarray[tuple[int], np.dtype[np.float32]]


def decode(path: Path) -> Samples:
    """The samples of a file as floats from -1 to 1. Raises InputError if the file is missing,
    damaged, not a recording, or longer than two hours. What was decoded before a damaged place is
    kept."""
    if not path.is_file():
        raise InputError(tr("There is no recording {name}.", name=path.name))
    chunks: list[np.ndarray[Any, Any]] = []
    heard = 0
    try:
        # An open file, not a name: a name may be an address, which FFmpeg would fetch.
        with path.open("rb") as file:
            for chunk in _chunks(AudioSource(file), path.name):
                chunks.append(chunk)
                heard += chunk.shape[0]
                if heard > MAX_SECONDS * RATE:
                    raise InputError(
                        tr(
                            "{name} is longer than {longest} hours.",
                            name=path.name,
                            longest=MAX_SECONDS // 3600,
                        ),
                        hint=tr("Cut it into shorter parts."),
                    )
    except OSError as error:
        raise InputError(
            tr(
                "{name} cannot be read: {strerror}.",
                name=path.name,
                strerror=error.strerror or error,
            )
        ) from error
    except (av.error.FFmpegError, ValueError) as error:
        if not chunks:
            raise InputError(
                tr("{name} is not a recording that can be read.", name=path.name),
                hint=tr("Sound and video files such as WAV, MP3, M4A, OGG, FLAC or MP4 can be."),
            ) from error
    if not chunks:
        raise InputError(tr("{name} contains no sound at all.", name=path.name))
    return np.concatenate(chunks).astype(np.float32) / np.float32(32768)


class AudioSource:
    """An open file for PyAV. A broken file may seek to a place before its beginning. PyAV prints
    the traceback of an exception that is raised here, so -1 is returned."""

    def __init__(self, file: BinaryIO) -> None:
        self.read = file.read
        self.tell = file.tell
        self._seek = file.seek

    def seek(self, offset: int, whence: int = 0) -> int:
        """Return the new position, or -1 if it is invalid."""
        try:
            return self._seek(offset, whence)
        except (OSError, ValueError):
            return -1


def _chunks(file: AudioSource, name: str) -> Iterator[np.ndarray[Any, Any]]:
    options = {"format_whitelist": FORMATS, "protocol_whitelist": "pipe"}
    with av.open(file, mode="r", options=options, metadata_errors="ignore") as container:
        if not container.streams.audio:
            raise InputError(tr("{name} holds no sound track.", name=name))
        resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
        for frame in container.decode(container.streams.audio[0]):
            for part in resampler.resample(frame):
                yield part.to_ndarray()[0]
        for part in resampler.resample(None):
            yield part.to_ndarray()[0]
