"""Writes a new text, or continues one, after a prompt. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="text-generation",
    summary="Writes a new text, or continues one, after a prompt.",
    ports=(Port("prompt", (Kind.TEXT,)),),
    gives=(Kind.TEXT,),
    cues=(
        "write a", "write an", "write me", "write my", "write some", "write email",
        "write about", "compose a", "compose an", "compose some", "compose email", "draft a",
        "draft an", "draft my", "draft the", "draft email", "continue the text", "continue this",
        "complete the text", "finish the story", "brainstorm", "ideas for a", "rewrite", "rephrase",
        "paraphrase", "reword", "generate text", "generate a text", "text generation",
        "explain the", "explain why", "explain how", "explain what", "explain to me",
        "explain this", "tell me a story", "tell me a joke", "tell a joke", "lyrics for",
        "lyrics about", "a slogan for", "recipe for",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an LLM")
