"""Says which of the labels that are given suits a picture. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Option, Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.naming import named_things

_PICTURES = ("the picture", "the photo", "the image")
_EITHER = ("is this a ... or a", "is this an ... or a", "is this the ... or the")

TYPE = TaskType(
    name="zero-shot-image-classification",
    summary="Says which of several labels that are given suits a picture best, such as cat or dog.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.TEXT,),
    options=(Option("labels", "the labels, parted by commas", "", reads="clause"),),
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
)  # fmt: skip


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


DEFINITION = Definition(TYPE, note="needs an expert that compares pictures with words")
