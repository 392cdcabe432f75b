"""Says what a picture shows, with an expert, and what can be measured of it."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.task import Option, Port, Preset, TaskType
from jarvis_desktop.tasks.definition import Definition

CONTENT, MEASURES = "content", "measures"

_MEASURED = (
    "what colours are", "what colors are", "main colours", "main colors", "dominant colo*",
    "which colours", "which colors", "is it sharp", "is this picture sharp", "is the photo sharp",
    "is it blurry", "is this picture blurry", "is the photo blurry", "too dark or",
)  # fmt: skip

TYPE = TaskType(
    name="image-classification",
    summary="Says in a word what a picture shows, with an expert, or what can be measured of it: "
    "photo, page or drawing, main colours, size, light and sharpness.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.TEXT,),
    options=(
        Option("about", "content = what it shows; measures = colours, size, light and sharpness",
               CONTENT, choices=(CONTENT, MEASURES)),
    ),
    presets=tuple(Preset(phrase, (("about", MEASURES),)) for phrase in _MEASURED),
    cues=(
        "classify the picture", "classify the image", "classify this", "classify image",
        "image classification", "image-classification", "what kind of picture",
        "what kind of image", "what type of picture", "what type of image",
        "categor* the picture", "categor* the image",
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
