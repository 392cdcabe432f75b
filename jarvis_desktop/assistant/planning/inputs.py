"""What a step may work on: files, earlier results, quoted words, and the conversation.

Also resolves phrases such as "the second picture" or "the recording I gave you".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.ports import Context, Resource
from jarvis_desktop.core.task import Ref, TaskType
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.text.lazy_re import lazy_re


def resources_of(turns: Iterable[Turn]) -> list[Resource]:
    """Return what these turns were given and answered with, still without names."""
    found: list[Resource] = []
    for turn in turns:
        types = {task.id: task.type.name for task in turn.plan or ()}
        makers = {
            item: types.get(result.task_id, "")
            for result in turn.results.values()
            for item in result.artifacts
            if not turn.agentic  # there a round made it
        }
        found += [Resource("", item, given=True) for item in turn.attachments]
        found += [
            Resource("", item, given=False, task=makers.get(item, "")) for item in turn.artifacts
        ]
    return found


def name_resources(resources: Iterable[Resource]) -> tuple[Resource, ...]:
    """Return each artifact once, numbered by its kind: "image 1", "text 1", "image 2"."""
    counts: Counter[str] = Counter()
    once: dict[Artifact, Resource] = {}
    for item in resources:
        if item.artifact not in once:
            kind = item.artifact.kind.value
            counts[kind] += 1
            once[item.artifact] = replace(item, name=f"{kind} {counts[kind]}")
    return tuple(once.values())


PRONOUN = lazy_re(
    r"\b(?:it|that|this|them|those|these|its|the (?:result\w*|rest|output)|"
    r"what(?:'s| is) left|what remains|again|now)\b"
)
PLURAL = lazy_re(
    r"\b(?:both|all|each|every|these|those|them|pictures|photos|images|files|documents|"
    r"recordings|scans|videos|texts|pages)\b"
)
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
).split()
_ordinal = lazy_re(
    rf"\b({'|'.join(ORDINALS)}|last|other)"
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
"""Tasks that convert content to another kind, the preferred ones first."""

CONVERT, CUT, SAVE = "convert-file", "cut-file", "save-file"
EDIT_TEXT = "edit-text"
FOLLOWING = frozenset({"text-to-speech", "translation", "open-file", CONVERT, CUT, EDIT_TEXT, SAVE})
"""Tasks that continue with the previous result even without an "it"."""

ASK_TABLE, EDIT_TABLE = "table-question-answering", "edit-table"
"""What answers a question about a table, and what changes one."""
ARRANGE, CHART, JOIN, FILE_DETAILS = "arrange-files", "chart", "join-files", "file-details"
COLLECT, COUNT_WORDS, SIMILARITY = "collect-values", "count-words", "sentence-similarity"
DIFFERENCES = "text-differences"
OF_A_STILL = re.compile(
    r"\b(?:still|frame(?! around)|picture|photo|image|screenshot|thumbnail|poster|cover)s?\b"
)
"""Words that speak of one picture of a video."""
EDITING = frozenset({EDIT_TABLE, EDIT_TEXT})
"""Tasks after which the words mean the changed table or text, even without an "it"."""

PARTS = {Kind.DOCUMENT: "pages", Kind.AUDIO: "times", Kind.VIDEO: "times"}
"""The option of `CUT` that names a part of a file of that kind."""

QUESTION = "question"
PROMPT = "prompt"
MATERIAL = "text"
"""Ports by name: the first takes the words of the request, the second may be a single word, and the
third has the text that a prompt is about."""
WISHES = frozenset({QUESTION, PROMPT})
"""Ports for what the user wants; all others take what to work on."""


@dataclass(frozen=True, slots=True)
class PortSource:
    """A possible input for a port, and its kinds, the main one first."""

    value: Artifact | Ref | str
    kinds: tuple[Kind, ...]
    step: str = ""
    """Name of the task type that makes it; "" if it existed before."""


def artifact_source(artifact: Artifact) -> PortSource:
    """Return the source for an existing file or text."""
    return PortSource(artifact, (artifact.kind,))


def find_route(
    kinds: Sequence[Kind], wanted: Sequence[Kind], inventory: Sequence[TaskType]
) -> list[TaskType] | None:
    """Return the shortest way of converters from one of `kinds` to one of `wanted`.

    [] if none is needed, None if there is no way.
    """
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


def parse_ordinal(words: str, count: int) -> int | None:
    """Return which of `count` things "the second picture" means, from 0; None if unsaid."""
    match = _ordinal.search(words)
    if not match or count == 0:
        return None
    if match[1] in ("last", "other"):
        return count - 1
    index = ORDINALS.index(match[1])
    return index if index < count else None


def mentioned_kinds(words: str) -> set[Kind]:
    """Return the kinds that the nouns in these words stand for."""
    found = re.findall(r"[a-z]+", words)
    return {NOUNS[word] for word in (item.rstrip("s") for item in found) if word in NOUNS} | {
        NOUNS[word] for word in found if word in NOUNS
    }


def conversation_resources(context: Context) -> Sequence[Resource]:
    """Return everything that earlier turns were given and made, oldest first."""
    if context.resources or not context.conversation:
        return context.resources
    return name_resources(resources_of(context.conversation.turns))


def conversation_sources(context: Context) -> list[PortSource]:
    """Return what earlier turns made and were given, the most recently used first."""
    known = conversation_resources(context)
    makers = {item.artifact: item.task for item in known}
    turns = context.conversation.turns if context.conversation else ()
    recent = [item for turn in reversed(turns) for item in (*turn.artifacts, *turn.attachments)]
    older = [item.artifact for item in reversed(known)]
    return [
        PortSource(item, (item.kind,), makers.get(item, ""))
        for item in dict.fromkeys((*recent, *older))
    ]


_anything = ("file", "attachment", "thing", "one", "result", "output")
_noun = rf"\b(?P<noun>{'|'.join((*NOUNS, *_anything))})(?P<several>s)?\b"
_phrase = lazy_re(
    r"\b(?P<the>(?:the|that|this|those|these|my|your|our|all)\s+(?:of the\s+|the\s+)?)?(?:very\s+)?"
    rf"(?:(?P<place>{'|'.join(ORDINALS)}|\d{{1,3}}(?:st|nd|rd|th)|original|other|last|latest|"
    r"newest|most recent|previous)\s+)?(?P<adjective>[a-z'-]+\s+)??"
    rf"{_noun}(?P<whose>\s+(?:"
    r"(?P<given>(?:that |which )?(?:i|we)(?: have|'ve)? (?:gave|given|sent|show(?:ed|n)|dropped|"
    r"uploaded|attached|added|shared)\b)|"
    r"(?P<made>(?:that |which )?you(?: have|'ve)? (?:made|dr[ae]wn?|created|generated|painted|"
    r"wrote|written|produced|recorded|gave|given)\b)|"
    r"(?P<begin>(?:from|at) the (?:beginning|start)\b)|from (?:before|earlier)\b))?"
)
OTHERS = lazy_re(
    r"\b(?:(?:the|all) (?:other|remaining)(?: (?:two|three|four|\d|files|pictures|photos|images|"
    r"recordings|videos|documents))+|the others)\b"
)
"""Words for the files that nothing was done to yet."""
NEWEST = lazy_re(r"\b(?:last|latest|newest|most recent|previous)\b")
"""Words for the result of the previous step, if there is one."""

_numbered = lazy_re(
    rf"{_noun} (?:number |no\.? |#)?(?P<number>\d{{1,3}})\b"
    r"(?!\s*(?:%|°|[x×]|deg|percent|px|pixel|times|dpi|second|minute|hour|kb|mb|cm|mm|inch))"
)


def find_references(
    words: str, resources: Sequence[Resource], *, outright: bool = False
) -> list[Resource] | None:
    """Return which of the resources, oldest first, lower-case words refer to; None if to none.

    [] means that they refer to one that does not exist, such as a tenth picture. `outright` leaves
    out what may as well mean the files of the request itself.
    """
    spoken = False
    found: list[Resource] = []
    for match in _phrase.finditer(words):
        # "First sharpen picture 2" does not mean the first picture.
        place = match["place"] if match["the"] or not match["adjective"] else None
        if match["whose"] or (place and not outright):
            spoken = True
            found += _resolve(match, place, resources)
    for match in _numbered.finditer(words):
        names = [f"{kind} {match['number']}" for kind in _kinds(match)]
        found += [item for item in resources if item.name in names]
    return list(dict.fromkeys(found)) if found or spoken else None


def _resolve(
    match: re.Match[str], place: str | None, resources: Sequence[Resource]
) -> Sequence[Resource]:
    pool = [
        item
        for item in resources
        if not (match["given"] and not item.given) and not (match["made"] and item.given)
    ]
    kinds = _kinds(match)
    # A scan may be a document, and a recording a video: then everything is considered.
    pool = [item for item in pool if item.artifact.kind in kinds] or pool
    if place == "original":
        return [item for item in pool if item.given][:1]
    if place == "other":
        return pool[-2:-1]
    if place and (place in ORDINALS or place[0].isdigit()):
        at = ORDINALS.index(place) if place in ORDINALS else int(place[:-2]) - 1
        return pool[at : at + 1] if at >= 0 else []
    if match["begin"] and not place:
        return pool[:1]
    return pool if match["several"] and not place else pool[-1:]


def _kinds(match: re.Match[str]) -> tuple[str, ...]:
    return (NOUNS[match["noun"]],) if match["noun"] in NOUNS else ()
