"""Says what can be measured of a picture: its kind, colours, size, light and sharpness."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="image-classification",
    summary="Says what can be measured of a picture: photo, page or drawing, main colours, size, "
    "light and sharpness. It does not know objects.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.TEXT,),
    cues=(
        "classify the picture", "classify the image", "classify this", "classify image",
        "image classification", "image-classification", "what kind of picture",
        "what kind of image", "what type of picture", "what type of image", "what colours are",
        "what colors are", "main colours", "main colors", "dominant colo*", "which colours",
        "which colors", "how large is the picture", "how big is the picture",
        "size of the picture", "size of the image", "dimensions of", "resolution of",
        "is it sharp", "is this picture sharp", "is the photo sharp", "is it blurry",
        "is this picture blurry", "is the photo blurry", "too dark or", "categor* the picture",
        "categor* the image",
    ),
)  # fmt: skip


def describe(call: Call, report: Report) -> Iterable[Artifact]:
    """Two or three sentences."""
    from jarvis_desktop.tasks.measuring import measure
    from jarvis_desktop.tasks.pictures import read_image, to_array

    path, name = call.file("image"), call.title("image")
    report(None, f"measuring {name}")
    image = read_image(path, name=name)
    found = measure(to_array(image))
    width, height = image.size
    shape = "square" if width == height else "wide" if width > height else "tall"
    *others, last = found.colours
    colours = f"{', '.join(others)} and {last}" if others else last
    sentences = [
        f"{name} is {found.kind}, {width} by {height} pixels ({shape}).",
        f"It is mostly {colours}, {found.light}{found.sharpness}.",
        "I measure pictures; to say what they show I need an expert.",
    ]
    return [text_artifact(" ".join(sentences))]


DEFINITION = Definition(
    TYPE, method=describe, note="measurements only: kind, colours, size, light; knows no objects"
)
