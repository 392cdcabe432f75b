"""Paints a picture from a description. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import PROMPT, Port, TaskType
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.painting import AVOID, SEED, SIZE

TYPE = TaskType(
    name="text-to-image",
    summary="Paints a picture from a description.",
    ports=(Port(PROMPT, (Kind.TEXT,)),),
    gives=(Kind.IMAGE,),
    options=(SIZE, AVOID, SEED),
    cues=(
        "draw", "draw me", "paint", "paint me", "picture of", "image of", "generate an image",
        "generate a picture", "create an image", "create a picture", "make an image",
        "make a picture", "illustrat*", "sketch of", "photo of a", "painting of", "drawing of",
        "design a logo", "a logo", "wallpaper of", "poster of", "render a", "visuali*",
        "text to image", "imagine",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that paints")
