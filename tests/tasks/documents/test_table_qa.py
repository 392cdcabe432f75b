import json
from pathlib import Path

import openpyxl
import pytest

from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.documents.table_qa import (
    TABLE_QUESTION_ANSWERING,
    answer,
    describe_table,
    reply,
)
from jarvis_desktop.tasks.documents.tables import number, read_tables
from tests.tasks.calls import call_of, quiet, text_of

CSV = """city,country,people,area (km2)
Bern,Switzerland,"134,000",52
Zurich,Switzerland,"421,000",88
Lyon,France,"522,000",48
Nice,France,"342,000",72
"""


@pytest.fixture
def cities(tmp_path: Path) -> Path:
    file = tmp_path / "cities.csv"
    file.write_text(CSV)
    return file


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which city has the most people?", "The highest people is 522,000, of Lyon."),
        ("Which city has the smallest area?", "The lowest area (km2) is 48, of Lyon."),
        ("What is the average area?", "The average of area (km2) is 65, over 4 rows."),
        (
            "sum of people in France",
            "The sum of people where country is France is 864,000, over 2 rows.",
        ),
        ("How many cities are in Switzerland?", "There are 2 rows where country is Switzerland."),
        ("How many rows are there?", "There are 4 rows."),
        ("How many people live in Bern?", "The people of Bern is 134,000."),
        ("What is the country of Nice?", "The country of Nice is France."),
        ("What are the cities?", "The values of city are Bern, Zurich, Lyon, Nice."),
        (
            "list the cities and countries",
            "The values of city are Bern, Zurich, Lyon, Nice.\n"
            "The values of country are Switzerland, France.",
        ),
    ],
)
def test_answers(cities: Path, question: str, expected: str):
    assert answer(question, read_tables(cities)[0]) == expected


def test_refuses_what_it_cannot(cities: Path, tmp_path: Path):
    with pytest.raises(ExpertError, match="cannot answer that kind"):
        reply(
            call_of(
                TABLE_QUESTION_ANSWERING.type,
                tmp_path,
                table=cities,
                question="Why is the sky blue?",
            ),
            quiet,
        )
    with pytest.raises(ExpertError, match="cannot answer that kind"):
        reply(
            call_of(
                TABLE_QUESTION_ANSWERING.type,
                tmp_path,
                table=cities,
                question="Why is the country?",
            ),
            quiet,
        )
    with pytest.raises(ExpertError, match="no column of numbers"):
        reply(
            call_of(
                TABLE_QUESTION_ANSWERING.type,
                tmp_path,
                table=cities,
                question="the highest country",
            ),
            quiet,
        )


HELD = """cities.csv has 4 rows and 4 columns: city, country, people (134,000 to 522,000), \
area (km2) (48 to 88).
It begins with:
- city: Bern; country: Switzerland; people: 134,000; area (km2): 52
- city: Zurich; country: Switzerland; people: 421,000; area (km2): 88
- city: Lyon; country: France; people: 522,000; area (km2): 48"""


@pytest.mark.parametrize(
    "question",
    [
        "what is in this table",
        "What's in cities.csv?",
        "describe the table",
        "what does this csv contain",
        "show me the first rows",
        "which columns does it have",
    ],
)
def test_says_what_a_table_holds(cities: Path, tmp_path: Path, question: str):
    assert (
        text_of(
            reply(
                call_of(TABLE_QUESTION_ANSWERING.type, tmp_path, table=cities, question=question),
                quiet,
            )
        )
        == HELD
    )


TALKS = "description,first name,kind,list,shows,name,note\nOld,Ann,a,b,3,Tea,\n"


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("What is the description?", "The description is Old."),
        ("describe the names", "The name is Tea.\nThe first name is Ann."),
        ("tell me the kind", "The kind is a."),
        ("what are the shows", "The shows is 3."),
        ("what is the note", "Nothing stands in note."),
    ],
)
def test_a_column_that_is_asked_for_is_not_the_whole(tmp_path: Path, question: str, told: str):
    (tmp_path / "t.csv").write_text(TALKS)
    call = call_of(
        TABLE_QUESTION_ANSWERING.type, tmp_path, table=tmp_path / "t.csv", question=question
    )
    assert text_of(reply(call, quiet)) == told


@pytest.mark.parametrize(
    "question",
    [
        "show me the table",
        "what kind of table is this",
        "what does this list look like",
        "show me the first rows",
        "what are the names of the columns",
        "what are the column names",
        "what is the name of this table",
        "describe t.csv",
    ],
)
def test_words_that_are_also_columns_ask_for_the_whole(tmp_path: Path, question: str):
    (tmp_path / "t.csv").write_text(TALKS)
    call = call_of(
        TABLE_QUESTION_ANSWERING.type, tmp_path, table=tmp_path / "t.csv", question=question
    )
    assert text_of(reply(call, quiet)).startswith("t.csv has 1 row and 7 columns")


def test_of_many_values_the_first_are_told(tmp_path: Path):
    (tmp_path / "t.csv").write_text("\n".join(["colour", *(f"hue {at}" for at in range(23))]))
    told = answer("what are the colours", read_tables(tmp_path / "t.csv")[0])
    assert told.startswith("The values of colour are hue 0, hue 1, ")
    assert told.endswith(", hue 19 and 3 more.")


@pytest.mark.parametrize(
    ("content", "held"),
    [
        ("a,b\n1,x\n", "t.csv has 1 row and 2 columns: a (1), b.\nIt holds:\n- a: 1; b: x"),
        ("1,2\n3,4\n", "t.csv has 2 rows and 2 columns.\nIt holds:\n- 1; 2\n- 3; 4"),
        (
            ",".join(f"c{at}" for at in range(22)) + "\n" + "," * 21 + "\n" + "," * 20 + "y\n",
            "t.csv has 1 row and 22 columns: "
            + ", ".join(f"c{at}" for at in range(20))
            + " and 2 more.\nIt holds:\n- c20: y",
        ),
    ],
)
def test_says_what_a_small_or_odd_table_holds(tmp_path: Path, content: str, held: str):
    (tmp_path / "t.csv").write_text(content)
    assert describe_table(read_tables(tmp_path / "t.csv")[0], "t.csv") == held


def test_says_what_each_sheet_holds(tmp_path: Path):
    book = openpyxl.Workbook()
    assert book.active
    book.active.title = "North"
    for sheet in (book.active, book.create_sheet("South")):
        for row in (["name", "points"], ["Ann", 3]):
            sheet.append(row)
    book.save(tmp_path / "points.xlsx")
    book.close()
    call = call_of(
        TABLE_QUESTION_ANSWERING.type,
        tmp_path,
        table=tmp_path / "points.xlsx",
        question="what is in it",
    )
    said = text_of(reply(call, quiet))
    assert "The sheet North of points.xlsx has 1 row and 2 columns: name, points (3)." in said
    assert "The sheet South of points.xlsx has 1 row" in said


def test_reads_excel_and_json(tmp_path: Path):
    book = openpyxl.Workbook()
    assert book.active
    for row in (["name", "points"], ["Ann", 3], ["Bob", 7.5]):
        book.active.append(row)
    book.save(tmp_path / "points.xlsx")
    book.close()
    (tmp_path / "points.json").write_text(
        json.dumps([{"name": "Ann", "points": 3}, {"name": "Bob", "points": 7.5}])
    )
    for name in ("points.xlsx", "points.json"):
        call = call_of(
            TABLE_QUESTION_ANSWERING.type,
            tmp_path,
            table=tmp_path / name,
            question="Who has the most points?",
        )
        assert text_of(reply(call, quiet)) == "The highest points is 7.5, of Bob."


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "empty"), (b"\x00\x01\x02", "binary"), (b'{"a": 1}', "no table"), (b"[1, 2", "damaged")],
)
def test_bad_files_are_named(tmp_path: Path, content: bytes, reason: str):
    file = tmp_path / "bad.csv"
    file.write_bytes(content)
    with pytest.raises(InputError, match=rf"bad\.csv.*{reason}"):
        read_tables(file)


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("1,200", 1200),
        ("$3.50", 3.5),
        ("-7", -7),
        ("(12)", -12),
        ("15%", 15),
        ("1e3", 1000),
        ("x", None),
        ("", None),
    ],
)
def test_numbers_in_cells(cell: str, value: float | None):
    assert number(cell) == value
