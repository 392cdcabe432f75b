"""Makes music or a sound from a description. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Option, Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="text-to-audio",
    summary="Makes music or a sound from a description.",
    ports=(Port("prompt", (Kind.TEXT,)),),
    gives=(Kind.AUDIO,),
    options=(
        Option("seconds", "how long it is", 10.0, units=("second*", "sec", "secs")),
        Option("seed", "another number makes another piece of the same words", 0),
    ),
    cues=(
        "compose ... music", "compose ... melody", "compose ... tune", "compose ... jingle",
        "compose music", "compose a song", "compose a melody", "make music", "make me music",
        "generate music", "create music", "make a song", "make me a song", "write music",
        "generate a song", "create a song", "make a melody", "generate a melody", "make a beat",
        "make me a beat", "a sound effect", "sound effect of", "make a jingle",
        "background music for", "generate a sound", "make the sound of", "create a sound",
        "text to music", "text to audio", "piano piece", "an instrumental",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that composes")
