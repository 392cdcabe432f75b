"""Rules for reading written signs aloud: amounts, names and codes, dates and times, symbols."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from jarvis_desktop.text import dates
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.numbers import cardinal

DIGITS = "0123456789"


@dataclass(frozen=True, slots=True)
class SpeechRule:
    """Replaces `pattern` by `spoken`."""

    needs: frozenset[str]
    """Every match contains one of these letters: a quick check."""
    pattern: re.Pattern[str]
    spoken: str | Callable[[re.Match[str]], str]


def rule(needs: str, pattern: str, spoken: str | Callable[[re.Match[str]], str]) -> SpeechRule:
    """Return a rule, with `needs` as a string of letters."""
    return SpeechRule(frozenset(needs), re.compile(pattern), spoken)


_NUMBER = r"(?:\d,\d{3}|\d+)(?:\.\d+)?"
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


def _decade(found: re.Match[str]) -> str:
    """1980s: most engines would say 1980 and an s."""
    century, tens = cardinal(int(found[1])), int(found[2])
    name = cardinal(10 * tens) if tens else "hundred"
    return f"{century} {name.removesuffix('y')}{'ies' if name.endswith('y') else 's'}"


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
    rule(
        ",",
        r"(?<![\d.])(?:\d{2,3},\d{3}|\d{1,3}(?:,\d{3}){2,})(?![\d,]*\d)",
        lambda found: found[0].replace(",", ""),
    ),
    rule("-−", rf"(?<!\S)[-−](?={_NUMBER}|[$€£¥]\d)|−(?=\d)", "minus "),
    rule(_MONEYS, rf"(?:\b(?:US|CA|AU))?{_SIGN}\s?{_AMOUNT}{_SCALE}", _money),
    rule(_MONEYS, rf"(?<![\w.]){_AMOUNT}{_SCALE}\s?{_SIGN}", _money),
    rule(_VULGAR, rf"(\d+\s?)?([{_VULGAR}])", _vulgar),
    rule("/", r"(?<![\w./])(\d+\s)?(\d{1,2})/(\d{1,3})(?![\w/])", _written),
    rule("s", r"(?<![\w.])(1[1-9]|20)(\d)0s\b", _decade),
    rule(DIGITS, rf"(?<![\w.])({_NUMBER})\s?({_UNIT})(?![\w/²³%°])", _measure),
    rule("kK", rf"(?<![\w.])(?![48]K)({_NUMBER})(k|K)\b", r"\1 thousand"),
    rule("Mm", rf"(?<![\w.])({_NUMBER})(?:M|mn)\b", r"\1 million"),
    rule("b", rf"(?<![\w.])({_NUMBER})bn\b", r"\1 billion"),
    # Without its comma an engine would read it as a year: "eleven fifty pounds".
    rule(
        ",",
        r"(?<![\d.,])\d,\d{3}(?![\d,]*\d)",
        lambda found: cardinal(int(found[0].replace(",", ""))),
    ),
)


_ENDINGS = (
    "pdf png jpe?g gif svg webp bmp tiff? txt md rst docx? xlsx? pptx? od[tsp] rtf csv tsv json "
    "jsonl xml ya?ml toml ini cfg conf log html? css scss js jsx tsx? py ipynb java cpp hpp rs go "
    "rb php sh bat ps1 exe msi zip tar gz tgz 7z rar mp3 mp4 m4a wav ogg opus flac mkv avi mov "
    "srt vtt epub db sqlite sql onnx gguf safetensors bin iso deb rpm dmg apk whl lock env bak "
    "tmp so dll"
).split()
_FILE = rf"\w[\w.+-]{{0,80}}\.(?:{'|'.join(_ENDINGS)})\b"
_PATH = (
    r"(?<![\w.:/\\])(?:~|\.{1,2}|[A-Za-z]:)?[/\\](?:[\w.+@-]+[/\\])*[\w.+@-]*\w[/\\]?"
    rf"|(?<![\w./\\])(?:[\w.+-]+[/\\])+{_FILE}"
)
_DOMAINS = "com|org|net|edu|gov|io|dev|ai|app|de|fr|es|it|nl|ch|at|uk|eu|us|info"
_SEPARATORS = lazy_re(r"[/\\_.\-~:]+")
_DIGIT = lazy_re(r"(?<=\d)(?=\d)")


def _words(found: re.Match[str]) -> str:
    """The words of a file name or path, such as report_final.pdf."""
    end = "." if found[0].endswith(".") else ""
    return " ".join(_SEPARATORS.sub(" ", found[0]).split()) + end


def _parts(found: re.Match[str]) -> str:
    return found[0].replace("_", " ")


def _short(found: re.Match[str]) -> str:
    """The beginning of a code, which is enough to compare."""
    return f"{' '.join(found[0][:4])}…"


def _digits(found: re.Match[str]) -> str:
    """Each digit separately, with a pause between groups."""
    groups = re.findall(r"\d+", found[0])
    plus = "+" if found[0].startswith("+") else ""
    return plus + ", ".join(_DIGIT.sub(" ", group) for group in groups)


def _mail(found: re.Match[str]) -> str:
    name, _, place = found[0].partition("@")
    return f"{_dotted(name)} at {_dotted(place)}"


def _dotted(name: str) -> str:
    for sign, word in ((".", "dot"), ("_", "underscore"), ("-", "dash"), ("+", "plus")):
        name = name.replace(sign, f" {word} ")
    return name


def _version(found: re.Match[str]) -> str:
    return f"version {found[1].replace('.', ' point ')}{' ' + found[2] if found[2] else ''}"


_HASH = (
    r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|\b(?:sha(?:256|512|1):|0x)?(?=[0-9a-f]*[a-f])(?=[a-f]*\d)[0-9a-f]{12,}\b"
    r"|\b(?=[0-9A-F]*[A-F])(?=[A-F]*\d)[0-9A-F]{12,}\b"
    r"|\b(?=\w*[a-z])(?=\w*[A-Z])(?=\w*\d)[A-Za-z0-9]{20,}\b={0,2}"
)

ENGLISH_CODES = (
    rule(DIGITS, _HASH, "a long code"),
    rule("@", r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.\w{2,}\b", _mail),
    rule(
        ".",
        rf"(?<![\w.-])(?:[\w-]{{1,63}}\.){{1,4}}(?:{_DOMAINS})\b(?![\w/\\])",
        lambda found: _dotted(found[0]),
    ),
    rule("v", r"(?<![\w.])v(\d+(?:\.\d+)*)(?:-(\w+))?\b", _version),
    rule(
        ".",
        r"(?<![\d.,])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)",
        lambda found: found[0].replace(".", " dot "),
    ),
    rule(
        ".",
        r"(?<![\d.,])\d+\.\d+\.\d+(?:\.\d+)*(?![\d,])",
        lambda found: found[0].replace(".", " point "),
    ),
    rule("#", r"\bC#", "C sharp"),
    rule("+", r"\bC\+\+", "C plus plus"),
    rule("#", r"(?<![\w&])#(?=\d)", "number "),
    rule("#", r"(?<![\w&])#(?=[^\W\d])", "hashtag "),
    rule("@", r"(?<![\w@])@(?=\w)", "at "),
)
"""How English says them. Before `NAMES`."""

SHORTENED = (rule(DIGITS, _HASH, _short),)
"""Codes in other languages."""

NAMES = (
    rule("+", r"\+\d{1,3}(?:[ \-./]?\(?\d{2,}\)?){2,}(?![\w])", _digits),
    rule(DIGITS, r"(?<![\w+])\(?\d{3}\)?[ \-.]\d{3}[ \-.]\d{4}(?![\w-])", _digits),
    rule(DIGITS, r"(?<![\w.,])\d{4}(?:[ -]\d{4}){3}(?![\w-])", _digits),
    rule(DIGITS, r"(?<![\w.,])(?:0\d{5,}|\d{13,})(?![\w,]|\.\d)", _digits),
    rule("/\\", _PATH, _words),
    rule(".", rf"(?<![\w/@.]){_FILE}", _words),
    rule("_", r"\b[^\W_]+(?:_+[^\W_]+)+\b", _parts),
    rule(
        DIGITS,
        r"(?<![\d.,] )\b\d{1,3}(?: \d{3}){2,}\b(?! \d)",
        lambda found: found[0].replace(" ", ""),
    ),
)
"""What is read alike in every language."""


MONTHS = [month.capitalize() for month in dates.MONTHS]
_SHORT = "|".join(month[:3] for month in MONTHS if len(month) > 3) + "|Sept"
_DAY = r"(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
_CLOCK = r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.\d+)?)?(?:\s?([AaPp])\.?[Mm]\b\.?)?"


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number // 10 == 1 else ending}"


def _spoken(year: int, month: int, day: int, written: str) -> str:
    try:
        date(year, month, day)
    except ValueError:
        return written
    return f"{MONTHS[month - 1]} {_ordinal(day)}, {year}"


def _iso(found: re.Match[str]) -> str:
    spoken = _spoken(int(found[1]), int(found[2]), int(found[3]), found[0])
    return f"{spoken}, " if found[4] else spoken


def _numbers(found: re.Match[str]) -> str:
    """22/11/2026: one of the two must be the day, or nobody can tell."""
    first, second, year = int(found[1]), int(found[2]), int(found[3])
    if first > 12:
        return _spoken(year, second, first, found[0])
    if second > 12 or first == second:
        return _spoken(year, first, second, found[0])
    return f"{first} {second} {year}"


def _month(found: re.Match[str]) -> str:
    return next(month for month in MONTHS if month.startswith(found[0][:3]))


def _time(found: re.Match[str]) -> str:
    hour, minute, second, half = found[1], found[2], (found[3] or "").strip("0"), found[4]
    spoken = str(int(hour))
    if minute != "00" or second:
        spoken += f" oh {minute[1]}" if minute[0] == "0" else f" {minute}"
    elif not half:
        spoken += " o'clock"
    if second:
        spoken += f" and {found[3].lstrip('0')} seconds"
    # A point that ends the sentence stays.
    end = "." if half and found[0].endswith(".") and found.end() == len(found.string) else ""
    # As a word of capitals it is spelled; "a m" would begin with the article.
    return spoken + (f" {half.upper()}M" if half else "") + end


def _range(found: re.Match[str]) -> str:
    first, last = found[1], found[2]
    rises = float(first.replace(",", "")) < float(last.replace(",", ""))
    return f"{first} to {last}" if rises or "–" in found[0] else found[0]


_RISING = r"(?<![\w.,/–-])(\d[\d,]*(?:\.\d+)?)"

MOMENTS = (
    rule("–-", r"([$€£¥])(\d[\d.,]*)\s?[–-]\s?[$€£¥]?(?=\d)", r"\2 to \1"),
    rule("-", rf"\b{_DAY}(?:(T)(?=\d)|(?![\w-]))", _iso),
    rule("/", r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b", _numbers),
    rule(DIGITS, rf"\b(?:{_SHORT})\b\.?(?=\s\d{{1,4}}\b)", _month),
    rule(DIGITS, rf"(?<=\d\s)(?:{_SHORT})\b\.?(?=\s\d{{4}}\b)", _month),
    rule("Z", r"(?<=:\d\d)Z\b", " UTC"),
    rule(
        ":",
        rf"(?<![\d:.]){_CLOCK}\s?[–-]\s?(?=\d{{1,2}}:\d\d)",
        lambda found: f"{_time(found)} to ",
    ),
    rule(":", rf"(?<![\d:.]){_CLOCK}(?![\d:])", _time),
    rule("mM", r"\b(\d{1,2})\s?([aApP])\.?[mM]\b", lambda found: f"{found[1]} {found[2].upper()}M"),
    rule(":", r"(?<![\d:])(\d+):(\d+)(?![\d:])", r"\1 to \2"),
    rule("N", r"\bNo\.\s?(?=\d)", "number "),
    rule("–", rf"{_RISING}\s?–\s?(\d[\d,]*(?:\.\d+)?)(?![\d–])", _range),
    rule("-", rf"{_RISING}-(\d[\d,]*(?:\.\d+)?)(?![\w–-])", _range),
)


_RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ"
_LOWERED = "₀₁₂₃₄₅₆₇₈₉"
_POWERS = {"2": "squared", "3": "cubed"}
_ATOM = rf"[A-Z][a-z]?[{_LOWERED}]*"
_ELEMENT = lazy_re(r"[A-Z][a-z]?|\d+|[₀-₉]+")

_GREEK = {
    chr(code): unicodedata.name(chr(code)).rpartition(" ")[2].lower()
    for code in (*range(0x3B1, 0x3C2), *range(0x3C3, 0x3CA), *range(0x391, 0x3A2), 0x3A9, 0x394)
    if unicodedata.name(chr(code), "").startswith("GREEK")
} | {"λ": "lambda", "Λ": "lambda", "µ": "mu"}

_GREEK_LETTER = f"[{''.join(_GREEK)}](?![\u0370-\u03ff])(?<![\u0370-\u03ff].)"

_SIGNS = {
    "->": "to", "=>": "to", "→": "to", "⇒": "so", "←": "from", "↔": "and", "↑": "up", "↓": "down",
    "×": "times", "÷": "divided by", "±": "plus or minus", "≈": "about", "~": "about",
    "≤": "at most", "≥": "at least", "<=": "at most", ">=": "at least", "≠": "is not",
    "!=": "is not", "==": "equals", "=": "equals", "√": "square root of", "∞": "infinity",
    "∑": "sum of", "∫": "integral of", "∈": "in", "∂": "partial", "&": "and", "№": "number",
    "§": "section", "@": "at", "%": "percent", "°": "degrees", "†": "", "·": "times",
    "$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₹": "rupee", "#": "hash",
}  # fmt: skip
_ANY_SIGN = "|".join(sorted(map(re.escape, _SIGNS), key=len, reverse=True))
_WORDS = {
    "e.g.": "for example", "i.e.": "that is", "vs.": "versus", "vs": "versus",
    "approx.": "about", "w/o": "without", "dept.": "department", "est.": "established",
    "prof.": "professor", "gen.": "general", "rev.": "reverend", "hon.": "honorable",
    "mon.": "Monday", "tue.": "Tuesday", "tues.": "Tuesday", "wed.": "Wednesday",
    "thu.": "Thursday", "thurs.": "Thursday", "fri.": "Friday", "sat.": "Saturday",
    "sun.": "Sunday",
}  # fmt: skip
_BEFORE_NUMBERS = {"fig.": "figure", "vol.": "volume", "p.": "page", "pp.": "pages"}


ABBREVIATIONS = (
    r"\b(?:e\.g\.|i\.e\.|approx\.|w/o(?!\w)|vs\.?(?!\w)|dept\.|est\.|Prof\.|Gen\.|Rev\.|Hon\."
    # "The sun." and "He sat." have a point as well, but what follows a day is smaller.
    r"|(?:Mon|Tues?|Wed|Thu(?:rs)?|Fri|Sat|Sun)\.(?=,?\s[\da-z]))"
)


def _unabbreviated(found: re.Match[str]) -> str:
    # At the end of a sentence its point is the sentence's as well.
    end = "." if found[0].endswith(".") and found.end() == len(found.string) else ""
    return _WORDS[found[0].lower()] + end


def _power(found: re.Match[str]) -> str:
    number = unicodedata.normalize("NFKC", found[1] or found[2]).replace("−", "minus ")
    return f" {_POWERS.get(number) or f'to the power of {number}'} "


def _formula(found: re.Match[str]) -> str:
    pieces = (unicodedata.normalize("NFKC", piece) for piece in _ELEMENT.findall(found[0]))
    return " ".join(pieces)


SIGNS = (
    rule(".vw", ABBREVIATIONS, _unabbreviated),
    rule(
        ".",
        r"\b(?:[Ff]ig|[Vv]ol|pp?)\.(?=\s?\d)",
        lambda found: _BEFORE_NUMBERS[found[0].lower()],
    ),
    rule(_LOWERED, rf"\b(?:{_ATOM})*[A-Z][a-z]?[{_LOWERED}]+(?:{_ATOM})*", _formula),
    rule("234", r"\b(?:CO2|H2O|O2|N2|CH4|H2|NO2|SO2|H2SO4|NaHCO3)\b", _formula),
    rule(_LOWERED, rf"[{_LOWERED}]+", lambda f: f" {unicodedata.normalize('NFKC', f[0])}"),
    rule(f"{_RAISED}^", rf"([{_RAISED}]+)|(?<=[\w)])\^\{{?(-?\w+)\}}?", _power),
    rule("*x", r"(?<=\d)\s\*\s(?=\d)|(?<=\d)[*x](?=\d)", " times "),
    rule("+", r"(?<=[\w)])\s+\+\s+(?=[\w(√])|(?<=\d)\+(?=\d)", " plus "),
    rule("+", r"(?<!\S)\+(?=\d)", "plus "),
    rule("+", r"(?<=\d)\+(?!\S)", " or more"),
    rule("-−–", r"(?<=\d)\s[-−–]\s(?=\d+\s*=)|\s−\s", " minus "),
    rule("/", r"(?<=[\d)])\s/\s(?=[\d(])", " divided by "),
    rule("<", r"\s<\s", " is less than "),
    rule(">", r"\s>\s", " is more than "),
    rule("<", r"(?<!\S)<(?=\d)", "less than "),
    rule(">", r"(?<!\S)>(?=\d)", "more than "),
    rule("/", r"(?<=[^\W\d_])/(?=[^\W\d_])|(?<=\d)/(?=\d)", " "),
    rule("".join(_SIGNS), _ANY_SIGN, lambda f: f" {_SIGNS[f[0]]} "),
    rule("".join(_GREEK), _GREEK_LETTER, lambda f: f" {_GREEK[f[0]]} "),
    rule("—–-", r"\s?[—–]\s?|\s--\s", " – "),
    rule("\\^_{}~|<>*", r"[\\^_{}~|<>*]+", " "),
)
