"""Units: reads a conversion in the words people use, and works it out with Pint."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.tasks.naming import join_words
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import readable

_NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
_AMOUNT = rf"({_NUMBER}|an?|one)"
_UNIT = r"([^\d\s][^\d]*?(?:[23²³])?)"
_SMALLER = rf"((?:(?:\s*,|\s+and)?\s*{_NUMBER}\s*(?:[a-z\"]+(?=\s))?)*)"
"""What follows an amount in smaller units: "5 feet 11", "2 hours and 15 minutes"."""
_FORMS = (
    (lazy_re(rf"^{_AMOUNT}\s*{_UNIT}{_SMALLER}\s+(?:(?:is )?in|to|into|as|expressed in)\s+{_UNIT}$",
             re.I), "from"),
    (lazy_re(rf"^how (?:many|much)\s+{_UNIT}\s+(?:are |is )?(?:there )?(?:are )?"
             rf"(?:in|to|make)\s+{_AMOUNT}\s*{_UNIT}{_SMALLER}$", re.I), "into"),
    (lazy_re(rf"^how (?:many|much)\s+{_UNIT}\s+(?:is|are|equals?)\s+{_AMOUNT}\s*{_UNIT}{_SMALLER}$",
             re.I), "into"),
    (lazy_re(rf"^{_UNIT}\s+in\s+{_AMOUNT}\s*{_UNIT}{_SMALLER}$", re.I), "into"),
    (lazy_re(rf"^{_AMOUNT}\s*{_UNIT}{_SMALLER}\s+(?:is|are|equals?)\s+how (?:many|much)\s+{_UNIT}$",
             re.I), "from"),
)  # fmt: skip
_PART = lazy_re(rf"({_NUMBER})\s*([a-z\"]+)?", re.I)
_BELOW = {"foot": "inch", "stone": "pound", "pound": "ounce", "hour": "minute", "minute": "second"}
"""The unit of a number that has none, behind one that has: "5 foot 11"."""

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


_COMMON = frozenset(
    "second minute hour day week month year century millisecond millimeter centimeter meter "
    "kilometer mile yard foot inch gram kilogram milligram tonne ounce pound liter milliliter "
    "centiliter deciliter gallon pint quart joule kilojoule calorie watt kilowatt volt ampere "
    "pascal bar psi byte bit kilobyte megabyte gigabyte terabyte acre hectare degree radian "
    "km mm cm dl cl mg g kj kw kwh mhz ghz hz".split()
)
"""Besides those above: units that are known at once, without Pint's table, which takes a second."""


class Conversion(NamedTuple):
    """Amounts of units, and the units that they are wanted in."""

    amounts: tuple[tuple[float, str], ...]
    wanted: tuple[str, ...]


def read_conversion(words: str) -> Conversion | None:
    """Return what is to be converted if the words ask for that, such as "5 miles in km", "how many
    grams in 3 pounds" or "5 foot 11 in cm"; else None."""
    for form, order in _FORMS:
        if found := form.match(words.strip()):
            if order == "from":
                amount, unit, smaller, wanted = found.groups()
            else:
                wanted, amount, unit, smaller = found.groups()
            number = 1.0 if amount.casefold() in ("a", "an", "one") else _number(amount)
            amounts = [(number, _plain(unit))]
            for more, below in _PART.findall(smaller):
                if not below and (smallest := _below(amounts[-1][1])) is None:
                    return None
                amounts.append((_number(more), _plain(below) if below else str(smallest)))
            return Conversion(tuple(amounts), _wanted(wanted))
    plain = re.fullmatch(rf"{_UNIT}\s+(?:in|to|into)\s+{_UNIT}", words.strip())
    if plain and all(_is_known(_plain(unit)) for unit in plain.groups()):
        return Conversion(((1.0, _plain(plain[1])),), (_plain(plain[2]),))
    return None


def is_plain(conversion: Conversion) -> bool:
    """Return whether all its units are common ones, which is known at once."""
    units = (*(unit for _, unit in conversion.amounts), *conversion.wanted)
    return all(_is_common(unit.casefold()) for unit in units)


def _is_common(unit: str) -> bool:
    if " per " in unit:
        return all(_is_common(part.strip()) for part in unit.split(" per "))
    unit = re.sub(r"^(?:square|cubic|fluid) ", "", unit).replace("litre", "liter")
    unit = unit.replace("metre", "meter")
    names = (unit, unit.removesuffix("s"), unit.removesuffix("es"))
    return any(name in _SPOKEN or name in _COMMON for name in names)


def _wanted(words: str) -> tuple[str, ...]:
    """The units of "feet and inches"; one for all else."""
    several = re.split(r"\s*,\s*(?:and\s+)?|\s+and\s+", words.strip(" ?.!,"))
    return tuple(_plain(unit) for unit in several)


def _number(figure: str) -> float:
    return float(figure.replace(",", ""))


def _below(unit: str) -> str | None:
    try:
        return _BELOW.get(_pint(unit).removesuffix("s"))
    except ValueError:
        return None


def convert(conversion: Conversion) -> str:
    """Return the conversion as a sentence. Raises InputError if the units do not fit."""
    import pint

    unit, wanted = conversion.amounts[0][1], conversion.wanted[0]
    said = (*(each for _, each in conversion.amounts), *conversion.wanted)
    if {each.casefold() for each in said} & _CURRENCIES:
        raise InputError(
            tr("Currencies cannot be converted here: their rates change every day."),
            hint=tr("A unit such as miles, pounds or degrees can."),
        )
    try:
        sources = [_pint(each) for _, each in conversion.amounts]
        targets = [_pint(each) for each in conversion.wanted]
        quantity = _registry().Quantity
        if any(quantity(name).check("[volume]") for name in (*sources, *targets)):
            # An ounce of milk is fluid.
            sources = [_FLUID.get(name, name) for name in sources]
            targets = [_FLUID.get(name, name) for name in targets]
        given = [
            quantity(amount, source)
            for (amount, _), source in zip(conversion.amounts, sources, strict=True)
        ]
        left = given[0] if len(given) == 1 else sum(given[1:], given[0])
        found: list[float] = []
        for target in targets[:-1]:
            whole = int(left.to(target).magnitude)
            found.append(float(whole))
            left = left - quantity(whole, target)
        found.append(float(left.to(targets[-1]).magnitude))
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
    before = [
        f"{readable(amount)} {_named(each, source)}"
        for (amount, each), source in zip(conversion.amounts, sources, strict=True)
    ]
    after = [
        f"{readable(value, digits=5)} {_named(each, target, value)}"
        for value, each, target in zip(found, conversion.wanted, targets, strict=True)
    ]
    return f"{' '.join(before)} is {join_words(after)}."


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


def _named(said: str, unit: str, amount: float = 2) -> str:
    """How a unit is called: as it was said, but a sign by its name."""
    if re.fullmatch(r"[\"'’]", said):
        return unit
    return _SHOWN.get(unit, said.removesuffix("s") if amount == 1 and len(said) > 3 else said)


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True, cache_folder=None)
