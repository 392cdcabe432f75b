"""Small tables as people keep them at home, in a club, a shop and a school, and what they ask of them.

A hundred questions over twelve tables for `table_questions.py`, with amounts written as "1,234.50 €",
days as "14/05/1958", columns of yes and no, empty cells and months as columns. The answers are computed
here in plain Python. `None` is the answer to what a table does not have. When it was written, 47 were
right and 7 wrong without a doubt.
"""

from __future__ import annotations

import csv
import io
import re
import statistics as st
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from tests.benchmarks.table_cases import Rows, TableCase, _by, _mean, _sum, _top, _where

_tables = {
    "choir.csv": """Name,Voice,Born,Joined,Annual fee,Paid,Can drive
Ruth Ambler,Alto,14/05/1958,01/09/2009,£60.00,yes,yes
Colin Deeks,Bass,02/11/1949,12/01/2005,£60.00,yes,no
Priya Nair,Soprano,23/08/1987,03/09/2019,£60.00,no,yes
Tom Aldous,Tenor,30/01/1995,05/02/2022,£30.00,yes,no
Megan Price,Soprano,17/12/1990,03/09/2019,£60.00,yes,yes
Ines Corte,Alto,09/03/2001,14/10/2023,£30.00,no,no
Walter Boyd,Bass,21/07/1952,01/09/2009,£60.00,yes,yes
Hanna Lind,Soprano,04/04/1979,16/01/2014,£60.00,yes,no
Gareth Moss,Tenor,11/06/1968,20/04/2016,£60.00,no,yes
Lucy Farrow,Alto,26/02/1974,16/01/2014,£60.00,yes,yes
Dev Malik,Bass,19/09/1999,14/10/2023,£30.00,yes,no
Joan Tully,Soprano,08/10/1946,12/01/2005,£60.00,yes,no
Owen Pike,Tenor,13/03/1983,07/09/2021,£60.00,yes,yes
Sara Quint,Alto,,07/09/2021,£60.00,no,
""",
    "fair.csv": """Day,Stall,Item,Sold,Price each,Takings
2024-06-01,Bakery,Loaf,42,4.50 €,189.00 €
2024-06-01,Bakery,Roll,160,0.80 €,128.00 €
2024-06-01,Plants,Tomato plant,55,3.20 €,176.00 €
2024-06-01,Books,Paperback,70,2.00 €,140.00 €
2024-06-01,Tombola,Ticket,1250,1.00 €,"1,250.00 €"
2024-06-02,Bakery,Loaf,51,4.50 €,229.50 €
2024-06-02,Bakery,Cake slice,88,2.50 €,220.00 €
2024-06-02,Plants,Tomato plant,31,3.20 €,99.20 €
2024-06-02,Plants,Basil,64,2.75 €,176.00 €
2024-06-02,Books,Hardback,22,6.00 €,132.00 €
2024-06-02,Tombola,Ticket,1480,1.00 €,"1,480.00 €"
2024-06-03,Bakery,Roll,95,0.80 €,76.00 €
2024-06-03,Books,Paperback,48,2.00 €,96.00 €
2024-06-03,Plants,Basil,40,2.75 €,110.00 €
2024-06-03,Tombola,Ticket,905,1.00 €,905.00 €
""",
    "tournament.xlsx": """Team,Played,Won,Drawn,Lost,Goals for,Goals against,Points
Red Foxes,14,9,3,2,31,14,30
Blue Herons,14,8,4,2,28,15,28
Hill Street,14,7,2,5,26,22,23
Saint Marks,14,6,3,5,19,20,21
Young Owls,14,5,4,5,24,24,19
Park Rangers,14,4,3,7,17,25,15
Lakeside,14,3,2,9,16,30,11
Green Badgers,14,2,3,9,13,24,9
""",
    "marks.csv": """Pupil,Class,Maths,English,Science,Days absent
Amir,7a,88,74,91,2
Bella,7a,65,82,70,5
Chloe,7b,92,95,89,0
Dylan,7b,54,61,,11
Emma,7a,77,79,83,1
Finn,7c,81,58,76,3
Grace,7b,69,88,72,4
Harry,7c,45,52,60,9
Isla,7c,95,90,97,0
Jack,7a,73,67,68,6
Kayla,7b,,71,66,14
Liam,7c,62,64,59,2
Maya,7a,90,86,94,1
Noah,7b,58,69,63,7
""",
    "budget.xlsx": """Category,Jan,Feb,Mar,Apr,May,Jun,Jul,Aug,Sep,Oct,Nov,Dec
Rent,850,850,850,850,850,850,880,880,880,880,880,880
Groceries,412,389,430,401,395,420,388,365,441,450,437,520
Fuel,96,88,102,110,91,120,165,172,99,94,90,115
Electricity,88,84,76,62,55,51,49,50,58,70,81,90
Eating out,65,120,48,75,90,110,160,185,70,62,58,140
Clothes,0,45,30,120,0,60,25,0,95,40,0,75
Gifts,20,15,0,35,60,0,0,30,10,0,45,310
""",
    "garten.csv": """Beet;Gemüse;Gesät;Geerntet;Ertrag (kg);Bio
1;Tomaten;15.03.2024;02.08.2024;14,5;ja
1;Basilikum;02.04.2024;20.06.2024;0,8;ja
2;Kartoffeln;10.04.2024;25.08.2024;32,0;nein
2;Zwiebeln;28.03.2024;10.08.2024;9,6;ja
3;Möhren;20.03.2024;15.07.2024;11,2;ja
3;Radieschen;18.03.2024;29.04.2024;2,4;nein
3;Salat;05.04.2024;30.05.2024;4,1;ja
4;Kürbis;12.05.2024;28.09.2024;27,3;nein
4;Zucchini;10.05.2024;16.07.2024;18,7;ja
5;Bohnen;18.05.2024;05.08.2024;6,9;ja
5;Erbsen;25.03.2024;22.06.2024;;nein
""",
    "fahrten.csv": """Datum;Fahrer;Ziel;Zweck;Kilometer;Kosten
03.01.2024;Jutta;Ulm;Kunde;148;44,40 €
11.01.2024;Bernd;München;Messe;312;1.093,60 €
19.01.2024;Jutta;Augsburg;Kunde;96;28,80 €
06.02.2024;Kemal;Stuttgart;Schulung;220;466,00 €
14.02.2024;Bernd;Ulm;Kunde;148;44,40 €
27.02.2024;Jutta;Nürnberg;Messe;338;1.201,40 €
05.03.2024;Kemal;Augsburg;Kunde;96;28,80 €
13.03.2024;Kemal;München;Kunde;312;93,60 €
21.03.2024;Bernd;Stuttgart;Kunde;220;66,00 €
09.04.2024;Jutta;München;Schulung;312;593,60 €
17.04.2024;Kemal;Ulm;Kunde;148;44,40 €
25.04.2024;Jutta;Ulm;Privat;148;0,00 €
""",
    "trip.csv": """Date,City,Country,For,Amount,Paid by,Shared
2023-09-02,Lisbon,Portugal,Flight,"1,184.00 €",Nora,yes
2023-09-02,Lisbon,Portugal,Taxi,18.50 €,Ben,yes
2023-09-03,Lisbon,Portugal,Hotel,412.00 €,Nora,yes
2023-09-03,Lisbon,Portugal,Dinner,64.20 €,Ben,yes
2023-09-04,Lisbon,Portugal,Museum,24.00 €,Nora,yes
2023-09-05,Porto,Portugal,Train,51.60 €,Ben,yes
2023-09-05,Porto,Portugal,Hotel,265.00 €,Ben,yes
2023-09-06,Porto,Portugal,Dinner,82.40 €,Nora,yes
2023-09-07,Porto,Portugal,Souvenirs,37.90 €,Nora,no
2023-09-08,Vigo,Spain,Bus,29.00 €,Ben,yes
2023-09-08,Vigo,Spain,Hotel,198.00 €,Nora,yes
2023-09-09,Vigo,Spain,Dinner,71.30 €,Ben,yes
2023-09-09,Vigo,Spain,Shoes,89.95 €,Ben,no
2023-09-10,Madrid,Spain,Train,118.00 €,Nora,yes
2023-09-10,Madrid,Spain,Dinner,58.75 €,Nora,yes
2023-09-11,Madrid,Spain,Taxi,32.00 €,Ben,yes
""",
    "pressure.csv": """Date,Time,Systolic,Diastolic,Pulse,Pill taken,Note
2024-10-01,07:30,142,91,72,yes,
2024-10-01,20:15,135,86,78,yes,after walk
2024-10-02,07:45,148,94,70,no,bad sleep
2024-10-02,20:00,139,88,75,yes,
2024-10-03,07:20,137,89,69,yes,
2024-10-03,21:10,129,82,81,yes,
2024-10-04,07:40,151,96,74,no,headache
2024-10-05,08:30,133,85,68,yes,
2024-10-05,20:45,127,80,77,yes,
2024-10-06,08:50,131,84,66,yes,
2024-10-06,19:55,145,92,84,no,stress
2024-10-07,07:35,128,81,67,yes,
""",
    "energy.csv": """Month,Electricity (kWh),Gas (kWh),Water (m³),Bill
Jan 2023,412,1980,9.8,$318.40
Feb 2023,388,1755,9.1,$287.15
Mar 2023,365,1320,9.6,$236.90
Apr 2023,322,780,10.2,$171.35
May 2023,298,410,11.5,$128.60
Jun 2023,341,190,13.9,$121.05
Jul 2023,402,150,15.2,$134.80
Aug 2023,397,155,14.8,$133.20
Sep 2023,318,330,12.1,$120.45
Oct 2023,336,810,10.4,$176.70
Nov 2023,371,1410,9.5,$249.95
Dec 2023,425,1890,10.0,"$1,012.30"
Jan 2024,431,2040,9.7,$331.25
Feb 2024,379,1690,9.0,$280.10
Mar 2024,352,1275,9.4,$230.55
""",
    "pantry.csv": """Item,Kind,Tins,Size (g),Best before,Shelf
Chopped tomatoes,Vegetables,12,400,2026-03-31,Top
Chickpeas,Pulses,7,400,2025-11-30,Top
Baked beans,Pulses,9,415,2026-01-31,Middle
Sweetcorn,Vegetables,5,285,2025-08-31,Top
Tuna,Fish,14,145,2027-05-31,Middle
Sardines,Fish,6,120,2026-12-31,Middle
Peaches,Fruit,4,410,2025-10-31,Bottom
Pineapple,Fruit,3,432,2026-06-30,Bottom
Coconut milk,,8,400,2025-12-31,Bottom
Kidney beans,Pulses,0,400,2025-09-30,Top
""",
    "accounts.csv": """Month,Earned,Spent,Visitors
January,"2,850.00 €","2,410.50 €",12
February,"2,850.00 €","3,020.00 €",9
March,"2,910.00 €","2,688.40 €",15
April,"2,910.00 €","2,940.75 €",22
May,"3,120.00 €","2,515.00 €",31
June,"2,910.00 €","2,730.20 €",40
July,"2,910.00 €","4,105.60 €",58
August,"2,980.00 €","3,240.00 €",61
September,"2,910.00 €","2,402.90 €",27
October,"2,910.00 €","2,566.35 €",18
November,"3,650.00 €","2,702.10 €",14
December,"2,910.00 €","3,391.85 €",20
""",
}
_day_forms = {
    r"\d{4}-\d\d-\d\d": "%Y-%m-%d", r"\d\d/\d\d/\d{4}": "%d/%m/%Y", r"\d\d\.\d\d\.\d{4}": "%d.%m.%Y",
}  # fmt: skip


def make_household_rows() -> dict[str, Rows]:
    """Return the rows of each table, with numbers and days as such and `None` for an empty cell."""
    return {
        name: [
            {key: _value(cell, german=";" in text) for key, cell in row.items()}
            for row in csv.DictReader(io.StringIO(text), delimiter=";" if ";" in text else ",")
        ]
        for name, text in _tables.items()
    }


def _value(cell: str, *, german: bool) -> Any:
    for form, written in _day_forms.items():
        if re.fullmatch(form, cell):
            return datetime.strptime(cell, written).date()
    bare = re.sub(r"[£€$ ]", "", cell)
    bare = bare.replace(".", "").replace(",", ".") if german else bare.replace(",", "")
    return float(bare) if re.fullmatch(r"\d+(\.\d+)?", bare) else cell or None


def write_household_tables(folder: Path, rows: Mapping[str, Rows]) -> None:
    """Write the tables into `folder`, the text files as they are."""
    from openpyxl import Workbook

    for name, text in _tables.items():
        if name.endswith(".csv"):
            (folder / name).write_text(text)
            continue
        book = Workbook()
        book.active.append(list(rows[name][0]))
        for row in rows[name]:
            book.active.append(list(row.values()))
        book.save(folder / name)


def asked_at_home(t: Mapping[str, Rows]) -> list[TableCase]:
    """The hundred questions."""
    c, f, g, s = t["choir.csv"], t["fair.csv"], t["tournament.xlsx"], t["marks.csv"]
    b = {row["Category"]: row for row in t["budget.xlsx"]}
    months = list(t["budget.xlsx"][0])[1:]
    v, d, r, p = t["garten.csv"], t["fahrten.csv"], t["trip.csv"], t["pressure.csv"]
    e, q, a = t["energy.csv"], t["pantry.csv"], t["accounts.csv"]
    power, gas, kilos, tins = "Electricity (kWh)", "Gas (kWh)", "Ertrag (kg)", "Tins"
    team, pupil = {row["Team"]: row for row in g}, {row["Pupil"]: row for row in s}
    month = {row["Month"]: row for row in e}
    known = [row for row in c if row["Born"]]
    takings = {name: _sum(rows, "Takings") for name, rows in _by(f, "Stall").items()}
    total = {name: sum(row[name] for row in t["budget.xlsx"]) for name in months}
    paid = {name: _sum(rows, "Amount") for name, rows in _by(r, "Paid by").items()}
    cases = [
        ("choir.csv", "How many altos are there?", len(_where(c, Voice="Alto"))),
        ("choir.csv", "Who hasn't paid yet?", [row["Name"] for row in _where(c, Paid="no")]),
        ("choir.csv", "How much money is still outstanding in fees?", _sum(_where(c, Paid="no"), "Annual fee")),
        ("choir.csv", "Who is the oldest member?", min(known, key=lambda row: row["Born"])["Name"]),
        ("choir.csv", "how many people joined in 2019", sum(row["Joined"].year == 2019 for row in c)),
        ("choir.csv", "Who has been with us the longest?", {row["Name"] for row in c if row["Joined"] == min(x["Joined"] for x in c)}),
        ("choir.csv", "Which voice has the most singers?", _mode_set(c, "Voice")),
        ("choir.csv", "list all tenors who can drive", [row["Name"] for row in _where(c, Voice="Tenor", **{"Can drive": "yes"})]),
        ("choir.csv", "When was Lucy Farrow born?", date(1974, 2, 26)),
        ("choir.csv", "whose date of birth is missing?", ["Sara Quint"]),
        ("choir.csv", "What is Megan's phone number?", None),
        ("fair.csv", "How much did we take in all?", _sum(f, "Takings")),
        ("fair.csv", "How many rolls did we sell?", _sum(_where(f, Item="Roll"), "Sold")),
        ("fair.csv", "Which stall made the most money?", max(takings, key=lambda name: takings[name])),
        ("fair.csv", "takings per day", {f"{n}": _sum(x, "Takings") for n, x in _by(f, "Day").items()}),
        ("fair.csv", "what was our best day", str(_top(_by(f, "Day"), lambda x: _sum(x, "Takings")))),
        ("fair.csv", "How much more did the bakery take than the book stall?", takings["Bakery"] - takings["Books"]),
        ("fair.csv", "What does a loaf cost?", 4.5),
        ("fair.csv", "which items cost less than 2 euros", {"Roll", "Ticket"}),
        ("fair.csv", "what share of the takings came from the tombola?", 100 * takings["Tombola"] / sum(takings.values())),
        ("fair.csv", "How much profit did we make?", None),
        ("tournament.xlsx", "Who came first?", "Red Foxes"),
        ("tournament.xlsx", "How many goals did Lakeside score?", team["Lakeside"]["Goals for"]),
        ("tournament.xlsx", "Which teams scored more goals than they conceded?", [row["Team"] for row in g if row["Goals for"] > row["Goals against"]]),
        ("tournament.xlsx", "who let in the fewest goals", min(g, key=lambda row: row["Goals against"])["Team"]),
        ("tournament.xlsx", "How many points are the Blue Herons behind the Red Foxes?", 2),
        ("tournament.xlsx", "how many games did Young Owls win", team["Young Owls"]["Won"]),
        ("tournament.xlsx", "What is the goal difference of Hill Street?", 4),
        ("tournament.xlsx", "top 3 teams", ["Red Foxes", "Blue Herons", "Hill Street"]),
        ("tournament.xlsx", "Which teams lost more than they won?", [row["Team"] for row in g if row["Lost"] > row["Won"]]),
        ("tournament.xlsx", "how many goals were scored altogether?", _sum(g, "Goals for")),
        ("marks.csv", "What is the class average in maths?", _known_mean(s, "Maths")),
        ("marks.csv", "Who has the best mark in English?", max(s, key=lambda row: row["English"])["Pupil"]),
        ("marks.csv", "Which pupils are better in maths than in English?", [row["Pupil"] for row in s if (row["Maths"] or 0) > row["English"]]),
        ("marks.csv", "who missed more than a week of school", [row["Pupil"] for row in s if row["Days absent"] > 7]),
        ("marks.csv", "average science mark of each class", {n: _known_mean(x, "Science") for n, x in _by(s, "Class").items()}),
        ("marks.csv", "What did Noah get in science?", pupil["Noah"]["Science"]),
        ("marks.csv", "How many pupils have no maths mark?", 1),
        ("marks.csv", "Who was never absent?", [row["Pupil"] for row in s if row["Days absent"] == 0]),
        ("marks.csv", "Which class has the most absences?", _top(_by(s, "Class"), lambda x: _sum(x, "Days absent"))),
        ("marks.csv", "how did Isla do in French?", None),
        ("budget.xlsx", "How much did we spend on groceries in March?", b["Groceries"]["Mar"]),
        ("budget.xlsx", "What did we spend on fuel over the whole year?", sum(b["Fuel"][name] for name in months)),
        ("budget.xlsx", "Which month was the most expensive?", max(total, key=lambda name: total[name])),
        ("budget.xlsx", "In which month did we spend the most on eating out?", "Aug"),
        ("budget.xlsx", "how much did we spend in July altogether", total["Jul"]),
        ("budget.xlsx", "average electricity per month", st.mean(b["Electricity"][name] for name in months)),
        ("budget.xlsx", "In which months did we buy no clothes?", [name for name in months if not b["Clothes"][name]]),
        ("budget.xlsx", "How much more was the rent in December than in January?", 30),
        ("budget.xlsx", "total spending from January to March", sum(total[name] for name in months[:3])),
        ("budget.xlsx", "how much did we spend on the dentist?", None),
        ("garten.csv", "Wie viel Kilo haben wir insgesamt geerntet?", sum(row[kilos] or 0 for row in v)),
        ("garten.csv", "Welches Gemüse brachte den größten Ertrag?", "Kartoffeln"),
        ("garten.csv", "Wann wurden die Möhren gesät?", date(2024, 3, 20)),
        ("garten.csv", "Was wurde im August geerntet?", [row["Gemüse"] for row in v if row["Geerntet"].month == 8]),
        ("garten.csv", "Wie viele Sorten sind Bio?", len(_where(v, Bio="ja"))),
        ("garten.csv", "Ertrag je Beet", {str(int(n)): sum(row[kilos] or 0 for row in x) for n, x in _by(v, "Beet").items() if n < 5} | {"5": 6.9}),
        ("garten.csv", "Bei welchem Gemüse fehlt der Ertrag?", ["Erbsen"]),
        ("garten.csv", "Wie viel mehr Kartoffeln als Kürbis haben wir geerntet?", 4.7),
        ("fahrten.csv", "Wie viele Kilometer ist Jutta gefahren?", _sum(_where(d, Fahrer="Jutta"), "Kilometer")),
        ("fahrten.csv", "Was hat die teuerste Fahrt gekostet?", max(row["Kosten"] for row in d)),
        ("fahrten.csv", "Wer ist am meisten gefahren?", _top(_by(d, "Fahrer"), lambda x: _sum(x, "Kilometer"))),
        ("fahrten.csv", "Wie oft waren wir in Ulm?", len(_where(d, Ziel="Ulm"))),
        ("fahrten.csv", "Kosten pro Monat", {f"2024-{n:02d}": _sum(x, "Kosten") for n, x in _by(d, lambda row: row["Datum"].month).items()}),
        ("fahrten.csv", "Welche Fahrten haben mehr als 500 Euro gekostet?", {row["Ziel"] for row in d if row["Kosten"] > 500}),
        ("fahrten.csv", "Wann war die letzte Fahrt nach München?", date(2024, 4, 9)),
        ("fahrten.csv", "Wie viel Benzin haben wir verbraucht?", None),
        ("trip.csv", "What did the whole trip cost?", _sum(r, "Amount")),
        ("trip.csv", "Who paid more, Nora or Ben?", max(paid, key=lambda name: paid[name])),
        ("trip.csv", "how much did Ben pay", paid["Ben"]),
        ("trip.csv", "What did we spend on hotels?", _sum(_where(r, For="Hotel"), "Amount")),
        ("trip.csv", "most expensive dinner", 82.4),
        ("trip.csv", "How much did we spend per city?", {n: _sum(x, "Amount") for n, x in _by(r, "City").items()}),
        ("trip.csv", "How much was spent in Spain on things that were not shared?", 89.95),
        ("trip.csv", "how many days were we in Porto", len({row["Date"] for row in _where(r, City="Porto")})),
        ("trip.csv", "what's the average price of a dinner?", _mean(_where(r, For="Dinner"), "Amount")),
        ("pressure.csv", "What was my highest systolic reading?", 151),
        ("pressure.csv", "When was my pulse lowest?", date(2024, 10, 6)),
        ("pressure.csv", "On which days did I forget my pill?", {str(row["Date"]) for row in p if row["Pill taken"] == "no"}),
        ("pressure.csv", "What is my average blood pressure?", {"Systolic": _mean(p, "Systolic"), "Diastolic": _mean(p, "Diastolic")}),
        ("pressure.csv", "How often was my systolic above 140?", sum(row["Systolic"] > 140 for row in p)),
        ("pressure.csv", "average pulse in the morning", _mean([row for row in p if row["Time"] < "12"], "Pulse")),
        ("pressure.csv", "what was my blood sugar on 3 October?", None),
        ("energy.csv", "How much gas did we use in 2023?", _sum([row for row in e if "2023" in row["Month"]], gas)),
        ("energy.csv", "Which month had the highest bill?", "Dec"),
        ("energy.csv", "Did we use more electricity in January 2024 than in January 2023?", "Yes" if month["Jan 2024"][power] > month["Jan 2023"][power] else "No"),
        ("energy.csv", "What was the water consumption in July?", 15.2),
        ("energy.csv", "In which months was more electricity used than gas?", ["Jun", "Jul", "Aug"]),
        ("energy.csv", "average monthly bill", _mean(e, "Bill")),
        ("energy.csv", "how many months cost over $250", sum(row["Bill"] > 250 for row in e)),
        ("pantry.csv", "How many tins do we have in all?", _sum(q, tins)),
        ("pantry.csv", "How many tins of fish are there?", _sum(_where(q, Kind="Fish"), tins)),
        ("pantry.csv", "What have we run out of?", ["Kidney beans"]),
        ("pantry.csv", "Which tin goes off first?", "Sweetcorn"),
        ("pantry.csv", "which things expire in 2025", [row["Item"] for row in q if row["Best before"].year == 2025]),
        ("pantry.csv", "How many tins are on the top shelf?", _sum(_where(q, Shelf="Top"), tins)),
        ("accounts.csv", "In which months did we spend more than we earned?", [row["Month"] for row in a if row["Spent"] > row["Earned"]]),
        ("accounts.csv", "How much did we save over the year?", _sum(a, "Earned") - _sum(a, "Spent")),
        ("accounts.csv", "In which month was the difference between earnings and spending biggest?", max(a, key=lambda row: abs(row["Earned"] - row["Spent"]))["Month"]),
        ("accounts.csv", "how much did we earn in the first quarter", _sum(a[:3], "Earned")),
    ]  # fmt: skip
    return [TableCase(*case) for case in cases]


def _known_mean(rows: Rows, key: str) -> float:
    return _mean([row for row in rows if row[key] is not None], key)


def _mode_set(rows: Rows, key: str) -> set[str]:
    counted = Counter(row[key] for row in rows)
    return {name for name, count in counted.items() if count == max(counted.values())}
