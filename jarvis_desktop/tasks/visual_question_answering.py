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
        "in the picture", "in this picture", "in the image", "in this image", "in the photo",
        "in this photo", "what is in", "what's in", "what does the picture show", "what colour",
        "what color", "what is the man", "what is the woman", "what is the person",
        "what is happening", "who is in", "how many people", "how many ... are there in",
        "is there a", "are there any", "what kind of", "what animal", "what breed",
        "describe", "caption*", "look at",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that sees")
