"""Spells a word letter by letter."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call, Report
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Option, TaskType
from jarvis_desktop.core.wording import tr
from jarvis_desktop.tasks.definition import Definition, Services

TYPE = TaskType(
    name="spell",
    summary="Spells a word.",
    ports=(),
    gives=(Kind.TEXT,),
    options=(Option("word", "the word to spell, or the question", "", reads="clause"),),
    cues=(
        "spell", "how do you spell", "how is ... spelled", "how is ... spelt", "spelling of",
        "how to spell", "spell out", "letter by letter", "how ... is spelled", "spell the word",
    ),
)  # fmt: skip

LONGEST = 200
_NAMES = {" ": "space", "-": "hyphen", "'": "apostrophe", "’": "apostrophe", ".": "dot"}


async def spell(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """The word and its letters. Raises InputError where there is no word."""
    word = word_in(call.words("word"))
    if not word:
        raise InputError(
            tr("The word to spell is missing."), hint=tr("Try “how do you spell rhythm”.")
        )
    if len(word) > LONGEST:
        raise InputError(
            tr("That is too long to spell: {longest} letters are the most.", longest=LONGEST)
        )
    letters = ", ".join(_NAMES.get(letter, letter) for letter in word)
    return [text_artifact(f"{word}: {letters}.")]


def word_in(words: str) -> str:
    """The word that a request asks about, such as "how is “rhythm” spelled"."""
    said = " ".join(words.split()).strip(" ?!.,")
    for form in _FORMS:
        if found := form.search(said):
            said = found[1]
            break
    return said.strip("\"“”'‘’?!,. ")


_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"\bhow (?:is|are|was|do you write|would you write)\s+(.+?)\s+(?:spelled|spelt)\b",
        r"\bhow\s+(.+?)\s+is (?:spelled|spelt)\b",
        r"\b(?:spell(?:ing)?|spell out)\s+(?:out\s+)?(?:of\s+)?(?:for me\s+)?"
        r"(?:the )?(?:(?:word|name)\s+)?(.+?)(?:\s+(?:for me|please|letter by letter))*$",
    )
)

DEFINITION = Definition(
    TYPE, skill=spell, note="the word as it was written; a spoken one as it was heard"
)
