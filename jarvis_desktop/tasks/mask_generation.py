"""Parts a picture into all its pieces, whatever they are. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Option, Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="mask-generation",
    summary="Parts a picture into all the pieces that can be seen in it, without naming them: the "
    "pieces in colours, and a mask of them.",
    ports=(Port("image", (Kind.IMAGE,)),),
    gives=(Kind.IMAGE, Kind.TEXT),
    options=(
        Option("most", "how many pieces at most, the largest ones", 40,
               units=("piece*", "mask*", "segment*", "part*")),
    ),
    cues=(
        "generate masks", "generate all masks", "mask generation", "mask-generation",
        "make masks", "make all masks", "masks of everything", "masks for everything",
        "masks of all", "mask everything", "segment anything", "segment everything",
        "separate everything in", "all the pieces of the picture", "all segments of",
        "into all its parts", "into all its pieces",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that separates things")
