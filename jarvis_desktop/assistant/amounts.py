"""How amounts are read in English: money, shares, units, fractions, long numbers."""

from __future__ import annotations

import re
import unicodedata

from jarvis_desktop.assistant.rules import DIGITS, rule

_NUMBER = r"\d+(?:\.\d+)?"
_MONEY = {
    "€": ("euro", "cent"), "$": ("dollar", "cent"), "£": ("pound", ""), "¥": ("yen", ""),
    "₹": ("rupee", ""), "EUR": ("euro", "cent"), "USD": ("dollar", "cent"), "GBP": ("pound", ""),
    "CHF": ("franc", ""), "JPY": ("yen", ""),
}  # fmt: skip
_SCALES = {
    "k": "thousand", "K": "thousand", "m": "million", "M": "million", "mn": "million",
    "bn": "billion", "b": "billion", "B": "billion", "tn": "trillion", "T": "trillion",
}  # fmt: skip
_SCALE = (
    r"(?:\s?(?P<short>k|K|mn|m|M|bn|b|B|tn|T)\b|\s(?P<long>thousand|million|billion|trillion)\b)?"
)
_UNCOUNTED = frozenset(("yen", "hertz", "kilohertz", "megahertz", "gigahertz", "lux", "percent"))

_UNITS = {
    "km/h": "kilometers per hour", "mph": "miles per hour", "m/s²": "meters per second squared",
    "m/s": "meters per second", "km": "kilometers", "cm": "centimeters", "mm": "millimeters",
    "µm": "micrometers", "nm": "nanometers", "m²": "square meters", "km²": "square kilometers",
    "cm²": "square centimeters", "m³": "cubic meters", "m": "meters", "kg": "kilograms",
    "mg": "milligrams", "µg": "micrograms", "g": "grams", "lbs": "pounds", "lb": "pounds",
    "oz": "ounces", "ft": "feet", "mi": "miles", "yd": "yards", "ml": "milliliters",
    "mL": "milliliters", "l": "liters", "L": "liters", "kB": "kilobytes", "KB": "kilobytes",
    "MB": "megabytes", "GB": "gigabytes", "TB": "terabytes", "PB": "petabytes",
    "KiB": "kibibytes", "MiB": "mebibytes", "GiB": "gibibytes", "TiB": "tebibytes",
    "MB/s": "megabytes per second", "GB/s": "gigabytes per second", "kB/s": "kilobytes per second",
    "Mbit/s": "megabits per second", "Gbit/s": "gigabits per second",
    "Mbps": "megabits per second", "Gbps": "gigabits per second", "kbps": "kilobits per second",
    "Hz": "hertz", "kHz": "kilohertz", "MHz": "megahertz", "GHz": "gigahertz", "W": "watts",
    "kW": "kilowatts", "MW": "megawatts", "GW": "gigawatts", "kWh": "kilowatt hours",
    "Wh": "watt hours", "mAh": "milliamp hours", "V": "volts", "mV": "millivolts",
    "kV": "kilovolts", "mA": "milliamps", "Ω": "ohms", "kΩ": "kiloohms", "s": "seconds",
    "sec": "seconds", "ms": "milliseconds", "µs": "microseconds", "ns": "nanoseconds",
    "min": "minutes", "mins": "minutes", "h": "hours", "hr": "hours", "hrs": "hours",
    "hPa": "hectopascals", "kPa": "kilopascals", "dB": "decibels", "fps": "frames per second",
    "rpm": "revolutions per minute", "px": "pixels", "dpi": "dots per inch", "lx": "lux",
    "kcal": "kilocalories", "kJ": "kilojoules", "N": "newtons", "%": "percent",
    "‰": "per thousand", "°C": "degrees Celsius", "°F": "degrees Fahrenheit", "°": "degrees",
}  # fmt: skip
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_SINGULARS = {"feet": "foot", "per thousand": "per thousand", "ounces": "ounce"}

_PARTS = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 8: "eighth", 10: "tenth"}
_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"


def _money(found: re.Match[str]) -> str:
    amount, scale = found["amount"], found["short"] or found["long"]
    whole, cents = _MONEY[found["sign"]]
    if scale:
        return f"{amount} {_SCALES.get(scale, scale)} {_plural(whole)}"
    units, _, rest = amount.partition(".")
    if not rest or set(rest) == {"0"}:
        return f"{units} {whole if units == '1' else _plural(whole)}"
    if len(rest) != 2:
        return f"{amount} {_plural(whole)}"
    rest = rest.lstrip("0")
    if units == "0" and cents:
        return f"{rest} {cents if rest == '1' else _plural(cents)}"
    return f"{units} {whole if units == '1' else _plural(whole)} {rest}"


def _plural(word: str) -> str:
    return word if word in _UNCOUNTED else f"{word}s"


def _measure(found: re.Match[str]) -> str:
    number, unit = found[1], _UNITS[found[2]]
    return f"{number} {_singular(unit) if number == '1' else unit}"


def _singular(unit: str) -> str:
    first, space, rest = unit.partition(" ")
    if first in ("square", "cubic", "kilowatt", "watt", "milliamp"):
        return f"{first} {_singular(rest)}"
    if first in _UNCOUNTED or unit == "per thousand":
        return unit
    return _SINGULARS.get(first, first.removesuffix("s")) + space + rest


def _vulgar(found: re.Match[str]) -> str:
    above, _, below = unicodedata.normalize("NFKC", found[2]).partition("\u2044")
    return _joined(found[1], _part(int(above), int(below)))


def _written(found: re.Match[str]) -> str:
    above, below = int(found[2]), int(found[3])
    if below not in _PARTS or above >= below:
        return f"{found[1] or ''} {above} out of {below}" if below in (10, 100) else found[0]
    if below == 10:
        return f"{found[1] or ''} {above} out of 10"
    return _joined(found[1], _part(above, below))


def _joined(whole: str | None, part: str) -> str:
    if not whole:
        return part
    return f"{whole.strip()} and {'a' + part.removeprefix('one') if part[:3] == 'one' else part}"


def _part(above: int, below: int) -> str:
    name = _PARTS[below]
    return f"one {name}" if above == 1 else f"{above} {name}s"


_SIGN = r"(?P<sign>[$€£¥₹]|\b(?:EUR|USD|GBP|CHF|JPY)\b)"
_AMOUNT = rf"(?P<amount>{_NUMBER})"

_MONEYS = "$€£¥₹RDPFY"

AMOUNTS = (
    rule(",", r"(?<![\d.])\d{1,3}(?:,\d{3})+(?![\d,]*\d)", lambda found: found[0].replace(",", "")),
    rule("-−", rf"(?<!\S)[-−](?={_NUMBER}|[$€£¥]\d)|−(?=\d)", "minus "),
    rule(_MONEYS, rf"(?:\b(?:US|CA|AU))?{_SIGN}\s?{_AMOUNT}{_SCALE}", _money),
    rule(_MONEYS, rf"(?<![\w.]){_AMOUNT}{_SCALE}\s?{_SIGN}", _money),
    rule(_VULGAR, rf"(\d+\s?)?([{_VULGAR}])", _vulgar),
    rule("/", r"(?<![\w./])(\d+\s)?(\d{1,2})/(\d{1,3})(?![\w/])", _written),
    rule(DIGITS, rf"(?<![\w.])({_NUMBER})\s?({_UNIT})(?![\w/²³%°])", _measure),
    rule("kK", rf"(?<![\w.])(?![48]K)({_NUMBER})(k|K)\b", r"\1 thousand"),
    rule("Mm", rf"(?<![\w.])({_NUMBER})(?:M|mn)\b", r"\1 million"),
    rule("b", rf"(?<![\w.])({_NUMBER})bn\b", r"\1 billion"),
)
