"""Whether the result of a query confirms that of a script."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.agreement import QueryResult, agrees
from jarvis_desktop.assistant.agent.expected_results import ExpectedResult, ResultKind
from jarvis_desktop.core.artifact import Artifact, Kind
from tests.assistant.agent.workplace import file

A, C, T, X, F = ResultKind
_image = Kind.IMAGE
WORDS = ("north", "south", "adler", "cohen", "k")


def says(answer: str, *rows: Sequence[object], goal: str = "How much?") -> bool:
    query = QueryResult([str(at) for at in range(len(rows[0]))] if rows else [], rows)
    return agrees(ExpectedResult(A, goal, goal=goal), (answer, ()), query, WORDS, ())


@pytest.mark.parametrize(
    ("answer", "cell"),
    [
        ("It is 1,204.5 euros.", 1204.5),
        ("About 1205.", 1204.6),
        ("4.3 on average", 4.2801),
        ("It was 2024-05-03.", "2024-05-03"),
        ("In 2024-05 it was.", "2024-05-03"),
        ("In 2024-05 it was.", "05"),
        ("In May.", "2024-05"),
        ("May 2024 is the one.", "2024-05"),
        ("In March.", "03"),
        ("On Saturdays.", 6),
        ("10.0.0.4 asked", "10.0.0.4"),
        ("mail_04 has it", "mail_04.txt"),
        ("K7 it is", "the K7 of today"),
        ("The highest is North.", "North"),
    ],
)
def test_a_value_of_an_answer_is_in_the_query(answer: str, cell: object) -> None:
    assert says(answer, [cell])


@pytest.mark.parametrize(
    ("answer", "cell"),
    [
        ("It is 1204.", 1210),
        ("It is 3.", 3.4),  # too crude
        ("It is 0.", 0.4),
        ("In May.", "2024-06"),
        ("May 2023 is the one.", "2024-05"),
        ("On Sundays.", 6),
        ("10.0.0.4 asked", "10.0.0.17"),
        ("K7 it is", "K8"),
        ("North", "South"),
        ("It was 2024-05-03.", "2024-05-04"),
        ("It was 2024-05-03.", "2024-05"),
        ("yes", "yes"),  # nothing in it can be compared
        ("5", None),
        ("It took 0 minutes.", "2025-02-09 03:35:00 finished"),
        ("There are 0.", 0),  # both may have looked for the same wrong word
    ],
)
def test_another_value_does_not_confirm_an_answer(answer: str, cell: object) -> None:
    assert not says(answer, [cell])


def test_answers_are_compared_with_all_rows_or_the_first() -> None:
    both = (["Adler", 3], ["Cohen", 2])
    assert says("Adler and Cohen", *both, goal="Which customers have none?")
    assert not says("Adler", *both, goal="Which customers have none?")
    assert says("Adler with 3", *both, goal="Who has the most?")
    assert not says("Cohen with 2", *both, goal="Who has the most?")
    assert not says("Adler", *both, goal="Who are the two with the most requests?")
    assert not says("Adler 5", *both, goal="Who has the most?")
    assert not says("Adler", *both, goal="Who has the most, and how many?")
    assert says("Adler, 3", *both, goal="Who has the most, and how many?")
    assert says("There are 12 for worker 2", [12], goal="How many has worker 2?")
    assert not says("Adler")
    assert says("May 2024 has the highest sum: 12.5", ["May", 12.5], goal="Which month?")
    assert not says("May 2024 has the highest sum: 12.5", ["May", 13], goal="Which month?")
    assert says("45 %", [0.4501], goal="What percentage?")
    assert not says("45", [0.4501])


def test_a_row_is_known_by_any_of_its_names(tmp_path: Path) -> None:
    given = [
        file(
            tmp_path, "customers.csv", "id,name,city,since\nK1,Adler,Ulm,2020\nK2,Cohen,Ulm,2021\n"
        ),
        file(tmp_path, "notes.txt", "Adler"),
    ]
    expected = ExpectedResult(A, "Who has none?", goal="Who has none?")

    def names(answer: str, *rows: Sequence[object]) -> bool:
        return agrees(expected, (answer, ()), QueryResult(["x"], rows), (*WORDS, "ulm"), given)

    assert names("['K1']", ["Adler"])
    assert names("{'id': 'K1', 'name': 'Adler'}", ["Adler"])
    assert names("Adler", ["K1"])
    assert not names("['K2']", ["Adler"])
    assert not names("['K1', 'K2']", ["Adler"])
    assert not names("Adler", ["Ulm"])  # which two have
    assert not names("Adler", [2020])


def test_a_pivot_table_is_compared_with_its_cells(tmp_path: Path) -> None:
    def holds(text: str, *rows: Sequence[object]) -> bool:
        made = [file(tmp_path, "new.csv", text)]
        return agrees(ExpectedResult(T, ""), ("", made), QueryResult("a b c".split(), rows), (), ())

    rows = (["Harbour", "tea", 3], ["Harbour", "cocoa", 4], ["Station", "tea", 5])
    assert holds("shop,cocoa,tea\nStation,0,5\nHarbour,4,3\n", *rows)
    assert holds("shop,cocoa,tea\nStation,,5\nHarbour,4,3\n", *rows)
    assert not holds("shop,cocoa,tea\nStation,0,5\nHarbour,3,4\n", *rows)
    assert not holds("shop,cocoa,tea\nStation,1,5\nHarbour,4,3\n", *rows)
    assert not holds("shop,cocoa,tea\nStation,0,5\nHarbour,4,3\n", *(row[:2] for row in rows))


def test_charts_are_compared_by_their_points() -> None:
    def shows(points: str, *rows: Sequence[object], kind: str = "bar") -> bool:
        count = points.count(";") + 1
        printed = f"Wrote a.png: {kind} chart, {count} points: {points}"
        made = [Artifact(_image, path=Path("a.png"), name="a.png")]
        return agrees(ExpectedResult(C, ""), (printed, made), QueryResult([], rows), (), ())

    assert shows("East 3; West 1,234.57", ["West", 1234.5678], ["East", 3])
    assert shows("2024-01 5", ["01", 5])
    assert not shows("East 3; West 5", ["West", 5], ["East", 4])
    assert not shows("East 3; West 5", ["West", 5])
    assert shows("2 1; 4 2", [2], [5], [6], kind="histogram")
    assert not shows("2 1; 4 2", [2], [5], kind="histogram")
    none = QueryResult([], [[1]])
    assert not agrees(ExpectedResult(C, ""), ("", ()), none, (), ())
    other = [Artifact(_image, path=Path("a.png"), name="a.png")]
    assert not agrees(ExpectedResult(C, ""), ("drawn by hand", other), none, (), ())


def test_tables_are_compared_by_rows(tmp_path: Path) -> None:
    given = [file(tmp_path, "given.csv", "name,town,paid\nx,Graz,1\ny,Linz,2\nz,Linz,3\n")]

    def holds(
        text: str, columns: str, *rows: Sequence[object], goal: str = "", words: Sequence[str] = ()
    ) -> bool:
        made = [file(tmp_path, "new.csv", text)]
        query = QueryResult(columns.split(), rows)
        return agrees(ExpectedResult(T, "", goal=goal), ("", made), query, words, given)

    assert holds("name,n\nx,1.0\ny,2\n", "total who", [2, "Y"], [1, "X"])
    assert not holds("name,n\nx,1\ny,2\n", "total who", [1, "Y"], [2, "X"])
    assert not holds("name,n\nx,1\ny,3\n", "n who", [2, "Y"], [1, "X"])
    assert not holds("name,n\nx,1\n", "n who", [2, "Y"], [1, "X"])
    assert holds("month,n\n2024-01,5\n", "m n", ["01", 5])
    # The order counts if the goal names one.
    assert not holds("n\n1\n2\n", "n", [2], [1], goal="Sort them.")
    assert holds("n\n1\n2\n", "n", [1], [2], goal="Sort them.")
    # More columns are those of a given table.
    assert holds("name\nx\ny\n", "name paid", ["x", 1], ["y", 2])
    assert holds("name,town\nx,Graz\n", "name", ["x"])
    assert not holds("name,paid\nx,7\n", "name", ["x"])
    assert not holds("name,total\nx,1\n", "name", ["x"])
    assert not holds("name,paid\nx,1\n", "name n", ["x", 2])
    # Names of columns count if they are what is asked for.
    assert not holds("Name\nx\n", "Nom", ["x"], goal="Rename the columns.")
    assert not holds("shop,tea\nx,3\n", "shop coffee", ["x", 3], words=["tea", "coffee"])
    assert not holds("a\n\n", "a", [1])
    assert not holds("name\n", "a", [1])
    assert not agrees(ExpectedResult(T, ""), ("", []), QueryResult([], [[1]]), (), given)
    book = [file(tmp_path, "e.xlsx")]
    assert not agrees(ExpectedResult(T, ""), ("", book), QueryResult([], [[1]]), (), given)


def test_tables_that_were_split_are_compared_together(tmp_path: Path) -> None:
    def split(*texts: str) -> bool:
        made = [file(tmp_path, f"{at}.csv", text) for at, text in enumerate(texts)]
        query = QueryResult(["name", "land"], [["x", "Peru"], ["y", "Cuba"], ["z", "Cuba"]])
        return agrees(ExpectedResult(F, ""), ("", made), query, (), ())

    assert split("name,land\nx,Peru\n", "name,land\ny,Cuba\nz,Cuba\n")
    assert not split("name,land\nx,Peru\ny,Cuba\n", "name,land\nz,Cuba\n")
    assert not split("name,land\nx,Peru\n", "name,country\ny,Cuba\nz,Cuba\n")
    assert not split("name,land\nx,Peru\ny,Cuba\nz,Cuba\n")


def test_texts_are_compared_by_lines(tmp_path: Path) -> None:
    def reads(text: str, *rows: Sequence[object]) -> bool:
        made = [file(tmp_path, "a.txt", text)]
        return agrees(ExpectedResult(X, ""), ("", made), QueryResult([], rows), (), ())

    assert reads("- [ ] Call Ann.\n\nBook a room\n", ["Call Ann"], ["Book a room"])
    assert not reads("Book a room\nCall Ann\n", ["Call Ann"], ["Book a room"])
    assert reads("tea: 12\nmilk: 3.50\n", ["milk", 3.5], ["tea", 12])
    assert not reads("tea: 12\n", ["tea", 13])
    assert not reads("tea: 12\n", ["tea", None])


def test_a_table_that_is_long_is_compared_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.assistant.agent.agreement.MAX_COMPARED", 1)
    made = [file(tmp_path, "new.csv", "n\n1\n2\n3\n")]
    expected = ExpectedResult(T, "")
    for rows, same in (([[2], [3], [1]], True), ([[3], [2], [1]], False)):
        assert agrees(expected, ("", made), QueryResult(["n"], rows), (), ()) is same
