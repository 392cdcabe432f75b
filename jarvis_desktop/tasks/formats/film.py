"""Writes films with PyAV: as MP4, WebM and others, in parts, joined, and as a GIF."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Report
from jarvis_desktop.tasks.video import (
    film_codec,
    film_seconds,
    open_film,
    upright_picture,
    with_times,
)

if TYPE_CHECKING:
    from PIL.Image import Image

TICKS = 90_000
"""Per second: the times of the pictures are kept as they are, whatever the rates of the films."""
SOUND_RATE = 48_000
MAX_SIDE = 3840
GIF_SIDE = 480
GIF_RATE = 12
MAX_GIF_SECONDS = 60
_FROM = {"mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm"}
"""Containers whose films are copied as they are if a format takes their codecs."""
_ANY_SIDE = frozenset("h264 hevc av1 aac mp3".split())
_WEB = frozenset("vp8 vp9 av1 opus vorbis".split())


@dataclass(frozen=True, slots=True)
class FilmFormat:
    """A container for films."""

    name: str
    """FFmpeg's name for it."""
    kept: frozenset[str]
    """Codecs that it takes as they are."""
    sound: str = "aac"
    options: tuple[tuple[str, str], ...] = ()


FILMS = {
    "mp4": FilmFormat("mp4", _ANY_SIDE, options=(("movflags", "+faststart"),)),
    "webm": FilmFormat("webm", _WEB, "libopus"),
    "mkv": FilmFormat("matroska", _ANY_SIDE | _WEB),
    "mov": FilmFormat("mov", _ANY_SIDE, options=(("movflags", "+faststart"),)),
}
"""By the ending of the file."""
_VP9 = {"deadline": "realtime", "cpu-used": "8", "row-mt": "1", "crf": "33", "b": "0"}
"""Options of VP9's encoder, which otherwise takes many times as long as the film."""


Change = Callable[["Image"], "Image"]


@dataclass(frozen=True, slots=True)
class FilmPart:
    """A film from one second to another, which may be infinite."""

    path: Path
    name: str
    begin: float = 0.0
    end: float = float("inf")
    speed: float = 1.0
    """How many times as fast a whole film runs, with its sound at the same pitch."""
    gain: float = 0.0
    """Decibels by which its sound is made louder."""


def save_film(path: Path, to: Path, *, name: str, report: Report) -> None:
    """Write a film in the format of an ending in `FILMS`, without encoding it again if that is
    possible. Raises InputError."""
    form = FILMS[to.suffix[1:]]
    with open_film(path, name=name) as (container, _):
        streams = [*container.streams.video[:1], *container.streams.audio[:1]]
        codecs = {stream.codec_context.name for stream in streams if stream.codec_context}
        if container.format.name in _FROM and codecs <= form.kept:
            with _opened(to) as out:
                made = {stream.index: out.add_stream_from_template(stream) for stream in streams}
                for packet in with_times(container.demux(streams)):
                    packet.stream = made[packet.stream.index]
                    out.mux(packet)
            return
    write_parts([FilmPart(path, name)], to, report=report)


def _opened(to: Path) -> Any:
    import av

    form = FILMS[to.suffix[1:]]
    return av.open(str(to), "w", format=form.name, options=dict(form.options))


def write_parts(
    parts: Sequence[FilmPart], to: Path, *, report: Report, change: Change | None = None
) -> None:
    """Encode parts of films in turn, in the format of the ending and the size of the first; a
    picture of another shape gets black edges. `change` is done to each picture. Raises
    InputError."""
    form = FILMS[to.suffix[1:]]
    with open_film(parts[0].path, name=parts[0].name) as (container, stream):
        first = next(container.decode(stream), None)
        if first is None:
            raise InputError(tr("{name} contains no readable picture.", name=parts[0].name))
        picture = upright_picture(first)
        width, height = (change(picture) if change else picture).size
        rate = stream.average_rate or stream.guessed_rate or 25
    scale = min(1.0, MAX_SIDE / max(width, height))
    size = tuple(max(2, int(side * scale) // 2 * 2) for side in (width, height))
    codec, options = ("libvpx-vp9", _VP9) if form.kept is _WEB else film_codec()
    if "preset" in options:  # a whole film is not to take longer than to watch it
        options = {"crf": "20", "preset": "veryfast"}
    with _opened(to) as out:
        video: Any = out.add_stream(codec, rate=rate, options=options)
        video.width, video.height = size
        video.pix_fmt = "yuv420p"
        video.codec_context.time_base = Fraction(1, TICKS)
        audio: Any = None
        if any(_has_sound(part) for part in parts):
            audio = out.add_stream(form.sound, rate=SOUND_RATE, layout="stereo")
        offset, heard = 0.0, 0
        for number, part in enumerate(parts):
            share = (number / len(parts), 1 / len(parts))
            film = _Copy(part, out, video, audio, size, offset, heard, report, share, change)
            film.run()
            offset, heard = film.ended, film.heard
        if not offset:
            raise InputError(tr("{name} has nothing in that stretch of time.", name=parts[0].name))
        for each in (video, audio):
            if each is not None:
                out.mux(each.encode(None))


def _has_sound(part: FilmPart) -> bool:
    with open_film(part.path, name=part.name) as (container, _):
        return bool(container.streams.audio)


class _Copy:
    """Encodes one part, from `offset` seconds of the new film on; `heard` samples exist so far."""

    def __init__(
        self, part: FilmPart, out: Any, video: Any, audio: Any, size: tuple[int, ...],
        offset: float, heard: int, report: Report, share: tuple[float, float],
        change: Change | None,
    ) -> None:  # fmt: skip
        import av

        self._part, self._out, self._video, self._audio = part, out, video, audio
        self._size, self._offset, self._report, self._share = size, offset, report, share
        self._change = change
        self._resampler = av.AudioResampler("fltp", "stereo", SOUND_RATE)
        self._changed: Any = None
        """A graph of filters that the sound goes through, if any."""
        self.heard = heard
        self.ended = offset

    def run(self) -> None:
        import av

        part = self._part
        with open_film(part.path, name=part.name) as (container, stream):
            length = min(film_seconds(container, stream), part.end) - part.begin
            sound = container.streams.audio[0] if container.streams.audio else None
            streams = [stream, sound] if sound else [stream]
            start = float((stream.start_time or 0) * stream.time_base)
            if part.begin:
                container.seek(round((part.begin + start) / stream.time_base), stream=stream)
            step = float(1 / (stream.average_rate or 25)) / part.speed
            done = set()
            for packet in container.demux(streams):
                try:
                    frames = packet.decode()
                except av.InvalidDataError:
                    continue
                for frame in frames:
                    at = (frame.time or 0.0) - start - part.begin
                    if at > part.end - part.begin - 1e-6:
                        done.add(packet.stream.index)
                    elif packet.stream is stream:
                        if at >= -1e-6:
                            self._show(frame, at / part.speed, step)
                            self._report(
                                self._share[0] + self._share[1] * min(1.0, at / max(length, 0.1)),
                                tr("Writing the video"),
                            )
                    elif self._audio is not None:
                        self._hear(frame, at, part.end - part.begin)
                if len(done) == len(streams):
                    break
            self._hear_changed(None)
        self._fill(self.ended)

    def _show(self, frame: Any, at: float, step: float) -> None:
        import av
        from PIL import ImageOps

        pts = round((self._offset + at) * TICKS)
        odd = (frame.width, frame.height) != self._size or getattr(frame, "rotation", False)
        if odd or self._change:
            picture = upright_picture(frame)
            picture = self._change(picture).convert("RGB") if self._change else picture
            picture = ImageOps.pad(picture, (self._size[0], self._size[1]))
            made: Any = av.VideoFrame.from_image
            frame = made(picture)
        frame = frame.reformat(format="yuv420p")
        frame.pts, frame.time_base, frame.pict_type = pts, Fraction(1, TICKS), 0
        self._out.mux(self._video.encode(frame))
        self.ended = self._offset + at + step

    def _hear(self, frame: Any, at: float, long: float) -> None:
        import numpy as np

        frame.pts = None
        if self._part.speed != 1 or self._part.gain:
            self._changed = self._changed or _sound_filters(frame, self._part)
            self._hear_changed(frame)
            return
        blocks = [part.to_ndarray() for part in self._resampler.resample(frame)]
        if not blocks:
            return
        block = np.concatenate(blocks, axis=1)
        first = max(0, round(-at * SOUND_RATE))
        block = block[:, first : max(0, round(min((long - at), 1e6) * SOUND_RATE))]
        if block.shape[1]:
            self._fill(self._offset + max(0.0, at), slack=0.1)
            self._sound(block)

    def _hear_changed(self, frame: Any) -> None:
        """Filter a piece of sound, or its end (None), and encode the result."""
        import av
        import numpy as np

        if self._changed is None:
            return
        self._changed.push(frame)
        while True:
            try:
                changed = self._changed.pull()
            except (av.BlockingIOError, av.EOFError):
                return
            changed.pts = None
            for piece in self._resampler.resample(changed):
                self._sound(np.asarray(piece.to_ndarray()))

    def _fill(self, until: float, slack: float = 0.0) -> None:
        """Add silence if the sound is shorter than the pictures by more than `slack` seconds."""
        import numpy as np

        missing = round(until * SOUND_RATE) - self.heard
        if self._audio is not None and missing > slack * SOUND_RATE:
            for some in itertools.repeat(SOUND_RATE, missing // SOUND_RATE):
                self._sound(np.zeros((2, some), np.float32))
            if missing % SOUND_RATE:
                self._sound(np.zeros((2, missing % SOUND_RATE), np.float32))

    def _sound(self, block: Any) -> None:
        import av
        import numpy as np

        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(block), format="fltp", layout="stereo"
        )
        frame.sample_rate, frame.pts = SOUND_RATE, self.heard
        frame.time_base = Fraction(1, SOUND_RATE)
        self.heard += block.shape[1]
        self._out.mux(self._audio.encode(frame))


def _sound_filters(frame: Any, part: FilmPart) -> Any:
    """Return FFmpeg's filters for the speed and the loudness of a sound like this piece of it."""
    import av

    graph = av.filter.Graph()
    # One filter for the tempo halves it at most.
    tempos = [max(0.5, part.speed)] if part.speed >= 0.5 else [0.5, part.speed / 0.5]
    nodes = [
        graph.add_abuffer(
            sample_rate=frame.sample_rate, format=frame.format.name, layout=frame.layout.name
        ),
        *(graph.add("atempo", f"{tempo:g}") for tempo in tempos if tempo != 1),
        graph.add("volume", f"{part.gain:g}dB"),
        graph.add("abuffersink"),
    ]
    graph.link_nodes(*nodes).configure()
    return graph


def save_gif(path: Path, to: Path, *, name: str, report: Report) -> None:
    """Write a film of up to a minute as a GIF, at most 480 pixels wide and high. Raises
    InputError."""
    with open_film(path, name=name) as (container, stream):
        length = film_seconds(container, stream)
        if length > MAX_GIF_SECONDS:
            raise InputError(
                tr("{name} is too long for a GIF: {length:.0f} seconds.", name=name, length=length),
                hint=tr(
                    "A GIF can have {most} seconds: cut out a part first.", most=MAX_GIF_SECONDS
                ),
            )
        report(None, tr("Writing the GIF"))
        pictures = list(_gif_pictures(container, stream))
    if not pictures:
        raise InputError(tr("{name} contains no readable picture.", name=name))
    pictures[0].save(
        to, save_all=True, append_images=pictures[1:], duration=round(1000 / GIF_RATE), loop=0,
        optimize=False, disposal=1,
    )  # fmt: skip


def _gif_pictures(container: Any, stream: Any) -> Iterator[Image]:
    """The pictures of a film at a GIF's rate, small and of 256 colours of their own each."""
    due, start = 0.0, float((stream.start_time or 0) * stream.time_base)
    for frame in container.decode(stream):
        if (frame.time or 0.0) - start + 1e-6 < due:
            continue
        due += 1 / GIF_RATE
        picture = upright_picture(frame)
        picture.thumbnail((GIF_SIDE, GIF_SIDE))
        yield picture.quantize(256)
