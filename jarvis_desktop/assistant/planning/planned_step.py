"""One step of a request: what is asked for, in which words, and what these say of its options."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath

from jarvis_desktop.assistant.planning import intents
from jarvis_desktop.assistant.planning.inputs import ASK_TABLE, EDIT_TABLE
from jarvis_desktop.assistant.planning.intents import NUMBER, CueMatch
from jarvis_desktop.assistant.planning.request_parser import ParsedRequest
from jarvis_desktop.core.task import TaskOption, TaskType, Value
from jarvis_desktop.text import parts
from jarvis_desktop.text.languages import CODES, COUNTRIES
from jarvis_desktop.text.numbers import with_digits


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One task asked for, in the words from `start` to `end`, by the cue `cue`."""

    type: TaskType
    start: int
    end: int
    cue: CueMatch
    options: tuple[tuple[str, Value], ...] = ()
    refers_to: tuple[str, ...] = ()
    """Names of task types whose earlier results these words mention: "the summary"."""
    unread: tuple[str, ...] = ()
    """What these words ask besides, which changes nothing in the task."""


LANGUAGES = (*CODES, "mandarin", "latin")

MIN_TEXT_WORDS = 4
"""Words of a text to work on; fewer words name something else."""

_says_nothing = frozenset(
    "a an the this that these my it me for please picture pictures photo photos image images so "
    "some of in to on and then better nicer different good great edit edits editing change make "
    "turn transform restyle stylise stylize style another image into a like look apply use using "
    "give replace swap add insert put remove erase take out convert more less bit little lot "
    "effect effects tone tones filter colour colours color colors".split()
)
_object = re.compile(
    r"\b(?:replace|swap|add|insert|put|remove|erase|take out|"
    r"(?:turn|change|transform|convert)(?=\b.*\binto\b))\s"
    r".*?(?=\s(?:with|by|for|from|to|into|in|on|of)\b|$)"
)
"""What is to be replaced, added or removed."""
_in_picture = re.compile(
    r"\s*\b(?:in|on|of|from|for) (?:the|this|that|my|an?) (?:picture|photo|image)$|"
    r"\s+(?:is|are)$|^(?:of|for)\b\s*"
)
_joint = (
    r"(?:[\s,;]|\b(?:and|then|also|plus|afterwards|after that|und|dann|danach|anschließend|"
    r"außerdem)\b)+"
)
JOINTS = re.compile(f"{_joint}$", re.IGNORECASE)
LEADING_JOINTS = re.compile(f"^{_joint}", re.IGNORECASE)
"""What only joins one step to the next."""

_by_the_way = re.compile(
    rf"^(?:(?:please|for (?:me|us))\b[\s,:]*)+|\s*\bfrom (?:{'|'.join(LANGUAGES)})$", re.IGNORECASE
)
ONLY_A_PART = re.compile(
    r"(?:only |just )?(?:the )?(?:(?:first|second|third|last|\w+th|\w{2,5}) ){0,2}"
    r"(?:pages?|minutes?|seconds?)(?: \d[\d ,and-]*(?:to \d+)?)?"
)
"""Words that only name a part of a file."""
_names = re.compile(
    r"^(?:the|this|that|these|those|my|our|your|his|her|its|their|all|both|each|every\w*|what\w*)\b"
)
_only_points = re.compile(
    r"^(?:it|them|everything|(?:all )?(?:that|this|these|those|of (?:it|them)))$"
)

_settings = re.compile(
    r"[,;]?\s*\b(?:(?:with|using|and)\s+)?(?:the\s+)?seed\s+(?:number\s+|of\s+)?\d+|"
    r"[,;]?\s*\b(?:in\s+|at\s+|of\s+)?\d{2,5}\s*(?:x|×|by)\s*\d{2,5}(?:\s*(?:pixels|px))?\b|"
    rf"[,;]?\s*\b(?:for\s+)?{NUMBER}\s+(?:seconds?|sec)\b(?:\s+long)?"
)
"""What says how something is drawn, not what."""

_ordered = re.compile(
    r"^(?:\W|\b(?:to|and|then)\b)*"
    r"(?:(?:draw|paint|make|create|generate|render|show|give)\b(?:\s+(?:me|us))?\s*)?"
    r"(?:an?\s+(?:new\s+)?(?:picture|image|photo|painting|drawing)\s+of\s+)?"
)
_loose_end = re.compile(
    r"(?:\W|\b(?:in|on|with|from|of|the|that|this|using|by|for|to|as|and|it|picture|image|photo)\b)+$"
)
_file_there = re.compile(
    r"(?:\b(?:in|on|from|of|with|using|for|to|by|at|into|as)\s+)?"
    r"(?:(?:the|this|my)\s+)?(?:(?:picture|photo|image|mask)\s+)?xfile\d+x[a-z]*"
)

IN_A_LANGUAGE = re.compile(rf"(?:in|into|to) (?:{'|'.join(LANGUAGES)})")


def without_joints(words: str) -> str:
    """Return words without what joins them to the next; "" if they only do that."""
    return JOINTS.sub("", f" {words}").removeprefix(" ")


def read_options(step: PlannedStep, reading: ParsedRequest) -> dict[str, Value]:
    """Return the options that the words give; all others keep their defaults."""
    found: dict[str, Value] = dict(step.options)
    free = False
    if step.type.exact:
        if step.type.exact not in found:  # a longer cue covered it
            for cue in _named_edits(reading.text[step.start : step.end], step.type):
                found |= cue.options
        settled = step.type.exact in found
        if free := not _writes(found) and _is_free(step, reading, settled=settled):
            found = {}
    for option in step.type.options:
        if (option.name in found and not option.units) or (free and option.choices):
            continue
        if option.reads in ("written", "colour") and not _writes(found):
            continue
        value = _value(option, step, reading)
        if value is not None:
            found[option.name] = value
    return found


def _writes(found: Mapping[str, Value]) -> bool:
    return found.get("edit") in ("caption", "border")


def _named_edits(words: str, task_type: TaskType) -> list[intents.CueMatch]:
    return intents.find_cues(words, (replace(task_type, cues=(), name=""),))


def _is_free(step: PlannedStep, reading: ParsedRequest, *, settled: bool) -> bool:
    """Return whether more is wished for than a named edit: "add a cartoon dog" is not a cartoon."""
    words = _settings.sub(" ", _file_there.sub(" ", reading.text[step.start : step.end]))
    if _blurs_a_part.search(words):
        return True
    if not settled:
        known = {choice for option in step.type.options for choice in option.choices}
        return bool(meaningful(words) - known)
    for wished in _object.findall(words):
        for cue in reversed(_named_edits(wished, step.type)):
            wished = f"{wished[: cue.start]} {wished[cue.end :]}"
        if meaningful(wished):
            return True
    return False


_blurs_a_part = re.compile(
    r"\b(?:blur|pixelate|blacken)\w*(?: out)? (?:the|all|every|his|her|their|my|our|any) (?:\w+ )?"
    r"(?:faces?|eyes|head|people|person|man|woman|child|children|(?:number|licen[cs]e)? ?plates?|"
    r"names?|logos?|text|address\w*|signs?|screen)\b"
)
"""The named edit is for all of a picture: "blur the faces" needs an expert."""


def meaningful(words: str) -> set[str]:
    """Return the words that say what is wished for."""
    return set(re.findall(r"[a-z']+", words)) - _says_nothing


def _value(option: TaskOption, step: PlannedStep, reading: ParsedRequest) -> Value | None:
    words = reading.text[step.start : step.end]
    if option.reads:
        return _readers[option.reads](step, reading)
    if option.choices:
        named = {PurePath(item.name).suffix[1:].lower() for item in reading.files if item.output}
        spoken = (it for it in option.choices if it and (_says(words, it) or it in named))
        return next(spoken, None)
    if option.units and (amount := _number_with(words, option.units)) is not None:
        # "darker by 40 percent": the phrase already set the direction.
        settled = dict(step.options).get(option.name, 0.0)
        amount = -amount if isinstance(settled, float) and settled < 0 else amount
        return int(amount) if isinstance(option.default, int) else amount
    return None


def _says(words: str, choice: str) -> bool:
    stem = re.escape(choice.lower()).replace(r"\-", r"[\s-]+")
    return re.search(rf"\b{stem}(?:s|es|d|ed|ing)?\b", words) is not None


def _number_with(words: str, units: tuple[str, ...]) -> float | None:
    names = "|".join(re.escape(unit).replace(r"\*", r"\w*") for unit in units)
    match = re.search(
        rf"(?<![\w.,])(\d{{1,15}}(?:\.\d+)?)[\s-]*(?:{names})(?!\w)", with_digits(words)
    )
    return float(match[1]) if match else None


def after_cue(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return the words after the cue, without connecting words: "draw me a castle" → "a castle"."""
    words = JOINTS.sub("", reading.words(step.cue.end, step.end))
    return re.sub(r"^(?:me|us|of|for|that|about|to|:|,|-)\s+", "", words.strip(" .,!?;:")).strip()


def between_cues(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return the words between two cues of the step: "translate good morning into French" → "good
    morning". "" if they only name what to work on: "the last page", "it"."""
    own = intents.find_cues(reading.text[step.start : step.cue.start], (step.type,))
    if not own:
        return ""
    words = reading.words(step.start + own[-1].end, step.cue.start)
    return _unless_named(_by_the_way.sub("", words.strip(" .,!?;:")).strip(" .,!?;:"))


_a_language = f"(?:{'|'.join((*LANGUAGES, *COUNTRIES))})"
_to_translate = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b(?:in|into)\s+{_a_language}\b.*?\b(?:say|call|is)\s+(?P<said>.+)",
        rf"\b{_a_language}\s+(?:(?:word|translation|equivalent|phrase|expression|term)s?\s+)?"
        r"(?:for|of|to say|say|call)\s+(?P<said>.+)",
        rf"\b(?:say|call|for|of|translate|put|what(?:'s| is| are))\b\s+(?P<said>.+?),?\s+"
        rf"(?:(?:in|into|to)\s+{_a_language}|if (?:i|you|we) (?:was|were|am|are)\b)",
        rf"^(?P<said>.+?),?\s+(?:in|into|to)\s+{_a_language}\W*$",
    )
)
_before_said = re.compile(
    r"^(?:[\s,]|\b(?:how|do|does|would|can|could|should|i|you|we|one|they|to|say|the (?:word|"
    r"phrase|sentence|expression)|me|us|please|tell|translate|that)\b)+",
    re.IGNORECASE,
)


def to_translate(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return what is to be said in another language: "what is the Swedish word for bread" gives
    "bread". "" if it is not in the words."""
    words = reading.as_said(step.start, step.end).strip(" ?!.")
    found = next((match for form in _to_translate if (match := form.search(words))), None)
    said = _before_said.sub("", found["said"]) if found else ""
    return _unless_named(_by_the_way.sub("", said).strip(" ,;:\"'"))


def _unless_named(words: str) -> str:
    """Return words, "" if they only name what to work on: "the last page", "it"."""
    named = _names.search(words.lower()) and len(words.split()) < MIN_TEXT_WORDS
    return "" if named or _only_points.search(words.lower()) else words


def clause(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return all words of the step; of what asks or changes a table with their capitals, because
    its columns and entries may be known by these: "the IT team"."""
    of_table = step.type.name in (ASK_TABLE, EDIT_TABLE)
    words = (reading.as_said if of_table else reading.words)(step.start, step.end)
    return JOINTS.sub("", words).strip(" ,;")


def own_words(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return all words of the step, with their capitals."""
    return JOINTS.sub("", reading.as_said(step.start, step.end)).strip(" ,;")


def prompt(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return what to draw, in the words after the cue, without how to draw it."""
    words = _without_files(step.cue.end, step.end, reading)
    return re.sub(
        r"^(?:(?:me|us|of|for|that|about|to|so that|where)\b|[:,-])\s*", "", words
    ).strip()


def wish(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return what is wished for of a picture, without file names. "Replace the dog in a.jpg with a
    cat" gives "replace the dog with a cat". "" if it only says that something should change."""
    words = _without_files(step.start, step.end, reading)
    return words if meaningful(words.lower()) else ""


def described(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return what to paint with the help of a picture. "Draw a knight in the same pose as a.jpg"
    gives "a knight"."""
    before = _loose_end.sub("", _without_files(step.start, step.cue.start, reading))
    behind = _without_files(step.cue.end, step.end, reading)
    before, behind = (_ordered.sub("", part).strip(" ,;:.") for part in (before, behind))
    if step.type.port("mask"):
        behind = re.split(r"\b(?:with|into)\s", behind, maxsplit=1)[-1]
    return before or behind or clause(step, reading)


def _without_files(start: int, end: int, reading: ParsedRequest) -> str:
    plain = _settings.sub("", _file_there.sub(" ", reading.text[start:end]))
    spelled = re.sub(r"\w+", lambda it: reading.spelling.get(it[0], it[0]), plain)
    return JOINTS.sub("", " ".join(spelled.split())).strip(" ,;:")


def _thing_named(step: PlannedStep, reading: ParsedRequest) -> str | None:
    """Return what to find: "find the red car in a.jpg" gives "the red car"."""
    if step.cue.gap is None:
        return _things(step.cue.end, step.end, reading)
    return _things(*step.cue.gap, reading)


def _things(start: int, end: int, reading: ParsedRequest) -> str | None:
    words = _in_picture.sub("", _without_files(start, end, reading)).strip(" .!?")
    return ", ".join(reading.quotes_in(start, end)) or (words if meaningful(words) else None)


def _language(step: PlannedStep, reading: ParsedRequest) -> str | None:
    words = reading.text[step.start : step.end]
    match = re.search(rf"\b(?:in|into|to)\s+({'|'.join(LANGUAGES)})\b", words) or re.search(
        rf"\b({'|'.join(LANGUAGES)})\b", words
    )
    if match:
        return match[1].capitalize()
    country = re.search(rf"\bin ({'|'.join(COUNTRIES)})\W*$", words)
    return COUNTRIES[country[1]].capitalize() if country else None


def _file_name(step: PlannedStep, reading: ParsedRequest) -> str | None:
    named = [item for item in reading.files_in(step.start, step.end) if item.output]
    called = _called.search(reading.as_said(step.start, step.end))
    return named[0].text if named else called and called["name"]


_called = re.compile(
    r"\b(?:called|named|under (?:the name(?: of)?)|namens|unter (?:dem namen))\s+"
    r"[\"“'„]?(?P<name>[^\W_][\w-]*)[\"”'“]?(?=\W*$|\s+(?:and|und|in)\b)",
    re.IGNORECASE,
)
"""A name without an ending: "save it as an mp3 called short"."""


def _shape(step: PlannedStep, reading: ParsedRequest) -> str | None:
    words = reading.text[step.start : step.end]
    match = re.search(
        r"\b(square|landscape|portrait|wide)[\s-]?(?:screen|format|orientation|shape)\b", words
    ) or re.search(r"\b(landscape|portrait)\b", words)
    return parts.size_asked(words) or (match[1] if match else None)


def _without(step: PlannedStep, reading: ParsedRequest) -> str | None:
    words = reading.words(step.start, step.end)
    match = re.search(
        r"\b(?:without|with no|but no)\s+(?:any\s+)?([\w' -]+?)(?=\W*$|[.,;!?]| (?:but|with|in)\b)",
        words,
    )
    return match[1] if match else None


def _seed(step: PlannedStep, reading: ParsedRequest) -> int | None:
    words = reading.text[step.start : step.end]
    match = re.search(r"\bseed\s+(?:number\s+|of\s+)?(\d{1,9})\b", words)
    return int(match[1]) if match else None


def _format(step: PlannedStep, reading: ParsedRequest) -> str | None:
    made = [item for item in reading.files_in(step.start, step.end) if item.output]
    if made:
        return made[0].name.rpartition(".")[2].lower()
    return parts.format_asked(reading.text[step.start : step.end]) or None


def _fade(step: PlannedStep, reading: ParsedRequest) -> float | None:
    """Return the seconds of a fade; in "make the first 5 seconds louder" nothing fades."""
    words = reading.text[step.start : step.end]
    fades = re.search(r"\bfad(?:e|ing)|\bblend|blenden\b", words)
    return _number_with(words, ("second*", "sekunde*", "s")) if fades else None


_readers: dict[str, Callable[[PlannedStep, ParsedRequest], Value | None]] = {
    "as-said": own_words,
    "clause": clause,
    "own-words": own_words,
    "after-cue": after_cue,
    "thing": _thing_named,
    "gap": lambda step, reading: _things(*step.cue.gap, reading) if step.cue.gap else None,
    "language": _language,
    "file-name": _file_name,
    "size": lambda step, reading: parts.size_asked(reading.text[step.start : step.end]),
    "picture-size": lambda step, reading: parts.picture_size_asked(
        reading.text[step.start : step.end]
    ),
    "shape": _shape,
    "without": _without,
    "seed": _seed,
    "fade": _fade,
    "format": _format,
    "pages": lambda step, reading: parts.pages_asked(reading.text[step.start : step.end]) or None,
    "times": lambda step, reading: parts.times_asked(reading.text[step.start : step.end]) or None,
    "written": lambda step, reading: (
        next(iter(reading.quotes_in(step.start, step.end)), "")
        or parts.words_written(own_words(step, reading))
        or None
    ),
    "colour": lambda step, reading: parts.colour_asked(reading.text[step.start : step.end]),
    "moment": lambda step, reading: parts.moment_asked(reading.text[step.start : step.end]),
    "each": lambda step, reading: parts.each_asked(reading.text[step.start : step.end]) or None,
    "last-reply": lambda step, reading: reading.last_reply or None,
}
