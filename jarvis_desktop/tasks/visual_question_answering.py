"""Answers a question about what a picture shows. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="visual-question-answering",
    summary="Answers a question about what a picture shows.",
    ports=(Port("image", (Kind.IMAGE,)), Port("question", (Kind.TEXT,))),
    gives=(Kind.TEXT,),
    cues=(
        "what is in", "what's in", "whats in", "what is this$", "what's this$", "whats this$",
        "what does the picture show", "what does this picture show", "what does the photo show",
        "what does this photo show", "what does the image show", "what do you see",
        "what can you see", "what colour is", "what color is", "what is the man",
        "what is the woman", "what is the person", "what is happening", "who is in", "who's in",
        "whos in", "how many ... are there", "what kind of", "what animal is", "what breed is",
        "describe the picture", "describe the photo", "describe the image", "describe this",
        "describe what", "describe xfile*", "describe it", "look at the",
        "look at this",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that sees")
