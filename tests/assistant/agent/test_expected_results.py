"""What goals ask for, whether it is there, and whether two results are the same."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.expected_results import (
    ExpectedResult,
    ResultKind,
    agree,
    clauses,
    data_words,
    expected_results,
    format_expected,
    instructions,
    invented_values,
    missing,
)
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name, text_artifact

A, C, T, X, F = (
    ResultKind.ANSWER,
    ResultKind.CHART,
    ResultKind.TABLE,
    ResultKind.TEXT,
    ResultKind.FILES,
)


@pytest.mark.parametrize(
    ("goal", "given", "kinds"),
    [
        ("Which month was best?", ["a.csv"], [A]),
        ("Draw a chart of the prices, and tell me the best month.", ["a.csv"], [C, A]),
        ("plot sales.csv by month as trend.png", ["sales.csv"], [C]),
        ("draw me a pie of what I spent", ["a.csv"], [C]),
        ("Remove the duplicates and save the table as clean.csv.", ["a.csv"], [T]),
        ("Remove the duplicates.", ["a.csv"], [T]),
        ("Sort by price", ["a.xlsx"], [T]),
        ("Put all names of the text into a csv", ["a.txt"], [T]),
        ("Write a summary to notes.md. How many words has it?", ["a.txt"], [X, A]),
        ("Save the names in a text file", ["a.csv"], [X]),
        ("Resize all pictures to 100 pixels", ["a.png", "b.png"], [F]),
        ("Rotate it and save it as turned.png", ["a.png"], [F]),
        ("Convert it", ["a.png"], [F]),
        ("Clean it up", [], [A]),
        ("Zeichne ein Diagramm. Welche Stadt liegt vorn?", ["a.csv"], [C, A]),
        ("哪个城市最多？", ["a.csv"], [A]),
    ],
)
def test_what_goals_ask_for(goal: str, given: list[str], kinds: list[ResultKind]) -> None:
    assert [each.kind for each in expected_results(goal, given)] == kinds


def test_clauses_are_what_is_done_one_after_the_other() -> None:
    goal = "Clean the table, then draw a chart of it and save it as a.png. Who won?"
    assert clauses(goal) == (
        "Clean the table",
        "draw a chart of it",
        "save it as a.png.",
        "Who won?",
    )
    many = clauses(". ".join(f"Do {number} things" for number in range(12)))
    assert len(many) == 8
    assert many[-1].endswith("Do 11 things")


def test_instructions_say_what_a_script_does_at_its_end() -> None:
    table = ExpectedResult(T, "", "a.csv")
    assert instructions([table]) == (
        'write the new table with jarvis.write_table as "a.csv"; '
        "print in one short sentence what was done"
    )
    assert instructions([ExpectedResult(A, "")]).startswith("print the answer")
    assert format_expected(table) == "“a.csv”"
    assert format_expected(ExpectedResult(F, "")) == "the new files"


def file(folder: Path, name: str, text: str = "a,b\n1,2\n") -> Artifact:
    (folder / name).write_text(text)
    return Artifact(kind_of_name(name) or Kind.DOCUMENT, path=folder / name, name=name)


def problems(expected: ExpectedResult, printed: str, made: Sequence[Artifact] = ()) -> list[str]:
    return [problem for _, problem in missing([expected], printed, made)]


@pytest.mark.parametrize(
    ("printed", "wrong"),
    [
        ("March was best: 12.", False),
        ("Wrote a.csv: 3 rows, columns a", True),
        ("None", True),
        ("", True),
        ("x" * 3000, True),
    ],
)
def test_an_answer_says_something(printed: str, wrong: bool) -> None:
    assert bool(problems(ExpectedResult(A, ""), printed)) is wrong


def test_an_answer_of_how_many_has_a_number() -> None:
    (wanted,) = expected_results("How many were sold?", ["a.csv"])
    assert problems(wanted, "Many were sold.") == ["the answer has no number: print the values"]
    assert not problems(wanted, "12 were sold.")


def test_files_are_there_and_hold_something(tmp_path: Path) -> None:
    table = file(tmp_path, "a.csv")
    named = ExpectedResult(T, "", "a.csv")
    assert not problems(named, "", [table])
    assert problems(named, "", [file(tmp_path, "b.csv")]) == [
        "the file must be called a.csv, not b.csv"
    ]
    assert "was not written" in problems(named, "")[0]
    some = ExpectedResult(T, "")
    assert not problems(some, "", [file(tmp_path, "c.xlsx")])
    assert problems(some, "", [file(tmp_path, "d.csv", "a,b\n")]) == ["the table has no rows"]
    none = "Wrote a.csv: 0 rows, columns a"
    assert problems(some, none, [table]) == ["the table has no rows: check the condition"]
    unique = ExpectedResult(T, "", unique=True)
    twice = file(tmp_path, "e.tsv", "a\tb\n1\t2\n1\t2\n")
    assert problems(unique, "", [twice]) == ["the new table still has duplicate rows"]
    assert problems(ExpectedResult(C, ""), "", [table])
    picture = file(tmp_path, "f.png")
    assert not problems(ExpectedResult(C, ""), "", [picture])
    one = "Wrote f.png: bar chart, 1 points: a 1"
    assert "one point only" in problems(ExpectedResult(C, ""), one, [picture])[0]
    assert not problems(ExpectedResult(X, ""), "", [file(tmp_path, "g.json", "{}")])
    assert not problems(ExpectedResult(F, ""), "", [picture])
    gone = Artifact(Kind.TABLE, path=tmp_path / "gone.csv", name="gone.csv")
    assert not problems(some, "", [gone])
    assert not problems(some, "", [Artifact(Kind.TABLE, text="a", name="x.csv")])


def test_parts_of_lines_are_not_whole_lines(tmp_path: Path) -> None:
    (wanted,) = expected_results("Extract the names into a csv", ["a.txt"])
    (lines,) = expected_results("Extract all lines with names into a csv", ["a.txt"])
    given = [file(tmp_path, "a.txt", "Here is one Ann\nHere is one Bo\n")]
    whole = [file(tmp_path, "b.csv", "value\nHere is one Ann\nHere is one Bo\n")]
    part = [file(tmp_path, "c.csv", "value\nAnn\nBo\n")]
    assert [problem for _, problem in missing([wanted], "", whole, given)] == [
        "the cells are whole lines: take out only the part, with re.findall"
    ]
    assert not list(missing([wanted], "", part, given))
    marks = [file(tmp_path, "d.csv", 'value\nAnn,\n"Bo."\nCem;\n'.replace("Ann,", '"Ann,"'))]
    assert "end with a comma" in next(missing([wanted], "", marks, given))[1]
    assert not list(missing([lines], "", whole, given))


@pytest.mark.parametrize(
    ("goal", "rows", "column"),
    [
        ("Write the revenue per product to r.csv", "Product_ID,n\nP1,1\nP1,2\n", "Product_ID"),
        ("Write the revenue per product to r.csv", "product,n\nP1,1\nP2,1\n", ""),
        ("Write the total of sales by region to r.csv", "region,n\nA,1\nA,2\n", "region"),
        ("Sort by region and save it as r.csv", "region,n\nA,1\nA,2\n", ""),
        ("Sales per day and region to r.csv", "day,region,n\n1,A,1\n1,B,2\n", ""),
        ("Sales per hour to r.csv", "when,n\n1,1\n1,2\n", ""),
    ],
)
def test_groups_are_put_together(tmp_path: Path, goal: str, rows: str, column: str) -> None:
    wanted = expected_results(goal, ["a.csv"])
    told = [problem for _, problem in missing(wanted, "x", [file(tmp_path, "r.csv", rows)])]
    assert told == (
        [f"{column} repeats: put all rows of the same {column} together first"] if column else []
    )


@pytest.mark.parametrize(
    ("goal", "printed", "wrong"),
    [
        ("What were the sales in March?", "120.5", True),
        ("What were the sales in March?", "33", False),
        ("How much did North sell?", "On average 12.05", True),
        ("How much was sold?", "120.5", False),
        ("Which quarter sold most, and how much was it?", "120.5", False),
    ],
)
def test_a_part_is_not_the_whole(goal: str, printed: str, wrong: bool) -> None:
    brief = (
        "- region: text, one of: North, South; 1 cells are empty\n"
        "- n: number, 1 to 20; in all 120.5, on average 12.05; 2 cells are empty"
    )
    found = list(missing(expected_results(goal, ["a.csv"]), printed, [], [], brief))
    assert bool(found) is wrong
    assert not wrong or found[0][1].startswith("that is the value of all rows: use only those of")


def test_each_picture_is_written_in_the_format_that_is_asked_for(tmp_path: Path) -> None:
    given = ["a.png", "b.png"]
    (wanted,) = expected_results("Shrink every picture and save them as JPEG.", given)
    one, two = file(tmp_path, "a.jpg"), file(tmp_path, "b.jpeg")

    def told(*made: Artifact) -> list[str]:
        return [problem for _, problem in missing([wanted], "2 pictures", made)]

    assert not told(one, two)
    assert told(one) == ["1 of 2 files were written: write all of them"]
    assert told(file(tmp_path, "c.png")) == ["the files must end with .jpg"]
    assert expected_results("Turn each photo into a PNG", given)[0].suffixes == (".png",)
    assert expected_results("Rotate each photo", ["a.png"])[0].suffixes == ()


@pytest.mark.parametrize(
    ("code", "invented"),
    [
        ('if row["city"] == "Ulm": print("Bonn")', ()),
        ('total = by_name["Bo"]', ("Bo",)),
        ('x = by_name.get("Bo")', ("Bo",)),
        ('line.startswith("Jena")', ("Jena",)),
        ('x = [r for r in rows if r["City"] in ("Jena", "Ulm")]', ("Jena",)),
        ('print("Bo", len("Jena"))', ()),
        ('if row["day"] == "2024": pass', ()),
        ("if", ()),
    ],
)
def test_values_that_a_script_invents(code: str, invented: tuple[str, ...]) -> None:
    words = {"ulm", "jena", "bo", "bonn", "city"}
    brief = "- City: text, one of: Ulm, Jena"
    assert invented_values(code, "How much was sold in Ulm?", words, brief) == invented


def same(one: str, two: str, words: Sequence[str] = ("north", "south")) -> bool:
    return agree((one, ()), (two, ()), [ExpectedResult(A, "")], words)


def test_answers_are_compared_by_numbers_and_names() -> None:
    assert same("North: 1,204.50", "It is North with 1204.5 euros.")
    assert not same("North: 1204", "North: 1300")
    assert not same("North: 1204", "South: 1204")
    assert same("North", "North 12 and South 3")
    assert not same("best", "the best is 12")
    assert same("Best is North.", "North is best.")
    assert not same("Best is North.", "Best is South.")
    assert not same("yes", "")


def test_charts_tables_and_texts_are_compared(tmp_path: Path) -> None:
    want = [ExpectedResult(T, "")]

    def alike(
        one: str,
        two: str,
        made: Sequence[Artifact] = (),
        other: Sequence[Artifact] = (),
        expected: Sequence[ExpectedResult] = want,
    ) -> bool:
        return agree((one, made), (two, other), expected, ())

    draws, texts = [ExpectedResult(C, "")], [ExpectedResult(X, "")]
    bar = "Wrote {}.png: bar chart, 2 points: a 1; b {}"
    assert alike(bar.format("x", 2), bar.format("y", 2), expected=draws)
    assert not alike(bar.format("x", 2), bar.format("y", 3), expected=draws)
    assert not alike(bar.format("x", 2), "", expected=draws)
    beside = f"Wrote t.csv: 2 rows, columns a\n{bar.format('x', 2)}"
    assert alike(beside, bar.format("y", 2), expected=draws)
    assert alike(bar.format("x", 2), "")  # nobody asked for it
    one = file(tmp_path, "a.csv", "name,n\nx,1.0\ny,2\n")
    two = file(tmp_path, "b.csv", "N,NAME,more\n2,Y,3\n1,X,4\n")
    other = file(tmp_path, "c.csv", "name,n\nx,1\ny,3\n")
    longer = file(tmp_path, "d.csv", "name,n\nx,1\ny,2\nz,3\n")
    assert alike("", "", [one], [two])
    assert not alike("", "", [one], [other])
    assert not alike("", "", [one], [longer])
    assert not alike("", "", [one], [])
    book = file(tmp_path, "e.xlsx")
    wrote = "Wrote e.xlsx: {} rows, columns a"
    assert alike(wrote.format(3), wrote.format(3), [book], [book])
    assert not alike(wrote.format(3), wrote.format(4), [book], [book])
    few, many = file(tmp_path, "a.md", "one two three"), file(tmp_path, "b.md", "four two five six")
    assert not alike("", "", [few], [many], texts)
    left, right = file(tmp_path, "a.txt", "3 words"), file(tmp_path, "b.txt", "4 words")
    assert alike("", "", [left], [left], texts)
    assert not alike("", "", [left], [right], texts)
    assert not alike("", "", [left], [], [ExpectedResult(F, "")])
    gone = Artifact(Kind.TEXT, path=tmp_path / "gone.txt", name="gone.txt")
    both = [gone, text_artifact("x")]
    assert alike("", "", both, both, texts)


def test_words_by_which_results_differ(tmp_path: Path) -> None:
    table = file(tmp_path, "towns.csv", "Town,Who\nUlm,Berta Brot\n")
    text = file(tmp_path, "weekend.txt", "Then met Anna in room B12.\n")
    gone = Artifact(Kind.TEXT, path=tmp_path / "gone.txt", name="gone.txt")
    files = {"towns.csv": table, "weekend.txt": text, "gone.txt": gone}
    files["photo.png"] = file(tmp_path, "photo.png")
    files["text"] = text_artifact("From Zoe")
    words = data_words(files)
    assert {"towns", "ulm", "berta", "brot", "weekend", "anna", "b12", "zoe", "photo"} <= words
    assert not {"town", "who", "met", "room"} & words
