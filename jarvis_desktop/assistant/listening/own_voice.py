"""Tells the words of a person from those of this computer's own voice, which the microphone hears
as well where no headset is worn."""

from __future__ import annotations

import re

from rapidfuzz import fuzz

ALIKE = 75.0
"""Of 100; what a recogniser makes of a word that comes out of a loudspeaker is seldom exact."""


def foreign_words(heard: str, spoken: str) -> list[str]:
    """Those words of `heard` that are not like any of `spoken`, in order."""
    own = set(_words(spoken))
    return [
        word
        for word in _words(heard)
        if word not in own and all(fuzz.ratio(word, other) < ALIKE for other in own)
    ]


def without_own_beginning(heard: str, spoken: str) -> str:
    """`heard` without what it begins with of `spoken`: a microphone that remembers the half second
    before the key has heard the end of a sentence that was being spoken.

    At least one word must be left, and a single word is only left out where the sentence holds it.
    """
    words, own = heard.split(), _words(spoken)
    said = [" ".join(_words(word)) for word in words]
    for count in range(min(len(words) - 1, MOST), 0, -1):
        begin = said[:count]
        places = range(len(own) - count + 1)
        if any(own[at : at + count] == begin for at in places):
            return " ".join(words[count:])
    return heard


def from_the_first_foreign(heard: str, spoken: str) -> str:
    """`heard` from the first word on that is not like any of `spoken`; all of it where none is."""
    words = heard.split()
    first = next((at for at, word in enumerate(words) if foreign_words(word, spoken)), 0)
    return " ".join(words[first:])


MOST = 4
"""Words that fit into half a second."""


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
