"""What was found in a picture: values that any expert's answer is brought into, and their words.

Labels come from experts and are content: they are cut to one short line before they are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST_LABEL = 40
"""Characters of a label that are shown."""

MOST_KINDS = 12
"""Kinds of things that a sentence names."""

NAMED = 5
"""Labels that a list names."""

_PLURALS = {
    "person": "people", "man": "men", "woman": "women", "child": "children", "mouse": "mice",
    "foot": "feet", "tooth": "teeth", "knife": "knives", "leaf": "leaves", "shelf": "shelves",
    "loaf": "loaves", "wolf": "wolves", "goose": "geese", "sheep": "sheep", "fish": "fish",
    "deer": "deer", "skis": "skis", "scissors": "scissors", "broccoli": "broccoli",
    "glasses": "glasses", "people": "people", "bus": "buses",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BoundingBox:
    """Where something is: its edges in pixels from the left and top of the picture."""

    label: str
    left: float
    top: float
    right: float
    bottom: float
    score: float = 0.0
    """How sure that is, 0 to 1; 0 where it is not known, then it is not shown."""


@dataclass(frozen=True, slots=True, eq=False)
class Mask:
    """Which part of a picture something is."""

    label: str
    inside: NDArray[Any]
    """(height, width), true or above 0 where it is; of any size: it is stretched over the picture,
    so that large pictures need no large masks."""
    score: float = 0.0
    """How sure that is, 0 to 1; 0 where it is not known."""

    @property
    def share(self) -> float:
        """The share of the picture that it covers, 0 to 1."""
        return float((self.inside > 0).mean()) if self.inside.size else 0.0


def clean_label(label: str) -> str:
    """A label as one short line: "stop_sign" is "stop sign"."""
    line = " ".join("".join(c if c.isprintable() else " " for c in label.replace("_", " ")).split())
    return line if len(line) <= LONGEST_LABEL else line[: LONGEST_LABEL - 1] + "…"


def label_lines(
    scores: Mapping[str, float] | Iterable[tuple[str, float]], most: int = NAMED
) -> str:
    """One line a label, "tabby cat: 93%", the likeliest first; scores are 0 to 1."""
    pairs = scores.items() if isinstance(scores, Mapping) else scores
    ranked = sorted(pairs, key=lambda pair: -pair[1])[:most]
    return "\n".join(f"{clean_label(label)}: {score:.0%}" for label, score in ranked)


def tell_boxes(boxes: Sequence[BoundingBox], name: str, width: int, *, none: str = "") -> str:
    """How many of what there are, and where: "I find 2 cars in a.jpg: 1 on the left and ...".

    `width` is the picture's, in pixels; `none` is what was looked for, for where there is nothing.
    """
    if not boxes:
        return f"I find no {none or 'things that I know'} in {name}."
    by_label: dict[str, list[BoundingBox]] = {}
    for box in boxes:
        by_label.setdefault(clean_label(box.label), []).append(box)
    kinds = list(by_label.items())
    if len(kinds) == 1:
        label, found = kinds[0]
        return f"I find {count(len(found), label)} in {name}{_spread(found, width)}."
    kinds.sort(key=lambda kind: -len(kind[1]))
    parts = [f"{count(len(found), label)} ({_places(found, width)})" for label, found in kinds]
    return f"In {name} I find {_listed(parts)}."


def tell_masks(masks: Sequence[Mask], name: str, *, none: str = "") -> str:
    """What share of the picture each kind of thing takes, the largest first."""
    if not masks:
        return f"I find no {none or 'things that I know'} in {name}."
    by_label: dict[str, list[Mask]] = {}
    for mask in masks:
        by_label.setdefault(clean_label(mask.label), []).append(mask)
    shares = {label: sum(mask.share for mask in found) for label, found in by_label.items()}
    parts = []
    for at, label in enumerate(sorted(shares, key=lambda label: -shares[label])):
        many = len(by_label[label])
        words = count(many, label) if many > 1 else label
        of = "" if at else " of the picture"
        parts.append(f"{words} ({share_words(shares[label])}{of})")
    return f"In {name} I find {_listed(parts)}."


def share_words(share: float) -> str:
    """A share as people read it: "12%", "less than 1%"."""
    return f"{min(share, 1.0):.0%}" if share >= 0.005 else "less than 1%"


def count(number: int, noun: str) -> str:
    """ "one dog", "3 people"."""
    return f"one {noun}" if number == 1 else f"{number} {plural(noun)}"


def plural(noun: str) -> str:
    """The plural of an English noun; of several words, that of the last."""
    head, space, last = noun.rpartition(" ")
    if last in _PLURALS:
        many = _PLURALS[last]
    elif last.endswith(("s", "x", "z", "ch", "sh")):
        many = f"{last}es"
    elif last.endswith("y") and last[-2:-1] not in tuple("aeiou"):
        many = f"{last[:-1]}ies"
    else:
        many = f"{last}s"
    return f"{head}{space}{many}"


def _spread(boxes: Sequence[BoundingBox], width: int) -> str:
    places = _places(boxes, width)
    return f", {places}" if len(boxes) == 1 else f": {places}"


def _places(boxes: Sequence[BoundingBox], width: int) -> str:
    middles = [(box.left + box.right) / 2 / width for box in boxes]
    places = [
        "on the left" if at < 1 / 3 else "on the right" if at > 2 / 3 else "in the middle"
        for at in middles
    ]
    kinds = dict.fromkeys(places)
    if len(places) == 1:
        return places[0]
    if len(kinds) == 1:
        return f"all {places[0]}"
    return _listed([f"{places.count(place)} {place}" for place in kinds])


def _listed(parts: Sequence[str]) -> str:
    if len(parts) > MOST_KINDS:
        parts = [*parts[: MOST_KINDS - 1], f"{len(parts) - MOST_KINDS + 1} more kinds of things"]
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
