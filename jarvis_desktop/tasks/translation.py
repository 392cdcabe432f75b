"""Translates a text into another language. No honest method without an expert."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import Option, Port, TaskType
from jarvis_desktop.tasks.definition import Definition

TYPE = TaskType(
    name="translation",
    summary="Translates a text into another language.",
    ports=(Port("text", (Kind.TEXT,)),),
    gives=(Kind.TEXT,),
    options=(Option("language", "the language to translate into", "English", reads="language"),),
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
)  # fmt: skip

DEFINITION = Definition(TYPE, note="no honest method without an expert or an LLM")
