"""Paints a part of a picture anew after a description. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="inpainting",
    summary="Paints a part of a picture anew after a description.",
    ports=(Port("image", (Kind.IMAGE,)), Port("prompt", (Kind.TEXT,))),
    gives=(Kind.IMAGE,),
    cues=(
        "inpaint*", "remove the ... from", "remove ... from the picture",
        "remove ... from the photo", "erase", "get rid of", "replace the",
        "add a ... to the picture", "add a ... to the photo", "paint over", "fill the gap",
        "put a ... in the", "restore the missing", "retouch",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that paints")
