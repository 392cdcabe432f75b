"""Pivot tables, from the words to the cells."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.tasks.documents.table_pivot import MAX_WIDE, PivotWish, laid_out
from jarvis_desktop.tasks.documents.table_qa import TABLE_QUESTION_ANSWERING, reply
from tests.tasks.calls import call_of, quiet

VISITS = """day,museum,ticket,visitors
2026-01-03,Old,child,3
2026-02-01,New,full,4
2026-01-09,New,child,5
2026-01-10,Old,child,1
"""
BY_MUSEUM = [["museum", "child", "full"], ["New", "5", "4"], ["Old", "4", ""]]


def asked(tmp_path: Path, question: str, text: str = VISITS) -> tuple[list[list[str]], str]:
    given = tmp_path / "visits.csv"
    given.write_text(text, "utf-8")
    call = call_of(TABLE_QUESTION_ANSWERING.type, tmp_path / "w", table=given, question=question)
    table, told = reply(call, quiet)
    assert table.path
    with table.path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file)), told.text or ""


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("a row for each museum and a column for each ticket: the sum of the visitors", BY_MUSEUM),
        ("make one column per ticket, one row per museum with the visitors", BY_MUSEUM),
        ("museums as rows, tickets as columns, sum of visitors", BY_MUSEUM),
        ("pivot table of the visitors by museum and ticket, as a table", BY_MUSEUM),
        ("a pivot table with a row for each month, a column for each museum and the visitors",
         [["month", "New", "Old"], ["2026-01", "5", "4"], ["2026-02", "4", ""]]),
        ("one row for each ticket and one column for each month, with the number of rows",
         [["ticket", "2026-01", "2026-02"], ["child", "3", ""], ["full", "", "1"]]),
    ],
)  # fmt: skip
def test_rows_columns_and_cells(tmp_path: Path, question: str, rows: list[list[str]]) -> None:
    found, told = asked(tmp_path, question)
    assert found == rows
    assert told.endswith(", as a pivot table.")


@pytest.mark.parametrize(
    "question",
    ["a pivot table", "a row for each planet, a column for each moon and the sum of visitors",
     "pivot table of the visitors by museum", "visitors with a column for each museum"],
)  # fmt: skip
def test_what_is_not_clear_is_declined(tmp_path: Path, question: str) -> None:
    with pytest.raises(ExpertError, match="which rows and columns"):
        asked(tmp_path, question)


def test_a_doubt_is_told(tmp_path: Path) -> None:
    question = "a row for each museum, a column for each ticket and the loud visitors"
    assert "I am not sure" in asked(tmp_path, question)[1]


def test_it_must_be_clear_which_are_the_rows() -> None:
    rows = [("a", "b", 1)]
    assert laid_out(PivotWish("x", "y", ""), ["p", "q", "n"], rows, periods=False) is None
    assert laid_out(PivotWish("p", "y", ""), ["p", "n"], rows, periods=False) is None
    assert laid_out(PivotWish("day", "month", ""), ["p", "q", "n"], rows, periods=True) is None
    assert laid_out(PivotWish("x", "q", ""), ["p", "q", "n"], rows, periods=False) == [
        ["p", "b"], ["a", 1]
    ]  # fmt: skip
    wide = [("a", number, 1) for number in range(MAX_WIDE + 1)]
    assert laid_out(PivotWish("p", "q", ""), ["p", "q", "n"], wide, periods=False) is None
    mixed = [(None, 2, 1), ("a", 10, 2)]
    assert laid_out(PivotWish("p", "q", ""), ["p", "q", "n"], mixed, periods=False) == [
        ["p", 2, 10], ["a", None, 2], [None, 1, None]
    ]  # fmt: skip
