"""Draws the edges of a picture as thin white lines on black."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.naming import IN_PICTURE

TYPE = TaskType(
    name="canny-control",
    summary="Draws the edges of a picture as thin white lines (Canny), to steer a picture "
    "generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "canny*", "canny control", "canny-control", "edge detection", "edge map",
        "edges of the picture", "edges of the image", "edges of this", "detect the edges",
        "find the edges", *(f"find ... edges {at}" for at in IN_PICTURE),
        "detect edges", "find edges", "outline of", "outlines of",
        "show the edges", "extract the edges", "draw the edges",
    ),
)  # fmt: skip


def draw(call: Call, report: Report) -> Iterable[Artifact]:
    """The edges, one pixel wide."""
    from PIL import Image as images

    from jarvis_desktop.tasks.controls import canny
    from jarvis_desktop.tasks.pictures import read_image, save_png, to_array

    path, name = call.file("image"), call.title("image")
    report(None, f"drawing the control picture of {name}")
    pixels = canny(to_array(read_image(path, name=name)))
    return [save_png(images.fromarray(pixels), call, "canny")]


DEFINITION = Definition(TYPE, method=draw, note="Canny by OpenCV")
