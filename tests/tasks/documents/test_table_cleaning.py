"""Tables that are cleaned by words: what becomes of empty cells, and one row of each."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.documents.table_edit import EDIT_TABLE, edit_tables
from tests.tasks.calls import call_of, quiet

MEMBERS = """name,email,changed,paid
Ann,a@x.org,2024-01-05,7
Bob,,2024-02-05,
Ann,A@x.org ,2024-03-05,9
Cy,c@x.org,2023-01-01,20
"""


def edited(wish: str, tmp_path: Path, text: str = MEMBERS) -> tuple[list[str], str]:
    """The rows of the new table, and what was done."""
    (tmp_path / "members.csv").write_text(text)
    item = Artifact(Kind.TABLE, path=tmp_path / "members.csv", name="members.csv")
    call = call_of(EDIT_TABLE.type, tmp_path / "w", table=item, question=wish)
    table, told = edit_tables(call, quiet)
    assert table.path
    return table.path.read_text("utf-8").splitlines()[1:], told.text or ""


ROWS = MEMBERS.splitlines()[1:]


@pytest.mark.parametrize(
    ("wish", "left", "told"),
    [
        ("remove everyone without an e-mail address", [0, 2, 3],
         "Removed 1 row of 4: email is empty."),
        ("delete all rows where the email is missing", [0, 2, 3],
         "Removed 1 row of 4: email is empty."),
        ("entferne alle Zeilen ohne paid", [0, 2, 3], "Removed 1 row of 4: paid is empty."),
        ("keep only the people who have an email", [0, 2, 3],
         "Removed 1 row of 4: email is empty."),
        ("keep only the newest entry for each email", [1, 2, 3],
         "Kept 3 rows of 4: one for each email. It is the one with the highest changed."),
        ("keep the first row of each name", [0, 1, 3],
         "Kept 3 rows of 4: one for each name. It is the one with the lowest changed."),
        ("keep only the row with the highest paid per name", [1, 2, 3],
         "Kept 3 rows of 4: one for each name. It is the one with the highest paid."),
    ],
)  # fmt: skip
def test_rows_that_stay(tmp_path: Path, wish: str, left: list[int], told: str) -> None:
    rows, said = edited(wish, tmp_path)
    assert rows == [ROWS[at] for at in left]
    assert said == told


@pytest.mark.parametrize(
    ("wish", "cell"),
    [
        ("fill the empty paid cells with the average", "12"),
        ("fill the missing paid with the median", "9"),
        ("replace the empty cells of paid by 0", "0"),
    ],
)
def test_empty_cells_are_filled(tmp_path: Path, wish: str, cell: str) -> None:
    rows, said = edited(wish, tmp_path)
    assert rows[1] == f"Bob,,2024-02-05,{cell}"
    assert said == f"Filled 1 empty cell of paid with {cell}."
    assert rows[0] == ROWS[0]


def test_a_statement_before_is_told_as_a_doubt(tmp_path: Path) -> None:
    wish = "Some members are in it twice. Keep only the newest entry for each email"
    rows, said = edited(wish, tmp_path)
    assert len(rows) == 3
    assert "Not understood: “Some members are in it twice”" in said


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("keep only the newest entry for each street", "no column"),
        ("fill the empty streets with 0", "no column"),
        ("fill the empty emails with the average", "email has no numbers"),
    ],
)
def test_what_no_column_is_for(tmp_path: Path, wish: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        edited(wish, tmp_path)
