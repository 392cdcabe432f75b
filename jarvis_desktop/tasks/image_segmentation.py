"""Cuts the main thing in a picture out of its background, or parts it into kinds of things."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.task import Option, Port, Preset, TaskType
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.naming import IN_PICTURE

FOREGROUND = "foreground"

_BACKGROUND = (
    "remove the background", "remove background", "background remov*", "without background",
    "without the background", "without its background", "transparent background",
    "take away the background", "delete the background", "foreground", "sticker",
    "cut the subject out", "cut out the subject", "isolate the subject",
)  # fmt: skip
_PARTS = (
    "segment*", "segment the picture", "segment the image", "segment the photo",
    "segment this picture", "segment this image", "segment this photo", "semantic segmentation",
    "panoptic segmentation", "instance segmentation",
)  # fmt: skip

TYPE = TaskType(
    name="image-segmentation",
    summary="Cuts the main thing in a picture out of its background: a transparent cut-out and a "
    "mask. With an expert, cuts out what is named, or colours each kind of thing in the picture.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE, Kind.TEXT),
    options=(
        Option("what", "foreground = the main thing without its background; everything = all kinds "
               "of things in colours; or what to cut out, such as the dog", "", reads="thing"),
    ),
    presets=(
        *(Preset(phrase, (("what", FOREGROUND),)) for phrase in _BACKGROUND),
        *(Preset(phrase, (("what", "everything"),)) for phrase in _PARTS),
    ),
    cues=(
        "cut out", "cut it out", "cutout", "cut-out", "cut the ... out",
        *(f"cut ... out {place.replace('in', 'of', 1)}" for place in IN_PICTURE),
        "isolate the", "image segmentation", "image-segmentation", "mask of", "make a mask",
        "segment the", "segment out",
    ),
)  # fmt: skip


def cut_out(call: Call, report: Report) -> Iterable[Artifact]:
    """The cut-out with a transparent background, then the mask, white where it is."""
    from PIL import Image as images

    from jarvis_desktop.tasks.foreground import foreground
    from jarvis_desktop.tasks.pictures import on_white, read_image, save_png, to_array

    path, name = call.file("image"), call.title("image")
    image = on_white(read_image(path, name=name))
    report(None, f"looking for what is in front in {name}")
    mask = images.fromarray(foreground(to_array(image)))
    image.putalpha(mask)
    return [save_png(image, call, "cut-out"), save_png(mask, call, "mask")]


DEFINITION = Definition(
    TYPE,
    method=cut_out,
    note="the one main thing, by colour (GrabCut); named parts of a picture need an expert",
)
