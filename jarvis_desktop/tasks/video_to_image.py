"""Takes pictures out of a video."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Option, Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition

MOST = 60

TYPE = TaskType(
    name="video-to-image",
    summary="Takes one or more still pictures out of a video.",
    ports=(Port("video", (Kind.VIDEO,)),),
    gives=(Kind.IMAGE,),
    options=(
        Option("count", "how many pictures, spread evenly over the video", 1,
               units=("frame*", "picture*", "image*", "still*", "screenshot*", "thumbnail*")),
        Option("at", "the second to take the picture at; -1 = spread over the video", -1.0,
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
)  # fmt: skip


def take_pictures(call: Call, report: Report) -> Iterable[Artifact]:
    """The pictures, in the order of the video."""
    from jarvis_desktop.tasks.frames import frames_at, length_of, open_film, upright

    path, name = call.file("video"), call.title("video")
    count, at = int(call.number("count")), call.number("at")
    if not 1 <= count <= MOST:
        raise InputError(
            tr(
                "Between 1 and {most} pictures can be taken out of a video at a time.",
                most=MOST,
            )
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


DEFINITION = Definition(TYPE, method=take_pictures, note="PyAV (FFmpeg)")
