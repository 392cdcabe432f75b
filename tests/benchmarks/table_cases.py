"""Twelve tables from seeded code and a hundred questions about them, for `table_questions.py`.

The answers are computed here in plain Python from the rows, never by the code that is measured. The
first fifty were written before the reading of questions, the second fifty after it.
"""

from __future__ import annotations

import csv
import json
import random
import statistics as st
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Rows = list[Row]
Answer = float | int | str | date | Sequence[Any] | Mapping[str, Any]


@dataclass(frozen=True)
class TableCase:
    """A question about tables. The answer is a value, the set of the names that must be listed, or
    the value of each name."""

    tables: str
    question: str
    expected: Answer | None


def _days(start: date, count: int) -> list[date]:
    return [start + timedelta(days=at) for at in range(count)]


def make_rows() -> dict[str, Rows]:
    """Return the rows of each table."""
    r = random.Random(7)
    days = _days(date(2022, 1, 1), 730)
    prices = {"Laptop": 1199.0, "Phone": 649.5, "Monitor": 229.0, "Keyboard": 59.9, "Desk": 340.0}
    sales = []
    for number in range(1800):
        product, units = r.choice(list(prices)), r.randint(1, 9)
        sales.append(
            {"order_id": 10_000 + number, "date": r.choice(days),
             "region": r.choice(["North", "South", "East", "West"]), "product": product,
             "units": units, "unit_price": prices[product],
             "revenue": round(units * prices[product], 2)}
        )  # fmt: skip
    stocks = [
        {"symbol": symbol, "date": date(year, month, 1),
         "price": round(base * (1 + 0.02 * (12 * (year - 2000) + month)) * r.uniform(0.8, 1.25), 2)}
        for symbol, base in (("MSFT", 20), ("AMZN", 35), ("IBM", 70), ("GOOG", 150), ("AAPL", 25))
        for year in range(2000, 2010) for month in range(1, 13)
    ][:560]  # fmt: skip
    first = (
        "Anna Ben Clara David Eva Frank Greta Hugo Ida Jonas Klara Leo Mia Nils Olga Paul".split()
    )
    last = "Keller Meier Novak Olsen Peters Quinn Rossi Schmidt Tanner Ulrich".split()
    names = [f"{one} {two}" for one in first for two in last]
    r.shuffle(names)
    employees = [
        {"Name": name, "Department": r.choice(["Sales", "Engineering", "Finance", "Support"]),
         "Job Title": r.choice(["Manager", "Analyst", "Developer", "Assistant"]),
         "Salary (EUR)": r.randrange(32_000, 98_000, 250),
         "Start Date": date(2008, 1, 1) + timedelta(days=r.randrange(5400)),
         "Age": r.randint(21, 64), "City": r.choice(["Berlin", "Hamburg", "Munich"]),
         "Remote": r.choice(["yes", "no"])}
        for name in names[:120]
    ]  # fmt: skip
    invoices = [
        {"Customer": f"{name} GmbH", "City": r.choice(["Köln", "Bonn", "Jülich", "Düsseldorf"]),
         "Invoice Date": date(2023, 1, 1) + timedelta(days=r.randrange(365)),
         "Amount": round(r.uniform(20, 9000), 2), "Paid": r.choice(["ja", "nein"])}
        for name in last for _ in range(20)
    ]  # fmt: skip
    words = "Silent Golden Broken Hidden Crimson Frozen Distant Electric Hollow Velvet".split()
    nouns = "River Harbour Mirror Garden Winter Engine Letter Island".split()
    movies = [
        {"title": f"{one} {two}", "year": r.randint(1985, 2020),
         "genre": r.choice(["Drama", "Comedy", "Thriller", "Animation"]),
         "rating": round(r.uniform(3, 9.6), 1), "votes": r.randint(300, 900_000),
         "runtime_min": r.randint(78, 190), "director": r.choice(names[:12])}
        for one in words for two in nouns
    ]  # fmt: skip
    weather = [
        {"date": day, "station": station, "temp_max": round(top := r.uniform(-5, 36), 1),
         "temp_min": round(top - r.uniform(3, 14), 1),
         "rain_mm": round(max(0.0, r.gauss(0, 6)), 1)}
        for day in _days(date(2023, 1, 1), 365) for station in ("Harbour", "Airport", "Hill")
    ]  # fmt: skip
    grades = [
        {"Student": name, "Class": r.choice(["7a", "7b", "8a"]), "Subject": subject,
         "Score": (score := r.randint(20, 100)), "Absences": r.randint(0, 12),
         "Passed": score >= 50}
        for name in names[:40] for subject in ("Maths", "English", "History")
    ]  # fmt: skip
    countries = [
        dict(zip(("country", "continent", "population", "area_km2", "capital"), row, strict=True))
        for row in (
            ("Germany", "Europe", 83_200_000, 357_588, "Berlin"),
            ("France", "Europe", 67_750_000, 551_695, "Paris"),
            ("Spain", "Europe", 47_420_000, 505_990, "Madrid"),
            ("Norway", "Europe", 5_408_000, 385_207, "Oslo"),
            ("Japan", "Asia", 125_700_000, 377_975, "Tokyo"),
            ("India", "Asia", 1_408_000_000, 3_287_263, "New Delhi"),
            ("Vietnam", "Asia", 97_470_000, 331_212, "Hanoi"),
            ("Nepal", "Asia", 30_030_000, 147_181, "Kathmandu"),
            ("Kenya", "Africa", 53_010_000, 580_367, "Nairobi"),
            ("Ghana", "Africa", 32_830_000, 238_540, "Accra"),
            ("Egypt", "Africa", 109_300_000, 1_010_408, "Cairo"),
            ("Brazil", "South America", 214_300_000, 8_515_767, "Brasília"),
            ("Chile", "South America", 19_490_000, 756_102, "Santiago"),
            ("Peru", "South America", 33_720_000, 1_285_216, "Lima"),
            ("Canada", "North America", 38_250_000, 9_984_670, "Ottawa"),
        )
    ]
    flights = [
        {"flight_no": f"{code}{r.randint(100, 999)}", "airline": airline,
         "origin": r.choice(["FRA", "CDG", "MAD"]), "destination": r.choice(["JFK", "LIS", "OSL"]),
         "departure": datetime(2024, r.randint(1, 6), r.randint(1, 28), r.randint(5, 22), 15),
         "delay_minutes": max(0, round(r.gauss(12, 25))), "distance_km": r.randint(600, 6300),
         "cancelled": r.random() < 0.06}
        for code, airline in [("NA", "Nordair"), ("SW", "Skyways"), ("BL", "Blueline")] * 300
    ]  # fmt: skip
    customers = [
        {"customer_id": 500 + at, "name": name, "country": r.choice(["Austria", "Italy", "Poland"]),
         "signup_date": date(2020, 1, 1) + timedelta(days=r.randrange(900))}
        for at, name in enumerate(names[:60])
    ]  # fmt: skip
    orders = [
        {"order_id": at, "customer_id": r.choice(customers)["customer_id"],
         "order_date": date(2023, 1, 1) + timedelta(days=r.randrange(500)),
         "amount": round(r.uniform(5, 800), 2),
         "status": r.choice(["shipped", "shipped", "returned", "pending"])}
        for at in range(1, 701)
    ]  # fmt: skip
    expenses = [
        {"Date": date(2024, 1, 1) + timedelta(days=r.randrange(300)),
         "Category": (kind := r.choice(["Food", "Travel", "Rent", "Books"])),
         "Merchant": r.choice({"Food": ["Fresh Mart", "Corner Deli"], "Travel": ["Rail Europe"],
                               "Rent": ["City Homes"], "Books": ["Page One", "Inkwell"]}[kind]),
         "Amount": round(r.uniform(3, 1800), 2), "Payment Method": r.choice(["card", "cash"])}
        for _ in range(420)
    ]  # fmt: skip
    return {
        "sales.csv": sales, "stocks.csv": stocks, "employees.xlsx": employees,
        "invoices.csv": invoices, "movies.json": movies, "weather.csv": weather,
        "grades.csv": grades, "countries.csv": countries, "flights.parquet": flights,
        "customers.csv": customers, "orders.csv": orders, "expenses.csv": expenses,
    }  # fmt: skip


def write_tables(folder: Path, rows: Mapping[str, Rows]) -> None:
    """Write the tables as files. Some are as messy as those that people have."""
    for name, table in rows.items():
        path, columns = folder / name, list(table[0])
        lines = [[row[key] for key in columns] for row in table]
        if name.endswith(".xlsx"):
            from openpyxl import Workbook

            book = Workbook()
            for line in (columns, *lines):
                book.active.append(line)
            book.save(path)
        elif name.endswith(".json"):
            path.write_text(json.dumps(table, default=str), "utf-8")
        elif name.endswith(".parquet"):
            import duckdb

            link = duckdb.connect()
            link.execute(
                "create table t (flight_no varchar, airline varchar, origin varchar, destination"
                " varchar, departure timestamp, delay_minutes int, distance_km int, cancelled bool)"
            )
            link.executemany("insert into t values (?,?,?,?,?,?,?,?)", lines)
            link.execute(f"copy t to '{path}' (format parquet)")
        elif name == "invoices.csv":  # German: two lines above, semicolons, comma, Windows-1252
            text = "Rechnungen 2023;;;;\nStand: Januar;;;;\n" + ";".join(columns) + "\n"
            for customer, city, day, amount, paid in lines:
                euros = f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))
                text += f"{customer};{city};{day:%d.%m.%Y};{euros} €;{paid}\n"
            path.write_text(text, "cp1252")
        elif name == "expenses.csv":  # American, with a byte order mark
            text = ",".join(columns) + "\n"
            for day, kind, shop, amount, way in lines:
                text += f'{day:%m/%d/%Y},{kind},{shop},"${amount:,.2f}",{way}\n'
            path.write_text(text, "utf-8-sig")
        else:
            with path.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([columns, *lines])


def _where(rows: Rows, **wanted: Any) -> Rows:
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def _sum(rows: Iterable[Row], key: str) -> float:
    return float(sum(row[key] for row in rows))


def _mean(rows: Iterable[Row], key: str) -> float:
    return float(st.mean(row[key] for row in rows))


def _by(rows: Rows, key: str | Callable[[Row], Any]) -> dict[Any, Rows]:
    found: dict[Any, Rows] = defaultdict(list)
    for row in rows:
        found[row[key] if isinstance(key, str) else key(row)].append(row)
    return found


def _top(groups: Mapping[Any, Rows], score: Callable[[Rows], float]) -> Any:
    return max(groups, key=lambda name: score(groups[name]))


def first_half(t: Mapping[str, Rows]) -> list[TableCase]:
    """The fifty questions written before the reading was."""
    s, k, e, i = t["sales.csv"], t["stocks.csv"], t["employees.xlsx"], t["invoices.csv"]
    m, w, g, c = t["movies.json"], t["weather.csv"], t["grades.csv"], t["countries.csv"]
    f, cu, o, x = t["flights.parquet"], t["customers.csv"], t["orders.csv"], t["expenses.csv"]
    of = {row["customer_id"]: row for row in cu}
    both = [of[row["customer_id"]] | row for row in o]
    pay = "Salary (EUR)"
    cases = [
        ("sales.csv", "What is the total revenue?", _sum(s, "revenue")),
        ("sales.csv", "total revenue in the North region", _sum(_where(s, region="North"), "revenue")),
        ("sales.csv", "Which product brought in the most revenue?", _top(_by(s, "product"), lambda v: _sum(v, "revenue"))),
        ("sales.csv", "revenue by region", {n: _sum(v, "revenue") for n, v in _by(s, "region").items()}),
        ("sales.csv", "How many units of the Laptop were sold in 2023?", _sum([r for r in _where(s, product="Laptop") if r["date"].year == 2023], "units")),
        ("sales.csv", "How many orders had more than 5 units?", sum(r["units"] > 5 for r in s)),
        ("sales.csv", "What was the average revenue per order in March 2022?", _mean([r for r in s if (r["date"].year, r["date"].month) == (2022, 3)], "revenue")),
        ("stocks.csv", "Which month had the highest price?", max(k, key=lambda r: r["price"])["date"].strftime("%Y-%m")),
        ("stocks.csv", "What was the highest price of AAPL?", max(r["price"] for r in _where(k, symbol="AAPL"))),
        ("stocks.csv", "average price per symbol", {n: _mean(v, "price") for n, v in _by(k, "symbol").items()}),
        ("stocks.csv", "What was the price of IBM in May 2004?", _where(k, symbol="IBM", date=date(2004, 5, 1))[0]["price"]),
        ("stocks.csv", "How many different symbols are there?", 5),
        ("employees.xlsx", "Who earns the most?", max(e, key=lambda r: r[pay])["Name"]),
        ("employees.xlsx", "What is the median salary in Engineering?", st.median(r[pay] for r in _where(e, Department="Engineering"))),
        ("employees.xlsx", "How many people work remotely?", len(_where(e, Remote="yes"))),
        ("employees.xlsx", "Who is the youngest employee in Finance?", {r["Name"] for r in _where(e, Department="Finance") if r["Age"] == min(q["Age"] for q in _where(e, Department="Finance"))}),
        ("employees.xlsx", "average salary by department", {n: _mean(v, pay) for n, v in _by(e, "Department").items()}),
        ("employees.xlsx", f"How old is {e[5]['Name']}?", e[5]["Age"]),
        ("employees.xlsx", "How many employees started after 2015?", sum(r["Start Date"].year > 2015 for r in e)),
        ("invoices.csv", "What is the total amount of unpaid invoices?", _sum(_where(i, Paid="nein"), "Amount")),
        ("invoices.csv", "Which city has the highest total amount?", _top(_by(i, "City"), lambda v: _sum(v, "Amount"))),
        ("invoices.csv", "How many invoices are from Köln?", len(_where(i, City="Köln"))),
        ("invoices.csv", "What is the largest amount?", max(r["Amount"] for r in i)),
        ("movies.json", "What are the top 5 movies by rating?", [r["title"] for r in sorted(m, key=lambda r: -r["rating"])[:5]]),
        ("movies.json", "Which director made the most movies?", {n for n, v in Counter(r["director"] for r in m).items() if v == max(Counter(r["director"] for r in m).values())}),
        ("movies.json", "How many dramas are there?", len(_where(m, genre="Drama"))),
        ("movies.json", "What is the longest movie?", {r["title"] for r in m if r["runtime_min"] == max(q["runtime_min"] for q in m)}),
        ("movies.json", "average rating of comedies released before 2000", _mean([r for r in _where(m, genre="Comedy") if r["year"] < 2000], "rating")),
        ("weather.csv", "What was the hottest day?", max(w, key=lambda r: r["temp_max"])["date"].isoformat()),
        ("weather.csv", "How much did it rain in April at the Airport?", _sum([r for r in _where(w, station="Airport") if r["date"].month == 4], "rain_mm")),
        ("weather.csv", "Which month had the most rain?", f"2023-{_top(_by(w, lambda r: r['date'].month), lambda v: _sum(v, 'rain_mm')):02d}"),
        ("weather.csv", "average maximum temperature per station", {n: _mean(v, "temp_max") for n, v in _by(w, "station").items()}),
        ("grades.csv", "Who has the best score in Maths?", {r["Student"] for r in _where(g, Subject="Maths") if r["Score"] == max(q["Score"] for q in _where(g, Subject="Maths"))}),
        ("grades.csv", "What percentage of the results were passed?", 100 * len(_where(g, Passed=True)) / len(g)),
        ("grades.csv", "average score per subject", {n: _mean(v, "Score") for n, v in _by(g, "Subject").items()}),
        ("grades.csv", "How many students are in class 7b?", len({r["Student"] for r in _where(g, Class="7b")})),
        ("countries.csv", "What is the capital of Japan?", "Tokyo"),
        ("countries.csv", "Which country has the largest population in Africa?", "Egypt"),
        ("countries.csv", "the three largest countries by area", ["Canada", "Brazil", "India"]),
        ("countries.csv", "How many countries have more than 100 million people?", sum(r["population"] > 1e8 for r in c)),
        ("countries.csv", "population per continent", {n: _sum(v, "population") for n, v in _by(c, "continent").items()}),
        ("flights.parquet", "Which airline has the highest average delay?", _top(_by(f, "airline"), lambda v: _mean(v, "delay_minutes"))),
        ("flights.parquet", "How many flights were cancelled?", len(_where(f, cancelled=True))),
        ("flights.parquet", "average delay of Nordair flights from FRA to LIS", _mean(_where(f, airline="Nordair", origin="FRA", destination="LIS"), "delay_minutes")),
        ("customers.csv orders.csv", "What is the total amount of orders from customers in Italy?", _sum([r for r in both if r["country"] == "Italy"], "amount")),
        ("customers.csv orders.csv", "Which customer spent the most?", _top(_by(both, "name"), lambda v: _sum(v, "amount"))),
        ("customers.csv orders.csv", "number of returned orders per country", {n: len(_where(v, status="returned")) for n, v in _by(both, "country").items()}),
        ("expenses.csv", "How much did I spend on food?", _sum(_where(x, Category="Food"), "Amount")),
        ("expenses.csv", "total spending by month", {f"2024-{n:02d}": _sum(v, "Amount") for n, v in _by(x, lambda r: r["Date"].month).items()}),
        ("expenses.csv", "What did I buy most often?", _top(_by(x, "Category"), len)),
    ]  # fmt: skip
    return [TableCase(*case) for case in cases]


def second_half(t: Mapping[str, Rows]) -> list[TableCase]:
    """The fifty questions written after the reading was, before it was asked any of them."""
    s, k, e, i = t["sales.csv"], t["stocks.csv"], t["employees.xlsx"], t["invoices.csv"]
    m, w, g, c = t["movies.json"], t["weather.csv"], t["grades.csv"], t["countries.csv"]
    f, cu, o, x = t["flights.parquet"], t["customers.csv"], t["orders.csv"], t["expenses.csv"]
    of = {row["customer_id"]: row for row in cu}
    both = [of[row["customer_id"]] | row for row in o]
    pay = "Salary (EUR)"
    best = sorted(m, key=lambda r: -r["votes"])
    oldest = min(e, key=lambda r: r["Start Date"])
    cases = [
        ("sales.csv", "How much did we sell in the West in 2022?", _sum([r for r in _where(s, region="West") if r["date"].year == 2022], "revenue")),
        ("sales.csv", "monthly revenue in 2023", {f"2023-{n:02d}": _sum([r for r in v if r["date"].year == 2023], "revenue") for n, v in _by(s, lambda r: r["date"].month).items()}),
        ("sales.csv", "What share of the revenue comes from laptops?", 100 * _sum(_where(s, product="Laptop"), "revenue") / _sum(s, "revenue")),
        ("sales.csv", "Which region sold the fewest phones?", min(_by(_where(s, product="Phone"), "region").items(), key=lambda p: _sum(p[1], "units"))[0]),
        ("sales.csv", "unit price of a monitor", 229),
        ("sales.csv", "What was our best month by revenue?", _top(_by(s, lambda r: r["date"].strftime("%Y-%m")), lambda v: _sum(v, "revenue"))),
        ("stocks.csv", "What is the average price of GOOG and IBM together since 2005?", _mean([r for r in k if r["symbol"] in ("GOOG", "IBM") and r["date"].year >= 2005], "price")),
        ("stocks.csv", "lowest price of MSFT between 2003 and 2006", min(r["price"] for r in _where(k, symbol="MSFT") if 2003 <= r["date"].year <= 2006)),
        ("stocks.csv", "When was AMZN at its highest?", max(_where(k, symbol="AMZN"), key=lambda r: r["price"])["date"].isoformat()),
        ("stocks.csv", "average price per year for AAPL", {str(n): _mean(v, "price") for n, v in _by(_where(k, symbol="AAPL"), lambda r: r["date"].year).items()}),
        ("employees.xlsx", "How many employees does each department have?", {n: len(v) for n, v in _by(e, "Department").items()}),
        ("employees.xlsx", "list the managers in Munich", {r["Name"] for r in _where(e, **{"Job Title": "Manager", "City": "Munich"})}),
        ("employees.xlsx", "Who has been with us the longest?", oldest["Name"]),
        ("employees.xlsx", "what do developers earn on average", _mean(_where(e, **{"Job Title": "Developer"}), pay)),
        ("employees.xlsx", "how many people older than 60 work in Sales or Support", sum(r["Age"] > 60 and r["Department"] in ("Sales", "Support") for r in e)),
        ("employees.xlsx", "top 3 salaries", sorted((r[pay] for r in e), reverse=True)[:3]),
        ("invoices.csv", "sum of the invoices of Novak GmbH", _sum(_where(i, Customer="Novak GmbH"), "Amount")),
        ("invoices.csv", "How many invoices were issued in the second quarter of 2023?", sum(4 <= r["Invoice Date"].month <= 6 for r in i)),
        ("invoices.csv", "average invoice amount per city", {n: _mean(v, "Amount") for n, v in _by(i, "City").items()}),
        ("invoices.csv", "Who owes us the most money?", _top(_by(_where(i, Paid="nein"), "Customer"), lambda v: _sum(v, "Amount"))),
        ("invoices.csv", "invoices over 8500 euros", {r["Customer"] for r in i if r["Amount"] > 8500}),
        ("movies.json", "Who directed Silent River?", _where(m, title="Silent River")[0]["director"]),
        ("movies.json", "How many movies came out in the 1990s?", sum(1990 <= r["year"] < 2000 for r in m)),
        ("movies.json", "What is the most voted thriller?", next(r["title"] for r in best if r["genre"] == "Thriller")),
        ("movies.json", "number of films per genre", {n: len(v) for n, v in _by(m, "genre").items()}),
        ("movies.json", "which films are longer than 3 hours", {r["title"] for r in m if r["runtime_min"] > 180}),
        ("movies.json", "average runtime", _mean(m, "runtime_min")),
        ("weather.csv", "How many days did it rain more than 10 mm at the Harbour?", sum(r["rain_mm"] > 10 for r in _where(w, station="Harbour"))),
        ("weather.csv", "coldest temperature in January", min(r["temp_min"] for r in w if r["date"].month == 1)),
        ("weather.csv", "total rain per station", {n: _sum(v, "rain_mm") for n, v in _by(w, "station").items()}),
        ("weather.csv", "how warm did it get on 12 July 2023 on the Hill", _where(w, station="Hill", date=date(2023, 7, 12))[0]["temp_max"]),
        ("grades.csv", "Which subject has the lowest average score?", min(_by(g, "Subject").items(), key=lambda p: _mean(p[1], "Score"))[0]),
        ("grades.csv", f"How many absences does {g[0]['Student']} have in total?", _sum(_where(g, Student=g[0]["Student"]), "Absences")),
        ("grades.csv", "who failed History", {r["Student"] for r in _where(g, Subject="History", Passed=False)}),
        ("grades.csv", "median score in English", st.median(r["Score"] for r in _where(g, Subject="English"))),
        ("grades.csv", "how many students scored at least 90 in English", sum(r["Score"] >= 90 for r in _where(g, Subject="English"))),
        ("countries.csv", "Which countries are in Asia?", {r["country"] for r in _where(c, continent="Asia")}),
        ("countries.csv", "population of France and Spain", {"France": 67_750_000, "Spain": 47_420_000}),
        ("countries.csv", "which country has Lima as its capital", "Peru"),
        ("countries.csv", "How many countries are not in Europe?", sum(r["continent"] != "Europe" for r in c)),
        ("countries.csv", "what is the smallest country", "Nepal"),
        ("flights.parquet", "How many flights were delayed by more than an hour?", sum(r["delay_minutes"] > 60 for r in f)),
        ("flights.parquet", "longest flight of Skyways in km", max(r["distance_km"] for r in _where(f, airline="Skyways"))),
        ("flights.parquet", "flights per airline in March", {n: sum(r["departure"].month == 3 for r in v) for n, v in _by(f, "airline").items()}),
        ("flights.parquet", "what percentage of Blueline flights were cancelled", 100 * len(_where(f, airline="Blueline", cancelled=True)) / len(_where(f, airline="Blueline"))),
        ("customers.csv orders.csv", "average order amount for customers from Poland", _mean(_where(both, country="Poland"), "amount")),
        ("customers.csv orders.csv", "top 3 customers by total amount", [n for n, _ in sorted(_by(both, "name").items(), key=lambda p: -_sum(p[1], "amount"))[:3]]),
        ("customers.csv orders.csv", "How many customers signed up in 2021?", sum(r["signup_date"].year == 2021 for r in cu)),
        ("expenses.csv", "How much have I paid by card at Fresh Mart?", _sum(_where(x, Merchant="Fresh Mart", **{"Payment Method": "card"}), "Amount")),
        ("expenses.csv", "What was my biggest expense in June?", max(r["Amount"] for r in x if r["Date"].month == 6)),
    ]  # fmt: skip
    return [TableCase(*case) for case in cases]
