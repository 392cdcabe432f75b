"""Reads numbers, signs and codes of a sentence as a person would.

English words come into English sentences only. What is said elsewhere in the language of the text,
a speech engine knows better: digits, per cent, degrees.
"""

from __future__ import annotations

import re

from jarvis_desktop.assistant.amounts import AMOUNTS
from jarvis_desktop.assistant.codes import ENGLISH_CODES, NAMES, SHORTENED
from jarvis_desktop.assistant.moments import MOMENTS
from jarvis_desktop.assistant.rules import Rule
from jarvis_desktop.assistant.signs import SIGNS

_SPECIAL = re.compile(
    r"[^\w\s.,;:!?'\"()’“”…-]|[\d_\u00a0-\u00bf\u0370-\u03ff\u2070-\u2189]|\w[.]\w|--|->"
    r"|\b(?:vs|approx|i\.e|e\.g)\b"
)
"""What plain prose has none of."""

ENGLISH: tuple[Rule, ...] = (*ENGLISH_CODES, *NAMES, *MOMENTS, *AMOUNTS, *SIGNS)
OTHER: tuple[Rule, ...] = (*SHORTENED, *NAMES)
"""In this order: what one has read is nothing any more for those behind it."""


def read(sentence: str, *, english: bool) -> str:
    """The sentence with nothing but words, numbers that engines know, and marks."""
    if not _SPECIAL.search(sentence):
        return sentence
    letters = set(sentence)
    for rule in ENGLISH if english else OTHER:
        if rule.needs.isdisjoint(letters):
            continue
        spoken = rule.pattern.sub(rule.spoken, sentence)
        if spoken != sentence:
            sentence, letters = spoken, set(spoken)
    return " ".join(sentence.split()).replace(" ,", ",").replace(" .", ".").replace("….", "…")
