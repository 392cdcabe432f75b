"""The module that scripts import as `jarvis`, here and in the sandbox."""

from __future__ import annotations

import json
from pathlib import Path
from zipfile import ZipFile

import pytest
from PIL import Image

from jarvis_desktop.core.code import Ending
from jarvis_desktop.sandbox.inside.modules import jarvis
from jarvis_desktop.sandbox.profile import Launcher
from tests.sandbox.sessions import LAUNCHERS, bench


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(jarvis, "_given", {"a_b.txt", "c.txt", "d.txt", "e.txt"})
    return tmp_path


def table(text: str, name: str = "a.csv") -> list[dict[str, object]]:
    Path(name).write_text(text)
    return [dict(row) for row in jarvis.read_table(name)]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1", "2"], [1, 2]),
        (["1.5", "2"], [1.5, 2]),
        (["$1,200.50", "7 USD", "3 €"], [1200.5, 7, 3]),
        (["1.234,50", "12,00"], [1234.5, 12.0]),
        (["1,200", "3"], [1200, 3]),
        (["5", "", "n/a"], [5, None, None]),
        (["1", "2", "3", "4", "5", "six"], [1, 2, 3, 4, 5, "six"]),
        (["007", "123"], ["007", "123"]),
        (["A", ""], ["A", ""]),
        (["", ""], [None, None]),
        ([" x ", "y"], ["x", "y"]),
        (["Jan 3 2024", "Dec 31 2024"], ["2024-01-03", "2024-12-31"]),
        (["31.12.2024", "01.02.2024"], ["2024-12-31", "2024-02-01"]),
        (["12/31/2024", "02/01/2024"], ["2024-12-31", "2024-02-01"]),
        (["2024-01-02T03:04:05", ""], ["2024-01-02 03:04:05", ""]),
        (["2024-01-02", "3 Feb 2024"], ["2024-01-02", "2024-02-03"]),
        (["20240102", "20241231"], [20240102, 20241231]),
    ],
)
def test_cells_are_what_they_say(cells: list[str], values: list[object]) -> None:
    rows = table("\n".join(["key\tx", *(f"k\t{cell}" for cell in cells)]), "a.tsv")
    assert [row["x"] for row in rows] == values


def test_the_separator_is_found() -> None:
    assert table("a;b\n1,5;2\n") == [{"a": 1.5, "b": 2}]
    assert table("a|b|a\n1|2|3\n4\n") == [
        {"a": 1, "b": 2, "a 3": 3},
        {"a": 4, "b": None, "a 3": None},
    ]
    assert table("") == []


def test_a_column_is_found_whatever_its_case() -> None:
    Path("a.csv").write_text("Unit Price,b\n3,x\n")
    (row,) = jarvis.read_table("a.csv")
    assert row["unit_price"] == 3
    assert row.get("UNIT PRICE") == 3
    assert row.get("none", 5) == 5
    with pytest.raises(KeyError, match="no column 'price'; the columns are Unit Price, b"):
        row["price"]


def test_json_and_excel_are_tables_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert table(json.dumps({"n": 1, "items": [{"a": 1}]}), "a.json") == [{"a": 1}]
    assert table(json.dumps({"a": 1, "b": 2}), "b.json") == [{"a": 1, "b": 2}]
    assert table("3", "c.json") == [{"value": 3}]
    assert table('{"a": 1}\n\n{"a": 2}\n', "d.jsonl") == [{"a": 1}, {"a": 2}]
    rows = jarvis.read_table("d.jsonl")
    for name in ("e.xlsx", "e.json", "e.tsv", "e.csv"):
        jarvis.write_table(name, rows)
        assert jarvis.read_table(name) == rows
    assert "Wrote e.xlsx: 2 rows, columns a; the first row is 1" in capsys.readouterr().out


def test_sheets_of_the_same_columns_are_one_table() -> None:
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "May"
    for sheet, names in ((book.active, ("Ann", "Bo")), (book.create_sheet("June"), ("Cy",))):
        sheet.append(["name", "hours"])
        for name in names:
            sheet.append([name, 2])
    book.create_sheet("Empty")
    book.save("week.xlsx")
    rows = jarvis.read_table("week.xlsx")
    assert [(row["sheet"], row["name"], row["hours"]) for row in rows] == [
        ("May", "Ann", 2), ("May", "Bo", 2), ("June", "Cy", 2),
    ]  # fmt: skip
    book.create_sheet("Notes").append(["read me"])
    book.save("notes.xlsx")
    assert [row["name"] for row in jarvis.read_table("notes.xlsx")] == ["Ann", "Bo"]


def test_rows_come_in_many_forms() -> None:
    def written(rows: object) -> str:
        jarvis.write_table("w.csv", rows)
        return Path("w.csv").read_text()

    assert written({"a": 1}) == "name,value\na,1\n"
    pivot = {"Graz": {"tea": 1, "milk": 2}, "Linz": {"milk": 3}}
    for rows in (pivot, [pivot], list(pivot.items())):
        assert written(rows) == "name,tea,milk\nGraz,1,2\nLinz,,3\n"
    assert written(["x", "y"]) == "value\nx\ny\n"
    assert written([("a", 1), ("b", 2)]) == "name,value\na,1\nb,2\n"
    assert written([["n", "v"], ["a", 1]]) == "n,v\na,1\n"
    assert written([["Name", "City"], ["a", "b"]]) == "Name,City\na,b\n"
    assert written([["a@x.org", "b"], ["c@x.org", "d"]]) == "name,value\na@x.org,b\nc@x.org,d\n"
    assert written([(1, 2, 3)]) == "1,2,3\n1,2,3\n"
    assert written([{"a": None}, {"b": 1}]) == "a,b\n,\n,1\n"
    assert written([]) == "\n"
    films = [{"title": "Up", "about": {"year": 2009}}]
    assert written(films) == "title,about_year\nUp,2009\n"
    jarvis.write_table("w.json", films)
    assert jarvis.read_table("w.json") == films
    jarvis.write_table([{"a": 1}], "turned.csv")
    assert Path("turned.csv").exists()


def test_texts_are_gone_through_by_lines() -> None:
    jarvis.write_text("a.txt", ["one", "two"])
    assert list(jarvis.read_text("a.txt")) == jarvis.read_lines("a.txt") == ["one", "two"]
    jarvis.write_text("b.json", {"a": 1})
    assert json.loads(Path("b.json").read_text()) == {"a": 1}
    Path("c.txt").write_bytes("Grüße".encode("cp1252"))
    assert jarvis.read_text("c.txt") == "Grüße"
    Path("d.txt").write_text("é", encoding="utf-16")
    assert jarvis.read_text("d.txt") == "é"
    Path("e.txt").write_bytes(b"\x81")
    assert jarvis.read_text("e.txt") == "\x81"
    assert jarvis.files("*.txt") == ["c.txt", "d.txt", "e.txt"]  # without what scripts made


def test_lines_of_one_shape_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    Path("talk.txt").write_text("ANNA: Good day.\nBO: Hm.\nANNA: So?\nBO: No.\nANNA: Oh.\n")
    Path("a.log").write_text("".join(f"10.0.0.{at} - - [12/May/2024] GET /x HTTP/1.1 x y 404\n"
                                     for at in range(6)))  # fmt: skip
    jarvis.describe(["talk.txt", "a.log"])
    told = capsys.readouterr().out
    assert 'before the colon, line.split(":")[0], is text, one of: ANNA, BO' in told
    assert "split()[9] is '404'" in told
    assert "talk.txt: text, 5 lines; 1 sentences end with ?" in told


def test_the_name_of_a_file_is_not_its_text() -> None:
    Path("a_b.txt").write_text("some words")
    (name,) = jarvis.files()
    assert name
    assert name.split("_") == ["a", "b.txt"]
    assert Path(name).stem + name[-4:] == "a_b.txt"
    for wrong in (lambda: len(name), lambda: name.split()):
        with pytest.raises(TypeError, match="read it first"):
            wrong()


def test_documents_have_text() -> None:
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    text = "<w:p><w:r><w:t>One</w:t></w:r><w:r><w:t> two</w:t></w:r></w:p><w:p/>"
    with ZipFile("a.docx", "w") as archive:
        archive.writestr("word/document.xml", f'<w:d xmlns:w="{word}">{text}</w:d>')
    assert jarvis.read_text("a.docx") == "One two\n"
    from pypdf import PdfWriter

    writer = PdfWriter()
    writer.add_blank_page(100, 100)
    writer.write("a.pdf")
    assert jarvis.read_text("a.pdf") == ""


def test_what_is_not_there_is_answered_by_what_is() -> None:
    with pytest.raises(AttributeError, match="jarvis has no read_csv; it has chart, files"):
        jarvis.read_csv  # noqa: B018


def colours(name: str) -> int:
    with Image.open(name) as picture:
        return len(picture.convert("RGB").getcolors(1 << 24) or ())


@pytest.mark.parametrize("kind", ["bar", "line", "pie", "scatter", "histogram", "Bar Chart"])
def test_charts_are_drawn(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"month": f"2024-{month:02}", "sales": month * 3.5} for month in range(1, 13)]
    jarvis.chart("c.png", rows, x="month", y="sales", kind=kind, title="Sales")
    assert colours("c.png") > 5
    assert "c.png: " in capsys.readouterr().out


def test_charts_say_what_they_show(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(data: object, **options: object) -> str:
        jarvis.chart("c.png", data, **options)
        return capsys.readouterr().out.removeprefix("Wrote c.png: ").strip()

    assert shown({"a": 1, "b": 2}) == "bar chart, 2 points: a 1; b 2"
    assert shown([("a", 1), ("b", -2)]) == "bar chart, 2 points: a 1; b -2"
    assert shown([3, 4], kind="line") == "line chart, 2 points: 1 3; 2 4"
    assert shown([3, 4], x=["u", "v"]) == "bar chart, 2 points: u 3; v 4"
    rows = [{"k": "a", "n": 1, "m": 5}, {"k": "a", "n": 2, "m": 6}, {"k": "b", "n": None, "m": 7}]
    assert shown(rows) == "bar chart, 2 points: a 11; b 7"
    assert shown(rows, x="k", y="n") == "bar chart, 1 points: a 3"
    assert (
        shown(rows[:2], x="n", y=["n", "m"], kind="line")
        == "line chart, 2 points: 1 1 / 5; 2 2 / 6"
    )
    assert shown(rows, y="m", kind="hist", bins=2) == "histogram chart, 2 points: 5 1; 6 2"
    assert shown({f"a long label {n}": n for n in range(40)}).endswith("; …")
    jarvis.chart({"a": 1, "b": 2}, "turned.png")
    assert Path("turned.png").exists()
    with pytest.raises(ValueError, match="nothing to show"):
        shown([])
    with pytest.raises(ValueError, match="nothing to show"):
        shown([], kind="histogram")
    with pytest.raises(KeyError):
        shown(rows, x="none", y="n")


def test_long_labels_stay_above_the_name_of_the_axis() -> None:
    rows = [{"n": f"United Arab Emirates {number}", "v": number} for number in range(1, 11)]
    jarvis.chart("c.png", rows, x="n", y="v", xlabel=" ")
    with Image.open("c.png") as picture:
        below = picture.crop((0, picture.height - 29, picture.width, picture.height))
        assert below.getcolors() == [(below.width * below.height, (255, 255, 255))]


def test_files_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.csv").write_text(
        "day,who,km,mixed,tags\n"
        "2024-01-02,Ann,3,1,\n2024-01-02,Ann,3,1,\n2024-01-03,Bo,,2,\n"
        "2024-01-04,Bo,4,3,\n2024-01-05,Bo,5,4,\n2024-01-05,Bo,6,5,\n2024-01-06,Bo,7,six,\n"
    )
    Path("b.json").write_text('[{"n": {"a": 1}}]')
    Path("empty.csv").write_text("")
    Path("bad.xlsx").write_text("no workbook")
    Path("c.log").write_text("\n".join(f"2024-01-02 10:0{n} ERROR x" for n in range(6)))
    Image.new("RGB", (4, 3)).save("d.png")
    Path("e.wav").write_bytes(b"RIFF")
    names = ["a.csv", "b.json", "empty.csv", "bad.xlsx", "c.log", "d.png", "e.wav"]
    jarvis.describe(names)
    told = capsys.readouterr().out
    assert "a.csv: table, 7 rows. Columns:" in told
    assert '- day: date such as "2024-01-02", 2024-01-02 to 2024-01-06' in told
    assert "- who: text, one of: Ann, Bo" in told
    assert "- km: number, 3 to 7; in all 28, on average 4.67; 1 cells are empty" in told
    assert "- mixed: number, but text in 1 cells: six" in told
    assert "Note: 1 rows repeat an earlier row exactly." in told
    assert "- n: nested" in told
    assert "empty.csv: table without rows" in told
    assert "bad.xlsx: table, cannot be read (BadZipFile)" in told
    assert "split()[1] is '10:00'" in told
    assert "d.png: picture, 4 x 3 pixels, RGB" in told
    assert "e.wav: sound or film" in told
    for number in range(20):
        Path(f"{number}.txt").write_text("a\n" * 9 + "b" * 900)
    jarvis.describe([f"{number}.txt" for number in range(20)])
    assert "20 text files: 0.txt, " in (told := capsys.readouterr().out)
    assert "and 5 more. For example:" in told


SCRIPT = """
import jarvis
from PIL import Image
Image.new("RGB", (20, 20), "red").save("x.jpg")
jarvis.chart("c.png", {"a": 1, "b": 2})
jarvis.write_table("o.xlsx", [{"a": 1}])
print(jarvis.read_table("o.xlsx"))
import pypdf
import numpy
"""


@pytest.mark.parametrize("launcher", LAUNCHERS, ids=lambda launcher: launcher.name)
async def test_scripts_have_it_and_no_more_of_the_application(
    launcher: Launcher, tmp_path: Path
) -> None:
    async with bench(tmp_path, launcher, packages=tmp_path / "packages") as at:
        outcome = await at.run(SCRIPT)
    assert outcome.ending is Ending.ERROR
    assert outcome.missing == "numpy"
    assert "[{'a': 1}]" in outcome.printed
    assert sorted(item.title for item in outcome.made) == ["c.png", "o.xlsx", "x.jpg"]
