"""Whether what goals ask for is there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.expected_results import (
    ExpectedResult,
    ResultKind,
    expected_results,
)
from jarvis_desktop.assistant.agent.goal_checks import missing
from jarvis_desktop.core.artifact import Artifact, Kind
from tests.assistant.agent.workplace import file

A, C, T, X, F = ResultKind


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
    assert problems(unique, "", [twice]) == [
        "the new table still has duplicate rows: if row not in new: new.append(row)"
    ]
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
        ("Write a file for each region, such as r.csv", "region,n\nA,1\nA,2\n", ""),
        ("Split it into one table per region: r.csv", "region\nA\n", ""),
    ],
)
def test_groups_are_put_together(tmp_path: Path, goal: str, rows: str, column: str) -> None:
    wanted = expected_results(goal, ["a.csv"])
    told = [problem for _, problem in missing(wanted, "x", [file(tmp_path, "r.csv", rows)])]
    assert told == (
        [f"{column} repeats: add up in a dict, d[{column}] = d.get({column}, 0) + value"]
        if column
        else []
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


def wrong(goal: str, *made: Artifact, given: Sequence[Artifact] = (), printed: str = "x 1") -> str:
    """The first problem of what was made for a goal; "" if there is none."""
    names = [item.title for item in given] or ["a.csv"]
    found = [problem for _, problem in missing(expected_results(goal, names), printed, made, given)]
    return found[0] if found else ""


@pytest.mark.parametrize(
    ("goal", "rows", "problem"),
    [
        (
            "Count errors per hour in r.csv",
            "when,n\n08:10,1\n08:20,2",
            "08:10 and 08:20 are the same",
        ),
        ("Count errors per hour in r.csv", "when,n\n08:00,1\n09:00,2", ""),
        ("Count errors per hour in r.csv", "hour,n\n8,1\n9,2", ""),
        (
            "Write the sales of each month to r.csv",
            "when,n\n2024-01-03,1\n2024-01-04,2",
            "2024-01-03 and 2024-01-04 are the same month",
        ),
        ("Write the sales of each month to r.csv", "when,n\n2024-01-03,1\n2024-02-04,2", ""),
        (
            "Write the sales by month and shop to r.csv",
            "when,shop,n\n2024-01,A,1\n2024-01,B,2",
            "",
        ),
        ("Write the sales of each year to r.csv", "when,n\n2024-01,1\n2024-02,2", ""),
        (
            "Write daily sales to r.csv",
            "d,n\n2024-01-03 10:00,1\n2024-01-03 11:00,2",
            "the same day",
        ),
    ],
)
def test_periods_are_put_together(tmp_path: Path, goal: str, rows: str, problem: str) -> None:
    found = wrong(goal, file(tmp_path, "r.csv", rows))
    assert problem in found
    assert bool(problem) == bool(found)


def test_a_cell_holds_one_value(tmp_path: Path) -> None:
    table = file(tmp_path, "r.csv", "k,n\n\"('a', 3)\",1\nb,2\n")
    assert wrong("Write a table r.csv", table).startswith("a cell holds a list or a dict")


def test_groups_are_all_written(tmp_path: Path) -> None:
    goal = "Write the sales of each region to r.csv"
    told = "the table needs a row for each group"
    assert told in wrong(goal, file(tmp_path, "r.csv", "region,n\nA,1"))
    assert told in wrong(goal, file(tmp_path, "r.csv", 'v\n"A,1"\n"B,2"'))


def test_a_chart_has_each_period_once(tmp_path: Path) -> None:
    picture = file(tmp_path, "c.png")
    told = "Wrote c.png: bar chart, 2 points: 2024-01-0{} 5; 2024-0{}-09 6"
    goal = "Draw a chart of the sales per month"
    assert "the same month" in wrong(goal, picture, printed=told.format(1, 1))
    assert not wrong(goal, picture, printed=told.format(1, 2))


@pytest.mark.parametrize(
    ("goal", "rows", "problem"),
    [
        ("Write r.csv, highest first", "k,n\na,1\nb,3", "sort them by the highest first"),
        ("Write r.csv, highest first", "k,n\na,3\nb,1,000".replace("1,000", "1"), ""),
        ("Write r.csv, the smallest first", "k,n\nb,3\na,1", "sort them by the lowest first"),
        ("Write r.csv sorted by name", "Name,n\nb,3\na,1\nc,2", "sort them by name"),
        ("Write r.csv sorted by name", "Name,n\na,3\nb,9\nc,2", ""),
        ("Write r.csv sorted by colour", "Name,n\na,3\nb,9\nc,2", ""),
        ("Write a table r.csv", "k,n\nb,3\na,9\nc,1", ""),
    ],
)
def test_rows_are_in_the_order_of_the_goal(
    tmp_path: Path, goal: str, rows: str, problem: str
) -> None:
    found = wrong(goal, file(tmp_path, "r.csv", rows))
    assert problem in found
    assert bool(problem) == bool(found)


def test_tables_that_are_put_together_keep_their_rows(tmp_path: Path) -> None:
    given = [file(tmp_path, f"{name}.csv", "k,n\na,1\nb,2") for name in ("one", "two")]
    short = file(tmp_path, "all.csv", "k,n\na,1\nb,2\na,1")
    whole = file(tmp_path, "whole.csv", "k,n\na,1\nb,2\na,1\nb,2")
    told = "the 2 files have 4 rows in all, the new table has 3"
    assert wrong("Merge the files in all.csv", short, given=given) == told
    assert not wrong("Merge the files in whole.csv", whole, given=given)
    assert not wrong("Merge the files in all.csv without empty lines", short, given=given)
    assert not wrong("Sort the files into all.csv", short, given=given)
    assert not wrong("Merge the files in all.csv", short, given=given[:1])
    names = file(tmp_path, "all.csv", "k,n\na,1\nk,n\nb,2\na,1")
    assert "names of the columns" in wrong("Merge the files in all.csv", names, given=given)


def test_groups_differ_in_more_than_case(tmp_path: Path) -> None:
    table = file(tmp_path, "r.csv", "answer,n\nyes,1\nYes,2")
    told = "yes and Yes are the same: compare with .lower()"
    assert wrong("Write the number of people by answer to r.csv", table) == told
    assert not wrong("Write a table r.csv", table)
    names = file(tmp_path, "r.csv", "n,answer\n2,yes\n2,no")
    assert not wrong("Write the number of people by answer to r.csv", names)


def test_words_are_clean(tmp_path: Path) -> None:
    goal = "Write the most frequent words to w.txt"
    assert "is a word with a mark" in wrong(goal, file(tmp_path, "w.txt", "river: 3\nstone.: 2"))
    both = file(tmp_path, "w.txt", "river: 3\nRiver: 2")
    assert wrong(goal, both) == "river and River are one word: use text.lower() first"
    assert not wrong(goal, file(tmp_path, "w.txt", "river: 3\nstone: 2"))
    assert not wrong("Write the names to w.txt", file(tmp_path, "w.txt", "Dr. 3"))
    short = file(tmp_path, "w.txt", "the, 3\nstone, 2")
    told = '"the" is too short: take words of 4 or more letters, \\w{4,}'
    assert wrong("Write words with more than three letters to w.txt", short) == told
    assert not wrong("Write words of at least 3 letters to w.txt", short)


def test_items_are_whole(tmp_path: Path) -> None:
    given = [file(tmp_path, "a.txt", "TODO Ann: call Bo.\nWe met.\nTODO Cem: buy tea\n")]
    goal = "Collect the TODO items in t.md"
    cut = file(tmp_path, "t.md", "# Items\n- Ann\n- Cem\n")
    assert wrong(goal, cut, given=given).startswith("the items are cut off: keep whole lines")
    whole = file(tmp_path, "t.md", "- Ann: call Bo\n- [ ] buy tea\n")
    assert not wrong(goal, whole, given=given)
    assert not wrong("Write the names to t.md", file(tmp_path, "t.md", "Ann\nCem\n"), given=given)


def test_all_headings_are_listed(tmp_path: Path) -> None:
    given = [file(tmp_path, "a.md", "# Tea\nHot.\n## Green tea\n#### Black\n#none\n")]
    some = file(tmp_path, "t.txt", "Green tea\nBlack\n")
    assert wrong("Write all the headings to t.txt", some, given=given).startswith("headings are")
    assert wrong("Schreibe alle Überschriften in t.txt", some, given=given)
    assert not wrong("Write the short headings to t.txt", some, given=given)
    every = file(tmp_path, "t.txt", "# Tea\n## Green tea\n#### Black\n")
    assert not wrong("Write all the headings to t.txt", every, given=given)


def test_a_file_is_written_once(tmp_path: Path) -> None:
    printed = "Wrote t.md: 1 lines\nWrote t.md: 1 lines"
    told = "t.md was written again and again: write it after the loop"
    assert wrong("Write the names to t.md", file(tmp_path, "t.md"), printed=printed) == told


def test_parts_are_of_the_kind_that_is_asked_for(tmp_path: Path) -> None:
    text = file(tmp_path, "a.txt", "mail to a@b.org today")
    goal = "Extract all e-mail addresses into a csv"
    more = file(tmp_path, "m.csv", "m\nto a@b.org\n")
    assert "have more than the e-mail address" in wrong(goal, more, given=[text])
    assert not wrong(goal, file(tmp_path, "m.csv", "m\na@b.org\n"), given=[text])


@pytest.mark.parametrize(
    ("goal", "answer", "problem"),
    [
        ("Which region sold most?", "The best sold 12.", "the answer names no region"),
        ("Which region sold most?", "North sold 12.", ""),
        ("On which day was it warmest?", "On 2024-01-03 10:00.", "that is a moment, not a day"),
        ("On which day was it warmest?", "On 2024-01-03.", ""),
        ("What percentage said yes?", "Yes: 140", "a percentage is between 0 and 100"),
        ("What percentage said yes?", "Yes: 40", ""),
        ("What was the average of worker 2?", "No worker 2.", "the answer has no number"),
        ("What was the average of worker 2?", "Worker 2: 0 ms", "the result is 0"),
        ("What was the average of worker 2?", "Worker 2: 12 ms", ""),
    ],
)
def test_answers_fit_the_question(goal: str, answer: str, problem: str) -> None:
    brief = "- region: text, one of: North, South"
    found = [told for _, told in missing(expected_results(goal, ["a.csv"]), answer, [], [], brief)]
    assert (found[0].startswith(problem) if problem else not found) is True
