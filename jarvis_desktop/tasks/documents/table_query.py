"""What a question about a table becomes: SQL, the shape of its answer, and what is doubtful."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from jarvis_desktop.tasks.documents.table_database import TableColumn
from jarvis_desktop.tasks.documents.table_words import TableField


class Shape(Enum):
    """What an answer looks like."""

    VALUE = "value"
    """One number or entry."""
    BEST = "best"
    """The rows or groups with the largest or smallest value, ties included."""
    GROUPS = "groups"
    """A value for each group."""
    ROWS = "rows"
    """Entries or rows that meet the conditions."""
    COMPARED = "compared"
    """Yes or no, with two values of which one may be larger."""
    EXISTS = "exists"
    """Yes or no, with the number of rows."""


@dataclass(frozen=True)
class TableQuery:
    """A question as SQL, and in words."""

    sql: str
    shape: Shape
    told: str
    """What is asked: "the sum of revenue where region is North"."""
    shown: tuple[TableColumn | None, ...] = ()
    """The column that each column of the result has its unit from."""
    doubts: tuple[str, ...] = ()
    other: TableQuery | None = None
    """Another reading; the doubt counts only if it has another answer."""
    grain: str = ""
    """The unit of time of the first column."""
    fields: tuple[TableField, ...] = ()
    """The columns that it speaks of."""
    unread: float = 0.0
    """How many words of the question stand for nothing."""
