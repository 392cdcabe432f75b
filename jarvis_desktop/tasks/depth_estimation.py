"""Estimates how far away each part of a picture is. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="depth-estimation",
    summary="Estimates how far away each part of a picture is.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "depth", "depth map", "how far away", "distance map", "depth estimation",
        "depth of the image", "depth of the picture", "3d map",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that sees depth")
