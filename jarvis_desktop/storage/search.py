"""Full-text search over requests, answers and results. Any words may be given; none is syntax.

How well each of many hits fits is not asked of FTS5: its ranking reads every text that has a word,
and of a common word that is all of them. The newest hits come first out of the index at once, and
these few are put in order here.

Keeps searching quick in a large history: the index in few pieces, and what a search reads in the
system's memory, so that the first one after the start need not wait for the disk.

Each turn that is kept adds a small piece to the index, and a search looks into every piece. SQLite
puts some together as it goes; all of them are put together here, once enough has been added."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.storage.database import attached, reading, writing
from jarvis_desktop.storage.search_terms import (
    EVERYTHING,
    RUN,
    TurnFilters,
    bare,
    expression,
    spelt_run,
)

if TYPE_CHECKING:
    from jarvis_desktop.storage.sqlite import Database


TERMS = 32
BLOCK = 120
"""Hits that are put in order together; those that are older come after them."""
BEFORE, AFTER = 30, 130
"""Characters of a passage before what was found, and after."""
LONGEST = 200_000
"""Characters of a text in which the passage is looked for."""
MONTH = 30.0
"""Days after which a hit counts half as much for being new."""

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
    """A turn that has the words, and the passage that has them, on one line."""

    turn_id: str
    conversation_id: str
    title: str
    """That of its conversation."""
    started: datetime
    snippet: str
    spots: tuple[tuple[int, int], ...]
    """Where in the snippet what was found begins and ends."""


def search(
    db: Database,
    words: str,
    *,
    limit: int,
    now: datetime,
    filters: TurnFilters = EVERYTHING,
    skip: int = 0,
) -> tuple[TurnHit, ...]:
    """The turns with all the words that pass the filters, the best first: what was asked for in
    these words counts more than what was answered, and what is new more than what is old.

    The last word may be a beginning. Without words, the newest first that pass the filters.
    """
    parts = tuple(_parts(words))
    pinned = _pinned(db) if filters.pinned else ()
    wanted = [part for part in (_query(parts), expression(filters, pinned)) if part]
    if not wanted or (words.strip() and not parts):
        return ()
    match, patterns = " AND ".join(wanted), [part.whole for part in parts[:-1]]
    patterns += [part.pattern for part in parts[-1:]]
    numbers: list[int] = []
    block, begin = divmod(skip, BLOCK)
    while len(numbers) < begin + limit:
        found = _block(db, match, block, patterns, now)
        numbers += found
        block += 1
        if len(found) < BLOCK:
            break
    return _shown(db, numbers[begin : begin + limit], patterns)


def _block(
    db: Database, match: str, block: int, patterns: Sequence[_Pattern], now: datetime
) -> list[int]:
    """The numbers of the turns of one block, the best first."""
    chosen = {
        "match": match,
        "most": BLOCK,
        "before": block * BLOCK,
        "now": now.astimezone().isoformat(),
    }
    hits = db.conn.execute(_HITS, chosen).fetchall()
    if patterns:
        hits.sort(key=lambda hit: -_worth(hit[1], hit[2], patterns))
    return [int(hit[0]) for hit in hits]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """An expression, and letters that are in all it finds: most texts lack them, which is seen
    much sooner."""

    letters: str
    expression: re.Pattern[str]

    def search(self, folded: str) -> re.Match[str] | None:
        """The first place that it finds."""
        return self.expression.search(folded) if self.letters in folded else None


@dataclass(frozen=True, slots=True)
class _Part:
    """One word of what is searched for, or one run of signs."""

    query: str
    pattern: _Pattern
    """Finds it in a text that was folded, or what begins so."""
    whole: _Pattern
    """Finds it as a whole word."""


def _parts(words: str) -> Iterator[_Part]:
    known = encodable(" ".join(bare(words).replace("\0", " ").split()))[:2000]
    for word in known.split()[:TERMS]:
        rest = RUN.sub(" ", word)
        for run in RUN.findall(word):
            signs = _Pattern(_folded(run), re.compile(re.escape(_folded(run))))
            yield _Part(f'signs : "{spelt_run(run)}"', signs, signs)
        for term in rest.split():
            if letters := re.findall(r"[^\W_]+", _folded(term)):
                begun = r"(?<![^\W_])" + r"[\W_]+".join(map(re.escape, letters))
                quoted = term.replace('"', '""')
                whole = _Pattern(letters[0], re.compile(rf"{begun}(?![^\W_])"))
                yield _Part(f'"{quoted}"', _Pattern(letters[0], re.compile(begun)), whole)


def _query(parts: Sequence[_Part]) -> str:
    """All of them together; the last one may be a beginning."""
    if not parts:
        return ""
    last = parts[-1].query
    end = "" if last.startswith("signs") else "*"
    return " AND ".join(part.query for part in parts) + end


def _worth(days: float, request: str, patterns: Sequence[_Pattern]) -> float:
    """How much a hit of so many days ago is worth showing before others."""
    folded = _folded(request)
    asked = 0.0
    for pattern in patterns:
        if found := pattern.search(folded):
            whole = not folded[found.end() : found.end() + 1].isalnum()
            asked += 1.0 if whole else 0.6
    return asked / len(patterns) + MONTH / (MONTH + max(days, 0.0))


def _shown(
    db: Database, numbers: Sequence[int], patterns: Sequence[_Pattern]
) -> tuple[TurnHit, ...]:
    """The finds of these numbers, in their order."""
    chosen = {"most": LONGEST, "chosen": json.dumps(list(numbers))}
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
    """The place in the text that has the most of what is looked for, or the beginning."""
    best, at, most = texts[0] if not patterns else "", 0, 0
    for text in texts:
        folded = _folded(text)
        places = [match.start() for item in patterns if (match := item.search(folded))]
        if len(places) > most:
            best, at, most = text, min(places), len(places)
    start = max(at - BEFORE, 0)
    if start and (space := _space.search(best, start, at)):
        start = space.end()  # where a word begins
    end = at + AFTER
    return one_line(
        ("…" if start else "") + best[start:end] + ("…" if end < len(best) else ""), limit=400
    )


def _spots(passage: str, patterns: Sequence[_Pattern]) -> Iterator[tuple[int, int]]:
    """Where in the passage what is looked for stands, none over another."""
    folded, last = _folded(passage), 0
    spans = sorted(match.span() for item in patterns for match in item.expression.finditer(folded))
    for start, end in spans:
        if start >= last:
            yield start, end
            last = end


_space = re.compile(r"\s+")


class _Letters(dict[int, int]):
    """Each letter without case and accents; the text stays as long as it is."""

    def __missing__(self, code: int) -> int:
        bare_letter = unicodedata.normalize("NFD", chr(code))[0].lower()[0]
        self[code] = ord(bare_letter)
        return self[code]


_letters = _Letters()


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else text.translate(_letters)


def _pinned(db: Database) -> list[str]:
    rows = db.conn.execute(
        "SELECT id FROM conversations WHERE pinned = 1 ORDER BY last DESC LIMIT 500"
    )
    return [str(row[0]) for row in rows.fetchall()]


SHARE = 8
"""The pieces are put together once those besides the largest are more than one in so many."""
PAGES = 100
"""Pages of the index that are written in one go: some milliseconds."""

_PIECES = "SELECT count(*) FROM search_idx GROUP BY segid ORDER BY 1 DESC"
_READ = (  # through SQLite alone: to close its file otherwise would take its locks away
    "SELECT count(*) FROM search_content NOT INDEXED",
    "SELECT sum(length(block)) FROM search_data",
    "SELECT count(*) FROM turns NOT INDEXED",
)


def tend(path: Path, stopped: Event, *, warmed: bool = False) -> None:
    """Do both, in any thread, until it is stopped; `warmed` where it was read before."""
    with reading(), attached(path) as db:
        for query in () if warmed else _READ:
            if not stopped.is_set():
                db.conn.execute(query).fetchall()
        steps = put_together(db)
        while not stopped.is_set() and next(steps, False):
            pass


def put_together(db: Database) -> Iterator[bool]:
    """Put the pieces of the search index together where that is worth it, bit by bit: others can
    write after each bit, which is a True."""
    pieces = [int(row[0]) for row in db.conn.execute(_PIECES).fetchall()]
    if SHARE * sum(pieces[1:]) <= sum(pieces):
        return
    size = -PAGES  # the first time it says that all pieces are meant
    while True:
        before = db.conn.total_changes
        with writing(db):
            db.conn.execute("INSERT INTO search (search, rank) VALUES ('merge', ?)", (size,))
        if db.conn.total_changes - before < 2:  # as FTS5 says that there was nothing to do
            return
        size = PAGES
        yield True
