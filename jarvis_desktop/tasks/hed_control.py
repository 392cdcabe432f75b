"""Draws the edges of a picture softly, stronger where they are stronger."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="hed-control",
    summary="Draws the soft edges of a picture, stronger where the light changes more, to "
    "steer a picture generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "hed", "hed control", "hed-control", "soft edge*", "softedge*", "holistically",
        "boundary map", "soft outline*",
    ),
)  # fmt: skip


def draw(call: Call, report: Report) -> Iterable[Artifact]:
    """The soft edges."""
    from PIL import Image as images

    from jarvis_desktop.tasks.controls import soft_edges
    from jarvis_desktop.tasks.pictures import read_image, save_png, to_array

    path, name = call.file("image"), call.title("image")
    report(None, f"drawing the control picture of {name}")
    pixels = soft_edges(to_array(read_image(path, name=name)))
    return [save_png(images.fromarray(pixels), call, "hed")]


DEFINITION = Definition(
    TYPE,
    method=draw,
    note="soft edges by gradients over several scales; not the HED network itself",
)
