"""Makes music or a sound from a description. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="text-to-audio",
    summary="Makes music or a sound from a description.",
    ports=(Port("prompt", (Kind.TEXT,)),),
    gives=(Kind.AUDIO,),
    cues=(
        "music", "compose music", "make music", "a song", "a melody", "a tune", "a beat",
        "sound of", "sound effect", "soundtrack", "jingle", "background music", "generate a sound",
        "text to music", "text to audio", "piano piece", "instrumental",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that composes")
