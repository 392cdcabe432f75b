"""Divides a picture into areas of one colour each."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="seg-control",
    summary="Divides a picture into areas of similar colour, to steer a picture generator; it "
    "does not know what they are.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "seg control", "seg-control", "segmentation control", "segmentation map", "colour areas",
        "color areas", "areas of similar colo*", "areas of colo*", "regions of colo*",
        "divide the picture into areas",
    ),
)  # fmt: skip


def draw(call: Call, report: Report) -> Iterable[Artifact]:
    """The areas, each in one flat colour."""
    from PIL import Image as images

    from jarvis_desktop.tasks.controls import areas
    from jarvis_desktop.tasks.pictures import read_image, save_png, to_array

    path, name = call.file("image"), call.title("image")
    report(None, f"drawing the control picture of {name}")
    pixels = areas(to_array(read_image(path, name=name)))
    return [save_png(images.fromarray(pixels), call, "seg")]


DEFINITION = Definition(
    TYPE, method=draw, note="areas by colour and place (OpenCV); it does not name them"
)
