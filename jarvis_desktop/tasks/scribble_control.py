"""Draws a picture as a few rough strokes."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="scribble-control",
    summary="Draws a picture as rough white strokes, like a scribble, to steer a picture "
    "generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "scribble*", "scribble control", "scribble-control", "rough sketch", "rough outline",
        "doodle", "rough strokes",
    ),
)  # fmt: skip


def draw(call: Call, report: Report) -> Iterable[Artifact]:
    """The rough strokes, white on black."""
    from PIL import Image as images

    from jarvis_desktop.tasks.controls import scribble
    from jarvis_desktop.tasks.pictures import read_image, save_png, to_array

    path, name = call.file("image"), call.title("image")
    report(None, f"drawing the control picture of {name}")
    pixels = scribble(to_array(read_image(path, name=name)))
    return [save_png(images.fromarray(pixels), call, "scribble")]


DEFINITION = Definition(TYPE, method=draw, note="thickened outlines by OpenCV")
