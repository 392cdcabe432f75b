"""Gives a picture another style: sketch, cartoon, painting, sepia ..."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.task import PROMPT, Option, Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.image_editing import presets
from jarvis_desktop.tasks.painting import AVOID, SEED, STRENGTH

STYLES = ("sketch", "cartoon", "painting", "sepia", "grey", "invert")

TYPE = TaskType(
    name="image-to-image",
    summary="Turns a picture into another style: pencil sketch, cartoon, painting, sepia, black "
    "and white, negative; any other style as the prompt says. Everything else is image-editing.",
    ports=(Port("image", (Kind.IMAGE,)), Port(PROMPT, (Kind.TEXT,), required=False)),
    gives=(Kind.IMAGE,),
    options=(Option("edit", "the style", "", choices=("", *STYLES)), STRENGTH, AVOID, SEED),
    presets=presets(STYLES),
    exact="edit",
    cues=(
        "in the style of", "into the style", "style of a", "another style", "restyle*", "stylise*",
        "stylize*", "style transfer", "transform the picture", "transform the image",
        "transform this image", "turn the picture into", "turn the photo into",
        "turn this photo into", "turn this picture into", "turn the image into", "image to image",
        "image-to-image", "into a drawing", "into a sketch", "into a pencil sketch",
        "into a cartoon", "into a comic", "into a painting",
    ),
)  # fmt: skip


def restyle(call: Call, report: Report) -> Iterable[Artifact]:
    """The picture in the other style."""
    from jarvis_desktop.tasks.edits import Wish, apply_edit
    from jarvis_desktop.tasks.pictures import read_image, save_image

    path, name, style = call.file("image"), call.title("image"), call.words("edit")
    if style not in STYLES:
        raise ExpertError(
            tr(
                "The styles I have are pencil sketch, cartoon, painting, sepia, black and white, "
                "and negative."
            ),
            hint=tr("Ask for one of them; any other style needs an expert for image-to-image."),
        )
    report(None, f"drawing {name} anew")
    return [save_image(apply_edit(read_image(path, name=name), style, Wish()), call, style)]


DEFINITION = Definition(
    TYPE, method=restyle, note="six named styles by OpenCV; any other style needs an expert"
)
