"""What is asked of numbers: primes, divisors, remainders, rounding, other ways to write them;
shares in percent, the largest of several, and the measures of simple shapes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TypeVar

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import readable

MAX_FACTORED = 10**12
"""Larger numbers would take more than milliseconds to be divided by all that may divide them."""
MAX_ROMAN = 3999

Figure = TypeVar("Figure", int, float)

_N = r"(\d[\d,]*)"
_F = r"-?\d(?:[\d,]*\d)?(?:\.\d+)?"
_LISTED = rf":? ?{_F}(?:(?: ?, ?(?:and )?| and | or | ){_F})+"
_SIZE = (
    r"(?:(?:a |the )?(?:radius|side|sides|width|height|base|length|edge|depth)s? (?:of )?)?"
    rf"({_F})(?: ?(?:cm|m|mm|km|inches|feet|meters))?"
)
_MORE = rf"(?:(?: ?(?:,|by|x|times|and|with)+ ?)+{_SIZE})?"
_HINT = lazy_re(
    r"prime|factor|divisible|divided|remainder|\b(?:even|odd|gcd|gcf|hcf|lcm)\b|common|round|binary|"
    r"hex|octal|roman|percent|%|est\b|maximum|minimum|sort|simplify|reduce|shorten|decimal|area|"
    r"circumference|perimeter|volume|hypotenuse"
)
"""One of these is in all that is read here, and patterns take a while to be compiled."""
_PLACES = {"whole number": 0, "integer": 0, "unit": 0, "ten": -1, "hundred": -2, "thousand": -3,
           "million": -6, "10": -1, "100": -2, "1,000": -3, "1000": -3, 
           "tenth": 1, "hundredth": 2, "cent": 2}  # fmt: skip
_ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
    (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip


def fact(words: str) -> str | None:
    """Answer a question about whole numbers in a sentence, from lower-case words with numbers in
    digits; None if it is none. Raises InputError for numbers that are too large."""
    said = words.strip().casefold()
    if not _HINT.search(said):
        return None
    for form, answer in _FACTS:
        if (found := form.fullmatch(said)) and (told := answer(*found.groups())):
            return told
    return None


def is_asked(words: str) -> bool:
    """Return whether the words ask for such a fact."""
    try:
        return fact(words) is not None
    except InputError:
        return True


def _whole(figure: str) -> int:
    return int(figure.replace(",", ""))


def _divisor(number: Figure) -> Figure:
    """The number, unless it is zero."""
    if not number:
        raise InputError(tr("Nothing can be divided by zero."))
    return number


def _factors(number: int) -> list[int]:
    """The prime factors, the smallest first."""
    if number > MAX_FACTORED:
        raise InputError(
            tr("That number is too large to look for what divides it."),
            hint=tr("The limit is {largest}.", largest=f"{MAX_FACTORED:,}"),
        )
    found: list[int] = []
    divisor = 2
    while divisor * divisor <= number:
        while number % divisor == 0:
            found.append(divisor)
            number //= divisor
        divisor += 1 if divisor == 2 else 2
    return [*found, number] if number > 1 else found


def _prime(figure: str) -> str:
    number = _whole(figure)
    factors = _factors(number)
    if len(factors) == 1:
        return f"Yes, {number:,} is a prime number."
    made = f": it is {' times '.join(f'{each:,}' for each in factors)}" if factors else ""
    return f"No, {number:,} is not a prime number{made}."


def _made_of(figure: str) -> str:
    number = _whole(figure)
    factors = _factors(number)
    if len(factors) < 2:
        return f"{number:,} has no other prime factors than itself."
    return f"{number:,} is {' times '.join(f'{each:,}' for each in factors)}."


def _divisible(figure: str, by: str) -> str:
    number, divisor = _whole(figure), _divisor(_whole(by))
    times, left = divmod(number, divisor)
    if not left:
        return f"Yes, {number:,} is {divisor:,} times {times:,}."
    return f"No, {number:,} divided by {divisor:,} leaves a remainder of {left:,}."


def _remainder(figure: str, by: str) -> str:
    number, divisor = _whole(figure), _divisor(_whole(by))
    times, left = divmod(number, divisor)
    return f"{number:,} divided by {divisor:,} is {times:,} with a remainder of {left:,}."


def _even(figure: str, asked: str) -> str:
    number = _whole(figure)
    is_so = (number % 2 == 0) == (asked == "even")
    return f"{'Yes' if is_so else 'No'}, {number:,} is {'odd' if number % 2 else 'even'}."


def _shared(what: str, one: str, other: str) -> str:
    numbers = _divisor(_whole(one)), _divisor(_whole(other))
    if what in ("gcd", "gcf", "hcf") or "divisor" in what or "factor" in what:
        named, value = "greatest common divisor", math.gcd(*numbers)
    else:
        named, value = "least common multiple", math.lcm(*numbers)
    return f"The {named} of {numbers[0]:,} and {numbers[1]:,} is {value:,}."


def _round_to(figure: str, places: str) -> str:
    return _rounded(figure, int(places))


def _round_near(figure: str, unit: str) -> str:
    return _rounded(figure, _PLACES[unit])


def _rounded(figure: str, places: int) -> str:
    from decimal import ROUND_HALF_UP, Decimal

    # As people round: 2.5 is 3, where binary floats and Python make 2 of it.
    value = Decimal(figure.replace(",", "")).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    return f"{figure} rounded is {value:,f}."


def _in_base(figure: str, base: str) -> str:
    number = _whole(figure)
    written = {"b": f"{number:b}", "h": f"{number:X}", "o": f"{number:o}"}[base[0]]
    return f"{number:,} in {base} is {written}."


def _from_base(base: str, digits: str) -> str:
    value = int(digits, {"b": 2, "h": 16, "o": 8}[base[0]])
    return f"{base.capitalize()} {digits.upper()} is {value:,}."


def _in_roman(figure: str) -> str:
    number = left = _whole(figure)
    if not 1 <= number <= MAX_ROMAN:
        raise InputError(tr("Roman numerals go from 1 to {largest}.", largest=f"{MAX_ROMAN:,}"))
    letters = ""
    for value, sign in _ROMAN:
        letters += sign * (left // value)
        left %= value
    return f"{number} in Roman numerals is {letters}."


def _from_roman(letters: str) -> str:
    by_sign = {sign: value for value, sign in _ROMAN}
    values = [by_sign[each] for each in letters.upper()]
    number = sum(
        -value if value < max(values[place:]) else value for place, value in enumerate(values)
    )
    if _in_roman(str(number)).rpartition(" ")[2] != f"{letters.upper()}.":
        raise InputError(tr("{letters} is not a Roman numeral.", letters=letters.upper()))
    return f"{letters.upper()} is {readable(number)}."


def _share(part: str, whole: str) -> str:
    of = _divisor(_figure(whole))
    return f"{part} is {readable(_figure(part) / of * 100)} percent of {whole}."


def _change(last: str, how: str, first: str) -> str:
    before = _divisor(_figure(first))
    percent = (_figure(last) - before) / before * 100
    which = "more" if percent >= 0 else "less"
    return f"{last} is {readable(abs(percent))} percent {which} than {first}."


def _changed(verb: str, figure: str, percent: str) -> str:
    by = _figure(percent) / 100 * (-1 if verb in ("decrease", "reduce", "lower") else 1)
    return f"{verb.capitalize()} {figure} by {percent}% is {readable(_figure(figure) * (1 + by))}."


def _raise(percent: str, figure: str) -> str:
    more = _figure(figure) * _figure(percent) / 100
    whole = readable(_figure(figure) + more)
    return f"{percent}% of {figure} is {readable(more)}, which makes {whole}."


def _reduced(price: str, percent: str) -> str:
    return (
        f"{price} with {percent}% off is {readable(_figure(price) * (1 - _figure(percent) / 100))}."
    )


def _extreme(which: str, listed: str) -> str:
    figures = re.findall(_F, listed)
    low = which in ("smallest", "lowest", "least", "minimum")
    found = (min if low else max)(figures, key=_figure)
    return f"The {which} is {found}."


def _sorted(listed: str, order: str | None) -> str:
    down = bool(order and re.search(r"desc|largest|highest|down", order))
    figures = sorted(re.findall(_F, listed), key=_figure, reverse=down)
    return f"{', '.join(figures)}."


def _simplified(above: str, below: str) -> str:
    one, other = _whole(above), _divisor(_whole(below))
    shared = math.gcd(one, other)
    bottom = f"/{other // shared}" if other != shared else ""
    return f"{above}/{below} is {one // shared}{bottom}."


def _decimal(above: str, below: str) -> str:
    return f"{above}/{below} is {readable(_whole(above) / _divisor(_whole(below)))}."


def _of_shape(what: str, shape: str, *sizes: str | None) -> str | None:
    given = [_figure(size) for size in sizes if size]
    work_out = _SHAPES.get((what, shape))
    if work_out is None or len(given) != work_out.__code__.co_argcount:
        return None
    return f"The {what} of that {shape} is {readable(work_out(*given))}."


_SHAPES: dict[tuple[str, str], Callable[..., float]] = {
    ("area", "circle"): lambda radius: math.pi * radius**2,
    ("circumference", "circle"): lambda radius: 2 * math.pi * radius,
    ("area", "rectangle"): lambda width, height: width * height,
    ("perimeter", "rectangle"): lambda width, height: 2 * (width + height),
    ("area", "square"): lambda side: side**2,
    ("perimeter", "square"): lambda side: 4 * side,
    ("area", "triangle"): lambda base, height: base * height / 2,
    ("volume", "sphere"): lambda radius: 4 / 3 * math.pi * radius**3,
    ("volume", "cube"): lambda side: side**3,
    ("volume", "box"): lambda width, height, depth: width * height * depth,
    ("volume", "cylinder"): lambda radius, height: math.pi * radius**2 * height,
    ("hypotenuse", "triangle"): lambda one, other: math.hypot(one, other),
}


def _figure(said: str) -> float:
    return float(said.replace(",", ""))


_FACTS: tuple[tuple[re.Pattern[str], Callable[..., str | None]], ...] = (
    (lazy_re(rf"is {_N} (?:an? )?prime(?: number)?(?: or not)?"), _prime),
    (lazy_re(rf"(?:the )?(?:prime )?(?:factors|factori[sz]ation) of {_N}"), _made_of),
    (lazy_re(rf"(?:factori[sz]e|factor) {_N}"), _made_of),
    (lazy_re(rf"(?:is|can) {_N} (?:be )?(?:evenly )?(?:divisible|divided evenly|divided) by {_N}"),
     _divisible),
    (lazy_re(rf"(?:the )?remainder (?:of|when|if) {_N} (?:is )?divided by {_N}"), _remainder),
    (lazy_re(rf"is {_N} (?:an? )?(even|odd)(?: number)?(?: or (?:odd|even))?"), _even),
    (lazy_re(r"(?:the )?(gcd|gcf|hcf|lcm|greatest common (?:divisor|factor)|highest common factor|"
             rf"(?:least|lowest|smallest) common (?:multiple|denominator)) of {_N} and {_N}"),
     _shared),
    (lazy_re(r"round (-?\d[\d,]*(?:\.\d+)?) (?:off )?to (\d) (?:decimals?|decimal places?|digits|"
             r"places)"), _round_to),
    (lazy_re(r"round (-?\d[\d,]*(?:\.\d+)?) (?:off )?to (?:the |an? )?(?:nearest )?"
             rf"({'|'.join(_PLACES)})"), _round_near),
    (lazy_re(rf"{_N} (?:in|to|into|as) (binary|hex|hexadecimal|octal)"), _in_base),
    (lazy_re(r"(binary) ([01]+)(?: (?:in|to|as) decimal)?"), _from_base),
    (lazy_re(r"(hex|hexadecimal) ([0-9a-f]+)(?: (?:in|to|as) decimal)?"), _from_base),
    (lazy_re(rf"{_N} (?:in|to|into|as) (?:a )?roman numerals?"), _in_roman),
    (lazy_re(rf"(?:the )?roman numerals? (?:for|of) {_N}"), _in_roman),
    (lazy_re(r"(?:the )?roman numeral ([ivxlcdm]+)(?: as a number| in numbers)?"), _from_roman),
    (lazy_re(rf"({_F}) is (?:what|how many) (?:%|percent(?:age)?) of ({_F})"), _share),
    (lazy_re(rf"(?:what )?(?:%|percent(?:age)?) of ({_F}) is ({_F})"),
     lambda whole, part: _share(part, whole)),
    (lazy_re(rf"(?:the )?percentage of ({_F}) (?:in|out of) ({_F})"), _share),
    (lazy_re(rf"({_F}) (?:out )?of ({_F}) (?:in|as a) (?:%|percent(?:age)?)"), _share),
    (lazy_re(rf"(?:by )?how (?:many|much) (?:%|percent) (?:is )?({_F}) (?:is )?(more|less|larger|"
             rf"smaller|higher|lower) than ({_F})"), _change),
    (lazy_re(rf"(increase|raise|decrease|reduce|lower) ({_F}) by ({_F}) ?(?:%|percent)"), _changed),
    (lazy_re(rf"(?:how much is )?an? ({_F}) ?(?:%|percent) (?:pay )?(?:raise|rise|increase|tax|tip|"
             rf"fee|commission) on ({_F})"), _raise),
    (lazy_re(rf"(?:if )?(?:an? |the )?\w+ (?:costs|is) ({_F})(?: \w+)? "
             rf"(?:and is|with|and it is|but is) ({_F}) ?"
             r"(?:%|percent) off,? (?:how much|what) (?:is|does|will|do)\b.*"), _reduced),
    (lazy_re(r"(?:the )?(largest|biggest|highest|greatest|smallest|lowest|least|maximum|minimum) "
             rf"(?:number )?(?:of|among|from|in) ({_LISTED})"), _extreme),
    (lazy_re(rf"sort (?:the |these )?(?:numbers )?({_LISTED})((?: from| in)? (?:asc|desc|largest|"
             r"smallest|highest|lowest|up|down).*)?"), _sorted),
    (lazy_re(rf"(?:simplify|reduce|shorten) {_N} ?/ ?{_N}"), _simplified),
    (lazy_re(rf"{_N} ?/ ?{_N} (?:as|in|to) (?:an? )?decimals?"), _decimal),
    (lazy_re(r"(?:the )?(area|circumference|perimeter|volume) of an? (circle|sphere|square|"
             rf"cube|cylinder|rectangle|triangle|box)[ ,]*(?:with |of )?{_SIZE}{_MORE}{_MORE}"),
     _of_shape),
    (lazy_re(r"(?:the )?hypotenuse of (?:a (?:right )?)?(?:triangle )?(?:with |of )?(?:sides )?"
             rf"({_F}) and ({_F})"),
     lambda one, other: _of_shape("hypotenuse", "triangle", one, other)),
)  # fmt: skip
