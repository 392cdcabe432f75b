"""Reasons why a file that an expert gave cannot be what was asked for, as in `doubts`.

Pictures are decoded, of sound files the samples of WAV are read, of all others the beginning. What
only a heavy decoder could tell is not looked for here: this runs in the window's own process.
"""

from __future__ import annotations

import re
import sys
import wave
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call
from jarvis_desktop.core.wording import tr

if TYPE_CHECKING:
    from PIL.Image import Image

DRAWN = frozenset(
    """text-to-image inpainting image-to-image image-editing depth-estimation depth-control
    normal-control seg-control canny-text-to-image depth-text-to-image hed-text-to-image
    mlsd-text-to-image normal-text-to-image openpose-text-to-image scribble-text-to-image
    seg-text-to-image""".split()
)
"""Tasks that give a new picture, never of one colour. Edges, poses and masks of nothing are."""

MARKED = frozenset({"object-detection", "zero-shot-object-detection"})
"""Tasks that give the same picture again where nothing was found."""

HEARD = frozenset({"text-to-speech", "text-to-audio", "audio-to-audio", "video-to-audio"})
SPOKEN = "text-to-speech"
VECTORS = "feature-extraction"

MOST_PIXELS = 50_000_000
"""A larger picture is not decoded to look at it."""
SMALLEST = 8
"""Pixels of a side."""
FLAT = 1.5
"""The standard deviation, of 255 steps, below which a picture shows nothing."""

FAINT = 8
"""The loudest sample, of 32767, of what nobody hears."""
LONGEST_LOOK = 60
"""Seconds of a sound that are read."""
QUICKEST = 80.0
"""Letters that no voice says in a second."""

_COLOUR = r"(?:white|black|grey|gray|red|green|blue|yellow|one colou?r|single colou?r|transparent)"
_PLAIN = re.compile(
    rf"\b(?:blank|plain|solid|empty|uniform|monochrome)\b|\b(?:all|only|just|pure|nothing but|"
    rf"completely|entirely)[ -]{_COLOUR}\b|\b{_COLOUR}[ -](?:page|background|square|canvas|image|"
    rf"picture|rectangle|screen|wallpaper)\b",
    re.IGNORECASE,
)
_SILENT = re.compile(r"\b(?:silen\w+|quiet|mute\w*|no sound)\b", re.IGNORECASE)

_BEGINNINGS = {
    Kind.AUDIO: re.compile(rb"RIFF....WAVE|RF64|fLaC|OggS|ID3|\xff[\xe0-\xff]|....ftyp|FORM", re.S),
    Kind.VIDEO: re.compile(
        rb"....(?:ftyp|moov|mdat|free)|\x1aE\xdf\xa3|RIFF....AVI|GIF8|OggS", re.S
    ),
}


def of_file(made: Artifact, call: Call) -> str:
    """What is wrong with a file."""
    path = made.path
    assert path is not None
    if made.kind is Kind.IMAGE:
        return _of_picture(path, call)
    if (begins := _BEGINNINGS.get(made.kind)) and not begins.match(_head(path)):
        return (
            tr("gave a film that cannot be opened")
            if made.kind is Kind.VIDEO
            else tr("gave a sound that cannot be opened")
        )
    if made.kind is Kind.VIDEO and _cut_off(path):
        return tr("gave a film that breaks off")
    if made.kind is Kind.AUDIO:
        return _of_sound(path, call)
    head = _head(path, 4096) if path.suffix.lower() in (".csv", ".tsv") else b""
    if b"\0" in head or (call.task == VECTORS and re.search(rb"(?i),-?nan\b", head)):
        return tr("gave a table without its numbers")
    return ""


def _of_picture(path: Path, call: Call) -> str:
    from PIL import Image

    try:
        with Image.open(path) as image:
            width, height = image.size
            if min(width, height) < SMALLEST and call.task in DRAWN:
                return tr(
                    "gave a picture of {width} by {height} pixels", width=width, height=height
                )
            if width * height > MOST_PIXELS:
                return ""
            image.load()
            if call.task not in DRAWN | MARKED:
                return ""
            given = list(_given(call, Kind.IMAGE))
            flat = _flat(image) and not _PLAIN.search(_words(call))
            if flat and not any(_like(each, _flat) for each in given):
                return tr("gave a picture of nothing")
            if call.task in DRAWN and any(
                _like(each, lambda other: _equal(image, other)) for each in given
            ):
                return tr("gave back the picture as it was")
    except Exception:  # noqa: BLE001 - what Pillow's decoders raise on damaged data is anything
        return tr("gave a picture that cannot be opened")
    return ""


def _like(path: Path, test: Callable[[Image], bool]) -> bool:
    """Whether a picture that was given is so; one that cannot be opened here is not."""
    from PIL import Image

    try:
        with Image.open(path) as image:
            return image.width * image.height <= MOST_PIXELS and test(image)
    except Exception:  # noqa: BLE001 - as above
        return False


def _flat(image: Image) -> bool:
    from PIL import ImageStat

    small = image.convert("RGB")
    small.thumbnail((128, 128))
    return max(ImageStat.Stat(small).stddev) < FLAT


def _equal(one: Image, other: Image) -> bool:
    from PIL import ImageChops

    if one.size != other.size:
        return False
    return ImageChops.difference(one.convert("RGB"), other.convert("RGB")).getbbox() is None


def _of_sound(path: Path, call: Call) -> str:
    try:
        with wave.open(str(path), "rb") as sound:
            seconds, silent = sound.getnframes() / sound.getframerate(), _silent(sound)
    except (wave.Error, EOFError, OSError):  # of another format, or in floating point
        return ""
    if not seconds:
        return tr("gave a sound without any length")
    words = _words(call)
    if call.task == SPOKEN and len(words) > QUICKEST * seconds:
        return tr("spoke only a part")
    if call.task not in HEARD or not silent or _SILENT.search(words):
        return ""
    return "" if any(map(_is_silent, _given(call, Kind.AUDIO))) else tr("gave nothing but silence")


def _is_silent(path: Path) -> bool:
    try:
        with wave.open(str(path), "rb") as sound:
            return _silent(sound)
    except (wave.Error, EOFError, OSError):
        return False


def _silent(sound: wave.Wave_read) -> bool:
    """Whether nothing is heard in its first minute; a direct current is not heard either."""
    frames = sound.readframes(LONGEST_LOOK * sound.getframerate())
    width = sound.getsampwidth()
    if width == 2:
        samples = array("h", frames[: len(frames) // 2 * 2])
        if sys.byteorder == "big":
            samples.byteswap()
        return not samples or max(samples) - min(samples) <= 2 * FAINT
    return len(set(frames)) <= width


def _cut_off(path: Path) -> bool:
    """Whether an MP4's boxes do not add up to the file, or its table of contents is missing."""
    with path.open("rb") as file:
        size, at = path.stat().st_size, 0
        names: set[bytes] = set()
        while at + 8 <= size:
            file.seek(at)
            head = file.read(16)
            length, name = int.from_bytes(head[:4], "big"), head[4:8]
            if not names and name not in (b"ftyp", b"moov", b"mdat", b"free"):
                return False  # another format
            names.add(name)
            length = int.from_bytes(head[8:16], "big") if length == 1 else length or size - at
            if length < 8:
                return True
            at += length
    return at != size or not {b"moov", b"mdat"} <= names


def _given(call: Call, kind: Kind) -> Iterator[Path]:
    for items in call.inputs.values():
        yield from (item.path for item in items if item.path and item.kind is kind)


def _words(call: Call) -> str:
    """What was said of it: the texts of the call."""
    return " ".join(item.text or "" for items in call.inputs.values() for item in items)


def _head(path: Path, size: int = 16) -> bytes:
    with path.open("rb") as file:
        return file.read(size)
