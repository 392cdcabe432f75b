"""Pivot tables: what is asked with "a row for each shop and a column for each product".

The question is asked as one over both, and the answer is laid out anew.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jarvis_desktop.tasks.documents.table_parts import AGGREGATES
from jarvis_desktop.tasks.documents.table_words import folded
from jarvis_desktop.text.lazy_re import lazy_re
from jarvis_desktop.text.tokens import stem

_one = r"(?:an?|one|eine)\s+"
_each = r"(?:for\s+(?:each|every)|per|f[uü]r\s+jede[nrms]?|je|pro)\s+"
_forms = tuple(
    lazy_re(form, re.IGNORECASE)
    for form in (
        rf"\b{_one}(?:row|zeile)\s+{_each}(?P<row>[\w -]+?)(?:\s*,\s*(?:and\s+|und\s+)?"
        rf"|\s+(?:and|und)\s+){_one}(?:column|spalte)\s+{_each}(?P<column>[\w-]+)\W*(?:with|and|showing|of|und|mit)?"
        r"\s*(?P<value>[^:]*)$",
        rf"\b{_one}(?:column|spalte)\s+{_each}(?P<column>[\w-]+)(?:\s*,\s*|\s+)(?:and\s+|und\s+)?"
        rf"{_one}(?:row|zeile)\s+{_each}(?P<row>[\w-]+)\W*(?:with|and|showing|of|und|mit)?"
        r"\s*(?P<value>[^:]*)$",
        r"\b(?:with\s+)?(?:the\s+)?(?P<row>[\w-]+)\s+as\s+(?:the\s+)?rows?\W+(?:and\s+)?(?:the\s+)?"
        r"(?P<column>[\w-]+)\s+as\s+(?:the\s+)?columns?\W*(?:with|and|showing|of)?\s*(?P<value>.*)$",
        r"\bpivot\w*(?:\s+tab\w+)?\s+of\s+(?P<value>.+?)\s+by\s+(?P<row>[\w-]+)\s+(?:and|by|,)\s+"
        r"(?P<column>[\w-]+)\W*$",
    )
)
_asks_for = lazy_re(
    r"\bpivot|\bcolumns? (?:for each|for every|per)\b|\bas columns?\b|\bspalte (?:je|pro|für)\b",
    re.IGNORECASE,
)
_period = lazy_re(r"\b(?:hour|day|week|weekday|month|quarter|year|monat|jahr|tag|woche)\w*\b")
MAX_WIDE = 200
"""Columns of a pivot table."""


@dataclass(frozen=True, slots=True)
class PivotWish:
    """What a pivot table has for rows, columns and cells, in words."""

    row: str
    column: str
    value: str

    @property
    def question(self) -> str:
        """What is asked, as a question over both."""
        value = self.value.strip(" .,:") or "number of rows"
        known = set(re.findall(r"\w+", folded(value))) & {*AGGREGATES, "number", "count", "sum"}
        return f"{'' if known else 'the sum of '}{value} for each {self.row} and {self.column}"


def pivot_asked(question: str) -> PivotWish | None:
    """Return what a question asks to be laid out as a pivot table; None if nothing is."""
    for form in _forms:
        if found := form.search(question):
            value = found["value"].strip(" .,:")
            return PivotWish(found["row"].strip(), found["column"].strip(), value)
    return None


def asks_for_pivot(question: str) -> bool:
    """Return whether a question speaks of a pivot table, also one that is not understood."""
    return bool(_asks_for.search(question))


def laid_out(
    wish: PivotWish, names: Sequence[str], rows: Sequence[Sequence[Any]], *, periods: bool
) -> list[list[Any]] | None:
    """Return the pivot table of an answer with two names and a number in each row. `periods` means
    that the first ones are of time. None if it is not clear which of them are the rows."""
    if len(names) != 3:
        return None
    if periods:
        first = bool(_period.search(folded(wish.row)))
        if first == bool(_period.search(folded(wish.column))):
            return None
    else:
        fits = [_is_about(name, wish.row) for name in names[:2]]
        if fits[0] == fits[1]:
            fits = [not _is_about(name, wish.column) for name in names[:2]]
        if fits[0] == fits[1]:
            return None
        first = fits[0]
    row_at, column_at = (0, 1) if first else (1, 0)
    heads = sorted({row[column_at] for row in rows}, key=_order)
    kept = sorted({row[row_at] for row in rows}, key=_order)
    if len(heads) > MAX_WIDE:
        return None
    cells = {(row[row_at], row[column_at]): row[2] for row in rows}
    return [
        [names[row_at], *heads],
        *([one, *(cells.get((one, head)) for head in heads)] for one in kept),
    ]


def _is_about(name: str, said: str) -> bool:
    stems = {stem(word) for word in re.findall(r"[^\W\d_]+", folded(name))}
    return any(stem(word) in stems for word in re.findall(r"[^\W\d_]+", folded(said)))


def _order(value: Any) -> tuple[int, Any]:
    """Return a key by which numbers, days and texts can be sorted, the empty one last."""
    if value is None:
        return (2, "")
    return (0, value) if isinstance(value, int | float) else (1, str(value))
