"""Sorts a text under one of the labels that are given. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Option, Port, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="zero-shot-classification",
    summary="Sorts a text under one of the labels that are given.",
    ports=(Port("text", (Kind.TEXT,)),),
    gives=(Kind.TEXT,),
    options=(Option("labels", "the labels, parted by commas", "", reads="clause"),),
    cues=(
        "which of these labels", "which category", "which of the following", "classify ... as",
        "classify it as", "sort ... into", "categor*", "label it as", "label this", "is it about",
        "one of these topics", "zero-shot", "zero shot", "which topic",
    ),
)  # fmt: skip


def labels_of(words: str) -> list[str]:
    """Labels that are parted by commas, each once. Raises InputError where there are not two."""
    labels = list(dict.fromkeys(each.strip() for each in words.split(",") if each.strip()))
    if len(labels) < 2:
        raise InputError(
            tr("Sorting needs at least two labels."), hint=tr("Say for example: sport or politics?")
        )
    return labels


DEFINITION = Definition(TYPE, note="needs an expert that understands text")
