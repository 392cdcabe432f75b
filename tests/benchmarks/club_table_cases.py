"""A marathon, a weather diary, a club's members and a shop's repairs, and questions about them.

Two sets for `table_questions.py`, each written before the code was read for it. Of the thirty, 21
were right and 2 wrong without a doubt when they were first asked; of the twenty later ones, 13 and 1.
The answers are computed here in plain Python. `None` is the answer to what a table does not have.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import date, timedelta
from statistics import mean, median
from typing import Any

from tests.benchmarks.everyday_table_cases import _all, _each, _first, _least, _month, _most
from tests.benchmarks.table_cases import Rows, TableCase, _where


# A table, and a question with its answer, in few lines:
# fmt: off
def make_club_rows() -> dict[str, Rows]:
    """Return the rows of each table."""
    chance = random.Random(41)
    return {
        "marathon.csv": _marathon(chance),
        "weather.json": _weather(chance),
        "members.xlsx": _members(chance),
        "repairs.parquet": _repairs(chance),
    }


def _marathon(chance: random.Random) -> Rows:
    names = (
        "Abel Tessema,Birgit Holm,Carlos Vega,Dana Petrova,Edwin Kiptoo,Fatima Zahra,Gustav Lind,Hana Sato,Ivan Marek,"
        "Joan Whitaker,Kofi Boateng,Lena Hartmann,Marco Ricci,Nora Byrne,Oskar Nilsen,Pia Lindqvist,Rafael Costa,Sofia Bianchi,"
        "Tom Gallagher,Ursula Kranz,Viktor Dahl,Wendy Osei,Xavier Roux,Yuki Mori"
    ).split(",")
    lands = ["Kenya", "Sweden", "Spain", "Germany", "Japan", "Italy", "Ireland"]
    rows: Rows = []
    for place, name in enumerate(names):
        finished = place not in (4, 13, 21)
        rows.append({"bib": 101 + place, "runner": name, "country": lands[place % 7 if place != 20 else 1], "sex": "FM"[place % 2], "age": 19 + chance.randrange(45), "half_min": round(66 + 2.1 * place + chance.random(), 1), "finish_min": round(136 + 4.7 * place + 3 * chance.random(), 1) if finished else None, "status": "finished" if finished else "dropped out"})
    chance.shuffle(rows)
    return rows


def _weather(chance: random.Random) -> Rows:
    rows: Rows = []
    for offset in range(365):
        day = date(2025, 1, 1) + timedelta(days=offset)
        high = round(14 - 11 * abs(183 - offset) / 183 + chance.uniform(-4, 9), 1)
        rows.append({"day": day, "max_temp": high, "min_temp": round(high - chance.uniform(3, 11), 1), "rain_mm": round(max(0.0, chance.uniform(-9, 14)), 1), "wind_kmh": chance.randrange(4, 71), "sky": chance.choice(["sunny", "cloudy", "overcast", "fog"])})
    return rows


def _members(chance: random.Random) -> Rows:
    first = "Ada,Bruno,Celia,Dora,Emil,Flora,Gina,Hector,Ines,Jakob,Kim,Lara,Milo,Nina,Otis,Paula,Rosa,Simon,Tess,Vera".split(",")
    last = "Ames,Boyd,Crane,Dunn,Ellis,Ford,Grant,Hale".split(",")
    rows: Rows = []
    for place, name in enumerate(first * 2):
        plan = chance.choice(["Basic", "Basic", "Plus", "Family"])
        rows.append({"Member": f"{name} {last[(place * 3 + place // 20) % 8]}", "Joined": date(2019, 2, 1) + timedelta(days=chance.randrange(2300)), "Plan": plan, "Monthly fee (€)": {"Basic": 19.9, "Plus": 34.5, "Family": 59.0}[plan], "Visits": chance.randrange(0, 140), "Town": chance.choice(["Harwick", "Elmsford", "Tilbury", "Marlow"]), "Active": "no" if place % 9 == 4 else "yes"})
    return rows


def _repairs(chance: random.Random) -> Rows:
    rows: Rows = []
    for number in range(120):
        brought = date(2025, 1, 2) + timedelta(days=number * 2 + chance.randrange(2))
        hours = round(chance.uniform(0.3, 6), 1)
        parts = round(chance.choice([0.0, chance.uniform(4, 90)]), 2)
        rows.append({"ticket": 5000 + number, "brought_in": brought, "device": chance.choice(["bicycle", "toaster", "lamp", "radio", "laptop"]), "technician": chance.choice(["Meera", "Tobias", "Ruth"]), "hours": hours, "parts_cost": parts, "total": round(parts + 38 * hours, 2), "done": chance.random() < 0.85})
    return rows


def asked_at_the_club(t: Mapping[str, Rows]) -> list[TableCase]:
    """Thirty questions."""
    m, w, c, r = (t[name] for name in ("marathon.csv", "weather.json", "members.xlsx", "repairs.parquet"))
    done = [x for x in m if x["finish_min"] is not None]
    women = [x for x in done if x["sex"] == "F"]
    total, fees = _all("total", sum), _all("Monthly fee (€)", sum)
    july = [x for x in w if x["day"].month == 7]
    cases: list[tuple[str, str, Any]] = [
        ("marathon.csv", "Who won the race?", _least(done, "finish_min")["runner"]),
        ("marathon.csv", "Who was the fastest woman?", _least(women, "finish_min")["runner"]),
        ("marathon.csv", "How many runners didn't finish?", len(m) - len(done)),
        ("marathon.csv", "What was the average finish time of the Germans?", mean(x["finish_min"] for x in done if x["country"] == "Germany")),
        ("marathon.csv", "How many runners came from each country?", _each(m, "country", len)),
        ("marathon.csv", "How old is the oldest runner?", _most(m, "age")["age"]),
        ("marathon.csv", "Which runners are under 25?", {x["runner"] for x in m if x["age"] < 25}),
        ("marathon.csv", "what's the median finish time for men", median(x["finish_min"] for x in done if x["sex"] == "M")),
        ("marathon.csv", "What was Hana Sato's half time?", next(x["half_min"] for x in m if x["runner"] == "Hana Sato")),
        ("weather.json", "What was the hottest day of the year?", _most(w, "max_temp")["day"]),
        ("weather.json", "How much rain fell in October?", sum(x["rain_mm"] for x in w if x["day"].month == 10)),
        ("weather.json", "On how many days was it foggy?", sum(x["sky"] == "fog" for x in w)),
        ("weather.json", "Which month had the most rain?", _first(w, _month("day"), _all("rain_mm", sum))),
        ("weather.json", "How many days were colder than 0 degrees at night in January?", sum(x["min_temp"] < 0 for x in w if x["day"].month == 1)),
        ("weather.json", "what was the average high in July?", mean(x["max_temp"] for x in july)),
        ("weather.json", "How strong was the wind on 14 March?", next(x["wind_kmh"] for x in w if x["day"] == date(2025, 3, 14))),
        ("weather.json", "How much snow fell in February?", None),
        ("members.xlsx", "How many members do we have in Marlow?", sum(x["Town"] == "Marlow" for x in c)),
        ("members.xlsx", "How much money do we make per month with each plan?", _each(c, "Plan", fees)),
        ("members.xlsx", "Who has come most often?", _most(c, "Visits")["Member"]),
        ("members.xlsx", "Who joined last?", _most(c, "Joined")["Member"]),
        ("members.xlsx", "Wie viele Mitglieder sind nicht aktiv?", sum(x["Active"] == "no" for x in c)),
        ("members.xlsx", "Which town has the most family members?", _first(_where(c, Plan="Family"), "Town", len)),
        ("members.xlsx", "What share of the members has the Basic plan?", 100 * mean(x["Plan"] == "Basic" for x in c)),
        ("repairs.parquet", "How many toasters were repaired?", sum(x["device"] == "toaster" for x in r)),
        ("repairs.parquet", "Which technician brought in the most money?", _first(r, "technician", total)),
        ("repairs.parquet", "What does a bicycle repair cost on average?", mean(x["total"] for x in r if x["device"] == "bicycle")),
        ("repairs.parquet", "How many repairs are not done yet?", sum(not x["done"] for x in r)),
        ("repairs.parquet", "How many hours did Ruth work in March?", sum(x["hours"] for x in r if x["technician"] == "Ruth" and x["brought_in"].month == 3)),
        ("repairs.parquet", "How many repairs needed no parts?", sum(x["parts_cost"] == 0 for x in r)),
    ]
    return [TableCase(*case) for case in cases]


def make_later_club_rows() -> dict[str, Rows]:
    """Return the rows of two more tables."""
    chance = random.Random(43)
    return {"cinema.csv": _cinema(chance), "energy.xlsx": _energy(chance)}


def _cinema(chance: random.Random) -> Rows:
    films = [("Red Sky", "drama", 118), ("Little Moon", "family", 92), ("The Wall", "thriller", 131), ("Two Cups", "comedy", 99), ("Deep Water", "thriller", 126)]
    rows: Rows = []
    for number in range(140):
        film, genre, minutes = chance.choice(films)
        price = chance.choice([7.5, 9.0, 12.5])
        sold = chance.randrange(4, 160)
        rows.append({"date": date(2025, 2, 1) + timedelta(days=number // 2), "film": film, "genre": genre, "minutes": minutes, "screen": chance.randrange(1, 5), "ticket_price": price, "tickets_sold": sold, "takings": round(price * sold, 2)})
    return rows


def _energy(chance: random.Random) -> Rows:
    rows: Rows = []
    for place in range(36):
        month = date(2023 + place // 12, place % 12 + 1, 1)
        gas = round(60 + 110 * abs(6.5 - place % 12) / 5.5 + chance.uniform(-9, 9), 1)
        power = round(190 + chance.uniform(-30, 40), 1)
        rows.append({"Month": month, "Gas (m³)": gas, "Electricity (kWh)": power, "Water (m³)": round(chance.uniform(8, 14), 1), "Bill (€)": round(0.9 * gas + 0.31 * power + 22, 2)})
    return rows


def asked_later_at_the_club(t: Mapping[str, Rows]) -> list[TableCase]:
    """Twenty over the last two."""
    c, e = t["cinema.csv"], t["energy.xlsx"]
    takings, sold, bill = _all("takings", sum), _all("tickets_sold", sum), _all("Bill (€)", sum)
    cases: list[tuple[str, str, Any]] = [
        ("cinema.csv", "Which film sold the most tickets?", _first(c, "film", sold)),
        ("cinema.csv", "How much did The Wall make?", takings(_where(c, film="The Wall"))),
        ("cinema.csv", "How many tickets were sold for comedies?", sold(_where(c, genre="comedy"))),
        ("cinema.csv", "How long is Deep Water?", 126),
        ("cinema.csv", "Average number of tickets per showing", mean(x["tickets_sold"] for x in c)),
        ("cinema.csv", "which screen is used most often?", _first(c, "screen", len)),
        ("cinema.csv", "takings per genre please", _each(c, "genre", takings)),
        ("cinema.csv", "What was our best day?", _first(c, "date", takings)),
        ("cinema.csv", "How many showings had fewer than 20 tickets sold?", sum(x["tickets_sold"] < 20 for x in c)),
        ("cinema.csv", "Which is the longest film?", "The Wall"),
        ("cinema.csv", "Who directed Red Sky?", None),
        ("energy.xlsx", "How much gas did we use in 2024?", sum(x["Gas (m³)"] for x in e if x["Month"].year == 2024)),
        ("energy.xlsx", "What did we pay in total in 2025?", bill([x for x in e if x["Month"].year == 2025])),
        ("energy.xlsx", "In which month was the bill highest?", f"{_most(e, 'Bill (€)')['Month']:%Y-%m}"),
        ("energy.xlsx", "average electricity per month", mean(x["Electricity (kWh)"] for x in e)),
        ("energy.xlsx", "Did we use more gas in 2023 or in 2024?", str(max((2023, 2024), key=lambda y: sum(x["Gas (m³)"] for x in e if x["Month"].year == y)))),
        ("energy.xlsx", "Wie viel Wasser haben wir 2023 verbraucht?", sum(x["Water (m³)"] for x in e if x["Month"].year == 2023)),
        ("energy.xlsx", "How much lower was the bill in July 2024 than in January 2024?", next(x["Bill (€)"] for x in e if x["Month"] == date(2024, 1, 1)) - next(x["Bill (€)"] for x in e if x["Month"] == date(2024, 7, 1))),
        ("energy.xlsx", "How many months cost more than 200 euros?", sum(x["Bill (€)"] > 200 for x in e)),
        ("energy.xlsx", "How much oil did we burn?", None),
    ]
    return [TableCase(*case) for case in cases]
