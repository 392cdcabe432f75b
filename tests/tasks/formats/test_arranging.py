"""Lists of files, and copies of them under new names or in folders."""

from __future__ import annotations

import csv
import os
import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.formats.arranging import ARRANGE_FILES, arrange
from tests.tasks.calls import call_of, quiet


def given(folder: Path, contents: dict[str, str], *, sources: bool = True) -> list[Artifact]:
    """Files in the store, with those of the user that they are copies of; each is a day younger."""
    items = []
    for number, (name, text) in enumerate(contents.items(), 1):
        own = folder / "own" / name
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(text, "utf-8")
        day = datetime(2026, 1, number, 12).timestamp()
        os.utime(own, (day, day))
        path = folder / f"stored{number}"
        path.write_text(text, "utf-8")
        kind = kind_of_name(name) or Kind.DOCUMENT
        items.append(Artifact(kind, path=path, name=own.name, source=own if sources else None))
    return items


def asked(folder: Path, wish: str, items: list[Artifact]) -> list[Artifact]:
    before = {item.path: item.path.read_bytes() for item in items if item.path}
    call = call_of(ARRANGE_FILES.type, folder / "work", files=items, wish=wish)
    made = list(arrange(call, quiet))
    assert {path: path.read_bytes() for path in before} == before
    return made


def told(folder: Path, wish: str, items: list[Artifact]) -> str:
    (made,) = asked(folder, wish, items)
    return made.text or ""


FILES = {"b.txt": "same", "a 10.csv": "x" * 50, "a 9.jpg": "same", "note_2025-02-03.txt": "y" * 9}


def test_files_of_the_same_content_are_found_under_any_name(tmp_path: Path) -> None:
    items = given(tmp_path, FILES)
    assert told(tmp_path, "Which files are identical?", items) == "- b.txt, a 9.jpg are the same."
    assert (
        told(tmp_path, "find duplicate files", items[1:]) == "No two of the 3 files are the same."
    )


@pytest.mark.parametrize(
    ("wish", "names"),
    [
        ("the two largest files", ["a 10.csv", "note_2025-02-03.txt"]),
        ("which file is the biggest", ["a 10.csv"]),
        ("smallest files", ["a 9.jpg", "b.txt", "note_2025-02-03.txt", "a 10.csv"]),
        ("the newest 2 files", ["note_2025-02-03.txt", "a 9.jpg"]),
        ("the oldest document", ["b.txt"]),
    ],
)
def test_the_foremost_files_are_listed(tmp_path: Path, wish: str, names: list[str]) -> None:
    lines = told(tmp_path, wish, given(tmp_path, FILES)).splitlines()
    assert [line[2:].partition(":")[0] for line in lines] == names


def test_a_list_is_a_table(tmp_path: Path) -> None:
    items = given(tmp_path, {"plan.csv": "12345", "drafts/=one.txt": "123"})
    table, text = asked(tmp_path, "make a table of all files", items)
    assert table.path
    with table.path.open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [
            ["name", "folder", "kind", "bytes", "changed"],
            ["plan.csv", ".", "csv", "5", "2026-01-01 12:00"],
            ["=one.txt", "drafts", "txt", "3", "2026-01-02 12:00"],
        ]
    assert text.text == "2 files, 8 bytes."
    table, _ = asked(tmp_path, "list the files", given(tmp_path, {"a.txt": "1"}, sources=False))
    assert table.path
    assert table.path.read_text("utf-8").splitlines()[1] == "a.txt,txt,1,"


def test_titles_are_those_of_the_documents(tmp_path: Path) -> None:
    from fpdf import FPDF

    items = given(tmp_path, {"a.md": "\n# The Sea #\n\nIt is wide.", "b.pdf": "", "c.pdf": ""})
    for item, title in zip(items[1:], ("On Trees", "Microsoft Word - x.docx"), strict=True):
        pdf = FPDF()
        pdf.set_title(title)
        pdf.add_page()
        pdf.set_font("helvetica", size=20)
        pdf.cell(0, 10, "A first line")
        assert item.path
        pdf.output(str(item.path))
    assert told(tmp_path, "the titles of these papers", items).splitlines() == [
        "The Sea", "On Trees", "A first line"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("wish", "names"),
    [
        ("rename them to trip_01.jpg, trip_02.jpg",
         {"a 9.jpg": "trip_01.jpg", "a 10.csv": "trip_02.csv", "b.txt": "trip_03.txt",
          "note_2025-02-03.txt": "trip_04.txt"}),
        ("rename all files to x7, x8 and so on by date",
         {"note_2025-02-03.txt": "x7.txt", "b.txt": "x8.txt", "a 10.csv": "x9.csv",
          "a 9.jpg": "x10.jpg"}),
        ("replace spaces with underscores in the file names",
         {"a 10.csv": "a_10.csv", "a 9.jpg": "a_9.jpg"}),
        ("In all file names replace the blanks by hyphens",
         {"a 10.csv": "a-10.csv", "a 9.jpg": "a-9.jpg"}),
        ("rename: replace “note” by “memo”", {"note_2025-02-03.txt": "memo_2025-02-03.txt"}),
        ("put old- in front of each file name",
         {name: f"old-{name}" for name in FILES}),
        ("rename the files: put the date in front of the name",
         {"b.txt": "2026-01-01 b.txt", "a 10.csv": "2026-01-02 a 10.csv",
          "a 9.jpg": "2026-01-03 a 9.jpg", "note_2025-02-03.txt": "2025-02-03 note.txt"}),
    ],
)  # fmt: skip
def test_copies_get_new_names(tmp_path: Path, wish: str, names: dict[str, str]) -> None:
    items = given(tmp_path, FILES)
    *copies, text = asked(tmp_path, wish, items)
    contents = {item.name: item.path.read_text("utf-8") for item in copies if item.path}
    assert contents == {new: FILES[old] for old, new in names.items()}
    assert all(f"- {old} → {new}" in (text.text or "") for old, new in names.items())


def test_names_in_small_letters(tmp_path: Path) -> None:
    copy, _ = asked(tmp_path, "rename it to lower case", given(tmp_path, {"A.TXT": "a"}))
    assert copy.name == "a.txt"


@pytest.mark.parametrize(
    ("wish", "folders"),
    [
        ("sort them into folders by kind",
         {"documents/b.txt", "tables/a 10.csv", "pictures/a 9.jpg",
          "documents/note_2025-02-03.txt"}),
        ("a folder for each month",
         {"2026-01/b.txt", "2026-01/a 10.csv", "2026-01/a 9.jpg", "2025-02/note_2025-02-03.txt"}),
        ("into folders by year",
         {"2026/b.txt", "2026/a 10.csv", "2026/a 9.jpg", "2025/note_2025-02-03.txt"}),
        ("put them in folders by day",
         {"2026-01-01/b.txt", "2026-01-02/a 10.csv", "2026-01-03/a 9.jpg",
          "2025-02-03/note_2025-02-03.txt"}),
        ("one folder per file extension",
         {"txt/b.txt", "csv/a 10.csv", "jpg/a 9.jpg", "txt/note_2025-02-03.txt"}),
        ("subfolders by first letter",
         {"B/b.txt", "A/a 10.csv", "A/a 9.jpg", "N/note_2025-02-03.txt"}),
    ],
)  # fmt: skip
def test_copies_are_put_into_folders(tmp_path: Path, wish: str, folders: set[str]) -> None:
    made, text = asked(tmp_path, wish, given(tmp_path, FILES))
    assert made.path
    with zipfile.ZipFile(made.path) as archive:
        assert set(archive.namelist()) == folders
        assert {archive.read(name).decode() for name in folders} == set(FILES.values())
    assert (text.text or "").startswith("These are copies")


def test_no_file_replaces_another(tmp_path: Path) -> None:
    items = given(tmp_path, {"one/a.txt": "1", "two/a.txt": "2", "two/A.txt": "3"})
    made, _ = asked(tmp_path, "into folders by kind", items)
    assert made.path
    with zipfile.ZipFile(made.path) as archive:
        assert sorted(archive.read(name) for name in archive.namelist()) == [b"1", b"2", b"3"]
    with pytest.raises(InputError, match="the same name"):
        asked(tmp_path, "rename: replace a with b", items)


def test_hostile_names_leave_no_folder(tmp_path: Path) -> None:
    (item,) = given(tmp_path, {"a.txt": "1"})
    hostile = Artifact(Kind.DOCUMENT, path=item.path, name="../../etc/x.txt")
    made, _ = asked(tmp_path, "into folders by kind", [hostile])
    assert made.path
    with zipfile.ZipFile(made.path) as archive:
        assert archive.namelist() == ["documents/.._.._etc_x.txt"]
    with pytest.raises(InputError, match="is not a valid file name"):
        asked(tmp_path, "put ../../ in front of each file name", [item])


@pytest.mark.parametrize(
    ("wish", "error", "message"),
    [
        ("paint the files", ExpertError, "what is to be done with the files"),
        ("rename the files nicely", ExpertError, "the new names"),
        ("rename the files to something better", ExpertError, "the new names"),
        ("into folders by taste", ExpertError, "which folders"),
        ("the newest files", InputError, r"not known when b\.txt was changed"),
        ("a folder for each month", InputError, r"b\.txt has no date"),
        ("rename them to x1, x2 by date", InputError, r"b\.txt has no date"),
        ("rename the files: put the date before the name", InputError, r"b\.txt has no date"),
        ("rename: replace q with r", InputError, "have these names already"),
    ],
)
def test_what_is_not_clear_is_declined(
    tmp_path: Path, wish: str, error: type[Exception], message: str
) -> None:
    items = given(tmp_path, FILES, sources=False)
    with pytest.raises(error, match=message):
        asked(tmp_path, wish, items)


def test_a_day_that_two_dates_or_none_say_is_not_taken(tmp_path: Path) -> None:
    names = {"2025-01-02 to 2025-03-04.txt": "a", "99999999.txt": "b", "20250231.txt": "c"}
    for item in given(tmp_path, names, sources=False):
        with pytest.raises(InputError, match="has no date"):
            asked(tmp_path, "a folder for each month", [item])


def test_too_many_files_are_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jarvis_desktop.tasks.formats.arranging.MAX_COPIES", 3)
    items = given(tmp_path, FILES)
    for wish in ("into folders by kind", "put x in front of each file name"):
        with pytest.raises(InputError, match="more than 3 files"):
            asked(tmp_path, wish, items)


def test_one_file_is_compared_with_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"only a\.txt to compare"):
        asked(tmp_path, "identical files?", given(tmp_path, {"a.txt": "1"}))


def test_files_are_needed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no files"):
        asked(tmp_path, "list the files", [Artifact(Kind.DOCUMENT, text="a")])
