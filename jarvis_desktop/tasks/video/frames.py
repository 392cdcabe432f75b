"""Takes pictures out of a video.

Pictures out of a film, by PyAV. Runs in child processes only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Report, TaskOption
from jarvis_desktop.tasks.audio.media import open_media
from jarvis_desktop.tasks.definition import define

if TYPE_CHECKING:
    from PIL.Image import Image


MOST = 60


def take_pictures(call: Call, report: Report) -> Iterable[Artifact]:
    """The pictures, in the order of the video."""

    path, name = call.file("video"), call.title("video")
    count, at = int(call.number("count")), call.number("at")
    if not 1 <= count <= MOST:
        raise InputError(
            tr("Between 1 and {most} pictures can be taken out of a video at a time.", most=MOST)
        )
    artifacts = []
    with open_film(path, name=name) as (container, stream):
        length = length_of(container, stream)
        if at >= 0 and length and at > length:
            raise InputError(
                tr("{name} is only {length:.1f} seconds long.", name=name, length=length)
            )
        moments = _moments(count, at, length)
        for number, frame in enumerate(frames_at(container, stream, moments), 1):
            report(number / len(moments), f"picture {number} of {len(moments)}")
            out = call.workdir / f"{Path(name).stem or 'video'}-{number:02d}.png"
            upright(frame).save(out, compress_level=3)
            artifacts.append(Artifact(Kind.IMAGE, path=out, name=out.name))
    if not artifacts:
        raise InputError(
            tr("{name} holds no picture that can be read.", name=name),
            hint=tr("It may be damaged."),
        )
    return artifacts


def _moments(count: int, at: float, length: float) -> list[float]:
    """The seconds at which pictures are taken."""
    if at >= 0:
        # More pictures than one from a given second on: one second apart.
        return [at + i for i in range(count) if not length or at + i <= length]
    return [length * (i + 0.5) / count for i in range(count)]


VIDEO_TO_IMAGE = define(
    name="video-to-image",
    summary="Takes one or more still pictures out of a video.",
    ports=(Port("video", (Kind.VIDEO,)),),
    gives=(Kind.IMAGE,),
    options=(
        TaskOption("count", "how many pictures, spread evenly over the video", 1,
               units=("frame*", "picture*", "image*", "still*", "screenshot*", "thumbnail*")),
        TaskOption("at", "the second to take the picture at; -1 = spread over the video", -1.0,
               units=("second*",)),
    ),
    cues=(
        "picture from the video", "picture of the video", "picture out of", "image from the video",
        "image from this video", "frame from", "frame of the video", "frames from", "frames of",
        "frames out of", "extract a frame", "extract the frame*", "extract frame*", "grab a frame",
        "still from", "still of", "stills from", "still picture*", "screenshot of the video",
        "screenshots of the video", "thumbnail*", "video to image", "video-to-image",
        "pictures from the video", "pictures out of", "key frames", "keyframes", "first frame",
        "last frame", "snapshot*",
    ),
    method=take_pictures, note="PyAV (FFmpeg)",
)  # fmt: skip


MOST_PIXELS = 50_000_000
"""Of one picture."""


def even_frames(path: Path, count: int, *, name: str) -> list[Image]:
    """`count` RGB pictures spread evenly over a film, upright; of a short one, some repeat.

    Raises InputError where none can be read, ExpertError where there is no moving picture.
    """
    with open_film(path, name=name) as (container, stream):
        length = length_of(container, stream)
        moments = [length * (at + 0.5) / count for at in range(count)]
        frames = [upright(frame) for frame in frames_at(container, stream, moments)]
    if not frames:
        raise InputError(
            tr("{name} holds no picture that can be read.", name=name),
            hint=tr("It may be damaged."),
        )
    return [frames[at * len(frames) // count] for at in range(count)]


@contextmanager
def open_film(path: Path, *, name: str) -> Iterator[tuple[Any, Any]]:
    """The container of a film and its first stream of pictures.

    Raises ExpertError where it has none, InputError where they are too large or unreadable.
    """
    with open_media(path, name=name) as container:
        if not container.streams.video:
            raise ExpertError(
                tr("{name} has no moving picture.", name=name), hint=tr("Give a video.")
            )
        stream = container.streams.video[0]
        if stream.codec_context is None:  # PyAV found nobody who decodes it
            raise InputError(
                tr("{name} cannot be read as a film.", name=name),
                hint=tr("It may be damaged or cut off."),
            )
        if stream.width * stream.height > MOST_PIXELS:
            raise InputError(
                tr(
                    "{name} is too large: {width} by {height} pixels.",
                    name=name,
                    width=stream.width,
                    height=stream.height,
                )
            )
        stream.thread_type = "AUTO"
        yield container, stream


def length_of(container: Any, stream: Any) -> float:
    """The film's length in seconds; 0 where the file does not say."""
    import av

    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    return float((container.duration or 0) / av.time_base)


def frames_at(container: Any, stream: Any, moments: Sequence[float]) -> Iterator[Any]:
    """For each moment, in seconds, the frame shown then; what is broken is passed over."""
    import av

    start = float((stream.start_time or 0) * stream.time_base) if stream.time_base else 0.0
    for moment in moments:
        target = moment + start
        if stream.time_base:
            container.seek(round(target / stream.time_base), stream=stream)
        shown = None
        for packet in container.demux(stream):
            try:
                frames = packet.decode()
            except av.InvalidDataError:
                continue
            for frame in frames:
                if shown is not None and frame.time is not None and frame.time > target:
                    break
                shown = frame
            else:
                continue
            break
        if shown is not None:
            yield shown


def upright(frame: Any) -> Image:
    """The frame as an RGB picture, turned as its camera was held."""
    image: Image = frame.to_image()
    turn = int(getattr(frame, "rotation", 0) or 0)
    return image.rotate(turn, expand=True) if turn else image
