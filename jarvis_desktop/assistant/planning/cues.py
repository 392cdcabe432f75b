"""Finds in a request the words by which people ask for a task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from jarvis_desktop.core.task import TaskType, Value

NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty "
    "ninety hundred thousand million half"
).split()
NUMBER = rf"(?:\d[\d,.]*|(?:{'|'.join(NUMBER_WORDS)})(?:[\s-]+(?:{'|'.join(NUMBER_WORDS)}))*)"

_determiners = frozenset("the that this these those its your my our their".split())


@dataclass(frozen=True, slots=True)
class Match:
    """A cue found from `start` to `end`; the longer the cue, the more it weighs."""

    type: TaskType
    start: int
    end: int
    weight: float
    options: tuple[tuple[str, Value], ...] = ()

    def overlaps(self, other: Match) -> bool:
        """Whether the two share any character."""
        return self.start < other.end and other.start < self.end

    def lies_within(self, other: Match) -> bool:
        """Whether the other covers this one and weighs more."""
        covered = other.start <= self.start and self.end <= other.end
        return covered and other.weight > self.weight


@dataclass(frozen=True, slots=True)
class _Cue:
    type: TaskType
    pattern: re.Pattern[str]
    weight: float
    options: tuple[tuple[str, Value], ...]


def find(text: str, inventory: Sequence[TaskType]) -> list[Match]:
    """All cues in a lower-case text, by place.

    Of one task's overlapping cues the heaviest counts, and a cue that lies within a heavier one,
    as "in this picture" does within "text in this picture", does not count at all.
    """
    kept: list[Match] = []
    found = [
        Match(cue.type, match.start(), match.end(), cue.weight, cue.options)
        for cue in _compiled(tuple(inventory))
        for match in cue.pattern.finditer(text)
    ]
    for match in sorted(found, key=lambda item: (-item.weight, item.start)):
        if not any(
            match.overlaps(other) and (other.type is match.type or match.lies_within(other))
            for other in kept
        ):
            kept.append(match)
    return sorted(kept, key=lambda item: (item.start, -item.weight))


def is_noun_phrase(text: str, match: Match) -> bool:
    """Whether a determiner stands before the cue: "the summary" names a thing, it asks nothing."""
    before = re.findall(r"[\w']+", text[: match.start])[-2:]
    return bool(before) and (before[-1] in _determiners or before[0] in _determiners)


@lru_cache(maxsize=8)
def _compiled(inventory: tuple[TaskType, ...]) -> tuple[_Cue, ...]:
    return tuple(cue for task_type in inventory for cue in _cues_of(task_type))


def _cues_of(task_type: TaskType) -> Iterable[_Cue]:
    phrases: dict[str, tuple[tuple[str, Value], ...]] = dict.fromkeys(
        (*task_type.cues, task_type.title.lower()), ()
    )
    phrases |= {preset.phrase: preset.options for preset in task_type.presets}
    for phrase, options in phrases.items():
        letters = len(re.sub(r"[*.#\s]", "", phrase))
        words = len(re.findall(r"\w[\w'*-]*|#", phrase))
        weight = letters + 4.0 * (words - 1) + (1.0 if options else 0.0)
        yield _Cue(task_type, _pattern(phrase), weight, options)


def _pattern(phrase: str) -> re.Pattern[str]:
    """The pattern of a cue: `*` any ending, `...` up to five words, `#` a number."""
    parts: list[str] = []
    for word in phrase.split():
        if word == "...":
            # The gap brings its own spaces and takes the place of the plain separator.
            parts[-1:] = [r"(?:\W+[\w']+){0,5}?\W+"]
            continue
        stem = NUMBER if word == "#" else re.escape(word).replace(r"\*", r"\w*")
        parts += [stem, r"[\s-]+"]
    return re.compile(rf"(?<![\w']){''.join(parts[:-1])}(?![\w'])")
