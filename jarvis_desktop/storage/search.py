"""Full-text search over requests, answers and results. Any words may be given; none is syntax.

FTS5's ranking reads every text that has a word, and for a common word that is all of them. So the
newest hits are read from the index first, and only these few are ranked, here.

What a turn is besides its words (kinds of its files, experts, date) is in the index as marks, for
the filters. Each saved turn adds a small segment to the index and a search reads every segment, so
`optimize_index` merges them.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from threading import Event

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage.database import Database, attached, reading, writing
from jarvis_desktop.text.tokens import INDEX_MARK, UNSPACED_RUN, spell_run

EARLIEST = date(2000, 1, 1)
"""The earliest date of a history."""

ATTACHED = f"{INDEX_MARK}a"
PINNED = f"{INDEX_MARK}p"


@dataclass(frozen=True, slots=True)
class TurnFilters:
    """Conditions on a turn; the defaults match every turn."""

    kind: Kind | None = None
    """Something of this kind was attached or made."""
    experts: tuple[str, ...] = ()
    """One of these experts, by id, did something."""
    attached: bool = False
    """Something was attached."""
    pinned: bool = False
    """The turn or its conversation is pinned."""
    since: date | None = None
    until: date | None = None
    """The last day, inclusive."""

    def __bool__(self) -> bool:
        return self != EVERYTHING


EVERYTHING = TurnFilters()


def marks(turn: Turn, conversation: str) -> str:
    """Return the marks of a turn for the index."""
    made = [item for result in turn.results.values() for item in result.artifacts]
    made += [item for each in turn.rounds.values() for item in each.artifacts]
    kinds = {item.kind for item in (*turn.attachments, *made) if item.path is not None}
    tried = (attempt for result in turn.results.values() for attempt in result.attempts)
    experts = {attempt.candidate.expert.id for attempt in tried if not attempt.error}
    day = turn.started.date()
    found = [f"{INDEX_MARK}{kind.value}" for kind in sorted(kinds)]
    found += [_expert(name) for name in sorted(experts)]
    found += [ATTACHED] * bool(turn.attachments) + [PINNED] * turn.pinned
    found += [conversation_mark(conversation), _year(day), _month(day), _day(day)]
    return " ".join(found)


def expression(filters: TurnFilters, pinned: Sequence[str]) -> str:
    """Return the filters as an FTS5 query, "" if all turns match; `pinned` are pinned
    conversations."""
    parts = [f"{INDEX_MARK}{filters.kind.value}"] if filters.kind else []
    if filters.experts:
        parts.append(_any(map(_expert, filters.experts)))
    if filters.attached:
        parts.append(ATTACHED)
    if filters.pinned:
        parts.append(_any([PINNED, *map(conversation_mark, pinned)]))
    if filters.since or filters.until:
        first, last = filters.since or EARLIEST, filters.until or _soon()
        parts.append(_any(_between(first, last)) if first <= last else f"{INDEX_MARK}none")
    return " AND ".join(parts)


def conversation_mark(conversation: str) -> str:
    """Return the mark of a conversation's turns."""
    return f"{INDEX_MARK}c{_hex(conversation)}"


def _soon() -> date:
    """Return the latest date of a history, even with wrong clocks."""
    return date(date.today().year + 1, 12, 31)


def _between(first: date, last: date) -> Iterator[str]:
    """Yield the marks of a range of days: as few as possible, whole years and months first."""
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
    return f"{INDEX_MARK}y{day.year:04d}"


def _month(day: date) -> str:
    return f"{INDEX_MARK}m{day:%Y%m}"


def _day(day: date) -> str:
    return f"{INDEX_MARK}d{day:%Y%m%d}"


def _expert(name: str) -> str:
    return f"{INDEX_MARK}x{_hex(name)}"


def _hex(text: str) -> str:
    return encodable(text).encode().hex()


def _any(marks: Iterable[str]) -> str:
    return f"({' OR '.join(marks)})"


MAX_TERMS = 32
BLOCK_HITS = 120
"""Hits that are ranked together; older ones come after them."""
BEFORE, AFTER = 30, 130
"""Characters of a passage before what was found, and after."""
MAX_PASSAGE_CHARS = 200_000
"""Characters of a text that are searched for the passage."""
HALF_WORTH_DAYS = 30.0
"""Days after which the recency of a hit counts half."""

_HITS = """
    SELECT turns.number, julianday(:now) - julianday(turns.started), substr(turns.text, 1, 400)
    FROM search CROSS JOIN turns ON turns.number = search.rowid
    WHERE search MATCH :match AND turns.trash IS NULL ORDER BY search.rowid DESC
    LIMIT :most OFFSET :before
"""
_SHOWN = """
    SELECT turns.number, turns.id, conversation, title, turns.started,
        substr(search.request, 1, :most) AS request, substr(search.reply, 1, :most) AS reply,
        substr(search.results, 1, :most) AS results
    FROM turns JOIN conversations ON conversations.id = conversation
    JOIN search ON search.rowid = turns.number
    WHERE turns.number IN (SELECT value FROM json_each(:chosen))
"""


@dataclass(frozen=True, slots=True)
class TurnHit:
    """A matching turn, and the matching passage on one line."""

    turn_id: str
    conversation_id: str
    title: str
    """The title of its conversation."""
    started: datetime
    snippet: str
    spots: tuple[tuple[int, int], ...]
    """The start and end of each match in the snippet."""


def search(
    db: Database,
    words: str,
    *,
    limit: int,
    now: datetime,
    filters: TurnFilters = EVERYTHING,
    skip: int = 0,
) -> tuple[TurnHit, ...]:
    """Return the turns with all words that pass the filters, the best first.

    Matches in requests count more than in answers, recent turns more than old ones. The last word
    may be a prefix. Without words, the newest turns that pass the filters.
    """
    parts = tuple(_parts(words))
    pinned = _pinned(db) if filters.pinned else ()
    wanted = [part for part in (_query(parts), expression(filters, pinned)) if part]
    if not wanted or (words.strip() and not parts):
        return ()
    match, patterns = " AND ".join(wanted), [part.whole for part in parts[:-1]]
    patterns += [part.pattern for part in parts[-1:]]
    numbers: list[int] = []
    block, begin = divmod(skip, BLOCK_HITS)
    while len(numbers) < begin + limit:
        found = _block(db, match, block, patterns, now)
        numbers += found
        block += 1
        if len(found) < BLOCK_HITS:
            break
    return _matches(db, numbers[begin : begin + limit], patterns)


def _block(
    db: Database, match: str, block: int, patterns: Sequence[_Pattern], now: datetime
) -> list[int]:
    """Return the numbers of one block's turns, the best first."""
    chosen = {
        "match": match,
        "most": BLOCK_HITS,
        "before": block * BLOCK_HITS,
        "now": now.astimezone().isoformat(),
    }
    hits = db.execute(_HITS, chosen).fetchall()
    if patterns:
        hits.sort(key=lambda hit: -_worth(hit[1], hit[2], patterns))
    return [int(hit[0]) for hit in hits]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A regular expression, and letters that all matches contain: most texts lack them, a quick
    check."""

    letters: str
    expression: re.Pattern[str]

    def search(self, folded: str) -> re.Match[str] | None:
        """Return the first match."""
        return self.expression.search(folded) if self.letters in folded else None


@dataclass(frozen=True, slots=True)
class _Part:
    """One word of a query, or one run of signs."""

    query: str
    pattern: _Pattern
    """Matches it, or words that start with it, in a folded text."""
    whole: _Pattern
    """Matches it as a whole word."""


def _parts(words: str) -> Iterator[_Part]:
    known = encodable(" ".join(words.replace(INDEX_MARK, " ").replace("\0", " ").split()))[:2000]
    for word in known.split()[:MAX_TERMS]:
        rest = UNSPACED_RUN.sub(" ", word)
        for run in UNSPACED_RUN.findall(word):
            signs = _Pattern(_folded(run), re.compile(re.escape(_folded(run))))
            yield _Part(f'signs : "{spell_run(run)}"', signs, signs)
        for term in rest.split():
            if letters := re.findall(r"[^\W_]+", _folded(term)):
                begun = r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, letters))
                quoted = term.replace('"', '""')
                whole = _Pattern(letters[0], re.compile(rf"{begun}(?![^\W_])"))
                yield _Part(f'"{quoted}"', _Pattern(letters[0], re.compile(begun)), whole)


def _query(parts: Sequence[_Part]) -> str:
    """Combine the parts; the last one may be a prefix."""
    if not parts:
        return ""
    last = parts[-1].query
    end = "" if last.startswith("signs") else "*"
    return " AND ".join(part.query for part in parts) + end


def _worth(days: float, request: str, patterns: Sequence[_Pattern]) -> float:
    """Rank a hit that is `days` old."""
    folded = _folded(request)
    asked = 0.0
    for pattern in patterns:
        if found := pattern.search(folded):
            whole = not folded[found.end() : found.end() + 1].isalnum()
            asked += 1.0 if whole else 0.6
    return asked / len(patterns) + HALF_WORTH_DAYS / (HALF_WORTH_DAYS + max(days, 0.0))


def _matches(
    db: Database, numbers: Sequence[int], patterns: Sequence[_Pattern]
) -> tuple[TurnHit, ...]:
    """Return the hits of these numbers, in order."""
    chosen = {"most": MAX_PASSAGE_CHARS, "chosen": json.dumps(list(numbers))}
    rows = {row["number"]: row for row in db.query(_SHOWN, chosen)}
    found = []
    for row in (rows[number] for number in numbers):
        passage = _passage([row["request"], row["reply"], row["results"]], patterns)
        moment = datetime.fromisoformat(row["started"])
        spots = tuple(_spots(passage, patterns))
        place = (row["id"], row["conversation"], row["title"])
        found.append(TurnHit(*place, moment, passage, spots))
    return tuple(found)


def _passage(texts: Sequence[str], patterns: Sequence[_Pattern]) -> str:
    """Return the passage with the most matches, or the beginning."""
    best, at, most = texts[0] if not patterns else "", 0, 0
    for text in texts:
        folded = _folded(text)
        places = [match.start() for item in patterns if (match := item.search(folded))]
        if len(places) > most:
            best, at, most = text, min(places), len(places)
    start = max(at - BEFORE, 0)
    if start and (space := _space.search(best, start, at)):
        start = space.end()  # the start of a word
    end = at + AFTER
    return one_line(
        ("…" if start else "") + best[start:end] + ("…" if end < len(best) else ""), limit=400
    )


def _spots(passage: str, patterns: Sequence[_Pattern]) -> Iterator[tuple[int, int]]:
    """Yield the non-overlapping matches in the passage."""
    folded, last = _folded(passage), 0
    spans = sorted(match.span() for item in patterns for match in item.expression.finditer(folded))
    for start, end in spans:
        if start >= last:
            yield start, end
            last = end


_space = re.compile(r"\s+")


class _Letters(dict[int, int]):
    """Maps each letter to one without case and accents; the length stays the same."""

    def __missing__(self, code: int) -> int:
        bare_letter = unicodedata.normalize("NFD", chr(code))[0].lower()[0]
        self[code] = ord(bare_letter)
        return self[code]


_letters = _Letters()


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_letters)


def _pinned(db: Database) -> list[str]:
    rows = db.execute("SELECT id FROM conversations WHERE pinned = 1 ORDER BY last DESC LIMIT 500")
    return [str(row[0]) for row in rows.fetchall()]


MERGE_SHARE = 8
"""Segments are merged once those besides the largest are more than one in this many."""
MERGE_PAGES = 100
"""Index pages written at once, which takes some milliseconds."""

_PIECES = "SELECT count(*) FROM search_idx GROUP BY segid ORDER BY 1 DESC"
_READ = (  # only through SQLite: closing its file elsewhere would release its locks
    "SELECT count(*) FROM search_content NOT INDEXED",
    "SELECT sum(length(block)) FROM search_data",
    "SELECT count(*) FROM turns NOT INDEXED",
)


def optimize_index(path: Path, stopped: Event, *, warmed: bool = False) -> None:
    """Read the index into the page cache, unless `warmed`, and merge its segments.

    Runs in any thread until `stopped`.
    """
    with reading(), attached(path) as db:
        for query in () if warmed else _READ:
            if not stopped.is_set():
                db.execute(query).fetchall()
        steps = merge_segments(db)
        while not stopped.is_set() and next(steps, False):
            pass


def merge_segments(db: Database) -> Iterator[bool]:
    """Merge the segments of the index if worthwhile; yields True after each bit, so that others
    can write."""
    pieces = [int(row[0]) for row in db.execute(_PIECES).fetchall()]
    if MERGE_SHARE * sum(pieces[1:]) <= sum(pieces):
        return
    size = -MERGE_PAGES  # negative at first: it means all segments
    while True:
        before = db.total_changes
        with writing(db):
            db.execute("INSERT INTO search (search, rank) VALUES ('merge', ?)", (size,))
        if db.total_changes - before < 2:  # FTS5 had nothing to do
            return
        size = MERGE_PAGES
        yield True
