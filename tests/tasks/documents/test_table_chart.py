"""Charts of tables: what is read, what is drawn, and what cannot be."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from PIL import Image

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.task import Value
from jarvis_desktop.tasks.documents import chart_drawing
from jarvis_desktop.tasks.documents.chart_drawing import Chart, ChartSeries, draw
from jarvis_desktop.tasks.documents.table_chart import CHART, draw_chart, read_chart
from jarvis_desktop.tasks.documents.table_database import TableDatabase
from tests.tasks.calls import call_of, quiet

ORDERS = "order_id,day,city,kind,units,revenue,price\n" + "".join(
    f"{at},{date(2023, 1, 1) + timedelta(days=3 * at)},{('Bern', 'Lyon', 'Nice')[at % 3]},"
    f"{('tea', 'salt')[at % 2]},{at % 7 + 1},{10 * (at % 7 + 1)}.50 €,{2 + at % 5}.25\n"
    for at in range(240)
)
SHARES = "symbol,date,price\n" + "".join(
    f"{name},2024-01-{day:02},{day + 10 * len(name)}\n"
    for day in range(1, 31)
    for name in ("A", "BB")
)
GERMAN = "Datum;Stadt;Umsatz\n03.01.2024;Bern;1.234,50 €\n17.02.2024;Zürich;99,90 €\n"
NAMES = "name,colour\nAnn,red\nBob,blue\nCleo,red\n"

Found = tuple[Chart, str, list[str]]
Read = Callable[..., Found]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Reads what a chart of a table is to show."""

    def reads(words: str, content: str = ORDERS, name: str = "orders.csv") -> Found:
        path = tmp_path / name
        path.write_text(content)
        db = TableDatabase(tmp_path)
        db.load(path, name=name)
        db.lock()
        return read_chart(words, db)

    return reads


@pytest.mark.parametrize(
    ("words", "kind", "told", "places"),
    [
        ("plot the price over time", "line", "price over time", 240),
        ("bar chart of revenue by city", "bar", "sum of revenue for each city", 3),
        ("draw a chart of sales per month as svg", "line", "sum of revenue for each month", 24),
        ("pie chart of units by kind", "pie", "sum of units for each kind", 2),
        ("histogram of prices", "histogram", "distribution of price", 5),
        ("scatter plot of revenue against units", "scatter", "revenue against units", 0),
        ("show me a pie chart of the cities", "pie", "number of rows for each city", 3),
        ("average price per weekday as a bar chart", "bar", "average of price for each weekday", 7),
        ("graph of the number of orders per quarter", "line", "number of rows for each quarter", 8),
        ("top 2 cities by revenue chart", "bar", "sum of revenue for each city", 2),
        ("line chart of revenue in 2024 by month and kind", "line",
         "sum of revenue for each month and kind, where day is in 2024", 12),
        ("plot units and revenue per year", "bar", "sum of units, sum of revenue for each year", 2),
        ("Zeichne ein Balkendiagramm des Umsatzes je Stadt", "bar",
         "sum of revenue for each city", 3),
        ("Kreisdiagramm von units nach kind", "pie", "sum of units for each kind", 2),
        ("Stelle den Umsatz pro Monat als Liniendiagramm dar", "line",
         "sum of revenue for each month", 24),
    ],
)  # fmt: skip
def test_reads_what_is_to_be_drawn(read: Read, words: str, kind: str, told: str, places: int):
    chart, shown, doubts = read(words)
    assert (chart.kind, shown, len(chart.places)) == (kind, told, places)
    assert not doubts


def test_values_are_those_of_the_table(read: Read):
    chart, _, _ = read("bar chart of revenue by city")
    sums = {"Bern": 0.0, "Lyon": 0.0, "Nice": 0.0}
    for at in range(240):
        sums[("Bern", "Lyon", "Nice")[at % 3]] += 10 * (at % 7 + 1) + 0.5
    assert dict(zip(chart.places, chart.series[0].values, strict=True)) == pytest.approx(sums)
    assert chart.number(1234.5) == "1,234.50 €"


def test_several_rows_a_day_are_several_lines(read: Read):
    chart, _, _ = read("plot the price over time", SHARES, "shares.csv")
    assert {item.name: item.values[0] for item in chart.series} == {"A": 11, "BB": 21}


def test_a_german_table(read: Read):
    chart, told, doubts = read("Balkendiagramm der Umsätze nach Stadt", GERMAN, "umsatz.csv")
    assert (told, chart.places, doubts) == ("Umsatz for each Stadt", ["Bern", "Zürich"], [])


def test_a_share_may_be_a_column(read: Read):
    rows = "day,share\n2024-01-01,4\n2024-02-01,6\n"
    chart, told, _ = read("average share per month as a bar chart", rows, "a.csv")
    assert (chart.series[0].values, told) == ([4.0, 6.0], "share for each month")


def test_counts_by_two_names(read: Read):
    chart, told, _ = read("bar chart of kinds per city")
    assert told == "number of rows for each city and kind"
    assert {item.name for item in chart.series} == {"tea", "salt"}


def test_many_names_are_cut_and_a_pie_adds_the_rest(read: Read):
    rows = "name,amount\n" + "".join(f"n{at},{at + 1}\n" for at in range(60))
    bars, told, _ = read("bar chart of amount by name", rows, "a.csv")
    assert len(bars.places) == 40
    assert told.endswith("Only the 40 largest of 60 are drawn")
    pie, _, _ = read("pie chart of amount by name", rows, "a.csv")
    assert pie.places[-1] == "others (52)"
    assert sum(value or 0 for value in pie.series[0].values) == sum(range(61))


@pytest.mark.parametrize(
    ("words", "content", "reason"),
    [
        ("plot the profit over time", ORDERS, "has no column “profit”. Its columns are order_id"),
        ("bar chart of revenue by colour", ORDERS, "has no column “colour”"),
        ("histogram of the names", NAMES, "no column of numbers"),
        ("plot the number of people over time", NAMES, "no column with dates"),
        ("scatter plot of units", "units\n1\n2\n", "two columns of numbers"),
        ("pie chart of gain by name", "name,gain\na,1\nb,-2\n", "negative values"),
        ("bar chart of revenue by city in 2031", ORDERS, "No row fits"),
    ],
)  # fmt: skip
def test_what_cannot_be_drawn_says_why(read: Read, words: str, content: str, reason: str):
    with pytest.raises(InputError, match=reason):
        read(words, content)


@pytest.mark.parametrize("dark", [False, True])
def test_draws_every_kind(tmp_path: Path, dark: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(chart_drawing, "DPI", 40)
    chance = random.Random(1)
    days = [date(2020, 1, 1) + timedelta(days=at) for at in range(500)]
    values = [None if at % 90 == 0 else chance.gauss(0, 5) for at in range(500)]
    names = [f"A quite long name of category {at}" for at in range(40)]
    two = [ChartSeries("x", [1, None]), ChartSeries("y", [-900, 800])]
    charts = [
        Chart("line", "Empty days", days, [ChartSeries("price", values)], "day", "price"),
        Chart("line", "Two scales", ["a", "b"], two),
        Chart("bar", "Many names " * 20, names, [ChartSeries("n", values[:40])], "name", "n"),
        Chart("bar", "Groups", ["a", "b"], two, up="n"),
        Chart("pie", "Slices", names[:9], [ChartSeries("", list(range(1, 10)))]),
        Chart("scatter", "Points", [], [ChartSeries("", [1, 2, 3])], own_places=[[3.5, 1, 2]]),
        Chart("histogram", "Bins", [0.0, 5.0], [ChartSeries("rows", [3, 4])], width=5.0),
    ]
    for at, chart in enumerate(charts[dark::2]):
        path = tmp_path / f"{at}.png"
        draw(chart, path, dark=dark)
        with Image.open(path) as picture:
            corner = picture.convert("L").getpixel((2, 2))
        assert isinstance(corner, int)
        assert (corner < 60) == dark


@pytest.mark.parametrize(
    ("name", "content", "words", "options", "made"),
    [
        ("a.csv", ORDERS, "bar chart of revenue by city", {}, Kind.IMAGE),
        ("a.json", json.dumps([{"city": "Bern", "n": 1}, {"city": "Ulm", "n": 4}]),
         "chart of n by city on a dark background", {"format": "svg"}, Kind.DOCUMENT),
    ],
)  # fmt: skip
def test_from_a_file_to_a_picture(
    tmp_path: Path, name: str, content: str, words: str, options: dict[str, Value], made: Kind
):
    (tmp_path / name).write_text(content)
    call = call_of(
        CHART.type, tmp_path / "work", table=Artifact(Kind.TABLE, path=tmp_path / name),
        question=words, **options,
    )  # fmt: skip
    picture, told = draw_chart(call, quiet)
    assert picture.kind is made
    assert picture.path
    assert picture.path.stat().st_size > 5_000
    if made is Kind.DOCUMENT:
        assert "#1f2327" in picture.path.read_text()  # the card of the dark theme
    assert (told.text or "").startswith("The chart shows the ")
