"""Texts that are split at their chapters, and tables that become a file for each of something."""

from __future__ import annotations

from pathlib import Path

import pytest
from docx import Document
from openpyxl import Workbook, load_workbook

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Value
from jarvis_desktop.tasks.formats.cut import CUT_FILE, cut_file
from tests.tasks.calls import call_of, quiet

TOWNS = """name;town;joined;paid
Ann;Ulm;2024-01-31;7,50
Bob;ulm ;2024-02-01;8,00
Cy;Bonn;2024-02-28;009
Di;;2025-02-01;1
"""


def split(path: Path, kind: Kind, **options: Value) -> list[Artifact]:
    item = Artifact(kind, path=path, name=path.name)
    call = call_of(CUT_FILE.type, path.parent / "w", file=item, action="split", **options)
    return list(cut_file(call, quiet))


def texts(made: list[Artifact]) -> dict[str, str]:
    return {item.title: item.path.read_text("utf-8") for item in made if item.path}


@pytest.fixture
def towns(tmp_path: Path) -> Path:
    path = tmp_path / "members.csv"
    path.write_text(TOWNS, "utf-8")
    return path


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("town", {"Ulm": "AnnBob", "Bonn": "Cy", "empty": "Di"}),
        ("month", {"2024-01": "Ann", "2024-02": "BobCy", "2025-02": "Di"}),
        ("year", {"2024": "AnnBobCy", "2025": "Di"}),
        ("3 rows", {"1": "AnnBobCy", "2": "Di"}),
    ],
)
def test_a_table_is_split(towns: Path, by: str, expected: dict[str, str]) -> None:
    made = texts(split(towns, Kind.TABLE, by=by))
    rows = {name: text.splitlines() for name, text in made.items()}
    assert {lines[0] for lines in rows.values()} == {TOWNS.splitlines()[0]}
    assert all(line in TOWNS.splitlines() for lines in rows.values() for line in lines)
    names = {
        name: "".join(line.split(";")[0] for line in lines[1:]) for name, lines in rows.items()
    }
    assert names == {f"members-{name}.csv": people for name, people in expected.items()}


def test_a_table_is_split_into_equal_parts(towns: Path) -> None:
    made = texts(split(towns, Kind.TABLE, parts=2))
    assert [len(text.splitlines()) for text in made.values()] == [3, 3]


def test_a_workbook_stays_one(tmp_path: Path) -> None:
    book = Workbook()
    assert book.active
    for row in (["town", "paid"], ["Ulm", 3], ["Bonn", 4], ["Ulm", 5]):
        book.active.append(row)
    book.save(tmp_path / "paid.xlsx")
    made = split(tmp_path / "paid.xlsx", Kind.TABLE, by="town")
    assert [item.title for item in made] == ["paid-Ulm.xlsx", "paid-Bonn.xlsx"]
    sheet = load_workbook(made[0].path or "").active
    assert sheet
    assert [*sheet.values] == [("town", "paid"), ("Ulm", 3), ("Ulm", 5)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": "street"}, "The table has no column that “street” names"),
        ({}, "Say what each part of members.csv is for"),
    ],
)
def test_tables_that_are_not_split(towns: Path, options: dict[str, Value], said: str) -> None:
    with pytest.raises(InputError, match=said):
        split(towns, Kind.TABLE, **options)


def test_a_table_does_not_become_hundreds_of_files(tmp_path: Path) -> None:
    path = tmp_path / "ids.csv"
    path.write_text("\n".join(["id", *map(str, range(300))]))
    with pytest.raises(InputError, match="more than 200 files"):
        split(path, Kind.TABLE, by="id")


BOOK = """The Sea
Contents
Chapter 1: Land
Chapter 2

Chapter 1: Land
As in chapter 2 below,
Chapter 2 is better, they say, but nobody knows for sure whether that is so, and nobody ever will, \
for as long as there are books about chapters.
Chapter 2
Water.
"""


def test_a_book_is_split_at_its_chapters(tmp_path: Path) -> None:
    (tmp_path / "sea.txt").write_text(BOOK)
    made = texts(split(tmp_path / "sea.txt", Kind.DOCUMENT))
    assert [*made] == ["sea-1.txt", "sea-Chapter 1 Land.txt", "sea-Chapter 2.txt"]
    assert "".join(made.values()).split() == BOOK.split()
    assert made["sea-Chapter 2.txt"] == "Chapter 2\nWater.\n"


def test_markdown_is_split_at_its_highest_headings(tmp_path: Path) -> None:
    text = "# Guide\n\n## Start\n```\n# a comment\n```\n### Deep\nYes.\n"
    (tmp_path / "guide.md").write_text(f"{text}## Start\nAgain.\n## End?\nNo.\n")
    made = texts(split(tmp_path / "guide.md", Kind.DOCUMENT))
    assert [*made] == ["guide-1.md", "guide-Start.md", "guide-End.md"]
    assert "# a comment" in made["guide-1.md"], (
        "of two headings with the same words the last counts"
    )


def test_numbered_headings(tmp_path: Path) -> None:
    text = "1. Aims\nWe walk.\n2. and this is only a line of a list\n\n2 Means\nShoes.\n"
    (tmp_path / "plan.txt").write_text(text)
    assert [*texts(split(tmp_path / "plan.txt", Kind.DOCUMENT))] == [
        "plan-1 Aims.txt", "plan-2 Means.txt",
    ]  # fmt: skip


def test_word_documents_keep_their_form(tmp_path: Path) -> None:
    book = Document()
    book.add_heading("All", 0)
    for name in ("One", "Two"):
        book.add_heading(name, 1)
        book.add_paragraph(f"About {name}.").runs[0].bold = True
    book.save(str(tmp_path / "book.docx"))
    made = split(tmp_path / "book.docx", Kind.DOCUMENT)
    assert [item.title for item in made] == ["book-1.docx", "book-One.docx", "book-Two.docx"]
    last = Document(str(made[2].path))
    assert [each.text for each in last.paragraphs if each.text] == ["Two", "About Two."]
    assert any(run.bold for each in last.paragraphs for run in each.runs)


@pytest.mark.parametrize(
    ("options", "sizes"),
    [({"by": "2 lines"}, [4, 4, 2]), ({"by": "5 words"}, [6, 4]), ({"parts": 2}, [6, 4])],
)
def test_a_text_is_split_by_its_length(
    tmp_path: Path, options: dict[str, Value], sizes: list[int]
) -> None:
    (tmp_path / "list.txt").write_text("one two\n" * 5)
    made = texts(split(tmp_path / "list.txt", Kind.DOCUMENT, **options))
    assert [len(text.split()) for text in made.values()] == sizes


def test_a_text_does_not_become_hundreds_of_files(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("one two\n" * 300)
    with pytest.raises(InputError, match="more than 200 files"):
        split(tmp_path / "list.txt", Kind.DOCUMENT, by="1 lines")


def test_a_text_without_headings(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("one two\n" * 5)
    with pytest.raises(InputError, match="no chapters or headings"):
        split(tmp_path / "list.txt", Kind.DOCUMENT)


def test_only_pages_and_seconds_are_cut_out(towns: Path) -> None:
    item = Artifact(Kind.TABLE, path=towns, name="members.csv")
    with pytest.raises(InputError, match=r"members\.csv cannot be cut"):
        list(cut_file(call_of(CUT_FILE.type, towns.parent / "w", file=item, pages="2"), quiet))
