"""Whether a text is English, as far as its small words and its letters tell."""

from __future__ import annotations

import re
from typing import Literal

ENGLISH = frozenset(
    "the a an of and is it to in for on are was with that this from by not there be has have "
    "what i you your my or at as which will can they he she his her we our their them its if but "
    "out up about who how when where why been would could should were had did does do just then "
    "than more some any into over after only yes these those here".split()
)
FOREIGN = frozenset(
    "der die das und ist nicht ein eine einen mit auf für von zu den dem im es ich sie wir um am "
    "bei le la les un une des et est pas du dans que qui pour sur avec il elle nous vous au aux ce "
    "el los las una es por con para del al su lo il gli di che non sono della nel è é à å "
    "os um uma não em com de da dos het een niet voor op zijn naar och är inte som att "
    "på ett og ikke det af til nie na się jest że ja se ei".split()
)

_WORD = re.compile(r"(?<![\w@/\\.-])[^\W\d_]{2,}(?![\w@/\\])|\b[aàèéiå]\b")
"""Single letters are mostly names of things: x, y, e."""
_ACCENTS = re.compile(r"[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f]")
FIRST_OTHER = "\u0250"
"""From here on letters are not Latin."""


def tongue(text: str) -> Literal["english", "foreign", "unclear"]:
    """What the small words say; where there are none, accents and other scripts count."""
    words = _WORD.findall(text.lower())
    english = sum(map(ENGLISH.__contains__, words))
    foreign = sum(map(FOREIGN.__contains__, words))
    if english != foreign:
        return "english" if english > foreign else "foreign"
    if english or text.isascii():
        return "unclear"
    letters = [letter for letter in text if letter.isalpha()]
    other = sum(letter >= FIRST_OTHER for letter in letters)
    if other * 2 > len(letters) or _ACCENTS.search(text):
        return "foreign"
    return "unclear"
