"""Reads the options of a task out of the words that ask for it."""

from __future__ import annotations

import re
from collections.abc import Callable

from jarvis_desktop.assistant.planning.cues import NUMBER, NUMBER_WORDS
from jarvis_desktop.assistant.planning.reading import Reading
from jarvis_desktop.assistant.planning.steps import Step
from jarvis_desktop.core.task import Option, Value

LANGUAGES = (
    "arabic bengali bulgarian catalan chinese mandarin croatian czech danish dutch english "
    "estonian finnish french german greek hebrew hindi hungarian icelandic indonesian irish "
    "italian japanese korean latin latvian lithuanian malay norwegian persian polish "
    "portuguese romanian russian serbian slovak slovenian spanish swahili swedish thai "
    "turkish ukrainian urdu vietnamese welsh"
).split()

_joints = re.compile(r"(?:[\s,;]|\b(?:and|then|also|plus|afterwards|after that)\b)+$")
"""What only joins one step to the next."""

_ones = {word: number for number, word in enumerate(NUMBER_WORDS[:20])}
_tens = {word: 20 + 10 * number for number, word in enumerate(NUMBER_WORDS[20:28])}


def options(step: Step, reading: Reading) -> dict[str, Value]:
    """The options the words give; what they leave open keeps its default."""
    found: dict[str, Value] = dict(step.options)
    for option in step.type.options:
        if option.name in found and not option.units:
            continue
        value = _value(option, step, reading)
        if value is not None:
            found[option.name] = value
    return found


def _value(option: Option, step: Step, reading: Reading) -> Value | None:
    words = reading.text[step.start : step.end]
    if option.reads:
        return _readers[option.reads](step, reading)
    if option.choices:
        spoken = (item for item in option.choices if item and _says(words, item))
        return next(spoken, None)
    if option.units and (amount := _number_with(words, option.units)) is not None:
        # "darker by 40 percent": which way it goes was settled by the phrase.
        settled = dict(step.options).get(option.name, 0.0)
        amount = -amount if isinstance(settled, float) and settled < 0 else amount
        return int(amount) if isinstance(option.default, int) else amount
    return None


def _says(words: str, choice: str) -> bool:
    stem = re.escape(choice.lower()).replace(r"\-", r"[\s-]+")
    return re.search(rf"\b{stem}(?:s|es|d|ed|ing)?\b", words) is not None


def _number_with(words: str, units: tuple[str, ...]) -> float | None:
    names = "|".join(re.escape(unit).replace(r"\*", r"\w*") for unit in units)
    match = re.search(rf"(?<![\w.,])({NUMBER})[\s-]*(?:{names})(?!\w)", words)
    return number(match[1]) if match else None


def number(words: str) -> float:
    """A number in digits or in words up to the thousands: "1,200", "twenty five"."""
    words = re.sub(r"^(\d+),(\d{1,2})$", r"\1.\2", words)  # "2,5" has a decimal comma
    digits = words.replace(",", "").rstrip(".")
    if re.fullmatch(r"\d+(?:\.\d+)?", digits):
        return float(digits)
    total, current = 0.0, 0.0
    for word in re.split(r"[\s-]+", words.strip()):
        if word in _ones or word in _tens:
            current += _ones.get(word, _tens.get(word, 0))
        elif word == "half":
            current += 0.5
        elif word == "hundred":
            current = max(current, 1) * 100
        else:
            scale = 1000 if word == "thousand" else 1_000_000
            total, current = total + max(current, 1) * scale, 0.0
    return total + current


def after_cue(step: Step, reading: Reading) -> str:
    """The words behind the cue, without what only joins them: "draw me a castle" → "a castle"."""
    words = _joints.sub("", reading.words(step.cue.end, step.end))
    return re.sub(r"^(?:me|us|of|for|that|about|to|:|,|-)\s+", "", words.strip(" .,!?;:")).strip()


def clause(step: Step, reading: Reading) -> str:
    """All words of the step."""
    return _joints.sub("", reading.words(step.start, step.end)).strip(" ,;")


def _language(step: Step, reading: Reading) -> str | None:
    words = reading.text[step.start : step.end]
    match = re.search(rf"\b(?:in|into|to)\s+({'|'.join(LANGUAGES)})\b", words) or re.search(
        rf"\b({'|'.join(LANGUAGES)})\b", words
    )
    return match[1].capitalize() if match else None


def _file_name(step: Step, reading: Reading) -> str | None:
    named = [item for item in reading.files_in(step.start, step.end) if item.output]
    return named[0].text if named else None


def _size(step: Step, reading: Reading) -> str | None:
    words = reading.text[step.start : step.end]
    match = re.search(r"\b(\d{1,5})\s*(?:x|×|by)\s*(\d{1,5})\b", words)
    return f"{match[1]}x{match[2]}" if match else None


_readers: dict[str, Callable[[Step, Reading], Value | None]] = {
    "as-said": lambda step, reading: reading.as_said(step.start, step.end),
    "clause": clause,
    "after-cue": after_cue,
    "language": _language,
    "file-name": _file_name,
    "size": _size,
    "last-reply": lambda step, reading: reading.last_reply or None,
}
