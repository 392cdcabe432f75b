"""Puts the lines of text of a page into the order in which a person reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from jarvis_desktop.tasks.ocr import Line

Row = list[Line]


def page_text(lines: Sequence[Line]) -> str:
    """The text of a page: columns one after the other, prose joined into paragraphs.

    Lists, receipts and signs keep their lines; what stands beside each other is in one line.
    """
    return "\n\n".join(_flowing(rows_of(block)) for block in blocks_of(list(lines)))


def rows_of(lines: Sequence[Line]) -> list[Row]:
    """The lines that stand at the same height together, from left to right, from the top down."""
    rows: list[Row] = []
    for line in sorted(lines, key=lambda line: line.middle):
        home = next((row for row in reversed(rows[-3:]) if _level(row, line)), None)
        if home is None:
            rows.append([line])
        else:
            home.append(line)
    for row in rows:
        row.sort(key=lambda line: line.left)
    return sorted(rows, key=lambda row: median(line.middle for line in row))


def _level(row: Row, line: Line) -> bool:
    near = min(row, key=lambda other: abs(other.left - line.left))
    apart = abs(near.middle - line.middle)
    overlaps = min(near.right, line.right) - max(near.left, line.left)
    return apart < 0.5 * min(near.height, line.height) and overlaps < 0.5 * min(
        near.width, line.width
    )


def blocks_of(lines: list[Line]) -> list[list[Line]]:
    """The page cut into blocks that are read one after the other.

    In the manner of the recursive X-Y cut (Nagy, Seth and Viswanathan, 1992), except that columns
    are cut only where there is prose on both sides: a price is not torn from its thing.
    """
    parts = _cut(lines)
    if len(parts) < 2:
        return [lines] if lines else []
    return [block for part in parts for block in blocks_of(part)]


def _cut(lines: list[Line]) -> list[list[Line]]:
    """What is above two columns, the left one, the right one, what is below; or no cut."""
    if len(lines) < 6:
        return [lines]
    size = median(line.height for line in lines)
    ordered = sorted(lines, key=lambda line: line.middle)
    best: list[list[Line]] = []
    for x in _gutters(ordered, size):
        for start, end in _bands(ordered, x, 0.2 * size):
            left = [line for line in ordered[start:end] if line.right < x]
            right = [line for line in ordered[start:end] if line.left > x]
            longer = not best or len(left) + len(right) > len(best[1]) + len(best[2])
            if longer and _is_prose(left, size) and _is_prose(right, size):
                best = [ordered[:start], left, right, ordered[end:]]
    return [part for part in best if part]


def _gutters(lines: list[Line], size: float) -> list[float]:
    """Where an upright stripe between two columns may lie: left of a line, and empty there."""
    return sorted({line.left - 0.25 * size for line in lines})


def _bands(lines: list[Line], x: float, margin: float) -> list[tuple[int, int]]:
    """The runs of lines, from the top down, that leave the stripe at `x` free."""
    bands, start = [], 0
    for i, line in enumerate(lines):
        if line.left < x + margin and line.right > x - margin:
            bands.append((start, i))
            start = i + 1
    return [(start, end) for start, end in [*bands, (start, len(lines))] if end - start >= 6]


def _is_prose(lines: list[Line], size: float) -> bool:
    """Whether a column of running text: at least three lines, most of them long."""
    if len(lines) < 3:
        return False
    rows = rows_of(lines)
    widths = [row[-1].right - row[0].left for row in rows]
    return len(rows) >= 3 and median(widths) > 7 * size


def _flowing(rows: list[Row]) -> str:
    """The rows of a block as text; lines of prose are joined, hyphens at their ends undone."""
    size = median(line.height for row in rows for line in row)
    left = min(row[0].left for row in rows)
    right = max(row[-1].right for row in rows)
    table = sum(_is_torn(row, size) for row in rows) > 0.2 * len(rows)
    out = ""
    before: Row | None = None
    for row in rows:
        words = " ".join(line.text for line in row)
        if before is None:
            out = words
        elif table or not _runs_on(before, row, (left, right), size):
            apart = row[0].top - before[0].bottom > 0.9 * size
            out += ("\n\n" if apart else "\n") + words
        elif re.search(r"[^\W\d_]-$", out) and words[:1].islower():
            out = out[:-1] + words
        else:
            out += " " + words
        before = row
    return out


def _runs_on(before: Row, row: Row, edges: tuple[float, float], size: float) -> bool:
    """Whether a row carries on the sentence of the row before it."""
    left, right = edges
    if _is_torn(before, size) or _is_torn(row, size) or right - left < 10 * size:
        return False
    if row[0].top - before[0].bottom > 0.9 * size:
        return False
    if abs(before[0].height - row[0].height) > 0.5 * size:
        return False
    # The row before must leave no room for the word that follows, and the rows must line up.
    word = row[0].text.split(" ")[0]
    room = right - before[-1].right
    needed = (len(word) + 1) * _per_letter(row)
    return room < max(needed, 1.5 * size) * 1.3 and row[0].left - left < 1.2 * size


def _is_torn(row: Row, size: float) -> bool:
    """Whether a row has a gap that prose has not, as between a thing and its price."""
    return any(b.left - a.right > 2 * size for a, b in pairwise(row))


def _per_letter(row: Row) -> float:
    return sum(line.width for line in row) / max(1, sum(len(line.text) for line in row))
