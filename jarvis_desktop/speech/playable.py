"""Opens what is to be played: sound files, and the sound of films. Only imported in child
processes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import av
import numpy as np
import soundfile

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.wording import tr
from jarvis_desktop.speech.output_stream import Block
from jarvis_desktop.tasks.media import open_media

BLOCK_SECONDS = 0.25
HEADS = (b"RIFF", b"RF64", b"fLaC", b"OggS", b"FORM", b".snd")
"""How files begin that are read by libsndfile."""
NEAR = 0.02
"""Seconds by which the times in a file may be wrong."""
BEFORE = 0.5
"""Seconds that are decoded before the wanted place: MP3 and AAC refer back to what came before."""
LONGEST_GAP = 10.0
"""Seconds without sound in a film's track; times that tell of more are damaged."""


@dataclass(frozen=True, slots=True)
class Playable:
    """An open file."""

    rate: int
    length: float
    """Seconds, as the file says; 0 where it says nothing."""
    blocks: Iterator[Block]
    """Its frames, as many channels as it has or two of more."""


@contextmanager
def opened(path: Path, start: float) -> Iterator[Playable]:
    """A file's sound from `start` seconds on. Raises InputError where there is none.

    Sound files are read by libsndfile, to the sample; films, and MP3, of which libsndfile reads
    all and complains, by FFmpeg.
    """
    with ExitStack() as files:
        if file := _sound_file(path):
            files.enter_context(file)
            if file.frames == 0:
                raise InputError(tr("{name} holds no sound at all.", name=path.name))
            file.seek(min(int(start * file.samplerate), file.frames))
            frames = int(file.samplerate * BLOCK_SECONDS)
            length = file.frames / file.samplerate
            blocks = file.blocks(frames, dtype="float32", always_2d=True)
            yield Playable(file.samplerate, length, blocks)
            return
        container = files.enter_context(open_media(path, longest=math.inf))
        if not container.streams.audio:
            raise InputError(tr("{name} has no sound.", name=path.name))
        stream = container.streams.audio[0]
        if not stream.rate:
            raise InputError(tr("{name} is damaged and cannot be played.", name=path.name))
        length = (container.duration or 0) / av.time_base
        yield Playable(stream.rate, length, _track(container, stream, start))


def _sound_file(path: Path) -> Any:
    try:
        with path.open("rb") as head:
            return soundfile.SoundFile(path) if head.read(4) in HEADS else None
    except (soundfile.SoundFileError, OSError):
        return None


def _track(container: Any, stream: Any, start: float) -> Iterator[Block]:
    """The sound of a film, where it belongs by the film's clock: silence stands for what lacks."""
    zero = (container.start_time or 0) / av.time_base
    if start:
        container.seek(int((zero + max(start - BEFORE, 0.0)) * av.time_base))
    layout = "mono" if stream.channels == 1 else "stereo"
    resampler = av.AudioResampler(format="fltp", layout=layout, rate=stream.rate)
    sought, at = bool(start), start
    for frame in sound_frames(container, stream):
        late = 0.0 if frame.time is None else frame.time - zero - at
        # Gaps and jumps in damaged time stamps would make the resampler refuse the frame.
        frame.pts = None
        for part in resampler.resample(frame):
            block: Block = np.asarray(part.to_ndarray().T, np.float32)
            if NEAR < late < LONGEST_GAP:
                yield from _silence(late, stream.rate, block.shape[1])
                at += late
            elif sought and late < 0:  # a seek leads to a place before the wanted one
                block = block[round(-late * stream.rate) :]
            late = 0.0
            if len(block):
                sought = False
                at += len(block) / stream.rate
                yield block


def sound_frames(container: Any, stream: Any) -> Iterator[Any]:
    """What can be decoded; as every player does, broken parts are passed over."""
    for packet in container.demux(stream):
        try:
            yield from packet.decode()
        except av.FFmpegError:
            continue


def _silence(seconds: float, rate: int, channels: int) -> Iterator[Block]:
    left = round(seconds * rate)
    while left > 0:
        length = min(left, int(rate * BLOCK_SECONDS))
        yield np.zeros((length, channels), np.float32)
        left -= length
