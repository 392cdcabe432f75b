"""What a step may work on: files, earlier results, quoted words, the conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jarvis_desktop.assistant.resources import named, resources_of
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.ports import Context, Resource
from jarvis_desktop.core.task import Ref, TaskType

PRONOUN = re.compile(
    r"\b(?:it|that|this|them|those|these|its|the result\w*|the output|again|now)\b"
)
PLURAL = re.compile(
    r"\b(?:both|all|each|every|these|those|them|pictures|photos|images|files|documents|"
    r"recordings|scans|videos|texts|pages)\b"
)
_ordinals = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_ordinal = re.compile(
    rf"\b({'|'.join(_ordinals)}|last|other)"
    r"(?: (?:picture|photo|image|file|document|recording|scan|video|text|page|one)\w*)?\b"
)
NOUNS: dict[str, Kind] = {
    **dict.fromkeys(("picture", "photo", "image", "screenshot", "drawing", "sketch"), Kind.IMAGE),
    **dict.fromkeys(("scan", "sign", "receipt", "poster", "label", "invoice"), Kind.IMAGE),
    **dict.fromkeys(("recording", "audio", "sound", "memo", "song", "voice"), Kind.AUDIO),
    **dict.fromkeys(("video", "clip", "film", "movie"), Kind.VIDEO),
    **dict.fromkeys(("table", "spreadsheet", "csv"), Kind.TABLE),
    **dict.fromkeys(("document", "report", "pdf", "letter", "article", "paper"), Kind.DOCUMENT),
    **dict.fromkeys(("text", "summary", "transcript", "translation", "answer"), Kind.TEXT),
}

CONVERTERS = (
    "document-to-text",
    "image-to-text",
    "automatic-speech-recognition",
    "video-to-audio",
    "video-to-image",
)
"""The tasks that bring the same content into another kind, the preferred ones first."""

FOLLOWING = frozenset({"text-to-speech", "translation", "save-file", "open-file"})
"""Tasks that carry on with the result before them even where no "it" says so."""

QUESTION = "question"
PROMPT = "prompt"
"""Ports by name: the first takes the words of the request, the second may be a single word."""


@dataclass(frozen=True, slots=True)
class Source:
    """Something a port can be given, and the kinds it has, the main one first."""

    value: Artifact | Ref | str
    kinds: tuple[Kind, ...]
    step: str = ""
    """Name of the task type that makes it; "" for what was there before."""


def of_artifact(artifact: Artifact) -> Source:
    """A file or text that is there."""
    return Source(artifact, (artifact.kind,))


def route(
    kinds: Sequence[Kind], wanted: Sequence[Kind], inventory: Sequence[TaskType]
) -> list[TaskType] | None:
    """The converters that lead from one of `kinds` to one of `wanted`: [] where none is needed,
    None where there is no way. Breadth first, so the shortest way wins."""
    if set(kinds) & set(wanted):
        return []
    converters = sorted(
        (item for item in inventory if item.name in CONVERTERS),
        key=lambda item: CONVERTERS.index(item.name),
    )
    ways: list[tuple[tuple[Kind, ...], list[TaskType]]] = [(tuple(kinds), [])]
    seen = set(kinds)
    for have, path in ways:
        for converter in converters:
            if not set(converter.ports[0].kinds) & set(have) or converter.gives[0] in seen:
                continue
            if converter.gives[0] in wanted:
                return [*path, converter]
            seen.add(converter.gives[0])
            ways.append((converter.gives, [*path, converter]))
    return None


def ordinal(words: str, count: int) -> int | None:
    """Which of `count` things "the second picture" means, from 0; None where no such word is."""
    match = _ordinal.search(words)
    if not match or count == 0:
        return None
    if match[1] in ("last", "other"):
        return count - 1
    index = _ordinals.index(match[1])
    return index if index < count else None


def nouns_in(words: str) -> set[Kind]:
    """The kinds that the nouns of a stretch of words speak of."""
    found = re.findall(r"[a-z]+", words)
    return {NOUNS[word] for word in (item.rstrip("s") for item in found) if word in NOUNS} | {
        NOUNS[word] for word in found if word in NOUNS
    }


def resources(context: Context) -> Sequence[Resource]:
    """All that earlier turns were given and made, oldest first."""
    if context.resources or not context.conversation:
        return context.resources
    return named(resources_of(context.conversation.turns))


def of_conversation(context: Context) -> list[Source]:
    """What earlier turns made and were given, the newest first.

    What was given anew in a recent turn is recent, whenever it was given first.
    """
    known = resources(context)
    makers = {item.artifact: item.task for item in known}
    turns = context.conversation.turns if context.conversation else ()
    recent = [item for turn in reversed(turns) for item in (*turn.artifacts, *turn.attachments)]
    older = [item.artifact for item in reversed(known)]
    return [
        Source(item, (item.kind,), makers.get(item, ""))
        for item in dict.fromkeys((*recent, *older))
    ]
