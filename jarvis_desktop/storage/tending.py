"""Keeps searching quick in a large history: the index in few pieces, and what a search reads in the
system's memory, so that the first one after the start need not wait for the disk.

Each turn that is kept adds a small piece to the index, and a search looks into every piece. SQLite
puts some together as it goes; all of them are put together here, once enough has been added.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from jarvis_desktop.storage.database import attached, reading, writing

if TYPE_CHECKING:
    from jarvis_desktop.storage.light import Database

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
