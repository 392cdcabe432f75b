"""What is read of a wish for a text, and what becomes of the lines."""

from __future__ import annotations

import pytest

from jarvis_desktop.text.line_edits import edit_text, read_edits

TEXT = "Tea\n\n# Head one ##\n#hash\nMr Smith\nMr Smith\napple tea\n"


@pytest.mark.parametrize(
    ("wish", "lines"),
    [
        (
            "Replace Mr Smith with Mr Jones everywhere in the letter and save it as b.txt",
            ["Tea", "", "# Head one ##", "#hash", "Mr Jones", "Mr Jones", "apple tea"],
        ),
        (
            "ersetze „Mr Smith“ durch „Herr, Frau“",
            ["Tea", "", "# Head one ##", "#hash", "Herr, Frau", "Herr, Frau", "apple tea"],
        ),
        ("Write all the headings of the handbook to outline.txt", ["Head one"]),
        (
            "Sort the lines by name, without the empty lines, and remove duplicates",
            ["# Head one ##", "#hash", "apple tea", "Mr Smith", "Tea"],
        ),
        (
            "remove the blank lines and sort these lines in reverse",
            ["Tea", "Mr Smith", "Mr Smith", "apple tea", "#hash", "# Head one ##"],
        ),
        ("please keep only the lines that contain tea", ["Tea", "apple tea"]),
        ("list all the lines that mention tea", ["Tea", "apple tea"]),
        ("filter it so that only the lines with tea remain", ["Tea", "apple tea"]),
        ("only the lines with Smith are left, number the others", ["1. Mr Smith", "2. Mr Smith"]),
        (
            "sort these lines in alphabetical order and delete the duplicates, and no blank lines",
            [],
        ),
        (
            "Sort the entries of these notes alphabetically, drop the repeated lines",
            ["", "# Head one ##", "#hash", "apple tea", "Mr Smith", "Tea"],
        ),
        (
            "In all of these letters replace Mr Smith by Ms Lee",
            ["Tea", "", "# Head one ##", "#hash", "Ms Lee", "Ms Lee", "apple tea"],
        ),
        (
            "sort the lines of this file from z to a and remove the repeated lines",
            ["Tea", "Mr Smith", "apple tea", "#hash", "# Head one ##", ""],
        ),
        ("Collect all the SMITH items of the letter in smiths.md", ["Mr Smith", "Mr Smith"]),
        ('find the "tea" entries', ["Tea", "apple tea"]),
        (
            'Delete all lines with the word "smith" and delete the blank lines',
            ["Tea", "# Head one ##", "#hash", "apple tea"],
        ),
        ("only the lines with tea, to upper case", ["TEA", "APPLE TEA"]),
        ("nur die Zeilen mit tea in Kleinbuchstaben", ["tea", "apple tea"]),
        ("only the lines with tea in reverse order", []),
        ("only the lines with tea; reverse the lines", ["apple tea", "Tea"]),
        ("keep only the lines with tea, then number the lines", ["1. Tea", "2. apple tea"]),
        ("keep only the lines with tea and number them", ["1. Tea", "2. apple tea"]),
        ("keep only the lines with tea, make everything upper case", ["TEA", "APPLE TEA"]),
        ("keep only the lines with tea, in all caps", ["TEA", "APPLE TEA"]),
    ],
)
def test_a_wish_changes_the_lines(wish: str, lines: list[str]) -> None:
    edits = read_edits(wish)
    assert bool(edits) == bool(lines)
    if lines:
        assert edit_text(TEXT, edits).split("\n") == [*lines, ""]


@pytest.mark.parametrize(
    "wish",
    [
        "sort the lines by length",
        "Replace the third word with foo and count the lines",
        "make it upper case and translate it",
        "number the lines and correct the spelling",
        "what are the headings",
        "",
    ],
)
def test_a_wish_for_something_else_is_not_read(wish: str) -> None:
    assert not read_edits(wish)


def test_the_end_of_the_text_stays_as_it_was() -> None:
    edits = read_edits("number the lines")
    assert edit_text("a\nb", edits) == "1. a\n2. b"
    assert edit_text("a\n", edits) == "1. a\n"
    assert edit_text("", edits) == ""


def test_things_to_do_are_collected() -> None:
    edits = read_edits("list all the todos in my notes")
    assert edit_text("tea\nTODO: call Ann\n", edits) == "TODO: call Ann\n"
