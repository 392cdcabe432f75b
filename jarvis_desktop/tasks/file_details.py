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
_SHOWN = "picture photo image video".split()
_SEEN = [*_SHOWN, *"film file recording clip document".split()]
_WHICH = ("the", "this", "that", "my")
_POINTED = ("it", "this", "that")
_OF_SOUND = ("length", "duration", "playing time", "running time", "sample rate")
_OF_ALL = ("size", "dimensions", "resolution", "format", "type")
_SIZES = ("size", "format", "file format", "resolution", "file type", "file size", "sample rate")
_TYPES = ("what type of file", "what kind of file", "what file format", "what file type")


def _of(heads: Iterable[str], nouns: Iterable[str]) -> Iterable[str]:
    """Each beginning with each thing: "how long is" with "this recording"."""
    things = [f"{which} {noun}" for noun in nouns for which in _WHICH]
    return (f"{head} {thing}" for head in heads for thing in things)


def _asking(noun: str, sizes: Iterable[str]) -> Iterable[str]:
    """How people ask for them. "Reduce the size of the picture" asks for another task."""
    for which in ("the", "this"):
        for size in sizes:
            for asked in ("what ... ", "tell ... ", "^"):
                yield f"{asked}{size} of {which} {noun}"


def _counting() -> Iterable[str]:
    """How people ask how many bytes, pixels or seconds it has. A file must be spoken of: "how
    many bytes are in a kilobyte" is a general question."""
    for amount in ("how many *bytes", "how many *b", "how many *pixels"):
        yield from _of((f"{amount} ...",), _SEEN)
        yield from (f"{amount}$", f"{amount} ... xfile*")
        for it in _POINTED:
            yield from (f"{amount} ... is {it}$", f"{amount} ... in {it}$")
            yield from (f"{amount} ... does {it} {has}$" for has in ("have", "take", "take up"))
    # So long that they outweigh the cues for counting what a picture shows.
    yield from _of(("how many *pixels are in", "how many *pixels are there in"), _SHOWN)
    for unit in ("seconds", "minutes", "hours"):
        yield from _of((f"how many {unit} ... is", f"how many {unit} ... does"), _LASTING)
        yield f"how many {unit} long$"
        for it in _POINTED:
            yield from (f"how many {unit} long is {it}$", f"how many {unit} does {it} last$")


def _pointing() -> Iterable[str]:
    """How people ask where nothing but "it", or nothing at all, says what they mean: at the end,
    for "how big is it in real life" and "what is the duration of a match" ask something else."""
    for it in _POINTED:
        yield from (f"how {asked} is {it}$" for asked in ("long", "big", "large"))
        yield from (f"how {asked} is {it} in *bytes$" for asked in ("big", "large"))
        yield from (f"how long does {it} {lasts}$" for lasts in ("last", "play", "run", "go on"))
        yield from (f"how much space does {it} {takes}$" for takes in ("take", "take up"))
        yield from (f"how long does it take to play {it}$", f"how long does {it} take to play$")
        yield from (f"{kind} is {it}$" for kind in _TYPES)
        yield f"what format is {it} in$"
        for size in _SIZES:
            yield from (f"what {size} is {it}$", f"what {size} does {it} have$")
        for size in (*_OF_SOUND, *_OF_ALL):
            yield from (f"what ... {size} of {it}$", f"tell ... {size} of {it}$")
    for size in (*_OF_SOUND, "size", "resolution", "file size", "file type", "file format"):
        yield from (f"{asked} the {size}$" for asked in ("what is", "what's", "tell me"))
    yield from (f"what is its {size}$" for size in ("duration", "resolution", "file size"))
    yield from (f"{asked} dimensions$" for asked in ("what are the", "what are its"))
    yield from (f"{kind}$" for kind in _TYPES)
    yield "how long does it take to play$"


_PRECISE = 10.0
"""Seconds; what is shorter is told with its tenths."""

TYPE = TaskType(
    name="file-details",
    summary="Tells a file's size and type, how long a recording or a video lasts and how many "
    "pixels a picture has.",
    ports=(Port("file", (Kind.AUDIO, Kind.VIDEO, Kind.IMAGE, Kind.DOCUMENT, Kind.TABLE)),),
    gives=(Kind.TEXT,),
    cues=(
        *_of(("how long is", "how long's", "how long does"), _LASTING),
        *_of(("how long does it take to play",), _LASTING),
        *_of(("how big is", "how large is", "how much space does"), _SEEN),
        *(f"what {size} is this {noun}" for noun in _SEEN for size in _SIZES),
        *(f"what {size} is the {noun}" for noun in _SEEN for size in _SIZES),
        *(f"{kind} is {which}" for kind in _TYPES for which in ("this", "that", "my", "xfile*")),
        *(f"{kind} is the {noun}" for kind in _TYPES for noun in _SEEN),
        *(cue for noun in _LASTING for cue in _asking(noun, _OF_SOUND)),
        *(cue for noun in _SEEN for cue in _asking(noun, _OF_ALL)),
        "how big is xfile*", "how large is xfile*", "what ... size of xfile*",
        *_counting(), *_pointing(),
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
    from av.stream import Disposition

    from jarvis_desktop.tasks.media import open_media

    more, cover = [], Disposition.attached_pic
    with open_media(path, name=name, longest=math.inf) as container:
        seconds = (container.duration or 0) / av.time_base
        # A picture of the cover is a stream of its own, and no film.
        films = [item for item in container.streams.video if not item.disposition & cover]
        if films:
            film = films[0]
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
