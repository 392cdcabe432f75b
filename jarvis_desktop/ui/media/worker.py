"""Reads sounds, videos and tables for display. Only imported in child processes."""

from __future__ import annotations

import math
import sys
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack
from functools import reduce
from itertools import islice
from pathlib import Path
from typing import Any

import av
import numpy as np

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.process.child_main import Handler
from jarvis_desktop.speech.audio_output_worker import open_sound, sound_frames
from jarvis_desktop.tasks.audio.media import open_media
from jarvis_desktop.tasks.documents.tables import read_tables
from jarvis_desktop.ui.media.previews import Peaks, TablePreview, VideoFrame, VideoInfo

PEAK_INTERVAL_S = 0.005  # seconds per value at first; doubled whenever there are too many values
MAX_PEAKS = 1200
MAX_SOUND_S = 24 * 3600.0


def peaks(path: Path, stretch: float) -> Iterator[Peaks]:
    """Yield the loudness known after each `stretch` seconds. Raises InputError without sound."""
    until = time.monotonic() + stretch
    with open_sound(path, 0.0) as file:
        loudness = _Loudness(max(1, round(PEAK_INTERVAL_S * file.rate)))
        for block in file.blocks:
            # numpy itself is ten times slower on a short axis
            loudness.add(reduce(np.maximum, np.abs(block).T))
            length = loudness.frames / file.rate
            if length > MAX_SOUND_S:
                break
            if time.monotonic() > until:
                whole = max(file.length, length)
                yield Peaks(whole, loudness.values(), min(length / whole, 0.999))
                until = time.monotonic() + stretch
        if not loudness.frames:
            raise InputError(tr("{name} contains no sound at all.", name=path.name))
        yield Peaks(loudness.frames / file.rate, loudness.values())


class _Loudness:
    """The peak of each interval; the intervals grow so that there are never too many."""

    def __init__(self, size: int) -> None:
        self.frames = 0
        self._size = size
        self._found = np.zeros(0, np.float32)
        self._rest = np.zeros(0, np.float32)

    def add(self, levels: np.ndarray[tuple[int], np.dtype[np.float32]]) -> None:
        self.frames += len(levels)
        levels = np.concatenate((self._rest, levels))
        whole = len(levels) // self._size * self._size
        new = levels[:whole].reshape(-1, self._size).max(axis=1)
        self._found, self._rest = np.concatenate((self._found, new)), levels[whole:]
        while len(self._found) > MAX_PEAKS:
            odd = self._found[len(self._found) // 2 * 2 :].repeat(self._size)
            self._found = self._found[: len(self._found) // 2 * 2].reshape(-1, 2).max(axis=1)
            self._rest = np.concatenate((odd, self._rest))
            self._size *= 2

    def values(self) -> bytes:
        found = self._found if len(self._found) else self._rest.max(initial=0.0, keepdims=True)
        scaled = np.nan_to_num(found).clip(0.0, 1.0) * 255
        return scaled.astype(np.uint8).tobytes()


MAX_PIXELS = 40_000_000
MAX_MEMORY_BYTES = 4 * 1024**3  # memory limit of the process for a video, in bytes
SEEK_AHEAD_S = 3.0  # seconds ahead from which seeking is faster than decoding
LATE_FRAME_S = 0.25  # seconds after which a late frame is better than none
MAX_SIDE = 960  # longest side of a frame that is sent, in pixels


def make_frames() -> Handler:
    """The handler: the frame at a given second, None after the last."""
    bound_memory()
    shown: list[VideoReader] = []

    def handle(
        report: Report, path: Path, at: float, width: int, height: int, sought: bool
    ) -> VideoFrame | None:
        if not shown:
            shown.append(VideoReader(path))
        return shown[0].frame(at, width, height, sought=sought)

    return handle


def bound_memory() -> None:
    """Limit the memory a hostile file can take, if the system supports it."""
    if sys.platform != "win32":
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = MAX_MEMORY_BYTES if most == resource.RLIM_INFINITY else min(MAX_MEMORY_BYTES, most)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


class VideoReader:
    """A video file. Raises InputError if it cannot be shown."""

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._files = ExitStack()
        self._container = self._files.enter_context(open_media(path, longest=math.inf))
        streams = [each for each in self._container.streams.video if not _is_cover(each)]
        if not streams:
            raise InputError(tr("{name} has no pictures.", name=path.name))
        self._stream = streams[0]
        self._stream.thread_type = "AUTO"
        context = self._stream.codec_context
        if context.width * context.height > MAX_PIXELS:
            raise InputError(
                tr("The pictures of {name} are too large to be shown here.", name=path.name)
            )
        self._zero = (self._container.start_time or 0) / av.time_base
        self._frames: Iterator[Any] = sound_frames(self._container, self._stream)
        self._last = -1.0

    def described(self, width: int, height: int) -> VideoInfo:
        """The properties of the video, with its first frame in a box of that size."""
        poster = self.frame(0.0, width, height, sought=False)
        if poster is None:
            raise InputError(tr("{name} is damaged and cannot be shown.", name=self._name))
        context = self._stream.codec_context
        return VideoInfo(self._length, context.width, context.height, self._sound, poster)

    @property
    def _length(self) -> float:
        return (self._container.duration or 0) / av.time_base

    @property
    def _sound(self) -> float:
        if not self._container.streams.audio:
            return 0.0
        track = self._container.streams.audio[0]
        if not track.duration:
            return self._length
        begin = float((track.start_time or 0) * track.time_base) - self._zero
        return begin + float(track.duration * track.time_base)

    def frame(self, at: float, width: int, height: int, *, sought: bool) -> VideoFrame | None:
        """The first frame from `at` seconds on, scaled into the box, or a late one after a while;
        with `sought` the frame visible at that moment."""
        if at > self._last + SEEK_AHEAD_S or (sought and at < self._last):
            self._seek(at)
        begun = time.monotonic()
        before = None
        for frame in self._frames:
            moment = self._last if frame.time is None else frame.time - self._zero
            if sought and moment > at and before is not None:
                break
            before, self._last = frame, moment
            late = not sought and time.monotonic() - begun > LATE_FRAME_S
            if late or moment >= at - 0.001:
                break
        else:
            if not sought:
                return None
        return None if before is None else self._scaled(before, width, height)

    def _seek(self, at: float) -> None:
        self._container.seek(int((self._zero + max(at, 0.0)) * av.time_base))
        self._frames = sound_frames(self._container, self._stream)
        self._last = -1.0

    def _scaled(self, frame: Any, width: int, height: int) -> VideoFrame:
        turned = frame.rotation % 180 != 0
        aspect = float(self._stream.sample_aspect_ratio or 1)
        full = (frame.width * (aspect if 0.1 < aspect < 10 else 1.0), float(frame.height))
        box = (height, width) if turned else (width, height)
        scale = min(box[0] / full[0], box[1] / full[1], MAX_SIDE / max(full), 1.0)
        size = [max(2, round(side * scale)) for side in full]
        pixels = frame.reformat(*size, format="bgra").to_ndarray()
        pixels = np.ascontiguousarray(np.rot90(pixels, round(frame.rotation / 90)))
        return VideoFrame(max(self._last, 0.0), pixels.shape[1], pixels.shape[0], pixels.tobytes())


def _is_cover(stream: Any) -> bool:
    """Whether a video track is only the cover of an album."""
    return bool(stream.disposition & stream.disposition.__class__.attached_pic)


TURN_S = 0.4  # seconds of work before others get their turn
MAX_SOUNDS = 4  # sounds that are analysed in turns
MAX_ROWS = 200
MAX_COLUMNS = 60
MAX_CELL_CHARS = 200


def make_reader() -> Handler:
    """The handler: the first argument names the kind of preview, the second is the file."""
    bound_memory()
    heard: OrderedDict[Path, Iterator[Peaks]] = OrderedDict()

    def listen(path: Path) -> Peaks:
        if path not in heard:
            heard[path] = peaks(path, TURN_S)
            if len(heard) > MAX_SOUNDS:
                heard.popitem(last=False)
        try:
            found = next(heard[path])
        except BaseException:
            del heard[path]
            raise
        if found.share == 1:
            del heard[path]
        return found

    def handle(
        report: Report, what: str, path: Path, *args: Any
    ) -> Peaks | VideoInfo | TablePreview:
        if what == "peaks":
            return listen(path)
        return VideoReader(path).described(*args) if what == "film" else preview(path)

    return handle


def preview(path: Path) -> TablePreview:
    """The first rows of a table. Raises InputError."""
    table = read_tables(path, most=MAX_ROWS + 2)[0]
    rows = [_cells(row) for row in islice(table.rows, MAX_ROWS)]
    return TablePreview(_cells(table.columns), tuple(rows), len(table.rows) > MAX_ROWS)


def _cells(row: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one_line(cell, limit=MAX_CELL_CHARS) for cell in row[:MAX_COLUMNS])
