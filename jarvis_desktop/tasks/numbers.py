"""Writes spoken numbers as digits: "two hundred and forty" is 240, "half a million" 500000.

text2num does this for whole numbers and takes "ten second" for "10 2nd"; timers need seconds.
"""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen".split()
    )
} | {"oh": 0, "nought": 0, "nil": 0}
_TENS = {
    word: 10 * value
    for value, word in enumerate(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2
    )
} | {"fourty": 40}
_SCALES = {
    "hundred": 100,
    "thousand": 10**3,
    "grand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
_GROUPS = {"dozen": 12, "score": 20, "dozens": 12}
WORDS = (*_UNITS, *_TENS)
"""Those a number begins with."""
_PARTS = {
    "half": Fraction(1, 2), "halves": Fraction(1, 2), "third": Fraction(1, 3),
    "thirds": Fraction(1, 3), "quarter": Fraction(1, 4), "quarters": Fraction(1, 4),
    "fourth": Fraction(1, 4), "fifth": Fraction(1, 5), "fifths": Fraction(1, 5),
    "eighth": Fraction(1, 8), "eighths": Fraction(1, 8), "tenth": Fraction(1, 10),
    "tenths": Fraction(1, 10),
}  # fmt: skip
_WORDS = _UNITS | _TENS | _SCALES | _GROUPS
# A comma before one or two last digits is a decimal comma, unless it parts a list: "1,2,3".
_DIGITS = (
    r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|(?<!\d,)\d+,\d{1,2}(?![\d,]|\.\d)"
    r"|\d+(?:\.\d+)?|\.\d+"
)
_DECIMAL_COMMA = re.compile(r"\d+,\d{1,2}")
_NUMERAL = re.compile(_DIGITS)
_TOKEN = re.compile(rf"{_DIGITS}|[^\W\d_]+|\s+|.", re.DOTALL)


def with_digits(text: str) -> str:
    """The text with its spoken numbers as digits; all else stays as it is."""
    tokens = _TOKEN.findall(_joined(text))
    out: list[str] = []
    at = 0
    while at < len(tokens):
        value, length = _number(tokens, at)
        if length:
            out.append(written(value))
            at += length
        else:
            out.append(tokens[at])
            at += 1
    return "".join(out)


def written(value: Fraction) -> str:
    """The number in digits, without needless zeros."""
    if value.denominator == 1:
        return str(value.numerator)
    return f"{float(value):.12g}"


def _joined(text: str) -> str:
    """ "twenty-five" as two words; "a hundred" and "half a million" as numbers."""
    names = "|".join(_WORDS)
    text = re.sub(rf"\b({'|'.join(_TENS)})-(?=({names})\b)", r"\1 ", text, flags=re.IGNORECASE)
    groups = "|".join((*_SCALES, "dozen"))
    text = re.sub(rf"\bhalf an? ({groups})\b", r"0.5 \1", text, flags=re.IGNORECASE)
    text = re.sub(rf"\ban? (?=(?:{groups})\b)", "1 ", text, flags=re.IGNORECASE)
    text = re.sub(rf"\ban? (?=(?:{groups})\b)", "1 ", text, flags=re.IGNORECASE)
    return re.sub(r"\ba (half|third|quarter|fifth|tenth)\b", r"1 \1", text, flags=re.IGNORECASE)


def _number(tokens: list[str], start: int) -> tuple[Fraction, int]:
    """The number that begins at a token, and over how many tokens it goes (0: none begins)."""
    total, current = Fraction(0), Fraction(0)
    at, end = start, start
    seen = ""
    while at < len(tokens):
        word = tokens[at].casefold()
        if _NUMERAL.fullmatch(word):
            if seen and not (seen in ("scale", "and") and end > start):
                break
            point = "." if _DECIMAL_COMMA.fullmatch(word) else ""
            current += Fraction(word.replace(",", point))
            seen = "digits"
        elif word in _UNITS:
            # "one two" is two numbers, "twenty one" is one.
            if seen in ("unit", "digits") or (seen == "ten" and not 0 < _UNITS[word] < 10):
                break
            current += _UNITS[word]
            seen = "unit"
        elif word in _TENS:
            if seen in ("unit", "ten", "digits"):
                break
            current += _TENS[word]
            seen = "ten"
        elif word in _SCALES or word in _GROUPS:
            if not seen and word != "dozen":
                break
            total, current = _scaled(total, current, _WORDS[word])
            seen = "scale"
        elif word == "and" and seen == "scale" and _continues(tokens, at):
            at += 2
            continue
        elif word == "point" and seen and (digits := _decimals(tokens, at)):
            current += digits[0]
            at = end = digits[1]
            seen = "digits"
            continue
        else:
            break
        at += 1
        end = at
        if at < len(tokens) and tokens[at].isspace():
            at += 1
    if end == start:
        return Fraction(0), 0
    return _with_part(tokens, total + current, end, start)


def _scaled(total: Fraction, current: Fraction, scale: int) -> tuple[Fraction, Fraction]:
    if scale <= 100:
        return total, (current or Fraction(1)) * scale
    return total + (current or Fraction(1)) * scale, Fraction(0)


def _continues(tokens: list[str], at: int) -> bool:
    """Whether "and" goes on with a number, as in "two hundred and forty"."""
    following = tokens[at + 2].casefold() if at + 2 < len(tokens) else ""
    return following in _UNITS or following in _TENS


def _decimals(tokens: list[str], at: int) -> tuple[Fraction, int] | None:
    """What "point" is followed by: digits one by one, "point two five", or a numeral."""
    digits = ""
    at += 1
    end = at
    while at < len(tokens):
        word = tokens[at].casefold()
        if word.isspace():
            at += 1
            continue
        if word in _UNITS and _UNITS[word] < 10:
            digits += str(_UNITS[word])
        elif not digits and (word.isdigit() or word in _UNITS or word in _TENS):
            digits = word if word.isdigit() else str(_WORDS[word])
        else:
            break
        at += 1
        end = at
    return (Fraction(int(digits), 10 ** len(digits)), end) if digits else None


def _with_part(tokens: list[str], value: Fraction, end: int, start: int) -> tuple[Fraction, int]:
    """ "and a half" and "three quarters" after a number."""
    rest = "".join(tokens[end : end + 8]).casefold()
    found = re.match(r"\s+and\s+(?:an?|1|one)\s+([a-z]+)\b", rest)
    if found and (part := _PARTS.get(found[1])):
        return value + part, _length(tokens, end, found.end()) - start
    # "A third" and "three quarters" are parts; "second" is a unit of time.
    found = re.match(r"\s+([a-z]+)\b", rest) if value < 10 else None
    part = _PARTS.get(found[1]) if found else None
    if found and part and (value == 1 or found[1].endswith("s")):
        return value * part, _length(tokens, end, found.end()) - start
    return value, end - start


def _length(tokens: list[str], at: int, characters: int) -> int:
    while characters > 0:
        characters -= len(tokens[at])
        at += 1
    return at
