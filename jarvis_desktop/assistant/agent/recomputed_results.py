"""Whether new pictures or a new text are what a goal asks for: they are computed a second time,
from the words of the goal.

Of pictures only sizes, turns, shades of grey and formats are read, of texts only edits that need no
understanding (`text.line_edits`). A goal that asks for more cannot be checked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from jarvis_desktop.assistant.agent.expected_results import ExpectedResult
from jarvis_desktop.assistant.agent.goal_checks import fits
from jarvis_desktop.assistant.agent.made_files import plain_text
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.text.line_edits import edit_text, read_edits
from jarvis_desktop.text.parts import picture_size_asked

if TYPE_CHECKING:
    from PIL.Image import Image


_SEEN = 24
"""Pixels along the sides of the small copies that are compared."""
_MAX_DIFFERENCE = 14.0
"""Of the pixels of two small copies, on average, of 255: formats lose a little."""

_others = re.compile(
    r"\b(?:crop|cut|trim|blur|sharpen|bright\w*|dark\w*|contrast|watermark|write|draw|text|label|border"
    r"|frame|mirror|flip|collage|join|combine|merge|thumbnails?|square|sepia|invert|transparent"
    r"|background|colou?rs?|compress|rename|sort|duplicates?)\b",
    re.IGNORECASE,
)
_factors = (
    (re.compile(r"\bhal(?:f|ve[sd]?|b\w*)\b|\b50\s?(?:%|percent)", re.IGNORECASE), 0.5),
    (re.compile(r"\bquarter\b|\b25\s?(?:%|percent)", re.IGNORECASE), 0.25),
    (re.compile(r"\b(?:a\s+|one\s+)third\b", re.IGNORECASE), 1 / 3),
    (re.compile(r"\b(?:double|twice)\b|\b200\s?(?:%|percent)", re.IGNORECASE), 2.0),
)
_pixels = re.compile(r"(?:longest )?(\d*)(?:x(\d*))?")
_longer_side = re.compile(r"\blong(?:er|est)\b", re.IGNORECASE)
_angle = re.compile(r"\b(90|180|270)\s*(?:°|degrees?|grad)", re.IGNORECASE)
_grey = re.compile(r"\bblack[\s-]+and[\s-]+white\b|\bgr[ae]y\w*|\bschwarz\W?wei", re.IGNORECASE)
_counter = re.compile(r"\b(?:left|counter|anti)", re.IGNORECASE)
_right = re.compile(r"\b(?:right|clockwise)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be done with each picture."""

    size: Callable[[int, int], tuple[float, float]] | None
    angles: tuple[int, ...] = ()
    """Turns to the left that are right."""
    grey: bool = False


def pictures_as_asked(
    expected: ExpectedResult, made: Sequence[Artifact], given: Collection[Artifact]
) -> bool:
    """Return whether the new pictures are those that the goal asks for. It reads files."""
    pictures = [item for item in given if item.kind is Kind.IMAGE]
    wanted = _read(expected.goal)
    new = [item for item in made if item.kind is Kind.IMAGE and fits(item, expected)]
    if wanted is None or not pictures or len(new) != len(pictures):
        return False
    if not (wanted.size or wanted.angles or wanted.grey or expected.suffixes):
        return False
    return all(_is_made_from(item, new, wanted) for item in pictures)


def _read(goal: str) -> _Wanted | None:
    """Return what a goal asks to do with pictures; None if it asks for something else too."""
    if _others.search(goal):
        return None
    angle = _angle.search(goal)
    angles: tuple[int, ...] = ()
    if angle:
        turn = int(angle[1])
        angles = (turn, 360 - turn)
        if _right.search(goal) and not _counter.search(goal):
            angles = (360 - turn,)
        elif _counter.search(goal):
            angles = (turn,)
    return _Wanted(_new_size(goal), angles, bool(_grey.search(goal)))


def _new_size(goal: str) -> Callable[[int, int], tuple[float, float]] | None:
    if sides := _pixels.fullmatch(picture_size_asked(goal.casefold()) or "no size"):
        across, down = (float(each or 0) for each in sides.groups())
        if _longer_side.search(goal):
            return lambda wide, high: (
                wide * across / max(wide, high),
                high * across / max(wide, high),
            )
        return lambda wide, high: (across or wide * down / high, down or high * across / wide)
    factor = next((each for pattern, each in _factors if pattern.search(goal)), None)
    return (lambda wide, high: (wide * factor, high * factor)) if factor else None


def _is_made_from(item: Artifact, new: Sequence[Artifact], wanted: _Wanted) -> bool:
    """Return whether the new picture of the same name, or the only one, is made from a picture."""
    stem = PurePath(item.title).stem.casefold()
    named = [each for each in new if stem in PurePath(each.title).stem.casefold()]
    return any(_same(item, each, wanted) for each in (named or new)[: 1 if len(new) == 1 else None])


def _same(given: Artifact, made: Artifact, wanted: _Wanted) -> bool:
    from PIL import Image, UnidentifiedImageError

    if given.path is None or made.path is None:
        return False
    try:
        with Image.open(given.path) as before, Image.open(made.path) as after:
            if not _has_its_format(made.title, after.format or ""):
                return False
            return any(
                _alike(before.rotate(angle, expand=True) if angle else before, after, wanted)
                for angle in wanted.angles or (0,)
            )
    except (OSError, UnidentifiedImageError):
        return False


def _has_its_format(name: str, form: str) -> bool:
    from PIL import Image

    return Image.registered_extensions().get(PurePath(name).suffix.lower()) == form


def _alike(before: Image, after: Image, wanted: _Wanted) -> bool:
    wide, high = wanted.size(*before.size) if wanted.size else before.size
    if abs(after.width - wide) > 1 or abs(after.height - high) > 1:
        return False
    small = [each.convert("RGB").resize((_SEEN, _SEEN)) for each in (before, after)]
    if wanted.grey:
        red, green, blue = (band.tobytes() for band in small[1].split())
        if not red == green == blue:
            return False
        small = [each.convert("L") for each in small]
    pairs = list(zip(small[0].tobytes(), small[1].tobytes(), strict=True))
    return sum(abs(one - two) for one, two in pairs) <= _MAX_DIFFERENCE * len(pairs)


_mark = re.compile(r"^\s*(?:\d+\s*[.:)\t-]?\s*|[#*-]+\s*)?")
"""How a line is numbered or set off, which scripts do in many ways."""


def text_as_asked(
    expected: ExpectedResult, made: Sequence[Artifact], given: Collection[Artifact]
) -> bool:
    """Return whether the new text is the one that the goal asks for. It reads files."""
    edits = read_edits(expected.goal)
    texts = [text for item in given if (text := plain_text(item))]
    new = [item for item in made if fits(item, expected)]
    if not edits or len(texts) != 1 or len(given) != 1 or len(new) != 1:
        return False
    wanted, found = _lines(edit_text(texts[0], edits)), _lines(plain_text(new[0]))
    names = {edit.name for edit in edits}
    if "numbered" in names and not all(line.strip()[:1].isdigit() for line in found):
        return False
    if {"numbered", "headings only"} & names:
        wanted, found = ([_mark.sub("", line) for line in each] for each in (wanted, found))
    return found == wanted


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip("\n").splitlines()]
