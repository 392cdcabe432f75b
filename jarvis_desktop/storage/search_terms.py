"""What a search in the history may be narrowed to, and the marks in the index that tell of it.

Scripts that are written without spaces, and signs that are no letters, as the index takes them.

FTS5 splits text into words at spaces: a Chinese sentence would be one word, and an emoji none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.display import encodable
from jarvis_desktop.core.turn import Turn

SIGN = "ꙮ"
"""Begins every mark. It is a letter, so that the index takes a mark for a word, and one that nobody
types: `bare` takes it out of what is searched for."""

EARLIEST = date(2000, 1, 1)
"""Nothing in a history is older."""

ATTACHED = f"{SIGN}a"
PINNED = f"{SIGN}p"


@dataclass(frozen=True, slots=True)
class TurnFilters:
    """What a turn has to be; the defaults let every one pass."""

    kind: Kind | None = None
    """Something of this kind was given or made."""
    experts: tuple[str, ...] = ()
    """One of these did something, by their ids."""
    attached: bool = False
    """Something was attached."""
    pinned: bool = False
    """It is pinned, or its conversation is."""
    since: date | None = None
    until: date | None = None
    """The last day that passes."""

    def __bool__(self) -> bool:
        return self != EVERYTHING


EVERYTHING = TurnFilters()


def marks(turn: Turn, conversation: str) -> str:
    """What the index is told of a turn besides its words; a pinned one is marked when it is."""
    made = [item for result in turn.results.values() for item in result.artifacts]
    made += [item for each in turn.rounds.values() for item in each.artifacts]
    kinds = {item.kind for item in (*turn.attachments, *made) if item.path is not None}
    tried = (attempt for result in turn.results.values() for attempt in result.attempts)
    experts = {attempt.candidate.expert.id for attempt in tried if not attempt.error}
    day = turn.started.date()
    found = [f"{SIGN}{kind.value}" for kind in sorted(kinds)]
    found += [_expert(name) for name in sorted(experts)]
    found += [ATTACHED] * bool(turn.attachments) + [PINNED] * turn.pinned
    found += [conversation_mark(conversation), _year(day), _month(day), _day(day)]
    return " ".join(found)


def expression(filters: TurnFilters, pinned: Sequence[str]) -> str:
    """The filters as an FTS5 query, "" where all pass; `pinned` are the pinned conversations."""
    parts = [f"{SIGN}{filters.kind.value}"] if filters.kind else []
    if filters.experts:
        parts.append(_any(map(_expert, filters.experts)))
    if filters.attached:
        parts.append(ATTACHED)
    if filters.pinned:
        parts.append(_any([PINNED, *map(conversation_mark, pinned)]))
    if filters.since or filters.until:
        first, last = filters.since or EARLIEST, filters.until or _soon()
        parts.append(_any(_between(first, last)) if first <= last else f"{SIGN}none")
    return " AND ".join(parts)


def conversation_mark(conversation: str) -> str:
    """Marks the turns of a conversation."""
    return f"{SIGN}c{_hex(conversation)}"


def bare(words: str) -> str:
    """Words without the sign of marks: what is typed is never one."""
    return words.replace(SIGN, " ")


def _soon() -> date:
    """Nothing in a history is younger, even where clocks differ."""
    return date(date.today().year + 1, 12, 31)


def _between(first: date, last: date) -> Iterator[str]:
    """The marks of a range of days: as few as say it, years and months where all of one is in."""
    day = first
    while day <= last:
        year_end, month_end = date(day.year, 12, 31), _month_end(day)
        if (day.month, day.day) == (1, 1) and year_end <= last:
            yield _year(day)
            day = date(day.year + 1, 1, 1)
        elif day.day == 1 and month_end <= last:
            yield _month(day)
            day = month_end + timedelta(days=1)
        else:
            yield _day(day)
            day += timedelta(days=1)


def _month_end(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def _year(day: date) -> str:
    return f"{SIGN}y{day.year:04d}"


def _month(day: date) -> str:
    return f"{SIGN}m{day:%Y%m}"


def _day(day: date) -> str:
    return f"{SIGN}d{day:%Y%m%d}"


def _expert(name: str) -> str:
    return f"{SIGN}x{_hex(name)}"


def _hex(text: str) -> str:
    return encodable(text).encode().hex()


def _any(marks: Iterable[str]) -> str:
    return f"({' OR '.join(marks)})"


_UNSPACED = (
    "\u0e00-\u0eff\u0f00-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Chinese, kana
    "\u20a0-\u20cf\u2190-\u2bff\U0001f000-\U0001faff"  # currencies, arrows, symbols, emoji
)
RUN = re.compile(f"[{_UNSPACED}]+")
"""A run of such signs."""


def spelt(text: str) -> str:
    """All runs of a text, each sign a word of its own; "" where there are none.

    Between two runs stands a word of no meaning, so that no phrase reaches over both.
    """
    if text.isascii():
        return ""
    return f" {SIGN} ".join(spelt_run(run) for run in RUN.findall(text))


def spelt_run(run: str) -> str:
    """One run, sign by sign. What FTS5 would take for a space is written as its number."""
    return " ".join(sign if sign.isalpha() else f"{SIGN}{ord(sign):x}" for sign in run)
