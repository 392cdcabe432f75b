"""A bank statement, invoices, marks, training, weather, orders, results, loans and more, and questions.

Two sets for `table_questions.py`, with units, abbreviations and signs of currencies in the headers,
gaps, and dates in several forms; a sixth of the questions is German. Both were written before the code
was read. Of the hundred, 51 were right and 6 wrong without a doubt before the reading was mended for
what they showed; then, of the thirty, 25 and 1. The answers are computed here in plain Python. `None`
is the answer to what a table does not have.
"""

from __future__ import annotations

import csv
import random
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from pathlib import Path
from statistics import mean, median
from typing import Any

import duckdb

from tests.benchmarks.table_cases import Row, Rows, TableCase, _by, _top, _where, write_tables


# A table, and a question with its answer, in few lines:
# fmt: off
def make_everyday_rows() -> dict[str, Rows]:
    """Return the rows of each table."""
    chance = random.Random(20261128)
    return {
        "statement.csv": _statement(chance),
        "rechnungen.xlsx": _invoices(chance),
        "hausrat.csv": _household(),
        "marks.csv": _marks(chance),
        "training.json": _training(chance),
        "stations.parquet": _stations(chance),
        "shop_orders.csv": _orders(chance),
        "results.csv": _results(chance),
        "loans.xlsx": _loans(chance),
        "flights.parquet": _flights(chance),
        "survey.csv": _survey(chance),
        "utilities.json": _utilities(),
        "timesheet.xlsx": _timesheet(chance),
        "vet_visits.csv": _visits(chance),
        "sensors.parquet": _sensors(chance),
        "parzellen.csv": _plots(chance),
    }


def _statement(chance: random.Random) -> Rows:
    rows: Rows = []
    balance = 2140.36
    shops = ["TESCO STORES 3021", "ALDI 48", "SAINSBURYS S/MKT"]
    eating = ["PIZZA EXPRESS", "NANDOS LEEDS", "THE BAY HORSE"]
    day = date(2025, 1, 1)
    entries: list[tuple[date, str, str, float, float]] = []
    while day < date(2025, 7, 1):
        if day.day == 1:
            entries.append((day, "RENT HARLOW LETTINGS", "Housing", 950.0, 0.0))
        if day.day == 5:
            entries.append((day, "NETFLIX.COM", "Entertainment", 10.99, 0.0))
        if day.day == 28:
            entries.append((day, "SALARY BRIGHTSIDE LTD", "Income", 0.0, 2310.55))
        if chance.random() < 0.3:
            entries.append((day, chance.choice(shops), "Groceries", round(chance.uniform(6, 80), 2), 0.0))
        if chance.random() < 0.12:
            entries.append((day, chance.choice(eating), "Eating out", round(chance.uniform(9, 60), 2), 0.0))
        if chance.random() < 0.08:
            entries.append((day, "SHELL GARFORTH", "Transport", round(chance.uniform(30, 70), 2), 0.0))
        if day == date(2025, 4, 17):
            entries.append((day, "GARAGE HOLT & SON", "Transport", 1240.5, 0.0))
        if day in (date(2025, 2, 11), date(2025, 5, 20)):
            entries.append((day, "HMRC REFUND", "Income", 0.0, 184.2))
        day += timedelta(days=1)
    for when, what, category, out, into in entries:
        balance = round(balance - out + into, 2)
        rows.append({"Date": when, "Description": what, "Category": category, "Paid out (£)": out or None, "Paid in (£)": into or None, "Balance (£)": balance})
    return rows


def _invoices(chance: random.Random) -> Rows:
    customers = ["Bäckerei Lorenz", "Autohaus Petry", "Praxis Dr. Wolff", "Hotel Seeblick", "Schreinerei Maas"]
    rows: Rows = []
    for number in range(48):
        issued = date(2025, 1, 8) + timedelta(days=number * 4 + chance.randrange(3))
        state = "bezahlt" if number < 38 and chance.random() < 0.88 else chance.choice(["offen", "offen", "überfällig"])
        rows.append({"Rechnungsnr.": f"R-{1040 + number}", "Kunde": chance.choice(customers), "Rechnungsdatum": issued, "Fällig am": issued + timedelta(days=14), "Betrag netto (€)": round(chance.uniform(90, 2900), 2), "Status": state})
    return rows


def _household() -> Rows:
    data = [
        ("Kühlschrank", "Küche", date(2021, 3, 14), 649.0, "gut", date(2026, 3, 14)),
        ("Spülmaschine", "Küche", date(2019, 11, 2), 529.9, "defekt", None),
        ("Kaffeemaschine", "Küche", date(2023, 6, 20), 389.0, "sehr gut", date(2025, 6, 20)),
        ("Toaster", "Küche", date(2018, 1, 9), 29.99, "gut", None),
        ("Mikrowelle", "Küche", date(2020, 5, 5), 119.0, "defekt", None),
        ("Sofa", "Wohnzimmer", date(2022, 9, 17), 1299.0, "sehr gut", None),
        ("Fernseher", "Wohnzimmer", date(2023, 11, 24), 899.0, "sehr gut", date(2028, 11, 24)),
        ("Bücherregal", "Wohnzimmer", date(2015, 4, 11), 249.5, "gut", None),
        ("Stehlampe", "Wohnzimmer", date(2017, 2, 3), 79.95, "gut", None),
        ("Teppich", "Wohnzimmer", date(2016, 8, 30), 320.0, "abgenutzt", None),
        ("Bett", "Schlafzimmer", date(2020, 10, 1), 1150.0, "gut", None),
        ("Kleiderschrank", "Schlafzimmer", date(2020, 10, 1), 980.0, "gut", None),
        ("Matratze", "Schlafzimmer", date(2024, 1, 15), 599.0, "sehr gut", date(2034, 1, 15)),
        ("Waschmaschine", "Bad", date(2022, 2, 28), 579.0, "gut", date(2027, 2, 28)),
        ("Trockner", "Bad", date(2022, 3, 4), 699.0, "defekt", date(2025, 3, 4)),
        ("Föhn", "Bad", date(2024, 12, 12), 44.9, "sehr gut", date(2026, 12, 12)),
        ("Schreibtisch", "Arbeitszimmer", date(2021, 1, 20), 419.0, "gut", None),
        ("Bürostuhl", "Arbeitszimmer", date(2021, 1, 20), 289.0, "abgenutzt", None),
        ("Laptop", "Arbeitszimmer", date(2024, 7, 8), 1449.0, "sehr gut", date(2026, 7, 8)),
        ("Drucker", "Arbeitszimmer", date(2019, 3, 3), 159.0, "defekt", None),
    ]
    names = ("Gegenstand", "Raum", "Gekauft am", "Preis (€)", "Zustand", "Garantie bis")
    return [dict(zip(names, item, strict=True)) for item in data]


def _marks(chance: random.Random) -> Rows:
    pupils = (
        "Amelia Frost,Ben Okafor,Chloe Rahman,Daniel Price,Ella Novak,Finn Doyle,Grace Lim,Harry Stone,"
        "Isla Brandt,Jack Mensah,Kira Patel,Leo Marsh,Mia Torres,Noah Webb,Olivia Khan,Priya Nair,"
        "Quentin Ash,Ruby Clarke,Sam Yilmaz,Tara Boyle,Umar Sheikh,Violet Hart,Will Danes,Zara Quinn"
    ).split(",")
    rows: Rows = []
    for place, name in enumerate(pupils):
        rows.append({"Pupil": name, "Form": "9A" if place % 2 else "9B", "Maths": chance.randrange(31, 98), "English": chance.randrange(38, 96), "Science": chance.randrange(30, 99), "Days abs.": chance.choice([0, 0, 1, 2, 2, 3, 5, 6])})
    rows[7]["English"] = None
    rows[7]["Days abs."] = 11
    rows[3]["Maths"], rows[10]["Maths"] = 99, 86
    rows[3]["Science"], rows[10]["Science"] = 88, 91
    return rows


def _training(chance: random.Random) -> Rows:
    rows: Rows = []
    day = date(2025, 3, 1)
    while day < date(2025, 9, 1):
        if chance.random() < 0.72:
            kind = chance.choice(["run", "run", "ride", "swim"])
            distance = {"run": chance.uniform(3, 16), "ride": chance.uniform(14, 88), "swim": chance.uniform(0.8, 2.6)}
            speed = {"run": 10.2, "ride": 24.0, "swim": 2.4}
            length = round(distance[kind], 1)
            minutes = round(length / speed[kind] * 60 * chance.uniform(0.9, 1.15))
            rows.append({"date": day, "activity": kind, "distance_km": length, "duration_min": minutes, "avg_hr": None if kind == "swim" else chance.randrange(118, 172), "kcal": round(minutes * chance.uniform(8, 13))})
        day += timedelta(days=1)
    return rows


def _stations(chance: random.Random) -> Rows:
    base = {"Bergen": (10, 0.62, 19), "Porto": (19, 0.38, 16), "Tampere": (8, 0.35, 13), "Kraków": (13, 0.36, 11), "Cork": (13, 0.55, 21)}
    rows: Rows = []
    for offset in range(1000):
        day = date(2023, 1, 1) + timedelta(days=offset)
        season = -11 * (1 - abs(((day.timetuple().tm_yday - 15) % 365) / 182.5 - 1)) + 0.0
        for name, (warm, wet, wind) in base.items():
            high = warm - season - 6 + chance.gauss(0, 3)
            rows.append({"station": name, "obs_date": day, "t_max_c": round(high, 1), "t_min_c": round(high - chance.uniform(3, 12) - (6 if name == "Tampere" else 0), 1), "precip_mm": round(chance.expovariate(0.14), 1) if chance.random() < wet else 0.0, "wind_kmh": None if chance.random() < 0.01 else round(abs(chance.gauss(wind, 7)), 1)})
    return rows


def _orders(chance: random.Random) -> Rows:
    products = {
        "Headphones": ("Audio", 79.0), "Speaker": ("Audio", 129.0), "Webcam": ("Video", 59.5), "Monitor": ("Video", 219.0),
        "Keyboard": ("Input", 49.0), "Mouse": ("Input", 24.9), "USB hub": ("Accessories", 19.9), "Cable": ("Accessories", 7.5),
    }
    countries = ["Germany", "France", "Spain", "Italy", "Austria"]
    people = [f"{first} {last}" for first in ("Anna", "Luc", "Marta", "Jonas", "Irene", "Paolo") for last in ("Weber", "Martin", "García", "Rossi", "Huber")]
    rows: Rows = []
    when = datetime(2023, 6, 1, 8, 0)
    for number in range(1200):
        when += timedelta(minutes=chance.randrange(40, 1240))
        product = chance.choices(list(products), weights=[5, 3, 4, 2, 6, 8, 4, 9])[0]
        category, price = products[product]
        amount = chance.choice([1, 1, 1, 2, 2, 3])
        country = chance.choice(countries)
        rows.append({"order_no": 50001 + number, "ordered_at": when, "customer": chance.choice(people), "country": country, "product": product, "category": category, "qty": amount, "unit_price": price, "total ($)": round(amount * price, 2), "payment": chance.choice(["PayPal", "Credit card", "Credit card", "Invoice"]), "returned": "Y" if chance.random() < (0.15 if country == "Spain" else 0.08) else "N"})
    return rows


def _results(chance: random.Random) -> Rows:
    teams = ["Harbour City", "Kingsmead", "Rovers", "Ashby Town", "Northgate", "Vale United", "Millford", "Eastwick", "Penrose", "Castle FC"]
    referees = ["M. Ostrom", "P. Farrow", "J. Lindqvist", "T. Abara"]
    pairs = [(home, away) for home in teams for away in teams if home != away]
    chance.shuffle(pairs)
    rows: Rows = []
    for place, (home, away) in enumerate(pairs):
        rows.append({"MD": place // 5 + 1, "Date": date(2024, 8, 10) + timedelta(days=7 * (place // 5)), "Home": home, "Away": away, "HG": chance.choice([0, 1, 1, 2, 2, 3, 4]), "AG": chance.choice([0, 0, 1, 1, 2, 3]), "Attendance": chance.randrange(1800, 24000), "Referee": chance.choices(referees, weights=[5, 4, 3, 3])[0]})
    return rows


def _loans(chance: random.Random) -> Rows:
    books = [
        ("Dune", "Frank Herbert"), ("The Hobbit", "J. R. R. Tolkien"), ("Death on the Nile", "Agatha Christie"),
        ("The ABC Murders", "Agatha Christie"), ("Emma", "Jane Austen"), ("Beloved", "Toni Morrison"),
        ("Kindred", "Octavia Butler"), ("Middlemarch", "George Eliot"), ("Solaris", "Stanisław Lem"), ("Rebecca", "Daphne du Maurier"),
    ]
    people = ["Ines Moreau", "Tom Baxter", "Yuki Tanaka", "Nadia Haddad", "Oscar Lund", "Freya Jones"]
    rows: Rows = []
    for number in range(66):
        title, author = books[number % 10] if number < 60 else books[1]
        loaned = date(2025, 1, 6) + timedelta(days=number * 3)
        back = loaned + timedelta(days=chance.randrange(5, 34))
        late = max(0, (back - loaned).days - 21)
        rows.append({"Title": title, "Author": author, "Borrower": chance.choices(people, weights=[3, 2, 2, 2, 1, 3])[0], "Loaned": loaned, "Due": loaned + timedelta(days=21), "Returned": back if number < 58 else None, "Fine ($)": round(late * 0.25, 2) if late and number < 58 else None})
    rows[65]["Returned"] = rows[65]["Loaned"] + timedelta(days=9)
    rows[61]["Returned"] = rows[61]["Loaned"] + timedelta(days=4)
    rows[60]["Returned"] = rows[60]["Loaned"] + timedelta(days=7)
    rows[62]["Returned"] = rows[62]["Loaned"] + timedelta(days=7)
    rows[63]["Returned"] = rows[63]["Loaned"] + timedelta(days=7)
    return rows


def _flights(chance: random.Random) -> Rows:
    airlines = {"Norda Air": "NA", "Skylark": "SK", "Iberwing": "IW", "Baltic Jet": "BJ"}
    places = {"Lisbon": 0, "Oslo": 2740, "Rome": 1850, "Vienna": 2300, "Dublin": 1640, "Athens": 2850}
    rows: Rows = []
    for number in range(3000):
        airline = chance.choice(list(airlines))
        start, end = chance.sample(list(places), 2)
        cancelled = chance.random() < 0.025
        wait = None if cancelled else max(-12, round(chance.expovariate(1 / (22 if airline == "Iberwing" else 15)) - 6))
        rows.append({"flight": f"{airlines[airline]}{chance.randrange(100, 999)}", "airline": airline, "origin": start, "dest": end, "sched_dep": datetime(2025, 5, 1, 5) + timedelta(minutes=number * 61 + chance.randrange(30)), "dep_delay_min": wait, "dist_km": abs(places[start] - places[end]) + 420, "pax": 0 if cancelled else chance.randrange(58, 186), "cancelled": cancelled})
    return rows


def _survey(chance: random.Random) -> Rows:
    rows: Rows = []
    for number in range(320):
        gender = chance.choices(["female", "male", "diverse"], weights=[50, 46, 4])[0]
        rows.append({"Resp. ID": number + 1, "Age": None if chance.random() < 0.06 else chance.randrange(17, 82), "Gender": gender, "City": chance.choice(["Leeds", "York", "Hull", "Bradford"]), "Satisfaction (1-5)": None if chance.random() < 0.04 else chance.choice([1, 2, 3, 3, 4, 4, 5, 5] if gender == "female" else [1, 2, 2, 3, 3, 4, 4, 5]), "Would recommend?": chance.choice(["Yes", "Yes", "No"]), "Hrs online / day": round(chance.uniform(0.5, 8), 1), "Fav. channel": chance.choices(["Instagram", "YouTube", "Newspaper", "Radio"], weights=[4, 5, 2, 2])[0]})
    return rows


def _utilities() -> Rows:
    data = [
        ("2025-01", 412, 1630, 9.8, 268.4), ("2025-02", 388, 1490, 9.1, 249.15), ("2025-03", 355, 1120, 9.6, 205.7),
        ("2025-04", 301, 640, 9.9, 148.2), ("2025-05", 284, 310, 10.4, 112.65), ("2025-06", 262, 140, 12.2, 95.3),
        ("2025-07", 270, 118, 13.0, 97.8), ("2025-08", 247, 121, 11.7, 92.05),
    ]
    names = ("month", "electricity_kwh", "gas_kwh", "water_m3", "bill_gbp")
    return [dict(zip(names, item, strict=True)) for item in data]


def _timesheet(chance: random.Random) -> Rows:
    people = {"Carla Voss": ("Sales", 62.0), "Dev Anand": ("IT", 78.0), "Milo Hirst": ("IT", 71.5), "Petra Sund": ("Sales", 58.0), "Ros Keane": ("Design", 66.0), "Tariq Bell": ("Sales", 60.0)}
    rows: Rows = []
    for offset in range(91):
        day = date(2025, 3, 31) + timedelta(days=offset)
        if day.weekday() > 4:
            continue
        for name, (department, rate) in people.items():
            if chance.random() < 0.9:
                project = chance.choice(["Atlas", "Borealis", "Cedar", "Internal"] if department != "Design" else ["Atlas", "Internal"])
                rows.append({"Employee": name, "Dept.": department, "Date": day, "Project": project, "Hrs": chance.choice([4, 6, 7, 7.5, 8, 8, 9]), "Billable": "N" if project == "Internal" else "Y", "Rate (€/h)": rate})
    return rows


def _visits(chance: random.Random) -> Rows:
    pets = [("Biscuit", "dog", "J. Aldous", 12), ("Rex", "dog", "K. Munro", 38), ("Luna", "cat", "J. Aldous", 4), ("Tiger", "cat", "S. Obi", 6), ("Hazel", "rabbit", "L. Petit", 2), ("Clover", "rabbit", "S. Obi", 2), ("Bella", "dog", "L. Petit", 24), ("Smokey", "cat", "K. Munro", 5)]
    rows: Rows = []
    for number in range(160):
        name, species, owner, weight = chance.choice(pets)
        when = date(2023, 2, 1) + timedelta(days=number * 5 + chance.randrange(5))
        rows.append({"Visit": when, "Pet": name, "Species": species, "Owner": owner, "Wt (kg)": round(weight * chance.uniform(0.9, 1.1), 1), "Diagnosis": chance.choices(["check-up", "ear infection", "dental", "parasites", "injury"], weights=[5, 2, 3, 2, 1])[0], "Cost (£)": round(chance.uniform(28, 310), 2), "Follow-up": when + timedelta(days=28) if chance.random() < 0.3 else None})
    return rows


def _sensors(chance: random.Random) -> Rows:
    rows: Rows = []
    base = {"kitchen": (21.5, 48, 800), "cellar": (12.0, 66, 520), "attic": (24.0, 39, 600), "office": (22.0, 43, 900)}
    for number in range(1000):
        for place, (name, (warm, humid, air)) in enumerate(base.items()):
            carbon = round(abs(chance.gauss(air, 260)) + 380)
            rows.append({"device": name, "ts": datetime(2025, 2, 1) + timedelta(hours=3 * number, minutes=place), "temp_c": round(warm + number / 250 + chance.gauss(0, 1.6), 2), "rh_pct": None if chance.random() < 0.02 else round(humid + chance.gauss(0, 5), 1), "co2_ppm": carbon, "batt_v": round(3.1 - number * (0.0006 + place * 0.0001), 3), "alarm": carbon > 1700})
    return rows


def _plots(chance: random.Random) -> Rows:
    names = "Adler,Bauer,Cordes,Dietz,Ebert,Fuchs,Graf,Hahn,Imhof,Jahn,Kern,Lang,Moser,Nagel,Otto,Pohl,Quast,Roth,Seidel,Thoma,Ulrich,Vogel,Wirth,Ziegler".split(",")
    rows: Rows = []
    for place, name in enumerate(names):
        rows.append({"Parzelle": f"P{place + 1:02}", "Mitglied": name, "Fläche (m²)": 180 + chance.randrange(240), "Eintritt": date(1994, 4, 1) + timedelta(days=chance.randrange(11000)), "Jahresbeitrag (€)": round(95 + chance.randrange(300) / 2, 2), "Bezahlt": "nein" if place in (3, 11, 16, 20) else "ja"})
    return rows


def write_everyday_tables(folder: Path, rows: Mapping[str, Rows]) -> None:
    """Write the tables as files, with the forms that such files have."""
    days = {"statement.csv": "%d/%m/%Y", "results.csv": "%d %b %Y", "hausrat.csv": "%d.%m.%Y", "parzellen.csv": "%d.%m.%Y"}
    for name, table in rows.items():
        german = days.get(name) == "%d.%m.%Y"

        def written(value: Any, form: str = days.get(name, ""), german: bool = german) -> str:
            if isinstance(value, float) and form:
                plain = f"{value:,.2f}" if german else f"{value:.2f}"
                return plain.translate(str.maketrans(",.", ".,")) if german else plain
            dated = isinstance(value, date) and form
            return "" if value is None else value.strftime(form) if dated else str(value)

        path = folder / name
        if path.suffix == ".csv":
            with path.open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, delimiter=";" if german else ",")
                writer.writerows([list(table[0]), *(map(written, row.values()) for row in table)])
        elif path.suffix == ".xlsx":
            write_tables(folder, {name: table})
        else:
            plain = path.with_suffix(".json")
            write_tables(folder, {plain.name: table})
            if path.suffix == ".parquet":
                duckdb.sql(f"copy (from read_json('{plain}')) to '{path}' (format parquet)")
                plain.unlink()


def _all(column: str, of: Callable[[list[Any]], float]) -> Callable[[Rows], float]:
    """A function of rows: the sum, mean or median of the filled cells of a column."""
    return lambda table: of([row[column] for row in table if row[column] is not None])


def _each(table: Rows, key: str | Callable[[Row], Any], of: Callable[[Rows], float]) -> dict[Any, float]:
    return {name: of(group) for name, group in _by(table, key).items()}


def _first(table: Rows, key: str | Callable[[Row], Any], of: Callable[[Rows], float]) -> Any:
    return _top(_by(table, key), of)


def _most(table: Rows, column: str) -> Row:
    return max((row for row in table if row[column] is not None), key=lambda row: row[column])


def _least(table: Rows, column: str) -> Row:
    return min((row for row in table if row[column] is not None), key=lambda row: row[column])


def _month(column: str) -> Callable[[Row], str]:
    return lambda row: f"{row[column]:%Y-%m}"


def asked_every_day(t: Mapping[str, Rows]) -> list[TableCase]:
    """A hundred questions over the first twelve tables."""
    b, i, g, m, f, w, o, k, x, a, s, u = (t[name] for name in ("statement.csv", "rechnungen.xlsx", "hausrat.csv", "marks.csv", "training.json", "stations.parquet", "shop_orders.csv", "results.csv", "loans.xlsx", "flights.parquet", "survey.csv", "utilities.json"))
    out, into = "Paid out (£)", "Paid in (£)"
    net = "Betrag netto (€)"
    price = "Preis (€)"
    science = _each(m, "Form", _all("Science", mean))
    runs = _each(_where(f, activity="run"), _month("date"), _all("distance_km", sum))
    cold = _least(w, "t_min_c")
    total = "total ($)"
    times = Counter(r["customer"] for r in o)
    spent = _each(o, "customer", _all(total, sum))
    crowd = _most(k, "Attendance")
    match = next(r for r in k if r["Home"] == "Harbour City" and r["Away"] == "Kingsmead")
    wait = "dep_delay_min"
    to = Counter(r["dest"] for r in a)
    women, men = _where(s, Gender="female"), _where(s, Gender="male")
    happy = "Satisfaction (1-5)"
    cases = [
        ("statement.csv", "How much did I spend on groceries in March?", _all(out, sum)([r for r in b if r["Category"] == "Groceries" and r["Date"].month == 3])),
        ("statement.csv", "What was my biggest single expense?", "GARAGE HOLT"),
        ("statement.csv", "How much money came in altogether?", _all(into, sum)(b)),
        ("statement.csv", "How often did I go to Tesco?", sum("TESCO" in r["Description"] for r in b)),
        ("statement.csv", "Which month did I spend the most in?", _first(b, _month("Date"), _all(out, sum))),
        ("statement.csv", "How much went to Netflix in total?", _all(out, sum)([r for r in b if "NETFLIX" in r["Description"]])),
        ("statement.csv", "What was my balance at the end of April?", [r for r in b if r["Date"].month == 4][-1]["Balance (£)"]),
        ("statement.csv", "What share of my spending was eating out?", 100 * _all(out, sum)(_where(b, Category="Eating out")) / _all(out, sum)(b)),
        ("rechnungen.xlsx", "Wie viele Rechnungen sind noch offen?", sum(r["Status"] == "offen" for r in i)),
        ("rechnungen.xlsx", "Wie hoch ist der Gesamtbetrag aller offenen Rechnungen?", _all(net, sum)(_where(i, Status="offen"))),
        ("rechnungen.xlsx", "Welcher Kunde hat die höchste Rechnung bekommen?", _most(i, net)["Kunde"]),
        ("rechnungen.xlsx", "Wie viel Umsatz haben wir im Mai gemacht?", _all(net, sum)([r for r in i if r["Rechnungsdatum"].month == 5])),
        ("rechnungen.xlsx", "Welche Rechnungen sind überfällig?", [r["Rechnungsnr."] for r in i if r["Status"] == "überfällig"]),
        ("rechnungen.xlsx", "Wie hoch ist eine Rechnung im Schnitt?", _all(net, mean)(i)),
        ("rechnungen.xlsx", "Wie viele verschiedene Kunden haben wir?", len({r["Kunde"] for r in i})),
        ("hausrat.csv", "Was war der teuerste Gegenstand?", _most(g, price)["Gegenstand"]),
        ("hausrat.csv", "Wie viel haben die Sachen im Wohnzimmer zusammen gekostet?", _all(price, sum)(_where(g, Raum="Wohnzimmer"))),
        ("hausrat.csv", "Wie viele Gegenstände stehen in der Küche?", sum(r["Raum"] == "Küche" for r in g)),
        ("hausrat.csv", "Welche Geräte sind defekt?", [r["Gegenstand"] for r in g if r["Zustand"] == "defekt"]),
        ("hausrat.csv", "Wann habe ich den Kühlschrank gekauft?", next(r["Gekauft am"] for r in g if r["Gegenstand"] == "Kühlschrank")),
        ("hausrat.csv", "Wie viel kostet ein Gegenstand im Durchschnitt pro Raum?", _each(g, "Raum", _all(price, mean))),
        ("hausrat.csv", "Bis wann läuft die Garantie der Waschmaschine?", date(2027, 2, 28)),
        ("hausrat.csv", "Wie schwer ist der Fernseher?", None),
        ("marks.csv", "Who has the best mark in maths?", _most(m, "Maths")["Pupil"]),
        ("marks.csv", "What's the average science mark in 9B?", _all("Science", mean)(_where(m, Form="9B"))),
        ("marks.csv", "Which form did better in English on average?", _first(m, "Form", _all("English", mean))),
        ("marks.csv", "How many pupils scored under 50 in maths?", sum(r["Maths"] < 50 for r in m)),
        ("marks.csv", "Who was absent the most?", "Harry Stone"),
        ("marks.csv", "List the pupils with more than 80 in both maths and science.", [r["Pupil"] for r in m if r["Maths"] > 80 and r["Science"] > 80]),
        ("marks.csv", "What is the median maths mark?", _all("Maths", median)(m)),
        ("marks.csv", "How much better is 9A than 9B in science on average?", science["9A"] - science["9B"]),
        ("marks.csv", "Who got the best mark in geography?", None),
        ("training.json", "How far did I run in total?", _all("distance_km", sum)(_where(f, activity="run"))),
        ("training.json", "How many times did I go swimming in June?", sum(r["date"].month == 6 for r in _where(f, activity="swim"))),
        ("training.json", "How long was my longest bike ride?", _most(_where(f, activity="ride"), "distance_km")["distance_km"]),
        ("training.json", "On which day did I burn the most calories?", _most(f, "kcal")["date"]),
        ("training.json", "What's my average heart rate when running?", _all("avg_hr", mean)(_where(f, activity="run"))),
        ("training.json", "How many kilometres did I ride each month?", _each(_where(f, activity="ride"), _month("date"), _all("distance_km", sum))),
        ("training.json", "How many hours did I train in July?", sum(r["duration_min"] for r in f if r["date"].month == 7) / 60),
        ("training.json", "Did I run more kilometres in May than in June?", "Yes" if runs["2025-05"] > runs["2025-06"] else "No"),
        ("training.json", "How much did I weigh in June?", None),
        ("stations.parquet", "What was the hottest day in Bergen?", _most(_where(w, station="Bergen"), "t_max_c")["obs_date"]),
        ("stations.parquet", "How many rainy days did Porto have in 2024?", sum(r["precip_mm"] > 0 and r["obs_date"].year == 2024 for r in _where(w, station="Porto"))),
        ("stations.parquet", "How windy is it in Kraków on average?", _all("wind_kmh", mean)(_where(w, station="Kraków"))),
        ("stations.parquet", "Which station got the most rain overall?", _first(w, "station", _all("precip_mm", sum))),
        ("stations.parquet", "What was the lowest temperature ever measured, and where?", [cold["station"], cold["t_min_c"]]),
        ("stations.parquet", "On how many days did it get below -10 degrees in Tampere?", sum(r["t_min_c"] < -10 for r in _where(w, station="Tampere"))),
        ("stations.parquet", "Total rainfall per year in Porto", _each(_where(w, station="Porto"), lambda r: r["obs_date"].year, _all("precip_mm", sum))),
        ("stations.parquet", "How humid was it in Porto in May 2024?", None),
        ("stations.parquet", "Is Porto warmer than Bergen on average?", "Yes"),
        ("shop_orders.csv", "What's our best-selling product?", _first(o, "product", _all("qty", sum))),
        ("shop_orders.csv", "How many customers ordered more than 40 times?", sum(n > 40 for n in times.values())),
        ("shop_orders.csv", "What percentage of orders were returned?", 100 * mean(r["returned"] == "Y" for r in o)),
        ("shop_orders.csv", "How much revenue did we make in 2024?", sum(r[total] for r in o if r["ordered_at"].year == 2024)),
        ("shop_orders.csv", "Who are our top 5 customers by revenue?", sorted(spent, key=lambda n: -spent[n])[:5]),
        ("shop_orders.csv", "How many orders were paid with PayPal in October 2024?", sum(r["payment"] == "PayPal" and f"{r['ordered_at']:%Y-%m}" == "2024-10" for r in o)),
        ("shop_orders.csv", "What's the average order value in France?", _all(total, mean)(_where(o, country="France"))),
        ("shop_orders.csv", "Which country sends back the most orders?", _first(_where(o, returned="Y"), "country", len)),
        ("shop_orders.csv", "What profit did we make on headphones?", None),
        ("results.csv", "How many goals were scored in total?", sum(r["HG"] + r["AG"] for r in k)),
        ("results.csv", "Which match had the largest crowd?", [crowd["Home"], crowd["Away"]]),
        ("results.csv", "How many matches did Rovers win at home?", sum(r["Home"] == "Rovers" and r["HG"] > r["AG"] for r in k)),
        ("results.csv", "What is the average attendance?", _all("Attendance", mean)(k)),
        ("results.csv", "What was the score when Harbour City played Kingsmead at home?", [match["HG"], match["AG"]]),
        ("results.csv", "How many home goals did Harbour City score?", sum(r["HG"] for r in k if r["Home"] == "Harbour City")),
        ("results.csv", "How many matches ended in a draw?", sum(r["HG"] == r["AG"] for r in k)),
        ("results.csv", "Which referee was in charge most often?", _first(k, "Referee", len)),
        ("results.csv", "Who scored the most goals for Kingsmead?", None),
        ("loans.xlsx", "Which books haven't been returned yet?", {r["Title"] for r in x if r["Returned"] is None}),
        ("loans.xlsx", "Who has borrowed the most books?", _first(x, "Borrower", len)),
        ("loans.xlsx", "How much was paid in fines altogether?", _all("Fine ($)", sum)(x)),
        ("loans.xlsx", "How many books by Agatha Christie were borrowed?", sum(r["Author"] == "Agatha Christie" for r in x)),
        ("loans.xlsx", "When was Solaris last borrowed?", max(r["Loaned"] for r in x if r["Title"] == "Solaris")),
        ("loans.xlsx", "How many different authors are there?", len({r["Author"] for r in x})),
        ("loans.xlsx", "Who still has The Hobbit?", next(r["Borrower"] for r in x if r["Title"] == "The Hobbit" and r["Returned"] is None)),
        ("loans.xlsx", "What's the most popular book?", _first(x, "Title", len)),
        ("loans.xlsx", "How many loans were there each month?", _each(x, _month("Loaned"), len)),
        ("flights.parquet", "How many flights were cancelled?", sum(r["cancelled"] for r in a)),
        ("flights.parquet", "Which airline has the worst average delay?", _first(a, "airline", _all(wait, mean))),
        ("flights.parquet", "How many flights left Lisbon in August?", sum(r["origin"] == "Lisbon" and r["sched_dep"].month == 8 for r in a)),
        ("flights.parquet", "What's the average delay of flights to Oslo?", _all(wait, mean)(_where(a, dest="Oslo"))),
        ("flights.parquet", "Which flight was delayed the most?", _most(a, wait)["flight"]),
        ("flights.parquet", "How many passengers flew with Norda Air?", _all("pax", sum)(_where(a, airline="Norda Air"))),
        ("flights.parquet", "How many flights were more than an hour late?", sum(r[wait] is not None and r[wait] > 60 for r in a)),
        ("flights.parquet", "What does the cheapest flight from Lisbon to Oslo cost?", None),
        ("flights.parquet", "Do more flights go to Oslo or to Rome?", "Oslo" if to["Oslo"] > to["Rome"] else "Rome"),
        ("survey.csv", "What's the average age of the women?", _all("Age", mean)(women)),
        ("survey.csv", "How satisfied are people in Leeds on average?", _all(happy, mean)(_where(s, City="Leeds"))),
        ("survey.csv", "Which channel is the favourite of most people?", _first(s, "Fav. channel", len)),
        ("survey.csv", "How many people under 30 answered?", sum(r["Age"] is not None and r["Age"] < 30 for r in s)),
        ("survey.csv", "What percentage of the men would recommend us?", 100 * mean(r["Would recommend?"] == "Yes" for r in men)),
        ("survey.csv", "How many people didn't give their age?", sum(r["Age"] is None for r in s)),
        ("survey.csv", "Are women more satisfied than men?", "Yes" if _all(happy, mean)(women) > _all(happy, mean)(men) else "No"),
        ("survey.csv", "Which party do most of them vote for?", None),
        ("utilities.json", "How much electricity did we use in total?", _all("electricity_kwh", sum)(u)),
        ("utilities.json", "In which month was gas use lowest?", "July"),
        ("utilities.json", "How much more did we pay in January than in June?", 268.4 - 95.3),
        ("utilities.json", "How many months cost more than 150 pounds?", sum(r["bill_gbp"] > 150 for r in u)),
        ("utilities.json", "By what percentage did electricity use drop from January to August?", 100 * (412 - 247) / 412),
        ("utilities.json", "Show me the three most expensive months", ["2025-01", "2025-02", "2025-03"]),
    ]
    return [TableCase(*case) for case in cases]


def asked_once_more(t: Mapping[str, Rows]) -> list[TableCase]:
    """Thirty over the last four."""
    h, v, n, p = (t[name] for name in ("timesheet.xlsx", "vet_visits.csv", "sensors.parquet", "parzellen.csv"))
    hours = _all("Hrs", sum)
    attic = [r["temp_c"] for r in n if r["device"] == "attic"]
    cases = [
        ("timesheet.xlsx", "How many hours did Carla work in May?", hours([r for r in h if r["Employee"] == "Carla Voss" and r["Date"].month == 5])),
        ("timesheet.xlsx", "Which project took the most hours?", _first(h, "Project", hours)),
        ("timesheet.xlsx", "What's the average hourly rate in IT?", _all("Rate (€/h)", mean)([r for r in h if r["Dept."] == "IT"])),
        ("timesheet.xlsx", "How many hours were not billable?", hours(_where(h, Billable="N"))),
        ("timesheet.xlsx", "Who worked the fewest hours in the sales department?", _first(_where(h, **{"Dept.": "Sales"}), "Employee", lambda rows: -hours(rows))),
        ("timesheet.xlsx", "How many people worked on Borealis?", len({r["Employee"] for r in h if r["Project"] == "Borealis"})),
        ("timesheet.xlsx", "Hours per employee in April, please", _each([r for r in h if r["Date"].month == 4], "Employee", hours)),
        ("timesheet.xlsx", "How many days off did Carla take?", None),
        ("vet_visits.csv", "How many visits were for cats?", sum(r["Species"] == "cat" for r in v)),
        ("vet_visits.csv", "How much did J. Aldous pay altogether?", _all("Cost (£)", sum)(_where(v, Owner="J. Aldous"))),
        ("vet_visits.csv", "Which pet is the heaviest?", _most(v, "Wt (kg)")["Pet"]),
        ("vet_visits.csv", "What do rabbits come in for most often?", _first(_where(v, Species="rabbit"), "Diagnosis", len)),
        ("vet_visits.csv", "When was Biscuit last here?", max(r["Visit"] for r in v if r["Pet"] == "Biscuit")),
        ("vet_visits.csv", "How many visits cost between 100 and 200 pounds?", sum(100 <= r["Cost (£)"] <= 200 for r in v)),
        ("vet_visits.csv", "What does a visit cost on average for each species?", _each(v, "Species", _all("Cost (£)", mean))),
        ("vet_visits.csv", "Which vaccine did Biscuit get?", None),
        ("sensors.parquet", "When was the CO2 highest?", _most(n, "co2_ppm")["ts"].date()),
        ("sensors.parquet", "Which device has the lowest battery?", _least(n, "batt_v")["device"]),
        ("sensors.parquet", "How often did the alarm go off?", sum(r["alarm"] for r in n)),
        ("sensors.parquet", "Average temperature in the cellar per month", _each(_where(n, device="cellar"), _month("ts"), _all("temp_c", mean))),
        ("sensors.parquet", "How many readings were above 1500 ppm?", sum(r["co2_ppm"] > 1500 for r in n)),
        ("sensors.parquet", "What's the difference between the highest and the lowest temperature in the attic?", max(attic) - min(attic)),
        ("sensors.parquet", "Was it warmer in the kitchen or in the attic on average?", "attic"),
        ("sensors.parquet", "How loud is it in the kitchen?", None),
        ("parzellen.csv", "Wer hat noch nicht bezahlt?", [r["Mitglied"] for r in p if r["Bezahlt"] == "nein"]),
        ("parzellen.csv", "Wie groß ist die größte Parzelle?", _most(p, "Fläche (m²)")["Fläche (m²)"]),
        ("parzellen.csv", "Wie viele Mitglieder sind vor 2010 eingetreten?", sum(r["Eintritt"].year < 2010 for r in p)),
        ("parzellen.csv", "Wie hoch sind die Beiträge insgesamt?", _all("Jahresbeitrag (€)", sum)(p)),
        ("parzellen.csv", "Wer ist schon am längsten Mitglied?", _least(p, "Eintritt")["Mitglied"]),
        ("parzellen.csv", "Wie viel Prozent haben bezahlt?", 100 * mean(r["Bezahlt"] == "ja" for r in p)),
    ]
    return [TableCase(*case) for case in cases]
