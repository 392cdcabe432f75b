"""Draws the straight lines of a picture."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.naming import IN_PICTURE

TYPE = TaskType(
    name="mlsd-control",
    summary="Draws the straight lines of a picture, such as those of a building, to steer a "
    "picture generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "mlsd", "mlsd control", "mlsd-control", "m-lsd", "straight line*", "line segment*",
        "line detection", "detect the lines", "detect lines", "find the lines",
        *(f"find ... lines {at}" for at in IN_PICTURE),
        "wireframe",
    ),
)  # fmt: skip


def draw(call: Call, report: Report) -> Iterable[Artifact]:
    """The straight lines, white on black."""
    from PIL import Image as images

    from jarvis_desktop.tasks.controls import straight_lines
    from jarvis_desktop.tasks.pictures import read_image, save_png, to_array

    path, name = call.file("image"), call.title("image")
    report(None, f"drawing the control picture of {name}")
    pixels = straight_lines(to_array(read_image(path, name=name)))
    return [save_png(images.fromarray(pixels), call, "mlsd")]


DEFINITION = Definition(
    TYPE, method=draw, note="line segments by OpenCV; not the M-LSD network itself"
)
