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
        "write a", "write an", "write me", "write some", "compose", "a poem", "a story",
        "a letter to", "an e-mail to", "an email to", "an essay", "a speech", "a joke",
        "a limerick", "a haiku", "continue the text", "continue this", "complete the text",
        "finish the story", "go on with", "brainstorm", "ideas for", "draft", "rewrite",
        "rephrase", "paraphrase", "reword", "generate text", "generate a text", "text generation",
        "explain", "tell me a story", "tell me a joke", "lyrics", "slogan", "recipe for",
        "script for",
    ),
)  # fmt: skip

DEFINITION = Definition(TYPE, note="needs an LLM")
