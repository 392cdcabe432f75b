"""Questions of other people's kinds over tables that the reading of questions was not written on.

Three sets for `table_questions.py`, each measured once before the reading was mended for what it showed:
of `asked_first` 38 of 88 were right and 7 wrong without a doubt, of `asked_later`, written after that, 22
of 39 and 1, of `asked_last` 16 of 26 and 1. The answers are computed here in plain Python. `None` is the answer to what a table does not
have: the question must be declined.
"""

from __future__ import annotations

import csv
import random
import statistics as st
from collections import Counter
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from pathlib import Path

from tests.benchmarks.table_cases import Row, Rows, TableCase, _by, _mean, _sum, _top, _where

_home, _away, _pay, _price = "Home goals", "Away goals", "Monthly pay (€)", "Price (£)"
_pot, _height, _temp = "Pot (cm)", "Height (cm)", "Outside temp (°C)"


def make_fresh_rows() -> dict[str, Rows]:
    """Return the rows of each table."""
    r = random.Random(41)
    return {
        "league.csv": _league(r), "haushalt.csv": _bills(r), "nursery.tsv": _nursery(r),
        "staff.xlsx": _staff(r), "meter.csv": _meter(r), "gym.csv": _gym(r),
        "loans.csv": _loans(r), "roestung.xlsx": _coffee(r), "rides.csv": _rides(r),
        "vorrat.csv": _pantry(r),
    }  # fmt: skip


def _league(r: random.Random) -> Rows:
    grounds = {
        "Northport Rovers": "Harbour Park", "Eastvale United": "Mill Lane", "SC Lindau": "Seestadion",
        "Rivermouth": "The Quay", "Athletic Moss": "Moss Road", "Ferndale City": "Fern Arena",
        "Castle Town": "Castle Ground", "Dynamo Hale": "Hale Dome",
    }  # fmt: skip
    pairs = [(one, two) for one in grounds for two in grounds if one != two]
    r.shuffle(pairs)
    return [
        {"Matchday": at // 4 + 1, "Date": date(2024, 1, 6) + timedelta(days=7 * (at // 4) + at % 2),
         "Home": one, "Away": two, _home: r.choice((0, 0, 1, 1, 2, 2, 3, 4)),
         _away: r.choice((0, 0, 1, 1, 2, 3)), "Attendance": r.randrange(6_000, 31_000) + at,
         "Stadium": grounds[one], "Referee": r.choice(["Ortiz", "Bakker", "Lund", "McCabe"])}
        for at, (one, two) in enumerate(pairs)
    ]  # fmt: skip


def _bills(r: random.Random) -> Rows:
    payees = {
        "Strom": ["Stadtwerke Ulm", "Grünstrom eG"],
        "Miete": ["Hausverwaltung Beck"],
        "Lebensmittel": ["Markthalle", "Biohof Maier", "Kaufladen Nord"],
        "Versicherung": ["Alpina Versicherung", "Stadtkasse"],
        "Telefon": ["Fernruf AG"],
    }
    rows: Rows = []
    for month in range(18):
        day = date(2023 + month // 12, month % 12 + 1, 1)
        rows.append({"Datum": day, "Kategorie": "Miete", "Empfänger": "Hausverwaltung Beck",
                     "Betrag": 980.0 + 20 * (month > 8), "Zahlungsart": "Überweisung", "Bezahlt": "ja"})  # fmt: skip
    for _ in range(230):
        kind = r.choice(["Strom", "Lebensmittel", "Lebensmittel", "Versicherung", "Telefon"])
        rows.append(
            {"Datum": date(2023, 1, 1) + timedelta(days=r.randrange(545)), "Kategorie": kind,
             "Empfänger": r.choice(payees[kind]), "Betrag": round(r.uniform(6, 420), 2),
             "Zahlungsart": r.choice(["Lastschrift", "Karte", "Überweisung"]),
             "Bezahlt": r.choice(["ja", "ja", "ja", "nein"])}
        )  # fmt: skip
    return sorted(rows, key=lambda row: row["Datum"])


def _nursery(r: random.Random) -> Rows:
    plants = """Lavender|Lavandula angustifolia|Perennial|full sun
Rosemary|Salvia rosmarinus|Herb|full sun
Garden Sage|Salvia officinalis|Herb|full sun
Meadow Clary|Salvia pratensis|Perennial|full sun
Thyme|Thymus vulgaris|Herb|full sun
Mint|Mentha spicata|Herb|half shade
Hosta|Hosta sieboldiana|Perennial|shade
Male Fern|Dryopteris filix-mas|Fern|shade
Hart's Tongue|Asplenium scolopendrium|Fern|shade
Climbing Rose|Rosa 'New Dawn'|Climber|full sun
Shrub Rose|Rosa rugosa|Shrub|full sun
Rose of Sharon|Hibiscus syriacus|Shrub|full sun
Hydrangea|Hydrangea macrophylla|Shrub|half shade
Ivy|Hedera helix|Climber|shade
Clematis|Clematis montana|Climber|half shade
Wisteria|Wisteria sinensis|Climber|full sun
Japanese Maple|Acer palmatum|Tree|half shade
Crab Apple|Malus sylvestris|Tree|full sun
Silver Birch|Betula pendula|Tree|full sun
Magnolia|Magnolia stellata|Tree|half shade
Astilbe|Astilbe chinensis|Perennial|half shade
Bleeding Heart|Lamprocapnos spectabilis|Perennial|shade
Box|Buxus sempervirens|Shrub|shade
Dogwood|Cornus alba|Shrub|half shade
Foxglove|Digitalis purpurea|Perennial|half shade"""
    tall = {"Tree": (150, 320), "Shrub": (40, 120), "Climber": (60, 190)}
    rows: Rows = []
    for at, line in enumerate(plants.splitlines()):
        name, latin, kind, position = line.split("|")
        low, high = tall.get(kind, (10, 55))
        rows.append(
            {"Plant": name, "Botanical name": latin, "Type": kind, _pot: r.choice([9, 11, 15, 20, 30]),
             _price: round((high / 6) * r.uniform(0.4, 1.3), 2) + 1, "Stock": 0 if at % 8 == 3 else 3 * r.randint(2, 60) + at % 3,
             "Position": position, _height: r.randrange(low, high) + at / 100,
             "Last delivery": date(2024, 3, 4) + timedelta(days=r.randrange(60))}
        )  # fmt: skip
    return [row | {_price: round(row[_price], 2)} for row in rows]


def _staff(r: random.Random) -> Rows:
    first = "Maria Lukas Sofie Emil Petra Ivan Nadia Tom Helena Oskar".split()
    last = "Huber Gruber Zeman Wolf Steiner Zimmer Adler Koller Winter Novotny Berger".split()
    names = [(one, two) for one in first for two in last]
    r.shuffle(names)
    pays = r.sample(range(1900, 7800, 10), 90)
    return [
        {"First name": one, "Surname": two,
         "Team": (team := r.choice(["Sales", "Logistics", "Marketing", "IT", "Sales"])),
         "Location": r.choice(["Vienna", "Graz", "Linz"]),
         "Hired": date(2012, 1, 9) + timedelta(days=37 * at + r.randrange(20)), _pay: pay + 60 * (team == "IT"),
         "Weekly hours": r.choice([38.5, 38.5, 38.5, 30, 25, 16]),
         "Contract": r.choice(["permanent", "permanent", "temporary"]),
         "Birthday": date(1962, 3, 1) + timedelta(days=140 * at % 14000 + r.randrange(100))}
        for at, ((one, two), pay) in enumerate(zip(names[:90], pays, strict=True))
    ]  # fmt: skip


def _meter(r: random.Random) -> Rows:
    rows: Rows = []
    for hour in range(182 * 24):
        at = datetime(2024, 1, 1) + timedelta(hours=hour)
        warmth = 12 - 11 * (1 - (at.month - 1) / 3) + r.gauss(0, 4)
        busy = 0.9 if at.hour in (7, 8, 18, 19, 20) else 0.3
        rows.append(
            {"Timestamp": at, "kWh": round(busy * r.uniform(0.6, 1.6) + max(0, 10 - warmth) / 25, 3),
             _temp: round(warmth, 1), "Tariff": "night" if at.hour < 6 or at.hour >= 22 else "day",
             "Solar (kWh)": round(max(0, 1 - abs(at.hour - 12) / 6) * r.uniform(0, at.month / 3), 3)}
        )  # fmt: skip
    return rows


def _gym(r: random.Random) -> Rows:
    first = "Alma Ben Carl Dora Erik Fay Gus Hana Ira Joan Kit Lou".split()
    last = "Barnes Cole Drake Ellis Ford Gray Hunt Irwin".split()
    names = [f"{one} {two}" for one in first for two in last]
    r.shuffle(names)
    fees = {"Basic": 19.9, "Plus": 34.5, "Family": 59.0}
    return [
        {"Member no": 2000 + at, "Name": name, "Plan": (plan := r.choice([*fees, "Basic"])),
         "Fee ($)": fees[plan], "Joined": date(2019, 2, 1) + timedelta(days=21 * at + r.randrange(15)),
         "Visits": 4 * r.randint(0, 45) + at % 4, "Age": r.randint(17, 78),
         "Club": r.choice(["Riverside", "Old Town", "Station"]), "Newsletter": r.choice(["yes", "no"]),
         "Last visit": date(2024, 1, 2) + timedelta(days=r.randrange(180))}
        for at, name in enumerate(names[:80])
    ]  # fmt: skip


def _loans(r: random.Random) -> Rows:
    titles = {
        "The Long Shore": "M. Ostrow", "Paper Lanterns": "J. Imai", "Winter Bees": "M. Ostrow",
        "Small Engines": "P. Adler", "The Glass Orchard": "K. Nwosu", "Night Ferry": "J. Imai",
    }  # fmt: skip
    rows: Rows = []
    for at in range(160):
        title = r.choice(list(titles))
        late = max(0, round(r.gauss(-1, 6)))
        day = date(2024, 1, 3) + timedelta(days=r.randrange(300))
        rows.append(
            {"Loan": 7000 + at, "Title": title, "Author": titles[title], "Branch": r.choice(["Central", "Eastside", "Harbour"]),
             "Borrowed": day, "Returned": day + timedelta(days=21 + late), "Days overdue": late,
             "Fine": round(0.25 * late, 2), "Reader": r.choice(["adult", "adult", "child", "student"])}
        )  # fmt: skip
    return rows


def _coffee(r: random.Random) -> Rows:
    return [
        {"Datum": date(2024, 1, 2) + timedelta(days=2 * at), "Filiale": r.choice(["Altstadt", "Bahnhof", "Hafen"]),
         "Sorte": (kind := r.choice(["Espresso", "Filter", "Entkoffeiniert"])), "Menge (kg)": round(r.uniform(2, 30), 1),
         "Umsatz (€)": round(r.uniform(60, 900), 2), "Röster": r.choice(["Jana", "Timo"]),
         "Bio": "ja" if kind != "Filter" and r.random() < 0.5 else "nein"}
        for at in range(170)
    ]  # fmt: skip


def _rides(r: random.Random) -> Rows:
    return [
        {"ride_id": f"R{1000 + at}", "bike": r.choice(["B-101", "B-102", "B-207", "B-311", "B-402"]),
         "start_station": r.choice(["Museum", "Park", "University", "Airport"]),
         "end_station": r.choice(["Museum", "Park", "University", "Airport"]),
         "started_at": datetime(2024, 5, 1, 5) + timedelta(minutes=97 * at + r.randrange(60)),
         "duration_min": r.randint(3, 95), "distance_km": round(r.uniform(0.4, 22), 2),
         "fare_usd": round(r.uniform(1, 16), 2), "user_type": r.choice(["subscriber", "subscriber", "casual"])}
        for at in range(640)
    ]  # fmt: skip


def _pantry(r: random.Random) -> Rows:
    goods = {
        "Mehl": "Backen", "Zucker": "Backen", "Hefe": "Backen", "Reis": "Beilage", "Nudeln": "Beilage",
        "Linsen": "Beilage", "Tomaten": "Konserve", "Mais": "Konserve", "Bohnen": "Konserve",
        "Kaffee": "Getränk", "Tee": "Getränk", "Apfelsaft": "Getränk",
    }  # fmt: skip
    return [
        {"Artikel": name, "Gruppe": kind, "Anzahl": r.randint(0, 14) if at % 5 else 0,
         "Preis": round(0.5 + at * 0.37 + r.uniform(0, 0.3), 2),
         "Haltbar bis": date(2025, 1, 10) + timedelta(days=r.randrange(500)), "Regal": r.choice(["A", "B", "C"])}
        for at, (name, kind) in enumerate(goods.items())
    ]  # fmt: skip


def write_fresh_tables(folder: Path, rows: Mapping[str, Rows]) -> None:
    """Write the tables as files, with the forms that such files have."""
    for name, table in rows.items():
        path, columns = folder / name, list(table[0])
        if name.endswith(".xlsx"):
            from openpyxl import Workbook

            book = Workbook()
            book.active.append(columns)
            for row in table:
                book.active.append(list(row.values()))
            book.save(path)
        elif name == "haushalt.csv":  # German: semicolons, decimal commas, euros
            lines = [";".join(columns)]
            for row in table:
                euros = f"{row['Betrag']:,.2f}".translate(str.maketrans(",.", ".,"))
                shown = row | {"Datum": f"{row['Datum']:%d.%m.%Y}", "Betrag": f"{euros} €"}
                lines.append(";".join(map(str, shown.values())))
            path.write_text("\n".join(lines) + "\n", "utf-8")
        else:
            mark = "\t" if name.endswith(".tsv") else ","
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, delimiter=mark).writerows(
                    [columns, *(row.values() for row in table)]
                )


def _mode(rows: Rows, key: str) -> str:
    return str(Counter(row[key] for row in rows).most_common(1)[0][0])


def _most(rows: Rows, key: str, count: int = 1) -> Rows:
    return sorted(rows, key=lambda row: -row[key])[:count]


def _person(row: Row) -> str:
    return str(row["Surname"])


def asked_first(t: Mapping[str, Rows]) -> list[TableCase]:
    """The questions written before the reading was seen, and mended on afterwards."""
    g, b, n, s, m = (
        t[name] for name in ("league.csv", "haushalt.csv", "nursery.tsv", "staff.xlsx", "meter.csv")
    )
    big, rent = _most(g, "Attendance")[0], _where(b, Kategorie="Miete")
    power = _where(b, Kategorie="Strom")
    day = _by(m, lambda row: row["Timestamp"].date())
    month = _by(m, lambda row: row["Timestamp"].month)
    hour = _by(m, lambda row: row["Timestamp"].hour)
    plant = {row["Plant"]: row for row in n}
    cases = [
        ("league.csv", "Which match had the biggest crowd?", big["Home"]),
        ("league.csv", "What was the average attendance at Harbour Park?", _mean(_where(g, Stadium="Harbour Park"), "Attendance")),
        ("league.csv", "How many games were played in April?", sum(row["Date"].month == 4 for row in g)),
        ("league.csv", "Who refereed the most games?", _mode(g, "Referee")),
        ("league.csv", "how many different referees were there", 4),
        ("league.csv", "How many matches with more than 20,000 spectators were refereed by Ortiz?", sum(row["Attendance"] > 20_000 for row in _where(g, Referee="Ortiz"))),
        ("league.csv", "How many goals did Northport Rovers score at home?", _sum(_where(g, Home="Northport Rovers"), _home)),
        ("league.csv", "When was the last match of the season?", max(row["Date"] for row in g)),
        ("league.csv", "In how many games did the home side fail to score?", sum(row[_home] == 0 for row in g)),
        ("league.csv", "Which stadium had the higher average attendance, Harbour Park or Mill Lane?", _top(_by([row for row in g if row["Stadium"] in ("Harbour Park", "Mill Lane")], "Stadium"), lambda v: _mean(v, "Attendance"))),
        ("league.csv", "How many red cards were shown?", None),
        ("league.csv", "How many games ended in a draw?", sum(row[_home] == row[_away] for row in g)),
        ("league.csv", "What percentage of the matches was played on a Saturday?", 100 * sum(row["Date"].weekday() == 5 for row in g) / len(g)),
        ("league.csv", "top 5 attendances", [row["Attendance"] for row in _most(g, "Attendance", 5)]),
        ("league.csv", "how many maches were there in febuary", sum(row["Date"].month == 2 for row in g)),
        ("league.csv", "How many matches did SC Lindau play away?", len(_where(g, Away="SC Lindau"))),
        ("league.csv", "home goals per team", {name: _sum(v, _home) for name, v in _by(g, "Home").items()}),
        ("haushalt.csv", "Wie viel habe ich im März 2024 für Strom ausgegeben?", _sum([row for row in power if (row["Datum"].year, row["Datum"].month) == (2024, 3)], "Betrag")),
        ("haushalt.csv", "Was war der höchste Betrag für Lebensmittel?", max(row["Betrag"] for row in _where(b, Kategorie="Lebensmittel"))),
        ("haushalt.csv", "Durchschnittlicher Betrag pro Kategorie", {name: _mean(v, "Betrag") for name, v in _by(b, "Kategorie").items()}),
        ("haushalt.csv", "Wie viele Rechnungen sind noch nicht bezahlt?", len(_where(b, Bezahlt="nein"))),
        ("haushalt.csv", "In welchem Monat habe ich am meisten ausgegeben?", _top(_by(b, lambda row: row["Datum"].strftime("%Y-%m")), lambda v: _sum(v, "Betrag"))),
        ("haushalt.csv", "Wie viel Prozent der Ausgaben entfallen auf Miete?", 100 * _sum(rent, "Betrag") / _sum(b, "Betrag")),
        ("haushalt.csv", "die fünf höchsten Telefonrechnungen", [row["Betrag"] for row in _most(_where(b, Kategorie="Telefon"), "Betrag", 5)]),
        ("haushalt.csv", "Wie viele verschiedene Empfänger gibt es?", len({row["Empfänger"] for row in b})),
        ("haushalt.csv", "Wie viel wurde seit Mai 2024 per Lastschrift bezahlt?", _sum([row for row in _where(b, Zahlungsart="Lastschrift", Bezahlt="ja") if row["Datum"] >= date(2024, 5, 1)], "Betrag")),
        ("haushalt.csv", "Wann war die letzte Zahlung an Grünstrom eG?", f"{max(row['Datum'] for row in _where(b, Empfänger='Grünstrom eG')):%Y-%m-%d}"),
        ("haushalt.csv", "Wie viele Rechnungen über 100 Euro gab es im zweiten Quartal 2023?", sum(row["Betrag"] > 100 and date(2023, 4, 1) <= row["Datum"] < date(2023, 7, 1) for row in b)),
        ("haushalt.csv", "Median der Beträge", st.median(row["Betrag"] for row in b)),
        ("haushalt.csv", "Gesamtsumme ohne Miete", _sum(b, "Betrag") - _sum(rent, "Betrag")),
        ("haushalt.csv", "Wie viele Zahlungen gingen an Empfänger, die mit Stadt beginnen?", sum(row["Empfänger"].startswith("Stadt") for row in b)),
        ("haushalt.csv", "Wie hoch ist die Mehrwertsteuer?", None),
        ("haushalt.csv", "Wie viel mehr habe ich 2023 für Lebensmittel als für Versicherung ausgegeben?", _sum([row for row in _where(b, Kategorie="Lebensmittel") if row["Datum"].year == 2023], "Betrag") - _sum([row for row in _where(b, Kategorie="Versicherung") if row["Datum"].year == 2023], "Betrag")),
        ("nursery.tsv", "What's the cheapest shrub?", min(_where(n, Type="Shrub"), key=lambda row: row[_price])["Plant"]),
        ("nursery.tsv", "How many perennials cost less than £8?", sum(row[_price] < 8 for row in _where(n, Type="Perennial"))),
        ("nursery.tsv", "Which plants are out of stock?", [row["Plant"] for row in n if row["Stock"] == 0]),
        ("nursery.tsv", "average price by type", {name: _mean(v, _price) for name, v in _by(n, "Type").items()}),
        ("nursery.tsv", "which plants for the shade are smaller than 40 cm", [row["Plant"] for row in _where(n, Position="shade") if row[_height] < 40]),
        ("nursery.tsv", "How many plants have a botanical name starting with Salvia?", 3),
        ("nursery.tsv", "Which plant do we have the most of?", _most(n, "Stock")[0]["Plant"]),
        ("nursery.tsv", "Which is more expensive, Lavender or Rosemary?", max("Lavender", "Rosemary", key=lambda name: plant[name][_price])),
        ("nursery.tsv", "How much taller is the Magnolia than the Silver Birch?", abs(plant["Silver Birch"][_height] - plant["Magnolia"][_height])),
        ("nursery.tsv", "What does the Japanese Maple cost?", plant["Japanese Maple"][_price]),
        ("nursery.tsv", "median height of the trees", st.median(row[_height] for row in _where(n, Type="Tree"))),
        ("nursery.tsv", "the three tallest trees", [row["Plant"] for row in _most(_where(n, Type="Tree"), _height, 3)]),
        ("nursery.tsv", "How many plants came in the last week of March?", sum(date(2024, 3, 25) <= row["Last delivery"] <= date(2024, 3, 31) for row in n)),
        ("nursery.tsv", "What share of the plants likes full sun?", 100 * len(_where(n, Position="full sun")) / len(n)),
        ("nursery.tsv", "list the plants whose name contains rose", [row["Plant"] for row in n if "rose" in row["Plant"].lower()]),
        ("nursery.tsv", "How many plants are neither shrubs nor trees?", sum(row["Type"] not in ("Shrub", "Tree") for row in n)),
        ("nursery.tsv", "Which supplier delivers the ferns?", None),
        ("nursery.tsv", "avrage hight of the climbers", _mean(_where(n, Type="Climber"), _height)),
        ("nursery.tsv", "what is the total value of our stock", sum(row[_price] * row["Stock"] for row in n)),
        ("staff.xlsx", "How many colleagues in Vienna have a temporary contract?", len(_where(s, Location="Vienna", Contract="temporary"))),
        ("staff.xlsx", "Who earns the most?", _person(_most(s, _pay)[0])),
        ("staff.xlsx", "mean salary for each team", {name: _mean(v, _pay) for name, v in _by(s, "Team").items()}),
        ("staff.xlsx", "Who was hired last?", _person(max(s, key=lambda row: row["Hired"]))),
        ("staff.xlsx", "How many people joined since May 2019?", sum(row["Hired"] >= date(2019, 5, 1) for row in s)),
        ("staff.xlsx", "how many employees are not from Graz", sum(row["Location"] != "Graz" for row in s)),
        ("staff.xlsx", "How many were hired between 2015 and 2017?", sum(2015 <= row["Hired"].year <= 2017 for row in s)),
        ("staff.xlsx", "What is the difference between the highest and the lowest pay?", max(row[_pay] for row in s) - min(row[_pay] for row in s)),
        ("staff.xlsx", "how many people work fewer than 20 hours a week", sum(row["Weekly hours"] < 20 for row in s)),
        ("staff.xlsx", "Which team is the biggest?", _mode(s, "Team")),
        ("staff.xlsx", "What percentage of the IT team is on a permanent contract?", 100 * len(_where(s, Team="IT", Contract="permanent")) / len(_where(s, Team="IT"))),
        ("staff.xlsx", "List everyone in Logistics who earns more than 5000", [_person(row) for row in _where(s, Team="Logistics") if row[_pay] > 5000]),
        ("staff.xlsx", "How many Marias work here?", len(_where(s, **{"First name": "Maria"}))),
        ("staff.xlsx", "how many surnames begin with Z", sum(row["Surname"].startswith("Z") for row in s)),
        ("staff.xlsx", "Who is the youngest?", _person(max(s, key=lambda row: row["Birthday"]))),
        ("staff.xlsx", "How many people have their birthday in June?", sum(row["Birthday"].month == 6 for row in s)),
        ("staff.xlsx", "What is Huber's phone number?", None),
        ("staff.xlsx", "How many days of holiday did Sales take?", None),
        ("staff.xlsx", "median pay in Marketing", st.median(row[_pay] for row in _where(s, Team="Marketing"))),
        ("staff.xlsx", "what do we pay per month in Linz altogether", _sum(_where(s, Location="Linz"), _pay)),
        ("meter.csv", "How much power did we use in February?", _sum(month[2], "kWh")),
        ("meter.csv", "Which day had the highest consumption?", str(_top(day, lambda v: _sum(v, "kWh")))),
        ("meter.csv", "At what hour of the day do we use the most electricity?", _top(hour, lambda v: _sum(v, "kWh"))),
        ("meter.csv", "average usage at the night tariff", _mean(_where(m, Tariff="night"), "kWh")),
        ("meter.csv", "In how many hours was it colder than 0 degrees outside?", sum(row[_temp] < 0 for row in m)),
        ("meter.csv", "How many kWh did we use on 14 March 2024?", _sum(day[date(2024, 3, 14)], "kWh")),
        ("meter.csv", "Which month had the lowest consumption?", f"2024-{min(month, key=lambda at: _sum(month[at], 'kWh')):02d}"),
        ("meter.csv", "How much solar energy was produced in the second quarter?", _sum([row for row in m if row["Timestamp"].month >= 4], "Solar (kWh)")),
        ("meter.csv", "How much more did we use in January than in May?", _sum(month[1], "kWh") - _sum(month[5], "kWh")),
        ("meter.csv", "kWh per month", {f"2024-{at:02d}": _sum(v, "kWh") for at, v in month.items()}),
        ("meter.csv", "what was the temperature on 1 February 2024 at 8 am", next(row[_temp] for row in m if row["Timestamp"] == datetime(2024, 2, 1, 8))),
        ("meter.csv", "How much did the electricity cost?", None),
        ("meter.csv", "total consumption between 1 and 7 April", _sum([row for row in m if date(2024, 4, 1) <= row["Timestamp"].date() <= date(2024, 4, 7)], "kWh")),
        ("meter.csv", "On how many days did we use more than 20 kWh?", sum(_sum(v, "kWh") > 20 for v in day.values())),
        ("meter.csv", "Wie viel kWh haben wir im Januar verbraucht?", _sum(month[1], "kWh")),
        ("meter.csv", "what percentage of our consumption is at the night tariff", 100 * _sum(_where(m, Tariff="night"), "kWh") / _sum(m, "kWh")),
    ]  # fmt: skip
    return [TableCase(*case) for case in cases]


def asked_later(t: Mapping[str, Rows]) -> list[TableCase]:
    """The questions written after the reading was mended, over tables that it had not seen."""
    g, b, c = t["gym.csv"], t["loans.csv"], t["roestung.xlsx"]
    sold, kilos = "Umsatz (€)", "Menge (kg)"
    joined = _by(g, lambda row: row["Joined"].year)
    person = {row["Name"]: row for row in g}
    one, two = g[3]["Name"], g[9]["Name"]
    older, younger = sorted((one, two), key=lambda name: -person[name]["Age"])
    cases = [
        ("gym.csv", "How many members are on the Family plan?", len(_where(g, Plan="Family"))),
        ("gym.csv", "How many members of the Station club are over 60?", sum(row["Age"] > 60 for row in _where(g, Club="Station"))),
        ("gym.csv", "What do we take in fees per month in total?", _sum(g, "Fee ($)")),
        ("gym.csv", "Who visited most often?", _most(g, "Visits")[0]["Name"]),
        ("gym.csv", "average number of visits by plan", {name: _mean(v, "Visits") for name, v in _by(g, "Plan").items()}),
        ("gym.csv", "What share of members gets the newsletter?", 100 * len(_where(g, Newsletter="yes")) / len(g)),
        ("gym.csv", f"How old is {one}?", person[one]["Age"]),
        ("gym.csv", f"Who is older, {one} or {two}?", older),
        ("gym.csv", f"How many years older is {older} than {younger}?", person[older]["Age"] - person[younger]["Age"]),
        ("gym.csv", "Which club has the fewest members?", min(_by(g, "Club").items(), key=lambda pair: len(pair[1]))[0]),
        ("gym.csv", "How many people joined in the first half of 2022?", sum(row["Joined"].year == 2022 and row["Joined"].month <= 6 for row in g)),
        ("gym.csv", "Who joined most recently?", max(g, key=lambda row: row["Joined"])["Name"]),
        ("gym.csv", "members per year of joining", {str(year): len(v) for year, v in joined.items()}),
        ("gym.csv", "What is the email address of the oldest member?", None),
        ("gym.csv", "medain age of Plus members", st.median(row["Age"] for row in _where(g, Plan="Plus"))),
        ("loans.csv", "Which title is borrowed the most?", _mode(b, "Title")),
        ("loans.csv", "How many loans were returned late?", None if not b else sum(row["Days overdue"] > 0 for row in b)),
        ("loans.csv", "How much did we collect in fines at the Harbour branch?", _sum(_where(b, Branch="Harbour"), "Fine")),
        ("loans.csv", "Which author is the most popular with children?", _mode(_where(b, Reader="child"), "Author")),
        ("loans.csv", "How many books were borrowed on weekends?", sum(row["Borrowed"].weekday() > 4 for row in b)),
        ("loans.csv", "the longest overdue loan", max(row["Days overdue"] for row in b)),
        ("loans.csv", "average days overdue per branch", {name: _mean(v, "Days overdue") for name, v in _by(b, "Branch").items()}),
        ("loans.csv", "How many different books by M. Ostrow were lent?", len({row["Title"] for row in _where(b, Author="M. Ostrow")})),
        ("loans.csv", "Which month had the most loans?", f"2024-{_top(_by(b, lambda row: row['Borrowed'].month), len):02d}"),
        ("loans.csv", "How many loans at Central or Eastside since August 2024?", sum(row["Branch"] != "Harbour" and row["Borrowed"] >= date(2024, 8, 1) for row in b)),
        ("loans.csv", "What percentage of loans was not by adults?", 100 * sum(row["Reader"] != "adult" for row in b) / len(b)),
        ("loans.csv", "Who wrote Night Ferry?", "J. Imai"),
        ("loans.csv", "How many pages does Winter Bees have?", None),
        ("roestung.xlsx", "Wie hoch war der Umsatz im März?", _sum([row for row in c if row["Datum"].month == 3], sold)),
        ("roestung.xlsx", "Welche Filiale hat den höchsten Umsatz?", _top(_by(c, "Filiale"), lambda v: _sum(v, sold))),
        ("roestung.xlsx", "Wie viel kg Espresso wurden verkauft?", _sum(_where(c, Sorte="Espresso"), kilos)),
        ("roestung.xlsx", "Umsatz pro Sorte", {name: _sum(v, sold) for name, v in _by(c, "Sorte").items()}),
        ("roestung.xlsx", "Durchschnittliche Menge am Bahnhof", _mean(_where(c, Filiale="Bahnhof"), kilos)),
        ("roestung.xlsx", "An welchem Tag war der Umsatz am größten?", str(max(c, key=lambda row: row[sold])["Datum"])),
        ("roestung.xlsx", "Wie viele Röstungen hat Jana gemacht?", len(_where(c, Röster="Jana"))),
        ("roestung.xlsx", "Wie viel Prozent des Umsatzes sind Bio?", 100 * _sum(_where(c, Bio="ja"), sold) / _sum(c, sold)),
        ("roestung.xlsx", "Um wie viel höher war der Umsatz im zweiten Quartal als im ersten Quartal?", _sum([row for row in c if 4 <= row["Datum"].month <= 6], sold) - _sum([row for row in c if row["Datum"].month <= 3], sold)),
        ("roestung.xlsx", "die drei größten Mengen", [row[kilos] for row in _most(c, kilos, 3)]),
        ("roestung.xlsx", "Wie ist das Wetter im Hafen?", None),
    ]  # fmt: skip
    return [TableCase(*case) for case in cases]


def asked_last(t: Mapping[str, Rows]) -> list[TableCase]:
    """The questions written after the second set was mended on."""
    r, v = t["rides.csv"], t["vorrat.csv"]
    hour = _by(r, lambda row: row["started_at"].hour)
    shelf = {row["Artikel"]: row for row in v}
    cases = [
        ("rides.csv", "How many rides started at the Airport?", len(_where(r, start_station="Airport"))),
        ("rides.csv", "How many rides went from Museum to Park?", len(_where(r, start_station="Museum", end_station="Park"))),
        ("rides.csv", "What was the longest ride in minutes?", max(row["duration_min"] for row in r)),
        ("rides.csv", "average fare for casual users", _mean(_where(r, user_type="casual"), "fare_usd")),
        ("rides.csv", "total income per bike", {name: _sum(v, "fare_usd") for name, v in _by(r, "bike").items()}),
        ("rides.csv", "Which bike has covered the greatest distance?", _top(_by(r, "bike"), lambda v: _sum(v, "distance_km"))),
        ("rides.csv", "At which hour do most rides start?", _top(hour, len)),
        ("rides.csv", "How many rides took more than an hour?", sum(row["duration_min"] > 60 for row in r)),
        ("rides.csv", "What proportion of the rides was by subscribers?", 100 * len(_where(r, user_type="subscriber")) / len(r)),
        ("rides.csv", "number of rides on weekends in May", sum(row["started_at"].weekday() > 4 and row["started_at"].month == 5 for row in r)),
        ("rides.csv", "Who rode bike B-207?", None),
        ("rides.csv", "How many km were ridden in the first week of June?", _sum([row for row in r if row["started_at"].month == 6 and row["started_at"].day <= 7], "distance_km")),
        ("rides.csv", "Which station do people start from least often?", min(_by(r, "start_station").items(), key=lambda pair: len(pair[1]))[0]),
        ("rides.csv", "How much did R1010 cost?", r[10]["fare_usd"]),
        ("rides.csv", "How many rides were shorter than 10 minutes and cheaper than 3 dollars?", sum(row["duration_min"] < 10 and row["fare_usd"] < 3 for row in r)),
        ("rides.csv", "compare the average duration of casual and subscriber", {name: _mean(v, "duration_min") for name, v in _by(r, "user_type").items()}),
        ("vorrat.csv", "Was kostet Kaffee?", shelf["Kaffee"]["Preis"]),
        ("vorrat.csv", "Welche Artikel sind leer?", None),
        ("vorrat.csv", "Wie viele Artikel stehen in Regal B?", len(_where(v, Regal="B"))),
        ("vorrat.csv", "Welcher Artikel läuft als nächstes ab?", None),
        ("vorrat.csv", "Wie viele Konserven haben wir insgesamt?", _sum(_where(v, Gruppe="Konserve"), "Anzahl")),
        ("vorrat.csv", "Was ist teurer, Reis oder Tee?", max("Reis", "Tee", key=lambda name: shelf[name]["Preis"])),
        ("vorrat.csv", "Durchschnittspreis pro Gruppe", {name: _mean(v, "Preis") for name, v in _by(v, "Gruppe").items()}),
        ("vorrat.csv", "Wie viele Gruppen gibt es?", 4),
        ("vorrat.csv", "die drei günstigsten Artikel", ["Mehl", "Zucker", "Hefe"]),
        ("vorrat.csv", "Welche Artikel kosten mehr als 4 Euro?", [row["Artikel"] for row in v if row["Preis"] > 4]),
    ]  # fmt: skip
    return [TableCase(*case) for case in cases]
