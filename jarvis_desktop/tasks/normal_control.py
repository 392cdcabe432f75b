"""Draws which way the surfaces in a picture face. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="normal-control",
    summary="Draws which way the surfaces in a picture face, as a map of normals, to steer a "
    "picture generator.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE,),
    cues=(
        "normal map", "normals map", "normal control", "normal-control", "surface normal*",
        "map of the normals", "map of normals",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that sees depth")
