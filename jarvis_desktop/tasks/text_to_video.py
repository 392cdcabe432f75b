"""Makes a short video from a description. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import PROMPT, Port, TaskType
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.painting import AVOID, SECONDS, SEED, SIZE

TYPE = TaskType(
    name="text-to-video",
    summary="Makes a short video from a description.",
    ports=(Port(PROMPT, (Kind.TEXT,)),),
    gives=(Kind.VIDEO,),
    options=(SECONDS, SIZE, AVOID, SEED),
    cues=(
        "make a video", "generate a video", "create a video", "video of", "film of", "animat*",
        "clip of", "movie of", "text to video", "short film", "a video about",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that films")
