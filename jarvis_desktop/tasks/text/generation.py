"""Writes a new text, or continues one, after a prompt. No honest method without an expert.

Fills in a word that is missing in a sentence. No honest method without an expert.

Translates a text into another language. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Port, TaskOption
from jarvis_desktop.tasks.definition import define

TEXT_GENERATION = define(
    name="text-generation",
    summary="Writes a new text, or continues one, after a prompt.",
    ports=(Port("prompt", (Kind.TEXT,)),),
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
    note="needs an LLM",
)  # fmt: skip


FILL_MASK = define(
    name="fill-mask",
    summary="Fills in a word that is missing in a sentence.",
    ports=(Port("text", (Kind.TEXT,)),),
    cues=(
        "fill in", "fill the blank", "fill in the blank", "missing word",
        "fill in the missing word", "the blank", "[mask]", "<mask>",
        "fill mask", "complete the sentence", "which word is missing", "____",
        "guess the word",
    ),
    note="needs an expert that knows the language",
)  # fmt: skip


TRANSLATION = define(
    name="translation",
    summary="Translates a text into another language.",
    ports=(Port("text", (Kind.TEXT,)),),
    options=(TaskOption("language", "the language to translate into", "English",
        reads="language"),),
    cues=(
        "translat*", "translate", "translation", "in german", "in french", "in spanish",
        "in italian", "in chinese",
        "in japanese", "in portuguese", "in russian", "in dutch", "in arabic", "in hindi",
        "in korean", "in polish", "in turkish", "in english", "into german", "into french",
        "into spanish", "into italian", "into chinese", "into japanese", "into english",
        "to german", "to french", "to spanish", "to english", "how do you say", "how do i say",
        "how would i say", "how would you say", "say it in",
        "auf deutsch", "en français", "en español",
    ),
    note="no honest method without an expert or an LLM",
)  # fmt: skip
