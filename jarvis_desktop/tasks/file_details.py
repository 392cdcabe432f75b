"""Tells what can be measured of a file: how long a recording lasts, how many pixels a picture has,
how large the file is. Runs in a child process."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.shown import readable_size
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.timer import spoken_length

_LASTING = "recording audio sound song track podcast video film movie clip".split()
_SEEN = "picture photo image video film file".split()
_SIZES = ("size", "format", "resolution", "file type")
_WHICH = ("the", "this", "that", "my")


def _asking(noun: str, sizes: str) -> Iterable[str]:
    """How people ask for them. "Reduce the size of the picture" asks for another task."""
    for which in ("the", "this"):
        for size in sizes.split():
            for asked in ("what ... ", "tell ... ", "^"):
                yield f"{asked}{size} of {which} {noun}"


_PRECISE = 10.0
"""Seconds; what is shorter is told with its tenths."""

TYPE = TaskType(
    name="file-details",
    summary="Tells a file's size and type, how long a recording or a video lasts and how many "
    "pixels a picture has.",
    ports=(Port("file", (Kind.AUDIO, Kind.VIDEO, Kind.IMAGE, Kind.DOCUMENT, Kind.TABLE)),),
    gives=(Kind.TEXT,),
    cues=(
        *(f"how long is {which} {noun}" for noun in _LASTING for which in _WHICH),
        *(f"how long does {which} {noun}" for noun in _LASTING for which in _WHICH),
        *(f"how big is {which} {noun}" for noun in _SEEN for which in _WHICH),
        *(f"how large is {which} {noun}" for noun in _SEEN for which in _WHICH),
        *(cue for noun in _LASTING for cue in _asking(noun, "length duration")),
        *(cue for noun in _SEEN for cue in _asking(noun, "size dimensions resolution format")),
        *(f"what {size} is this {noun}" for noun in _SEEN for size in _SIZES),
        *(f"what {size} is the {noun}" for noun in _SEEN for size in _SIZES),
        "how long is it$", "how long does it last", "how long does it take to play",
        "what is the duration", "what is the playing time", "how many seconds long",
        "how many minutes long", "how many pixels", "how many megapixels", "how many megabytes",
        "how many bytes", "how big is it$", "how large is it$", "what ... file size",
        "how big is xfile*", "how large is xfile*", "what ... size of xfile*", "what file format",
        "what type of file", "what kind of file", "what ... sample rate",
    ),
)  # fmt: skip


def tell(call: Call, report: Report) -> Iterable[Artifact]:
    """One or two sentences. Raises InputError where the file cannot be read as what it is."""
    path, name = call.file("file"), call.title("file")
    (artifact,) = call.inputs["file"]
    about = _size_and_type(path, name)
    match artifact.kind:
        case Kind.IMAGE:
            told = f"{name} is {_pixels(path, name)}. It is {about}."
        case Kind.AUDIO | Kind.VIDEO:
            lasts, more = _measured(path, name)
            told = f"{name} {lasts}. It is {about}{more}."
        case _:
            told = f"{name} is {about}."
    return [text_artifact(told)]


def _size_and_type(path: Path, name: str) -> str:
    """Such as "a WAV file of 2 MB"; the type is what its name says."""
    size = path.stat().st_size
    shown = readable_size(size / 1e6) if size >= 1000 else f"{size} bytes"
    kind = Path(name).suffix.removeprefix(".").upper()
    article = "an" if kind[:1] in tuple("AEFHILMNORSX") else "a"
    return f"{article} {kind} file of {shown}" if kind else f"a file of {shown}"


def _pixels(path: Path, name: str) -> str:
    from jarvis_desktop.tasks.pictures import read_image

    width, height = read_image(path, name=name).size
    return f"{width:,} pixels wide and {height:,} high"


def _measured(path: Path, name: str) -> tuple[str, str]:
    """How long it lasts, and what else there is to know of its sound and pictures."""
    import av

    from jarvis_desktop.tasks.media import open_media

    more = []
    with open_media(path, name=name, longest=math.inf) as container:
        seconds = (container.duration or 0) / av.time_base
        if container.streams.video:
            film = container.streams.video[0]
            more.append(f"{film.width:,} by {film.height:,} pixels")
        if container.streams.audio:
            sound = container.streams.audio[0]
            channels = {1: "mono", 2: "stereo"}.get(sound.channels, f"{sound.channels} channels")
            more.append(f"sound at {sound.rate:,} Hz, {channels}")
        else:
            more.append("no sound")
    return _lasting(seconds), f", with {' and '.join(more)}"


def _lasting(seconds: float) -> str:
    if not seconds:
        return "does not say how long it lasts"
    if seconds < _PRECISE:
        return f"lasts {round(seconds, 1):g} second{'' if round(seconds, 1) == 1 else 's'}"
    return f"lasts {spoken_length(seconds)}"


DEFINITION = Definition(TYPE, method=tell, note="what the file itself says, by PyAV and Pillow")
