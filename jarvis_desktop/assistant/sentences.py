"""Where sentences end, and where long ones are cut: the stretches that a voice says."""

from __future__ import annotations

import re

LONGEST = 300
"""Characters of one stretch; a voice that is cut off says at most this much."""

_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e fig no vol pp p approx inc ltd co corp dept est al "
    "cf jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun u.s u.k a.m "
    "p.m".split()
)
_MAY_END = frozenset("etc inc ltd co corp a.m p.m u.s u.k al".split())
_BREAK = re.compile(r"([.!?…]+[\"'”’)\]]*)(?=\s|$)|([。！？]+[」』”’]*)")


def sentences(text: str) -> list[str]:
    """The text in stretches to speak one after the other: sentences, long ones cut in parts.

    No word is lost, no stretch is without words or longer than 300 characters.
    """
    found: list[str] = []
    for line in text.splitlines():
        for sentence in split(" ".join(line.split())):
            found.extend(cut(sentence))
    return [part for part in found if has_words(part)]


def has_words(text: str) -> bool:
    """Whether there is anything to say."""
    return any(letter.isalnum() for letter in text)


def split(line: str) -> list[str]:
    """The sentences of one line."""
    parts, start = [], 0
    for match in _BREAK.finditer(line):
        if match.group(1) and not ends_here(line, match.start(), match.end()):
            continue
        parts.append(line[start : match.end()].strip())
        start = match.end()
    parts.append(line[start:].strip())
    return [part for part in parts if part]


def ends_here(line: str, at: int, after: int) -> bool:
    """Whether the point at `at` ends a sentence rather than an abbreviation or a number."""
    if line[at] != "." or line[at : at + 2] == "..":
        return True
    following = line[after:].lstrip()[:1]
    word = line[:at].rsplit(maxsplit=1)[-1].lstrip("(\"'“‘[").lower() if line[:at].split() else ""
    if word in _ABBREVIATIONS:
        return word in _MAY_END and following.isupper()
    if len(word) == 1 and word.isalpha():
        return word == "i" and following.isupper()  # an initial, unless it is the word I
    if word.isdigit() and at == len(word):
        return False  # the number of a list item
    return not following.islower()


def cut(sentence: str) -> list[str]:
    """The sentence, or parts of it that are short enough: after commas, else between words."""
    parts = []
    while len(sentence) > LONGEST:
        head = sentence[: LONGEST + 1]
        at = max(head.rfind(mark) + 1 for mark in (", ", "; ", ": ", "– "))
        if at < LONGEST // 3:
            at = head.rfind(" ")
        if at <= 0:
            at = LONGEST
        parts.append(sentence[:at].strip())
        sentence = sentence[at:].strip()
    return [*parts, sentence]
