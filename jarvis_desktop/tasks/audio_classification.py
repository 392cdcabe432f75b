"""Says what kind of sound a recording is. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="audio-classification",
    summary="Says what kind of sound a recording is.",
    ports=(Port("audio", (Kind.AUDIO,)),),
    gives=(Kind.TEXT,),
    cues=(
        "what sound", "what is this sound", "what's this sound", "kind of sound", "which sound",
        "classify the audio", "classify the sound", "classify the recording",
        "audio classification", "what instrument", "which instrument", "what genre", "which genre",
        "is it music", "what bird", "emotion in the voice", "who is speaking", "what noise",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that listens")
