"""Names of things: read from a request, matched with an expert's labels, and put into sentences.

An LLM as the planner passes bare names, the embedded planner the user's own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.tokens import stem, tokens

MAX_NAMES = 40  # names that are read from a request
MAX_NAME_CHARS = 60  # characters of a name
MAX_STEM_CHARS = 60  # characters of the name of a file that is named after another
PICTURE_WORDS = ("picture", "photo", "image")

IN_PICTURE = tuple(
    f"in {which} {what}" for which in ("the", "this", "my", "a") for what in PICTURE_WORDS
)
"""Ends of cues that separate searching in a picture from searching for other things."""

EVERYTHING = frozenset({"", "all", "anything", "both", "everything", "objects", "things", "auto"})

_picture = r"(?:picture|photo|photograph|image|screenshot|scene|drawing|file|one)s?"
_file = r"\S+\.\w{2,5}"
_ASKING = lazy_re(
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
_WHERE = lazy_re(
    r"\s*\b(?:in|on|of|from|within|inside) (?:(?:the|this|that|my|our|these) )?"
    r"(?:" + _picture + r"\b|" + _file + r"\b|it\W*$|this\W*$|that\W*$|here\W*$).*$",
    re.IGNORECASE,
)
_ARTICLE = lazy_re(
    r"^(?:(?:rather|more|either|maybe|the|a|an|any|all|every|each|some|my|our|of|is|are|there)\s+)+",
    re.IGNORECASE,
)
_LEFT_OVER = lazy_re(r"\s+(?:is|are|there|please|to see|at|shown|visible)$", re.IGNORECASE)
_PARTING = lazy_re(r"\s*(?:[,;/\n]|\bor\b|\band\b|\bversus\b|\bvs\.?)\s*", re.IGNORECASE)

_PLURALS = {
    "person": "people", "man": "men", "woman": "women", "child": "children", "mouse": "mice",
    "foot": "feet", "tooth": "teeth", "knife": "knives", "leaf": "leaves", "shelf": "shelves",
    "loaf": "loaves", "wolf": "wolves", "goose": "geese", "sheep": "sheep", "fish": "fish",
    "deer": "deer", "skis": "skis", "scissors": "scissors", "broccoli": "broccoli",
    "glasses": "glasses", "people": "people", "bus": "buses",
}  # fmt: skip

_PEOPLE = frozenset(
    "person persons people man men woman women child children boy boys girl girls human humans "
    "pedestrian pedestrians someone anybody anyone everyone everybody".split()
)


def named_things(words: str) -> list[str]:
    """List the things that are named, each once: "is this a cat or a dog?" names cat and dog."""
    rest = " ".join(words.split()).strip(" .?!\"'“”")
    while (shorter := _ASKING.sub("", rest)) != rest:
        rest = shorter
    rest = _WHERE.sub("", rest)
    names = []
    for part in _PARTING.split(rest):
        name = _ARTICLE.sub("", part.strip(" .?!:\"'“”"))
        while (shorter := _LEFT_OVER.sub("", name)) != name:
            name = shorter
        if name and len(name) <= MAX_NAME_CHARS and name.lower() not in _nothing:
            names.append(name)
    return list(dict.fromkeys(names))[:MAX_NAMES]


_nothing = frozenset({"it", "this", "that", "is", "are", "the", "picture", "photo", "image"})


def asks_for_description(question: str) -> bool:
    """Whether a question about a picture only asks what it shows."""
    return _describing.search(question.strip()) is not None


_describing = lazy_re(
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
    """List the labels of an expert that the words mention: "the dogs" means its label dog. A label
    may consist of several names separated by commas, as those of ImageNet do."""
    said = _stems(words)
    found = []
    for label in labels:
        names: Sequence[str] = [name for name in re.split(r"[,;]", label) if name.strip()]
        # "buses" has another stem than "bus", so try the plural as well.
        ways = [_stems(way) for name in names for way in (name, plural(name.strip()))]
        if any(way and way <= said for way in ways):
            found.append(label)
    return found


def _stems(words: str) -> set[str]:
    plain = tokens(words.replace("_", " ").replace("-", " "))
    return {"person" if word in _PEOPLE else stem(word) for word in plain}


def count_of(number: int, noun: str) -> str:
    """A number and a noun: "one dog", "3 people"."""
    return f"one {noun}" if number == 1 else f"{number} {plural(noun)}"


def quantity(number: int, noun: str) -> str:
    """A number in digits and a regular noun: "1 row", "1,200 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def plural(noun: str) -> str:
    """The plural of an English noun, or of the last word of a phrase."""
    head, space, last = noun.rpartition(" ")
    if last in _PLURALS:
        many = _PLURALS[last]
    elif last.endswith(("s", "x", "z", "ch", "sh")):
        many = f"{last}es"
    elif last.endswith("y") and last[-2:-1] not in tuple("aeiou"):
        many = f"{last[:-1]}ies"
    else:
        many = f"{last}s"
    return f"{head}{space}{many}"


def original_stem(name: str, edits: Iterable[str]) -> str:
    """The name of a file without its ending, and without the edits that earlier calls appended."""
    # The longest first: "-background-blur" also ends in "-blur".
    ends = sorted((f"-{edit}" for edit in edits), key=len, reverse=True)
    stem = PurePath(name).stem
    while (end := next((end for end in ends if stem.endswith(end)), "")) and stem != end:
        stem = stem.removesuffix(end)
    return stem[:MAX_STEM_CHARS].strip()


def join_words(parts: Sequence[str]) -> str:
    """Join parts as in a sentence: "a, b and c"."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
