"""Fills in a word that is missing in a sentence. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="fill-mask",
    summary="Fills in a word that is missing in a sentence.",
    ports=(Port("text", (Kind.TEXT,)),),
    gives=(Kind.TEXT,),
    cues=(
        "fill in", "fill the blank", "fill in the blank", "missing word",
        "fill in the missing word", "the blank", "[mask]", "<mask>",
        "fill mask", "complete the sentence", "which word is missing", "____",
        "guess the word",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an expert that knows the language")
