"""Shortens a request to what tells its tasks: the middle of long quotations and texts goes."""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass

LONGEST = 110
"""Words of a condensed text, about 150 tokens."""
_QUOTED = 16
"""Words of a quotation that stays whole."""
_GAP = "…"

_quotation = re.compile(r"(?<!\w)(['\"‘“`])(.{60,4000}?)(['\"’”`])(?!\w)", re.DOTALL)
_word = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Condensed:
    """A shortened text that knows where its words came from."""

    text: str
    _starts: tuple[int, ...]
    _origins: tuple[int, ...]

    def origin(self, position: int) -> int:
        """Where a character of the shortened text stands in the whole one."""
        index = max(0, bisect.bisect_right(self._starts, position) - 1)
        return self._origins[index] + position - self._starts[index] if self._starts else 0


def condensed(text: str) -> Condensed:
    """The text with at most 110 words: long quotations lose their middle, then the text does."""
    dropped: list[tuple[int, int]] = []
    for match in _quotation.finditer(text):
        words = [(match.start(2) + w.start(), w.end()) for w in _word.finditer(match[2])]
        if len(words) > _QUOTED:
            dropped.append((words[9][0], words[-3][0]))
    kept: list[tuple[str, int]] = []
    for found in _word.finditer(text):
        gap = next((start for start, end in dropped if start <= found.start() < end), None)
        if gap is None:
            kept.append((found[0], found.start()))
        elif gap == found.start():
            kept.append((_GAP, gap))
    if len(kept) > LONGEST:
        kept = [*kept[:75], (_GAP, kept[75][1]), *kept[-35:]]
    starts, at = [], 0
    for word, _ in kept:
        starts.append(at)
        at += len(word) + 1
    return Condensed(
        " ".join(word for word, _ in kept), tuple(starts), tuple(start for _, start in kept)
    )
