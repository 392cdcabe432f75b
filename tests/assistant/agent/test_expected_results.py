"""What goals ask for."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.agent.expected_results import (
    ExpectedResult,
    ResultKind,
    clauses,
    expected_results,
    format_expected,
    instructions,
)

A, C, T, X, F = ResultKind


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
        ("Make these photos grey and save them as PNG", ["a.jpg", "b.jpg"], [F]),
        ("Count the words of each text and write them to a.csv", ["a.txt"], [T]),
        ("Count the words of each text and draw a chart", ["a.txt"], [C, A]),
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
