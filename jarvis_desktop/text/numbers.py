"""Numbers in texts: spoken numbers as digits, digits as words, and arithmetic.

"two hundred and forty" becomes 240. text2num does this for whole numbers, but takes "ten second"
for "10 2nd", which timers must not. Digits are written as words for voices that only know letters.
Arithmetic is bounded: no formula may take long or fill memory, and nothing else is understood.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable
from fractions import Fraction

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.text.lazy_re import lazy_re

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_BY_TENS = "zero ten twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS = (*_ONES, *_BY_TENS[2:], "hundred", "thousand", "million")
"""Words of which numbers are made."""
_UNITS = {word: value for value, word in enumerate(_ONES)} | {"oh": 0, "nought": 0, "nil": 0}
_TENS = {word: 10 * value for value, word in enumerate(_BY_TENS) if value > 1} | {"fourty": 40}
_SCALES = {
    "hundred": 100,
    "thousand": 10**3,
    "grand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
}
GERMAN_NUMBERS = {
    word: number
    for number, word in enumerate(
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(), 2
    )
}
"""German words for numbers, without those for one, which are articles too."""
_GROUPS = {"dozen": 12, "score": 20, "dozens": 12}
WORDS = (*_UNITS, *_TENS)
"""Words that may begin a number."""
_PARTS = {
    "half": Fraction(1, 2), "halves": Fraction(1, 2), "third": Fraction(1, 3),
    "thirds": Fraction(1, 3), "quarter": Fraction(1, 4), "quarters": Fraction(1, 4),
    "fourth": Fraction(1, 4), "fifth": Fraction(1, 5), "fifths": Fraction(1, 5),
    "eighth": Fraction(1, 8), "eighths": Fraction(1, 8), "tenth": Fraction(1, 10),
    "tenths": Fraction(1, 10),
}  # fmt: skip
_WORDS = _UNITS | _TENS | _SCALES | _GROUPS
# A comma before one or two last digits is a decimal comma, unless it separates a list: "1,2,3".
_DIGITS = (
    r"\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|(?<!\d,)\d+,\d{1,2}(?![\d,]|\.\d)"
    r"|\d+(?:\.\d+)?|\.\d+"
)
_DECIMAL_COMMA = lazy_re(r"\d+,\d{1,2}")
_NUMERAL = lazy_re(_DIGITS)
_TOKEN = lazy_re(rf"{_DIGITS}|[^\W\d_]+|\s+|.", re.DOTALL)


def with_digits(text: str) -> str:
    """Return the text with spoken numbers as digits; everything else stays."""
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
    """Return the number in digits, without needless zeros."""
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
    """Return the number that begins at a token, and its number of tokens (0 if none)."""
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
    """Whether "and" continues a number, as in "two hundred and forty"."""
    following = tokens[at + 2].casefold() if at + 2 < len(tokens) else ""
    return following in _UNITS or following in _TENS


def _decimals(tokens: list[str], at: int) -> tuple[Fraction, int] | None:
    """Read what follows "point": digits one by one, "point two five", or a numeral."""
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


_SPOKEN_SCALES = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_NUMBER = lazy_re(r"(?<![\w.])([$€£])?(-?)(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(\s?%)?")
_SIGNS = {"$": "dollars", "€": "euros", "£": "pounds"}

MAX_DIGITS = 12
"""A longer number is spelled digit by digit."""


def in_words(text: str) -> str:
    """Return the text with "3.5 %" as "three point five percent" and "1999" as "nineteen ninety
    nine"."""
    return _NUMBER.sub(_spoken, text)


def _spoken(match: re.Match[str]) -> str:
    sign, minus, whole, part, percent = match.groups()
    digits = whole.replace(",", "")
    alone = not (sign or minus or part or percent or "," in whole)
    words = _year(int(digits)) if alone and len(digits) == 4 else ""
    if not words:
        spelled = len(digits) > MAX_DIGITS or (len(digits) > 1 and digits[0] == "0")
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
    """Return a whole number from 0 up, as words."""
    if number < 20:
        return _ONES[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _BY_TENS[tens] + (f" {_ONES[ones]}" if ones else "")
    for scale, name in _SPOKEN_SCALES:
        if number >= scale:
            count, rest = divmod(number, scale)
            joint = " and " if rest and rest < 100 else " "
            return f"{cardinal(count)} {name}" + (joint + cardinal(rest) if rest else "")
    raise AssertionError(number)


def _year(number: int) -> str:
    """Return a year in words; "" for a number that is said like any other."""
    century, rest = divmod(number, 100)
    if not 11 <= century <= 20 or (century == 20 and rest < 10):
        return ""
    if not rest:
        return f"{cardinal(century)} hundred"
    return f"{cardinal(century)} {'oh ' if rest < 10 else ''}{cardinal(rest)}"


def _digits(digits: str) -> str:
    return " ".join(_ONES[int(digit)] for digit in digits)


Number = int | float

LARGEST_BITS = 4000
"""Larger whole numbers (1,200 digits) are refused before they are computed."""

_SPOKEN: tuple[tuple[str, str], ...] = (
    (r"[×∙·]|(?<=[\d)])\s*x\s*(?=[\d(])", "*"),
    (r"÷", "/"),
    (r"[−–—]", "-"),
    (r"√", " sqrt "),
    (r"π", " pi "),
    (r"²", "**2"),
    (r"³", "**3"),
    (r"\^", "**"),
    (r"[$€£]", ""),
    (r"\b(\d+(?:\.\d+)?)\s*(?:%|percent|per cent)\s+(?:tip\s+)?(?:off|less than)\s+(?:of\s+)?"
     r"(\d+(?:\.\d+)?)", r"(\2-\2*\1/100)"),
    # "100 plus 20%" is 120 to everyone but a parser.
    (r"^(.+?)\s*(?:\bplus\b|\+)\s*(\d+(?:\.\d+)?)\s*(?:%|percent|per cent)$", r"(\1)*(1+\2/100)"),
    (r"^(.+?)\s*(?:\bminus\b|-)\s*(\d+(?:\.\d+)?)\s*(?:%|percent|per cent)$", r"(\1)*(1-\2/100)"),
    (r"\badd (\d+(?:\.\d+)?)\s*(?:%|percent|per cent) to (.+)", r"(\2)*(1+\1/100)"),
    (r"\b(?:take|subtract|deduct) (\d+(?:\.\d+)?)\s*(?:%|percent|per cent) from (.+)",
     r"(\2)*(1-\1/100)"),
    (r"\s*(?:%|\bpercent|\bper cent)(?:\s+tip)?\s+(?:of|on)\b", "/100*"),
    (r"\s*(?:%(?!\s*[\d(])|\bpercent\b|\bper cent\b)", "/100"),
    (r"\b(?:the )?(?:sum|total|addition) of (.+?) and (.+)", r"(\1)+(\2)"),
    (r"\b(?:the )?product of (.+?) and (.+)", r"(\1)*(\2)"),
    (r"\b(?:the )?difference (?:between|of) (.+?) and (.+)", r"(\1)-(\2)"),
    (r"\b(?:the )?(?:average|mean) of (.+?) and (.+)", r"((\1)+(\2))/2"),
    (r"\badd (.+?) (?:and|to) (.+)", r"(\2)+(\1)"),
    (r"\bsubtract (.+?) from (.+)", r"(\2)-(\1)"),
    (r"\bmultiply (.+?) (?:by|and|with) (.+)", r"(\1)*(\2)"),
    (r"\bdivide (.+?) by (.+)", r"(\1)/(\2)"),
    (r"\b(?:share|split|divide) (.+?) (?:equally |evenly )?(?:among|between|by|into) (\d+)"
     r"(?: (?:people|persons|friends|children|kids|guests|of us|(?:equal )?parts|ways))?",
     r"(\1)/(\2)"),
    (r"\b(?:half of|halve)\b", "0.5*"),
    (r"\b(?:twice|double)\b", "2*"),
    (r"\btriple\b", "3*"),
    (r"\b(?:the )?(?:square root|root)(?: of)?\b", " sqrt "),
    (r"\b(?:the )?(?:cube|cubic|third) root(?: of)?\b", " cbrt "),
    (r"\b(?:the )?natural log(?:arithm)?(?: of)?\b", " ln "),
    (r"\b(?:the )?log(?:arithm)?(?: of)?\b", " log "),
    (r"\b(?:the )?factorial of\b", " factorial "),
    (r"(\d+)\s*factorial\b|\b(\d+)\s*!", r" factorial(\1\2)"),
    (r"\b(?:the )?(sine|cosine|tangent)(?: of)?\b", r" \1 "),
    (r"\bdegrees\b", ""),
    (r"\bsquared\b|\bsquare\b(?! root)", "**2"),
    (r"\bcubed\b", "**3"),
    (r"\b(?:raised )?to the power (?:of )?|\braised to\b|\bto the (?=\d+(?:st|nd|rd|th)?\b)", "**"),
    (r"(\d+)(?:st|nd|rd|th)\b(?: power)?", r"\1"),
    (r"\b(?:divided by|over)\b", "/"),
    (r"\b(?:multiplied by|times|by)\b", "*"),
    (r"\b(?:plus|and|added to)\b", "+"),
    (r"\b(?:minus|less|take away|subtracted by)\b", "-"),
    (r"\b(?:modulo|mod|remainder of)\b", "%"),
    (r"\bnegative\b", "-"),
    (r"\bopen (?:bracket|parenthesis)\b", "("),
    (r"\bclosed? (?:bracket|parenthesis)\b", ")"),
    (r"\bof\b", "*"),
    (r"(?<=\d),(?=\d{3}\b)", ""),
    (r"\b(?:dollars?|euros?|pounds?|the|a)\b", ""),
)  # fmt: skip
_COMPILED = tuple((lazy_re(spoken, re.IGNORECASE), sign) for spoken, sign in _SPOKEN)

_FUNCTIONS: dict[str, Callable[[float], Number]] = {
    "sqrt": math.sqrt,
    "cbrt": math.cbrt,
    "ln": math.log,
    "log": math.log10,
    "sine": lambda degrees: math.sin(math.radians(degrees)),
    "cosine": lambda degrees: math.cos(math.radians(degrees)),
    "tangent": lambda degrees: math.tan(math.radians(degrees)),
    "sin": lambda degrees: math.sin(math.radians(degrees)),
    "cos": lambda degrees: math.cos(math.radians(degrees)),
    "tan": lambda degrees: math.tan(math.radians(degrees)),
    "abs": abs,
    "round": round,
}
_CONSTANTS = {"pi": math.pi, "e": math.e}
_OPERATORS: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


_LIST_ITEM = r"-?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_LIST_GAP = r"(?:\s*,\s*(?:and\s+)?|\s+and\s+)"
_list = lazy_re(
    r"\b(?:the )?(sum|total|product|average|mean|median)(?: of)? (?:the numbers )?"
    rf"({_LIST_ITEM}(?:{_LIST_GAP}{_LIST_ITEM})+)(?![\w.])",
    re.IGNORECASE,
)


def _of_list(found: re.Match[str]) -> str:
    """Write the sum, product, mean or median of listed numbers in signs."""
    given = [item.replace(",", "") for item in re.findall(_LIST_ITEM, found[2])]
    if found[1].lower() == "product":
        return "(" + "*".join(given) + ")"
    if found[1].lower() == "median":
        middle = (len(given) - 1) // 2
        given = sorted(given, key=float)[middle : len(given) - middle]
    total = "(" + "+".join(given) + ")"
    return total if found[1].lower() in ("sum", "total") else f"({total}/{len(given)})"


_SUM_WORDS = frozenset(
    "a add added addition after again among an and average away bracket by ceil children close "
    "closed cosine cos cube cubed cubic deduct degrees difference divide divided dollars double e "
    "equal equally euros evenly factorial floor friends from guests half halve kids less ln log "
    "logarithm mean median minus mod modulo multiplied multiply natural negative numbers of off "
    "on open over parenthesis parts people per cent percent persons pi plus pounds power product "
    "raised remainder root round share sin sine split sqrt square squared subtract subtracted sum "
    "take tan tangent than the third times tip to total triple twice us ways with x".split()
)
"""The words of `_SPOKEN` and of its likes."""


def may_be_sum(words: str) -> bool:
    """Whether all words, with numbers in digits, may be those of a sum: a quick look before
    `formula`, whose patterns take a while to be compiled."""
    said = re.findall(r"[^\W\d_]+", words.casefold())
    return all(word in _SUM_WORDS or re.fullmatch(r"st|nd|rd|th", word) for word in said)


def formula(words: str) -> str:
    """Return the sum in signs, from words whose numbers are already in digits."""
    text = _list.sub(_of_list, words)
    for spoken, sign in _COMPILED:
        text = spoken.sub(sign, text)
    # A function takes the number or bracket after it: "sqrt 625 + 1" is 26.
    names = "|".join((*_FUNCTIONS, "factorial"))
    text = re.sub(rf"\b({names})\s+(-?\d+(?:\.\d+)?|pi|e)\b", r"\1(\2)", text)
    return " ".join(text.split())


def value_of(text: str) -> Number:
    """Compute a formula. Raises InputError with the reason if it has no value."""
    try:
        return _checked(_value(ast.parse(text.strip(), mode="eval").body))
    except ZeroDivisionError as error:
        raise InputError(tr("Nothing can be divided by zero.")) from error
    except OverflowError as error:
        raise _too_large() from error
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise _not_a_sum() from error
    except ValueError as error:
        raise InputError(tr("That has no result among the real numbers.")) from error


def readable(value: Number, *, digits: int = 7) -> str:
    """Format a result with commas, and rounded to `digits` if it does not end."""
    if isinstance(value, int) or (value.is_integer() and abs(value) < 1e15):
        whole = int(value)
        if abs(whole) < 10**21:
            return f"{whole:,}"
        written = str(abs(whole))
        start = int(written[:5]) / (10**4 if whole > 0 else -(10**4))
        return f"about {start:g} times 10 to the {len(written) - 1}"
    if abs(value) >= 1e15 or abs(value) < 1e-4:
        mantissa, exponent = f"{value:.4e}".split("e")
        return f"about {float(mantissa):g} times 10 to the {int(exponent)}"
    near = round(value, max(0, digits - 1 - max(0, math.floor(math.log10(abs(value))))))
    # Users expect 0.1 + 0.2 to be exact, but not a third.
    exact = math.isclose(near, value, rel_tol=1e-12)
    return f"{'' if exact else 'about '}{near:,.10g}"


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return _checked(value)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _checked(_OPERATORS[type(op)](_value(left), _value(right)))
        case ast.Call(func=ast.Name(id="factorial"), args=[argument], keywords=[]):
            return _factorial(_value(argument))
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in _FUNCTIONS:
            return _rounded(_FUNCTIONS[name](_value(argument)))
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
    raise _not_a_sum()


def _power(base: Number, exponent: Number) -> Number:
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and exponent > 0 and exponent * max(int(base).bit_length() - 1, 0) > LARGEST_BITS:
        raise _too_large()
    result = base**exponent
    if isinstance(result, complex):
        raise ValueError("complex")
    return _checked(result)


def _factorial(value: Number) -> Number:
    if value != int(value) or value < 0:
        raise InputError(tr("Only whole numbers from 0 have a factorial."))
    if value > 400:
        raise _too_large()
    return math.factorial(int(value))


def _checked(value: Number) -> Number:
    if isinstance(value, int) and value.bit_length() > LARGEST_BITS:
        raise _too_large()
    if isinstance(value, float) and not math.isfinite(value):
        raise _too_large()
    return value


def _rounded(value: Number) -> Number:
    """Round a root or sine that misses a whole number by the last bit."""
    near = round(value)
    return near if math.isclose(value, near, rel_tol=1e-14, abs_tol=1e-15) else value


def _too_large() -> InputError:
    return InputError(tr("The result is too large to work out."))


def _not_a_sum() -> InputError:
    return InputError(
        tr("I can't read that calculation."),
        hint=tr("Try “15 percent of 240”, “twelve times seven” or “5 miles in km”."),
    )
