# ruff: noqa: E501
"""Changes to tables, from the words to the new file."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import duckdb
import openpyxl
import pytest

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.documents.table_edit import EDIT_TABLE, edit_tables
from tests.tasks.calls import call_of, quiet

ORDERS = """order,customer id,city,amt,date
10,1,Berlin,5.50,2024-01-03
11,1,Berlin,7.00,2024-01-01
12,2,,,2024-02-02
13,9,Ulm,3.25,2023-12-01
11,1,Berlin,7.00,2024-01-01
"""
CUSTOMERS = "customer_id,name,city\n1,Ann,Berlin\n2,Bob,Köln\n3,Cid,Bonn\n"
MORE = "customer_id;name;city\n4;Dan;Essen\n"
BILLS = """Datum;Kategorie;Betrag
02.01.2023;Strom;1.080,50 €
09.02.2023;Miete;900,00 €
11.05.2023;Strom;60,00 €
"""

Edit = Callable[..., tuple[str, str, list[list[str]]]]


@pytest.fixture
def edit(tmp_path: Path) -> Edit:
    """Changes tables, given as names and contents; returns what was done, and the first file's
    name and rows."""

    def edited(wish: str, **files: str) -> tuple[str, str, list[list[str]]]:
        paths = []
        for name, content in (files or {"o_csv": ORDERS}).items():
            paths.append(tmp_path / name.replace("_", "."))
            paths[-1].write_text(content, "utf-8")
        call = call_of(EDIT_TABLE.type, tmp_path / "work", table=paths, question=wish)
        table, told = list(edit_tables(call, quiet))[:2]
        assert [path.read_text("utf-8") for path in paths] == list((files or {"": ORDERS}).values())
        assert table.path is not None
        text = table.path.read_text("utf-8")
        sign = ";" if ";" in text.splitlines()[0] else ","
        return told.text or "", table.name, list(csv.reader(io.StringIO(text), delimiter=sign))

    return edited


def column(rows: list[list[str]], name: str) -> list[str]:
    """The cells of a column."""
    return [row[rows[0].index(name)] for row in rows[1:]]


@pytest.mark.parametrize(
    ("wish", "told", "name", "orders"),
    [
        ("sort the orders from the cheapest to the dearest", "Sorted 5 rows by amt, lowest first.", "o-sorted.csv", "13 10 11 11 12"),
        ("sort by price, highest first", "Sorted 5 rows by amt, highest first.", "o-sorted.csv", "11 11 10 13 12"),
        ("sort o.csv by amt", "Sorted 5 rows by amt, lowest first.", "o-sorted.csv", "13 10 11 11 12"),
        ("sort it by date, newest first", "Sorted 5 rows by date, newest first.", "o-sorted.csv", "12 10 11 11 13"),
        ("sort it from oldest to newest", "Sorted 5 rows by date, oldest first.", "o-sorted.csv", "13 11 11 10 12"),
        ("sort by city and then date descending", "Sorted 5 rows by city, from A to Z and date, newest first.", "o-sorted.csv", "10 11 11 13 12"),
        ("sortiere nach amt, höchster zuerst", "Sorted 5 rows by amt, highest first.", "o-sorted.csv", "11 11 10 13 12"),
        ("sortiere nach Datum absteigend", "Sorted 5 rows by date, newest first.", "o-sorted.csv", "12 10 11 11 13"),
        ("remove duplicates", "Removed 1 duplicate row of 5.", "o-without-duplicates.csv", "10 11 12 13"),
        ("remove duplicates by customer id", "Removed 2 duplicate rows of 5. Rows are duplicates if customer id are the same; the first one stays.", "o-without-duplicates.csv", "10 12 13"),
        ("entferne doppelte Zeilen", "Removed 1 duplicate row of 5.", "o-without-duplicates.csv", "10 11 12 13"),
        ("keep only the rows where city is Berlin", "Kept 3 rows of 5: city is Berlin.", "o-filtered.csv", "10 11 11"),
        ("remove the rows without an amt", "Removed 1 row of 5: amt is empty.", "o-filtered.csv", "10 11 13 11"),
        ("delete all orders before 2024", "Removed 1 row of 5: date is before 2024.", "o-filtered.csv", "10 11 12 11"),
        ("filter by customer id 1", "Kept 3 rows of 5: customer id is 1.", "o-filtered.csv", "10 11 11"),
        ("keep the first 2 rows", "Kept the first 2 rows of 5.", "o-shorter.csv", "10 11"),
        ("the two cheapest as a new csv", "Kept the 2 rows of 5 with the lowest amt.", "o-shorter.csv", "13 10"),
        ("remove duplicates, sort by date and keep the top 2", "Removed 1 duplicate row of 5. Sorted 4 rows by date, oldest first. Kept the first 2 rows of 4.", "o-edited.csv", "13 11"),
    ],
)  # fmt: skip
def test_rows(edit: Edit, wish: str, told: str, name: str, orders: str):
    said, called, rows = edit(wish)
    assert said == told
    assert called == name
    assert column(rows, "order") == orders.split()


@pytest.mark.parametrize(
    ("wish", "told", "columns"),
    [
        ("delete the column city", "Removed the column city.", "order,customer id,amt,date"),
        ("drop the columns city and date", "Removed the columns city and date.", "order,customer id,amt"),
        ("a copy without the date column", "Removed the column date.", "order,customer id,city,amt"),
        ("keep only the columns date and amt", "Kept only the columns date and amt.", "date,amt"),
        ("rename the column amt to Amount (EUR)", "Renamed the column amt to Amount (EUR).", "order,customer id,city,Amount (EUR),date"),
        ("rename amt to price, then drop the column price", "Renamed the column amt to price. Removed the column price.", "order,customer id,city,date"),
        ("benenne die Spalte amt in Betrag um", "Renamed the column amt to Betrag.", "order,customer id,city,Betrag,date"),
    ],
)  # fmt: skip
def test_columns(edit: Edit, wish: str, told: str, columns: str):
    said, _, rows = edit(wish)
    assert said == told
    assert rows[0] == columns.split(",")
    assert len(rows) == 6


def test_a_german_file_keeps_its_form(edit: Edit):
    said, _, rows = edit("füge eine Summenzeile hinzu", b_csv=BILLS)
    assert said == "Added a row with the sum of Betrag."
    assert rows[1:] == [
        ["02.01.2023", "Strom", "1.080,50 €"], ["09.02.2023", "Miete", "900,00 €"],
        ["11.05.2023", "Strom", "60,00 €"], ["Total", "", "2.040,50 €"],
    ]  # fmt: skip


def test_tables_are_joined_or_put_together(edit: Edit):
    said, name, rows = edit("join them by customer id", c_csv=CUSTOMERS, o_csv=ORDERS)
    assert said == "Joined c.csv and o.csv by customer_id: 5 rows. 1 row has no match in o.csv."
    assert name == "c-joined.csv"
    assert rows[0] == ["customer_id", "name", "city", "order", "city (o)", "amt", "date"]
    assert column(rows, "name") == ["Ann", "Ann", "Ann", "Bob", "Cid"]
    said, _, rows = edit(
        "merge these two tables and sort by name descending", c_csv=CUSTOMERS, m_csv=MORE
    )
    assert said == ("Put 1 row of m.csv below the 3 of c.csv. Sorted 4 rows by name, from Z to A.")
    assert column(rows, "name") == ["Dan", "Cid", "Bob", "Ann"]


@pytest.mark.parametrize(
    ("wish", "error"),
    [
        ("sort by colour", "no column that “colour” names"),
        ("delete the column phone", "no column that “the phone” names"),
        ("rename the column amt to city", "There is a column city already."),
        ("keep only the nice rows", "did not understand which rows"),
        ("make it nicer", "did not understand what “make it nicer” changes"),
    ],
)
def test_refuses_rather_than_guesses(edit: Edit, wish: str, error: str):
    with pytest.raises((InputError, ExpertError), match=error):
        edit(wish)


def test_the_name_of_the_table_leaves_no_doubt(edit: Edit):
    said, _, rows = edit("remove the members that have no city", members_csv=CUSTOMERS + "4,Di,\n")
    assert said == "Removed 1 row of 4: city is empty."
    assert column(rows, "name") == ["Ann", "Bob", "Cid"]


def test_two_columns_that_fit_are_named(edit: Edit):
    with pytest.raises(InputError, match="may be unit price and total price"):
        edit("sort by price", o_csv="unit price,total price\n1,2\n2,1\n")


def test_other_formats_stay_what_they_are(tmp_path: Path):
    book = openpyxl.Workbook()
    for row in (["name", "born", "pay"], ["Ann", "2001-02-03", 7.5], ["Bob", "1999-01-01", 12]):
        book.active.append(row)
    book.save(tmp_path / "staff.xlsx")
    (tmp_path / "staff.json").write_text(
        '[{"name": "Ann", "pay": 7.5}, {"name": "Bob", "pay": 12}]'
    )
    duckdb.execute(
        f"COPY (SELECT 'Ann' AS name, 7.5 AS pay UNION SELECT 'Bob', 12) TO '{tmp_path}/staff.parquet'"
    )

    def edited(name: str, number: int) -> Artifact:
        call = call_of(EDIT_TABLE.type, tmp_path / f"work{number}", table=[tmp_path / name],
                       question="sort by pay descending and add a total row")  # fmt: skip
        return next(iter(edit_tables(call, quiet)))

    sheet = edited("staff.xlsx", 1).path
    assert sheet is not None
    rows = list(openpyxl.load_workbook(sheet).active.iter_rows(values_only=True))
    assert [(row[0], row[2]) for row in rows] == [
        ("name", "pay"),
        ("Bob", 12),
        ("Ann", 7.5),
        ("Total", 19.5),
    ]
    records = edited("staff.json", 2).path
    assert records is not None
    assert json.loads(records.read_text())[::2] == [
        {"name": "Bob", "pay": 12},
        {"name": "Total", "pay": 19.5},
    ]
    parquet = edited("staff.parquet", 3).path
    assert duckdb.execute(f"SELECT pay FROM '{parquet}'").fetchall() == [(12,), (7.5,), (19.5,)]


@pytest.mark.parametrize(
    ("wish", "sheet"),
    [
        ("sort the sheet Costs by amount", "Costs"),
        ("sort the second sheet by amount", "Costs"),
        ("sort Costs by amount", "Costs"),
        ("sort sheet 2 by amount", "Costs"),
        ("sortiere das Blatt Costs nach amount", "Costs"),
        ("sort by amount", "Income"),
        ("sort the rows by amount on the Income sheet", "Income"),
    ],
)
def test_changes_one_sheet_and_keeps_the_others(tmp_path: Path, wish: str, sheet: str):
    book = openpyxl.Workbook()
    del book["Sheet"]
    for title in ("Income", "Costs", "Notes"):
        for row in (("what", "amount"), ("b", 30), ("a", 20)):
            book.create_sheet(title) if title not in book.sheetnames else None
            book[title].append(row)
    book.save(tmp_path / "year.xlsx")
    call = call_of(
        EDIT_TABLE.type, tmp_path / "work", table=[tmp_path / "year.xlsx"], question=wish
    )
    table, told = list(edit_tables(call, quiet))
    assert table.path is not None
    made = openpyxl.load_workbook(table.path)
    assert made.sheetnames == ["Income", "Costs", "Notes"]
    amounts = {name: [cell.value for cell in made[name]["B"][1:]] for name in made.sheetnames}
    assert amounts == {name: [20, 30] if name == sheet else [30, 20] for name in made.sheetnames}
    assert f"the sheet {sheet}" in (told.text or "")
