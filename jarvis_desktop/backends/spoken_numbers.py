"""Writes the digits of an English text as words, for voices that know letters only."""

from __future__ import annotations

import re

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
_SCALES = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_NUMBER = re.compile(r"(?<![\w.])([$€£])?(-?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(\s?%)?")
_SIGNS = {"$": "dollars", "€": "euros", "£": "pounds"}

LONGEST = 12
"""Digits of a number; a longer one is spelled digit by digit."""


def in_words(text: str) -> str:
    """The text with "3.5 %" as "three point five percent" and "1999" as "nineteen ninety nine"."""
    return _NUMBER.sub(_spoken, text)


def _spoken(match: re.Match[str]) -> str:
    sign, minus, whole, part, percent = match.groups()
    digits = whole.replace(",", "")
    alone = not (sign or minus or part or percent or "," in whole)
    words = _year(int(digits)) if alone and len(digits) == 4 else ""
    if not words:
        spelled = len(digits) > LONGEST or (len(digits) > 1 and digits[0] == "0")
        words = _digits(digits) if spelled else cardinal(int(digits))
    found = ["minus"] if minus else []
    found.append(words)
    if part:
        found += ["point", _digits(part[1:])]
    if percent:
        found.append("percent")
    if sign:
        found.append(_SIGNS[sign])
    # "3kg" is read as two words.
    after = match.string[match.end() : match.end() + 1]
    return " ".join(found) + (" " if after.isalpha() else "")


def cardinal(number: int) -> str:
    """A whole number from 0 up, as words."""
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (f" {_ONES[ones]}" if ones else "")
    for scale, name in _SCALES:
        if number >= scale:
            count, rest = divmod(number, scale)
            joint = " and " if rest and rest < 100 else " "
            return f"{cardinal(count)} {name}" + (joint + cardinal(rest) if rest else "")
    raise AssertionError(number)


def _year(number: int) -> str:
    """1999 as a year is said; "" for a number that is said as any other."""
    century, rest = divmod(number, 100)
    if not 11 <= century <= 20 or (century == 20 and rest < 10):
        return ""
    if not rest:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def _digits(digits: str) -> str:
    return " ".join(_ONES[int(digit)] for digit in digits)
