"""Finds dates, sums, numbers, names and addresses in a text by how they are written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jarvis_desktop.text.dates import MONTH, WEEKDAY
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import NUMBER_WORDS

_MONTH = rf"{MONTH}\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_NUMBER_WORD = rf"(?:{'|'.join(NUMBER_WORDS[1:])}|billion|dozen)"
_AMOUNT = r"\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?"
_CURRENCY = r"(?:US\$|C\$|A\$|[$€£¥₹]|\b(?:USD|EUR|GBP|CHF|JPY)\b)"
_CURRENCY_NAME = r"(?:dollars?|euros?|pounds sterling|cents?|francs?|yen|USD|EUR|GBP|CHF|JPY|[€£¥])"
_UNIT = (
    r"(?:(?:square |cubic )?(?:kilo|centi|milli)?met(?:re|er)s?|[kcm]?m[²³]?|feet|foot|ft"
    r"|inch(?:es)?"
    r"|yards?|miles?|mph|km/h|acres?|hectares?|grams?|kilos?|kilograms?|kg|g|mg|pounds?|lbs?"
    r"|ounces?"
    r"|tons?|tonnes?|lit(?:re|er)s?|gallons?|seconds?|minutes?|hours?|days?|weeks?|months?|years?"
    r"(?: old)?|decades?|centuries|degrees?|°[CF]|watts?|[kMG]?W|volts?|[kMGT]?B|times)"
)
_CAPITAL = r"[A-ZÀ-ÖØ-Þ][\w’'-]*"

KINDS: dict[str, re.Pattern[str]] = {
    "email": lazy_re(r"\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+\b"),
    "web address": lazy_re(r"\b(?:https?://|www\.)[^\s<>\"')\]]+[^\s<>\"')\].,;:!?]", re.I),
    "date": lazy_re(
        rf"\b(?:\d{{4}}-\d{{2}}-\d{{2}}|\d{{1,2}}[./-]\d{{1,2}}[./-](?:\d{{4}}|\d{{2}})"
        rf"|(?:{WEEKDAY},?\s+)?(?:the\s+)?{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}})?\b"
        rf"|(?:{WEEKDAY},?\s+)?{_MONTH}\s+{_DAY}\b(?:,?\s+\d{{4}})?"
        rf"|{_MONTH},?\s+(?:of\s+)?\d{{4}}|{WEEKDAY})\b",
        re.I,
    ),
    "time": lazy_re(
        r"\b(?:[01]?\d|2[0-3])[:.][0-5]\d(?:[:.][0-5]\d)?\s*(?:[ap]\.?m\b\.?)?"
        r"|\b1?\d\s*[ap]\.?m\b\.?|\b(?:noon|midnight)\b",
        re.I,
    ),
    "money": lazy_re(
        rf"{_CURRENCY}\s?(?:{_AMOUNT})(?:\s?(?:thousand|million|billion|k|m|bn)\b)?"
        rf"|(?<![\w.])(?:{_AMOUNT})(?:\s(?:thousand|million|billion))?\s?{_CURRENCY_NAME}(?!\w)",
        re.I,
    ),
    "price": lazy_re(r"(?<![\w.,/:-])\d{1,3}(?:,?\d{3})*[.,]\d{2}(?![\w.,/:%-]\d|\d|%)"),
    "measure": lazy_re(
        rf"(?<![\w.])(?:{_AMOUNT})(?:\s(?:thousand|million|billion))?[ -]?{_UNIT}(?!\w)"
        rf"|\b{_NUMBER_WORD}(?:[ -]{_NUMBER_WORD})*[ -]{_UNIT}(?!\w)",
        re.I,
    ),
    "percentage": lazy_re(rf"(?<![\w.])(?:{_AMOUNT})\s?(?:%|per\s?cent\b)", re.I),
    "phone number": lazy_re(
        r"(?<![\w.,-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,4}\)[ .-]?)?"
        r"\d{2,4}(?:[ .-]\d{2,4}){1,4}(?![\w-])"
    ),
    "year": lazy_re(r"(?<![\w.,$€£])(?:1[0-9]|20)\d{2}s?(?![\w,]|\.\d)"),
    "number": lazy_re(
        rf"(?<![\w.])(?:{_AMOUNT})(?:\s(?:thousand|million|billion))?(?!\w)"
        rf"|\b{_NUMBER_WORD}(?:[ -](?:and\s)?{_NUMBER_WORD})*\b",
        re.I,
    ),
    "name": lazy_re(
        rf"\b{_CAPITAL}(?:\s+(?:(?:de|da|di|du|van|von|der|den|la|le|of|the|al|bin)\s+){{0,2}}"
        rf"{_CAPITAL})*"
    ),
}


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """A match and its position in the text."""

    kind: str
    text: str
    start: int
    end: int


def find(text: str, kind: str) -> Iterator[PatternMatch]:
    """Return all matches of one kind, in order."""
    for match in KINDS[kind].finditer(text):
        if kind == "phone number" and not _is_phone(match[0]):
            continue
        yield PatternMatch(kind, match[0].strip(), match.start(), match.end())


def find_all(text: str, kinds: tuple[str, ...]) -> list[PatternMatch]:
    """Return the matches of these kinds; of overlapping ones, the kind named first wins."""
    found: list[PatternMatch] = []
    for kind in kinds:
        taken = [(item.start, item.end) for item in found]
        found += [
            item
            for item in find(text, kind)
            if not any(item.start < end and start < item.end for start, end in taken)
        ]
    return sorted(found, key=lambda item: item.start)


def _is_phone(written: str) -> bool:
    digits = sum(sign.isdigit() for sign in written)
    if KINDS["date"].fullmatch(written.strip()):
        return False
    return 7 <= digits <= 15
