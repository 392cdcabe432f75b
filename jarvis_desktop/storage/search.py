"""Full-text search over requests, answers and results. Any words may be given; none is syntax."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from jarvis_desktop.core.shown import encodable, one_line

if TYPE_CHECKING:
    from sqlite_utils import Database

TERMS = 32
AROUND = 60
"""Characters shown on each side of what a plain text comparison found."""


@dataclass(frozen=True, slots=True)
class Found:
    """A turn that has the words, and the passage that has them, on one line."""

    turn_id: str
    conversation_id: str
    started: datetime
    snippet: str


def search(db: Database, words: str, *, limit: int) -> tuple[Found, ...]:
    """The turns that have all the words, newest first; the last word may be a beginning.

    Where the index knows no such word the words are looked for as plain text: it does not take
    apart scripts written without spaces, and has no signs such as emoji.
    """
    words = encodable(" ".join(words.replace("\0", " ").split()))[:2000]
    if not words:
        return ()
    found = tuple(_indexed(db, words, limit))
    if not found and not words.isascii():
        found = tuple(_compared(db, words, limit))
    return found


def match_expression(words: str) -> str:
    """The words as an FTS5 query, each quoted so that none is syntax; "" where none is left."""
    terms = [word for word in words.split() if any(map(str.isalnum, word))][:TERMS]
    quoted = ['"' + term.replace('"', '""') + '"' for term in terms]
    return " ".join(quoted) + "*" if quoted else ""


def _indexed(db: Database, words: str, limit: int) -> Iterator[Found]:
    if not (expression := match_expression(words)):
        return
    # By number, not by rank: people look for what they did last, and it need not score every hit.
    rows = db.query(
        "SELECT turns.id, conversation, started, snippet(search, -1, '', '', '…', 16) AS snippet"
        " FROM search JOIN turns ON turns.number = search.rowid"
        " WHERE search MATCH ? ORDER BY search.rowid DESC LIMIT ?",
        [expression, limit],
    )
    for row in rows:
        yield _found(row["id"], row["conversation"], row["started"], row["snippet"])


def _compared(db: Database, words: str, limit: int) -> Iterator[Found]:
    pattern = words.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = db.query(
        "SELECT turns.id, conversation, started,"
        " search.request || char(10) || search.reply || char(10) || search.results AS whole"
        " FROM search JOIN turns ON turns.number = search.rowid"
        " WHERE whole LIKE ? ESCAPE '\\' ORDER BY search.rowid DESC LIMIT ?",
        [f"%{pattern}%", limit],
    )
    for row in rows:
        whole = row["whole"]
        at = max(whole.lower().find(words.lower()), 0)
        start, end = max(at - AROUND, 0), at + len(words) + AROUND
        before, after = "…" if start else "", "…" if end < len(whole) else ""
        passage = before + whole[start:end] + after
        yield _found(row["id"], row["conversation"], row["started"], passage)


def _found(turn_id: str, conversation: str, started: str, snippet: str) -> Found:
    moment = datetime.fromisoformat(started)
    return Found(turn_id, conversation, moment, one_line(snippet, limit=400))
