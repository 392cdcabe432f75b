"""Makes a short video from a description. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="text-to-video",
    summary="Makes a short video from a description.",
    ports=(Port("prompt", (Kind.TEXT,)),),
    gives=(Kind.VIDEO,),
    cues=(
        "make a video", "generate a video", "create a video", "video of", "film of", "animat*",
        "clip of", "movie of", "text to video", "short film", "a video about",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that films")
