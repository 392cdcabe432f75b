"""The calculator: sums and unit conversions in the words people use."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from typing import Any

from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report, TaskOption
from jarvis_desktop.tasks.definition import Services, define
from jarvis_desktop.text import numbers
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import readable, with_digits

MAX_CHARS = 300


async def calculate(call: Call, report: Report, services: Services) -> Iterable[Artifact]:
    """Calculate or convert, and answer in a sentence. Raises InputError with the reason if it
    cannot."""
    # Loading the table of units takes almost a second the first time.
    return [text_artifact(await asyncio.to_thread(answer, call.words("expression")))]


_joint = lazy_re(r"\s*(?:[,;]\s*(?:and|then|plus)?|\band(?: then)?)\s+", re.IGNORECASE)


_meant = lazy_re(r"\b(?:that|this|it|the (?:result|answer|sum|total))\b", re.IGNORECASE)
_figure = lazy_re(r"-?\d(?:[\d,]*\d)?(?:\.\d+)?")


def answer(words: str) -> str:
    """The result of a sum or a conversion, as a sentence; of several, a line for each. Behind a
    colon is the sum or the answer whose result "that" means: "that times 3: 250 divided by 8"."""
    try:
        return _answer(words)
    except InputError:
        said, _, earlier = words.partition(": ")
        if earlier and _meant.search(said):
            with suppress(InputError):
                earlier = answer(earlier)
            if figures := _figure.findall(earlier):
                return _answer(_meant.sub(figures[-1], said))
        for joint in _joint.finditer(words):
            with suppress(InputError):
                first, rest = _answer(words[: joint.start()]), words[joint.end() :]
                refers = _meant.search(rest)
                return f"{first}\n{answer(f'{rest}: {first}' if refers else rest)}"
        raise


def _answer(words: str) -> str:
    said = _core(words)
    if not said:
        raise InputError(tr("There is nothing to calculate."), hint=tr("Try “15 percent of 240”."))
    if len(said) > MAX_CHARS:
        raise InputError(
            tr("That sum is too long."),
            hint=tr("The limit is {longest} characters.", longest=MAX_CHARS),
        )
    digits = with_digits(said)
    if saved := _savings.search(digits):
        return _with_interest(*saved.groups())
    if conversion := read_conversion(digits):
        return convert(*conversion)
    value = numbers.value_of(numbers.formula(digits))
    shown = said[0].upper() + said[1:]
    return f"{shown} is {numbers.readable(value)}."


_savings = re.compile(
    r"\b(?:put|invest|deposit|save|lend|borrow|have)\b\D{0,20}?(\d[\d,]*(?:\.\d+)?)[^\d%]*? at "
    r"(\d+(?:\.\d+)?)\s*(?:%|per ?cent)[^\d]*\b(?:after|in|for) (\d+) years?\b",
    re.IGNORECASE,
)


def _with_interest(amount: str, percent: str, years: str) -> str:
    """Add interest once a year, and interest on it."""
    whole = float(amount.replace(",", "")) * (1 + float(percent) / 100) ** int(years)
    return tr(
        "{amount} at {percent} percent a year is {whole} after {years} years.",
        amount=numbers.readable(float(amount.replace(",", ""))),
        percent=percent,
        whole=f"{whole:,.2f}",
        years=years,
    )


_PREAMBLE = re.compile(
    r"^(?:(?:hey |ok |okay )?jarvis\b[, ]*|please\b[, ]*|(?:can|could|would) you\b|tell me\b"
    r"|work out\b|how (?:can|do|would) (?:i|you|we)\b"
    r"|what(?:'s|’s| is| are| does| do)\b|whats\b|what\b(?=.*\bis\W*$|\s+-?\d)"
    r"|how much (?:is|are|does)\b|calculate\b|compute\b"
    r"|(?:the )?(?:number|(?:correct |right )?amount|equivalent) of\b|i need(?: to know)?\b"
    r"|convert\b|reckon\b|solve\b|evaluate\b|give me\b|do you know\b|i want to know\b|find\b"
    r"|(?:(?:an?|the)\b\s*)?tip (?:of|for)\b(?=.*%|.*\bper ?cent)"
    r"|the (?:result|answer|value) (?:of|to)\b"
    r"|take\b(?=.*(?:%|\bper ?cent) off\b)|the(?= (?:sum|product|square|cube|factorial))\b)\s*",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:\s*(?:please|for me|jarvis|equals?(?: to)?|is|make|come to|in total|=))*"
    r"(?:[\s?.=]|(?<!\d)!)*$",
    re.IGNORECASE,
)


def _core(words: str) -> str:
    """The request without polite phrases."""
    said = " ".join(words.split())[: MAX_CHARS + 100]
    while (shorter := _PREAMBLE.sub("", said)) != said:
        said = shorter
    return _TAIL.sub("", said).strip(" ,;:\"'“”")


CALCULATOR = define(
    name="calculator", label="Calculate",
    summary="Does sums and converts units.",
    options=(TaskOption("expression", "the sum, as the user said it", "", reads="clause"),),
    cues=(
        "^#@#", "what is #@#", "what's #@#", "whats #@#", "how much is #@#", "#+#", "#×#", "#÷#",
        "#^#", "# plus #", "# minus #", "# times #", "# divided by #", "# percent of #", "#% of #",
        "# percent off #", "#% off #",
        "average # and #", "average of #", "mean of #", "median of #", "sum of #",
        "# days in hours", "# hours in minutes", "# minutes in seconds", "# minutes in hours",
    ),
    skill=calculate, note="sums, percentages, roots, units (Pint)",
)  # fmt: skip


_AMOUNT = r"(-?\d[\d,]*(?:\.\d+)?|an?|one)"
_UNIT = r"([^\d\s][^\d]*?(?:[23²³])?)"
_FORMS = (
    (lazy_re(rf"^{_AMOUNT}\s*{_UNIT}\s+(?:(?:is )?in|to|into|as|expressed in)\s+{_UNIT}$", re.I),
     "from"),
    (lazy_re(rf"^how (?:many|much)\s+{_UNIT}\s+(?:are |is )?(?:there )?(?:are )?"
                rf"(?:in|to|make)\s+{_AMOUNT}\s*{_UNIT}$", re.I), "into"),
    (lazy_re(rf"^how (?:many|much)\s+{_UNIT}\s+(?:is|are|equals?)\s+{_AMOUNT}\s*{_UNIT}$", re.I),
     "into"),
    (lazy_re(rf"^{_UNIT}\s+in\s+{_AMOUNT}\s*{_UNIT}$", re.I), "into"),
    (lazy_re(rf"^{_AMOUNT}\s*{_UNIT}\s+(?:is|are|equals?)\s+how (?:many|much)\s+{_UNIT}$", re.I),
     "from"),
)  # fmt: skip

_SPOKEN = {
    "c": "degC", "celsius": "degC", "centigrade": "degC", "°c": "degC", "f": "degF",
    "fahrenheit": "degF", "°f": "degF", "k": "kelvin", "kelvin": "kelvin", "kelvins": "kelvin",
    "kilo": "kilogram", "kilos": "kilogram", "kg": "kilogram", "kgs": "kilogram",
    "km/h": "kilometer/hour", "kmh": "kilometer/hour", "kph": "kilometer/hour", "mph": "mile/hour",
    "pound": "pound", "pounds": "pound", "lb": "pound", "lbs": "pound", "oz": "ounce",
    "stone": "stone", "stones": "stone", "ton": "metric_ton", "tons": "metric_ton",
    "tonne": "metric_ton", "tonnes": "metric_ton", "mb": "megabyte", "gb": "gigabyte",
    "kb": "kilobyte", "tb": "terabyte", "m": "meter", "ft": "foot", "feet": "foot", "in": "inch",
    "inches": "inch", "\"": "inch", "'": "foot", "l": "liter", "ml": "milliliter", "mi": "mile",
    "cup": "cup", "cups": "cup", "sqm": "meter**2", "m2": "meter**2", "m²": "meter**2",
    "m³": "meter**3", "m3": "meter**3", "km2": "kilometer**2", "km²": "kilometer**2",
    "nautical miles": "nautical_mile", "nautical mile": "nautical_mile", "knots": "knot",
    "light years": "light_year", "light year": "light_year", "fortnights": "fortnight",
    "teaspoons": "teaspoon", "tablespoons": "tablespoon", "cal": "calorie", "kcal": "kilocalorie",
    "hp": "horsepower", "decades": "decade", "centuries": "century",
}  # fmt: skip
_SHOWN = {
    "degC": "degrees Celsius", "degF": "degrees Fahrenheit", "kelvin": "kelvins",
}  # fmt: skip
_FLUID = {"ounce": "fluid_ounce", "ounces": "fluid_ounce"}
_CURRENCIES = frozenset(
    "dollar dollars euro euros usd eur gbp yen rupee rupees franc francs peso pesos yuan chf jpy "
    "bitcoin bitcoins".split()
)


def read_conversion(words: str) -> tuple[str, str, str] | None:
    """Return (amount, unit, wanted unit) if the words ask for a conversion, such as "5 miles in km"
    or "how many grams in 3 pounds"; else None."""
    for form, order in _FORMS:
        if found := form.match(words.strip()):
            if order == "from":
                amount, unit, wanted = found.groups()
            else:
                wanted, amount, unit = found.groups()
            return amount, _plain(unit), _plain(wanted)
    plain = re.fullmatch(rf"{_UNIT}\s+(?:in|to|into)\s+{_UNIT}", words.strip())
    if plain and all(_is_known(_plain(unit)) for unit in plain.groups()):
        return "1", _plain(plain[1]), _plain(plain[2])
    return None


def convert(amount: str, unit: str, wanted: str) -> str:
    """Return the conversion as a sentence. Raises InputError if the units do not fit."""
    import pint

    if {unit.casefold(), wanted.casefold()} & _CURRENCIES:
        raise InputError(
            tr("Currencies cannot be converted here: their rates change every day."),
            hint=tr("A unit such as miles, pounds or degrees can."),
        )
    number = 1.0 if amount.casefold() in ("a", "an", "one") else float(amount.replace(",", ""))
    try:
        source, target = _pint(unit), _pint(wanted)
        quantity = _registry().Quantity
        volumes = [quantity(name).check("[volume]") for name in (source, target)]
        if any(volumes):  # an ounce of milk is fluid
            source, target = (_FLUID.get(name, name) for name in (source, target))
        result = quantity(number, source).to(target).magnitude
    except pint.UndefinedUnitError as error:
        unknown = wanted if _pint(wanted) in str(error) else unit
        raise InputError(tr("I don't know the unit “{error}”.", error=unknown)) from error
    except pint.DimensionalityError as error:
        raise InputError(
            tr("“{unit}” and “{wanted}” measure different things.", unit=unit, wanted=wanted)
        ) from error
    except (ArithmeticError, ValueError, TypeError, AttributeError, SyntaxError) as error:
        raise InputError(
            tr("I don't know the unit “{unit}” or “{wanted}”.", unit=unit, wanted=wanted)
        ) from error
    shown = readable(float(result), digits=5)
    return f"{readable(number)} {_named(unit, source)} is {shown} {_named(wanted, target)}."


def _is_known(unit: str) -> bool:
    if unit.casefold() in _SPOKEN:
        return True
    try:
        return _pint(unit) in _registry()
    except ValueError:
        return False


def _plain(unit: str) -> str:
    unit = unit.strip(" ?.!,")
    return re.sub(r"^(?:(?:an?|the|degrees?)\s+|°\s*)(?=\w)", "", unit, flags=re.I) or unit


def _pint(unit: str) -> str:
    """Return Pint's name of a unit, including "square feet" and "miles per hour"."""
    plain = unit.strip()
    lower = plain.casefold()
    if lower in _SPOKEN:
        return _SPOKEN[lower]
    if " per " in lower:
        above, _, below = lower.partition(" per ")
        return f"({_pint(above)})/({_pint(below)})"
    for word, power in (("square ", 2), ("cubic ", 3)):
        if lower.startswith(word):
            return f"({_pint(lower.removeprefix(word))})**{power}"
    if not re.fullmatch(r"[A-Za-zµμ°Å]+(?:[ /][A-Za-z]+)?", plain):
        raise ValueError(plain)
    name = plain if plain in _registry() else lower
    return name.replace(" ", "_")


def _named(said: str, unit: str) -> str:
    return _SHOWN.get(unit, said)


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True, cache_folder=None)
