"""What "the second picture" or "the recording I gave you" means in the course of a conversation."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jarvis_desktop.assistant.planning.sources import NOUNS
from jarvis_desktop.core.ports import Resource

_ordinals = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
).split()
_anything = ("file", "attachment", "thing", "one", "result", "output")
_noun = rf"\b(?P<noun>{'|'.join((*NOUNS, *_anything))})(?P<several>s)?\b"
_phrase = re.compile(
    r"\b(?P<the>(?:the|that|this|those|these|my|your|our|all)\s+(?:of the\s+|the\s+)?)?(?:very\s+)?"
    rf"(?:(?P<place>{'|'.join(_ordinals)}|\d{{1,3}}(?:st|nd|rd|th)|original|other|last|latest|"
    r"newest|most recent|previous)\s+)?(?P<adjective>[a-z'-]+\s+)??"
    rf"{_noun}(?P<whose>\s+(?:"
    r"(?P<given>(?:that |which )?(?:i|we)(?: have|'ve)? (?:gave|given|sent|show(?:ed|n)|dropped|"
    r"uploaded|attached|added|shared)\b)|"
    r"(?P<made>(?:that |which )?you(?: have|'ve)? (?:made|dr[ae]wn?|created|generated|painted|"
    r"wrote|written|produced|recorded|gave|given)\b)|"
    r"(?P<begin>(?:from|at) the (?:beginning|start)\b)|from (?:before|earlier)\b))?"
)
NEWEST = re.compile(r"\b(?:last|latest|newest|most recent|previous)\b")
"""Words that mean the result of the step before, where there is one."""

_numbered = re.compile(
    rf"{_noun} (?:number |no\.? |#)?(?P<number>\d{{1,3}})\b"
    r"(?!\s*(?:%|°|[x×]|deg|percent|px|pixel|times|dpi|second|minute|hour|kb|mb|cm|mm|inch))"
)


def find(
    words: str, resources: Sequence[Resource], *, outright: bool = False
) -> list[Resource] | None:
    """Which of the resources, oldest first, lower-case words speak of; None where of none.

    [] says that they speak of one that is not there, such as a tenth picture. `outright` leaves
    out what may as well mean the files of the request itself.
    """
    spoken = False
    found: list[Resource] = []
    for match in _phrase.finditer(words):
        # "First sharpen picture 2" speaks of no first picture.
        place = match["place"] if match["the"] or not match["adjective"] else None
        if match["whose"] or (place and not outright):
            spoken = True
            found += _meant(match, place, resources)
    for match in _numbered.finditer(words):
        names = [f"{kind} {match['number']}" for kind in _kinds(match)]
        found += [item for item in resources if item.name in names]
    return list(dict.fromkeys(found)) if found or spoken else None


def _meant(
    match: re.Match[str], place: str | None, resources: Sequence[Resource]
) -> Sequence[Resource]:
    pool = [
        item
        for item in resources
        if not (match["given"] and not item.given) and not (match["made"] and item.given)
    ]
    kinds = _kinds(match)
    # A scan may be a document, and a recording a video: those that could be used are at hand.
    pool = [item for item in pool if item.artifact.kind in kinds] or pool
    if place == "original":
        return [item for item in pool if item.given][:1]
    if place == "other":
        return pool[-2:-1]
    if place and (place in _ordinals or place[0].isdigit()):
        at = _ordinals.index(place) if place in _ordinals else int(place[:-2]) - 1
        return pool[at : at + 1] if at >= 0 else []
    if match["begin"] and not place:
        return pool[:1]
    return pool if match["several"] and not place else pool[-1:]


def _kinds(match: re.Match[str]) -> tuple[str, ...]:
    return (NOUNS[match["noun"]],) if match["noun"] in NOUNS else ()
