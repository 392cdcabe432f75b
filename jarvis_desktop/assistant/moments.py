"""How dates, times and ranges are read in English."""

from __future__ import annotations

import re
from datetime import date

from jarvis_desktop.assistant.rules import DIGITS, rule

MONTHS = (
    "January February March April May June July August September October November December"
).split()
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
    return spoken + (f" {half} m" if half else "") + end


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
    rule("mM", r"\b(\d{1,2})\s?([aApP])\.?([mM])\b", r"\1 \2 \3"),
    rule(":", r"(?<![\d:])(\d+):(\d+)(?![\d:])", r"\1 to \2"),
    rule("N", r"\bNo\.\s?(?=\d)", "number "),
    rule("–", rf"{_RISING}\s?–\s?(\d[\d,]*(?:\.\d+)?)(?![\d–])", _range),
    rule("-", rf"{_RISING}-(\d[\d,]*(?:\.\d+)?)(?![\w–-])", _range),
)
