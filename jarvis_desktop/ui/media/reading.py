"""Looks into files that are shown: sounds, films, tables. Only imported in child processes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from jarvis_desktop.child_main import Handler
from jarvis_desktop.core.call import Report
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.tasks.tables import read_tables
from jarvis_desktop.ui.media.found import Film, Peaks, Preview
from jarvis_desktop.ui.media.frames import OpenFilm, bound_memory
from jarvis_desktop.ui.media.peaks import peaks

STRETCH = 0.4
"""Seconds of work, after which others have their turn."""
MOST_AT_ONCE = 4
"""Sounds that are listened to in turns."""
MOST_ROWS = 200
MOST_COLUMNS = 60
LONGEST_CELL = 200


def make() -> Handler:
    """The handler: the first argument names what to look for, the second is the file."""
    bound_memory()
    heard: OrderedDict[Path, Iterator[Peaks]] = OrderedDict()

    def listen(path: Path) -> Peaks:
        if path not in heard:
            heard[path] = peaks(path, STRETCH)
            if len(heard) > MOST_AT_ONCE:
                heard.popitem(last=False)
        try:
            found = next(heard[path])
        except BaseException:
            del heard[path]
            raise
        if found.share == 1:
            del heard[path]
        return found

    def handle(report: Report, what: str, path: Path, *args: Any) -> Peaks | Film | Preview:
        if what == "peaks":
            return listen(path)
        return OpenFilm(path).described(*args) if what == "film" else preview(path)

    return handle


def preview(path: Path) -> Preview:
    """The first rows of a table. Raises InputError."""
    table = read_tables(path, most=MOST_ROWS + 2)[0]
    rows = [_cells(row) for row in islice(table.rows, MOST_ROWS)]
    return Preview(_cells(table.columns), tuple(rows), len(table.rows) > MOST_ROWS)


def _cells(row: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one_line(cell, limit=LONGEST_CELL) for cell in row[:MOST_COLUMNS])
