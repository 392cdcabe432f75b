"""Says what a picture shows, with an expert, and what can be measured of it.

Says which of the labels that are given suits a picture. No honest method without an expert."""

from __future__ import annotations

from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Port, Preset, Report, TaskOption
from jarvis_desktop.tasks.definition import define
from jarvis_desktop.tasks.naming import named_things

CONTENT, MEASURES = "content", "measures"

_MEASURED = (
    "what colours are", "what colors are", "main colours", "main colors", "dominant colo*",
    "which colours", "which colors", "is it sharp", "is this picture sharp", "is the photo sharp",
    "is it blurry", "is this picture blurry", "is the photo blurry", "too dark or",
)  # fmt: skip


def describe(call: Call, report: Report) -> Iterable[Artifact]:
    """Two or three sentences."""
    from jarvis_desktop.tasks.images.io import read_image, to_array
    from jarvis_desktop.tasks.naming import measure

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


IMAGE_CLASSIFICATION = define(
    name="image-classification",
    summary="Says in a word what a picture shows, with an expert, or what can be measured of it: "
    "photo, page or drawing, main colours, size, light and sharpness.",
    ports=(Port("image", (Kind.IMAGE,)),),
    options=(
        TaskOption("about",
            "content = what it shows; measures = colours, size, light and sharpness",
               CONTENT, choices=(CONTENT, MEASURES)),
    ),
    presets=tuple(Preset(phrase, (("about", MEASURES),)) for phrase in _MEASURED),
    cues=(
        "classify the picture", "classify the image", "classify this", "classify image",
        "image classification", "image-classification", "what kind of picture",
        "what kind of image", "what type of picture", "what type of image",
        "categor* the picture", "categor* the image",
    ),
    method=describe, note="measurements only: kind, colours, size, light; knows no objects",
)  # fmt: skip


_PICTURES = ("the picture", "the photo", "the image")
_EITHER = ("is this a ... or a", "is this an ... or a", "is this the ... or the")


def labels_of(words: str) -> list[str]:
    """The labels that the words name, at least two: "is this a cat or a dog?" names cat and dog.

    Raises InputError where there are fewer.
    """
    labels = named_things(words)
    if len(labels) < 2:
        raise InputError(
            tr("Sorting a picture needs at least two labels."),
            hint=tr("Say for example: cat or dog?"),
        )
    return labels


ZERO_SHOT_IMAGE_CLASSIFICATION = define(
    name="zero-shot-image-classification",
    summary="Says which of several labels that are given suits a picture best, such as cat or dog.",
    ports=(Port("image", (Kind.IMAGE,)),),
    options=(TaskOption("labels", "the labels, parted by commas", "", reads="clause"),),
    cues=(
        *_EITHER,
        *(cue.replace("this", which) for cue in _EITHER for which in ("it", "that", *_PICTURES)),
        *(f"which of ... is in {what}" for what in _PICTURES),
        *(f"which of ... does {what} show" for what in _PICTURES),
        *(f"does the {what} show a ... or a" for what in ("picture", "photo", "image")),
        *(f"does this {what} show a ... or a" for what in ("picture", "photo", "image")),
        *(f"sort the {what} into" for what in ("picture", "photo", "image", "pictures", "photos")),
        *(f"sort this {what} into" for what in ("picture", "photo", "image")),
        *(f"classify the {what} as" for what in ("picture", "photo", "image")),
        *(f"classify this {what} as" for what in ("picture", "photo", "image")),
        *(f"which of these suits the {what}" for what in ("picture", "photo", "image")),
        *(f"which label suits the {what}" for what in ("picture", "photo", "image")),
        *(f"which of these is in the {what}" for what in ("picture", "photo", "image")),
        *(f"which of these does the {what} show" for what in ("picture", "photo", "image")),
        *(f"which of these does this {what} show" for what in ("picture", "photo", "image")),
        "zero-shot image classification", "zero shot image classification",
    ),
    note="needs an expert that compares pictures with words",
)  # fmt: skip
