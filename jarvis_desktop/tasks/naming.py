"""Reads names of things out of a request, and finds the labels of an expert that they mean.

A planner that is an LLM gives the bare names, the embedded one the words of the person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from jarvis_desktop.tasks.found import plural
from jarvis_desktop.tasks.words import stem, tokens

MOST_NAMES = 40
LONGEST_NAME = 60
"""Characters."""

PICTURE_WORDS = ("picture", "photo", "image")

IN_PICTURE = tuple(
    f"in {which} {what}" for which in ("the", "this", "my", "a") for what in PICTURE_WORDS
)
"""Ends of cues, by which asking for something in a picture is told from other finding."""

EVERYTHING = frozenset({"", "all", "anything", "both", "everything", "objects", "things", "auto"})

_picture = r"(?:picture|photo|photograph|image|screenshot|scene|drawing|file|one)s?"
_file = r"\S+\.\w{2,5}"
_ASKING = re.compile(
    r"^(?:and|then|please|can you|could you|now)\b\s*|"
    r"^(?:find|locate|detect|mark|spot|show me where|show me|show|tell me where|look for|point out|"
    r"search for|search|count|cut out|segment|isolate|extract|outline|highlight|"
    r"draw (?:a )?box(?:es)? (?:around|round)|put (?:a )?box(?:es)? (?:around|round)|"
    r"where(?:'s| is| are)|how many|is there|are there|"
    r"(?:is|does|do|are|was) (?:this|that|it|these|those|there|"
    + _file
    + r")(?: "
    + _picture
    + r")?"
    r"(?: (?:show|of|about))?|does the " + _picture + r" show|"
    r"(?:sort|classify|categori[sz]e) (?:the |this |that |it\b)?(?:"
    + _picture
    + "|"
    + _file
    + r")?\s*"
    r"(?:into|as|by)|"
    r"which of (?:these|the following)(?: labels)? .*?(?::|" + _picture + r")|"
    r"which of|which label suits .*?(?::|" + _picture + r"))(?=\W|$)[\s:,]*",
    re.IGNORECASE,
)
_WHERE = re.compile(
    r"\s*\b(?:in|on|of|from|within|inside) (?:(?:the|this|that|my|our|these) )?"
    r"(?:" + _picture + r"\b|" + _file + r"\b|it\W*$|this\W*$|that\W*$|here\W*$).*$",
    re.IGNORECASE,
)
_ARTICLE = re.compile(
    r"^(?:(?:rather|more|either|maybe|the|a|an|any|all|every|each|some|my|our|of|is|are|there)\s+)+",
    re.IGNORECASE,
)
_LEFT_OVER = re.compile(r"\s+(?:is|are|there|please|to see|at|shown|visible)$", re.IGNORECASE)
_PARTING = re.compile(r"\s*(?:[,;/\n]|\bor\b|\band\b|\bversus\b|\bvs\.?)\s*", re.IGNORECASE)

_PEOPLE = frozenset(
    "person persons people man men woman women child children boy boys girl girls human humans "
    "pedestrian pedestrians someone anybody anyone everyone everybody".split()
)


def named_things(words: str) -> list[str]:
    """The things that are named, each once: "is this a cat or a dog?" gives cat and dog."""
    rest = " ".join(words.split()).strip(" .?!\"'“”")
    while (shorter := _ASKING.sub("", rest)) != rest:
        rest = shorter
    rest = _WHERE.sub("", rest)
    names = []
    for part in _PARTING.split(rest):
        name = _ARTICLE.sub("", part.strip(" .?!:\"'“”"))
        while (shorter := _LEFT_OVER.sub("", name)) != name:
            name = shorter
        if name and len(name) <= LONGEST_NAME and name.lower() not in _nothing:
            names.append(name)
    return list(dict.fromkeys(names))[:MOST_NAMES]


_nothing = frozenset({"it", "this", "that", "is", "are", "the", "picture", "photo", "image"})


def asks_for_description(question: str) -> bool:
    """Whether a question about a picture asks for no more than what it shows."""
    return _describing.search(question.strip()) is not None


_describing = re.compile(
    r"^(?:please |can you |could you )*(?:describe|caption)\b|"
    r"^what(?:'s| is|s| do you see| can you see)?(?: there)?(?: shown)? (?:in|on) "
    r"(?:the|this|that) "
    + _picture
    + r"\W*$|^what (?:do|can) you see\b|^what does (?:the|this|that) "
    + _picture
    + r" show\W*$|"
    r"^what(?:'s| is|s) (?:this|that|it)\W*$",
    re.IGNORECASE,
)


def labels_named(words: str, labels: Iterable[str]) -> list[str]:
    """Those of an expert's labels that the words speak of: "the dogs" means its label dog.

    A label may be several names parted by commas, as those of ImageNet are.
    """
    said = _stems(words)
    found = []
    for label in labels:
        names: Sequence[str] = [name for name in re.split(r"[,;]", label) if name.strip()]
        # "buses" has another stem than "bus", so the plural is looked for as well.
        ways = [_stems(way) for name in names for way in (name, plural(name.strip()))]
        if any(way and way <= said for way in ways):
            found.append(label)
    return found


def _stems(words: str) -> set[str]:
    plain = tokens(words.replace("_", " ").replace("-", " "))
    return {"person" if word in _PEOPLE else stem(word) for word in plain}
