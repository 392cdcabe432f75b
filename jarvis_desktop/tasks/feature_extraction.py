"""Turns texts into vectors of numbers that stand for their meaning. No honest method without an
expert: vectors of letters or words alone would say nothing of it."""

from __future__ import annotations

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.call import Call
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Option, Port, Preset, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.sentences import paragraphs, sentences

PARTS = ("text", "paragraph", "sentence", "line")

TYPE = TaskType(
    name="feature-extraction",
    summary="Turns a text into vectors of numbers that stand for its meaning (embeddings).",
    ports=(Port("text", (Kind.TEXT,)),),
    gives=(Kind.TABLE, Kind.TEXT),
    options=(Option("each", "what gets a vector of its own", "text", choices=PARTS),),
    cues=(
        "embedding*", "embedding of", "embeddings of", "sentence embedding*", "text embedding*",
        "word vector*", "feature vector*", "vector representation", "feature extraction",
        "feature-extraction", "as a vector", "as vectors", "into a vector", "into vectors",
        "vectorise", "vectorize", "extract the features of the text",
    ),
    presets=tuple(
        Preset(phrase.format(f"{every} {part}"), (("each", part),))
        for part in PARTS[1:]
        for every in ("each", "every")
        for phrase in ("embedding* of {}", "embedding* for {}", "vector* of {}", "vector* for {}")
    ),
)  # fmt: skip

MOST_TEXTS = 2_000
"""Vectors of one table."""

LONGEST_SHOWN = 200
"""Characters of a text that stand beside its vector."""


def taken_apart(call: Call) -> list[str]:
    """What is to get a vector each. Raises InputError where there is no text."""
    text = call.text("text")
    match call.words("each"):
        case "sentence":
            parts = sentences(text)
        case "paragraph":
            parts = paragraphs(text, numbers=True)
        case "line":
            parts = [line.strip() for line in text.splitlines()]
        case _:
            parts = [text.strip()]
    if not any(parts):
        raise InputError(tr("There is no text to make vectors of."))
    return [part for part in parts if part][:MOST_TEXTS]


DEFINITION = Definition(TYPE, note="needs an expert that understands text")
