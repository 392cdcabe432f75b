"""Says what happens in a video. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="video-classification",
    summary="Says what happens in a video.",
    ports=(Port("video", (Kind.VIDEO,)),),
    gives=(Kind.TEXT,),
    cues=(
        "what happens in", "what is happening in the video", "what's happening in",
        "describe the video", "classify the video", "video classification", "what is in the video",
        "what is in the clip", "which action", "what activity", "what sport",
        "what are they doing",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that watches")
