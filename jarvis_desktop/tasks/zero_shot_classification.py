"""Sorts a text under one of the labels that are given. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Option, Port, TaskType
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

DEFINITION = Definition(TYPE, note="needs an expert that understands text")
