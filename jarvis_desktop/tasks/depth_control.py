"""Draws how near everything in a picture is. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="depth-control",
    summary="Draws how near everything in a picture is, near bright and far dark, to steer a "
    "picture generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "depth control", "depth-control", "depth control picture", "depth control image",
        "control picture of the depth", "control image of the depth",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that sees depth")
