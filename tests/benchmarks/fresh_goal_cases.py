"""A third set of goals, of other shapes, on whose words nothing is tuned."""

from __future__ import annotations

import json
import random
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

from PIL import Image

from tests.benchmarks.agent_goal_cases import (
    WORDS,
    Check,
    GoalCase,
    Outcome,
    Rows,
    has_pairs,
    near_text,
    sums,
    write_table,
)


def _one_of(came: Outcome, best: str, others: Sequence[str]) -> bool:
    """Whether the answer names the best one, and names another one only with numbers beside it."""
    return came.says(best) and not any(came.says(name) for name in others if name != best)


def bookings(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"arrival": str(date(2024, 5, 1) + timedelta(chance.randrange(150))),
                   "room": chance.choice(("single", "double", "suite")),
                   "nights": chance.randrange(1, 9)} for _ in range(140)]  # fmt: skip
    write_table(folder / "bookings.csv", rows)
    nights = sum(row["nights"] for row in rows if row["arrival"][5:7] == "08")
    return lambda came: came.says(nights)


def density(folder: Path, chance: random.Random) -> Check:
    names = "Arland Borin Celta Dumar Estia Farona Galden Hestra Ivoria".split()
    rows: Rows = [{"country": name, "population": chance.randrange(1, 90) * 100_000,
                   "area_km2": chance.randrange(5, 400) * 1000} for name in names]  # fmt: skip
    write_table(folder / "countries.csv", rows)
    ranked = sorted(rows, key=lambda row: -row["population"] / row["area_km2"])
    best = [row["country"] for row in ranked[:3]]
    return lambda came: (
        came.says(*best) and not any(came.says(name) for name in names if name not in best)
    )


def with_tax(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"article": word, "price": round(chance.uniform(1, 80), 2)} for word in WORDS]
    write_table(folder / "articles.csv", rows)

    def check(came: Outcome) -> bool:
        found = came.rows("with_tax.csv")
        return len(found) == len(rows) and all(
            new.get("article") == old["article"]
            and near_text(new.get("price") or "", old["price"])
            and any(near_text(cell or "", old["price"] * 1.19) for cell in new.values())
            for old, new in zip(rows, found, strict=True)
        )

    return check


def rain(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"date": str(date(2023, 1, 1) + timedelta(day)),
                   "rain_mm": chance.choice((0, 0, 0, round(chance.uniform(0, 25), 1)))}
                  for day in range(240)]  # fmt: skip
    write_table(folder / "rain.csv", rows)
    months: dict[str, float] = defaultdict(float)
    for row in rows:
        months[row["date"][:7]] += row["rain_mm"]
    month = max(months, key=lambda name: months[name])
    name = f"{date.fromisoformat(f'{month}-01'):%B}"
    days = sum(row["rain_mm"] > 10 for row in rows)
    return lambda came: (
        came.says(days)
        and (
            came.says(name)
            or month in came.reply
            or bool(re.search(rf"\b{month[5:]}\b", came.reply))
        )
    )


def pivot(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"shop": chance.choice(("Main Street", "Harbour", "Station")),
                   "product": chance.choice(("tea", "coffee", "cocoa")),
                   "units": chance.randrange(1, 30)} for _ in range(90)]  # fmt: skip
    write_table(folder / "units.csv", rows)
    wanted: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        wanted[row["shop"], row["product"]] += row["units"]

    def check(came: Outcome) -> bool:
        found = came.rows("pivot.csv")
        return len(found) == 3 and all(
            any(shop in row.values() and near_text(row.get(product) or "", units) for row in found)
            for (shop, product), units in wanted.items()
        )

    return check


def groceries(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"date": str(date(2025, 2, 1) + timedelta(chance.randrange(120))),
                   "category": chance.choice(("groceries", "rent", "fuel", "books")),
                   "amount": round(chance.uniform(4, 150), 2)} for _ in range(160)]  # fmt: skip
    write_table(folder / "bank.csv", rows)

    def spent(month: str) -> float:
        found = [
            float(row["amount"])
            for row in rows
            if row["category"] == "groceries" and row["date"][5:7] == month
        ]
        return sum(found)

    change = spent("04") - spent("03")
    return lambda came: came.says(change) or came.says(-change)


def without_orders(folder: Path, chance: random.Random) -> Check:
    names = "Adler Brandt Cohen Duarte Eklund Fischer Garcia Horvat Ito Jansen".split()
    customers: Rows = [{"id": f"K{at}", "name": name} for at, name in enumerate(names, 1)]
    silent = set(chance.sample(names, 3))
    ids = [row["id"] for row in customers if row["name"] not in silent]
    orders: Rows = [
        {
            "order": at,
            "customer_id": chance.choice(ids) if at > len(ids) else ids[at - 1],
            "total": chance.randrange(5, 90),
        }
        for at in range(1, 41)
    ]
    write_table(folder / "customers.csv", customers)
    write_table(folder / "orders.csv", orders)

    def check(came: Outcome) -> bool:
        ids = re.findall(r"\bK\d+\b", came.reply)
        by_id = sorted(row["id"] for row in customers if row["name"] in silent)
        named = [name for name in names if came.says(name)]
        return sorted(named) == sorted(silent) or (not named and sorted(ids) == by_id)

    return check


def raises(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"name": f"Worker {at:02}", "started": f"{chance.randrange(2005, 2024)}-0"
                   f"{chance.randrange(1, 10)}-01", "salary": chance.randrange(28, 60) * 1000}
                  for at in range(60)]  # fmt: skip
    write_table(folder / "staff.csv", rows)
    wanted = sorted(
        row["name"] for row in rows if row["started"] < "2015" and row["salary"] < 40000
    )

    def check(came: Outcome) -> bool:
        cells = [cell or "" for row in came.rows("raise.csv") for cell in row.values()]
        return sorted(cell for cell in cells if cell.startswith("Worker")) == wanted

    return check


def celsius(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"city": word, "temperature": chance.randrange(20, 110)} for word in WORDS]
    write_table(folder / "cities.csv", rows)

    def check(came: Outcome) -> bool:
        found = came.rows("celsius.csv")
        return len(found) == len(rows) and all(
            any(near_text(cell or "", (old["temperature"] - 32) * 5 / 9)
                or near_text(cell or "", round((old["temperature"] - 32) * 5 / 9, 1))
                for cell in new.values())
            for old, new in zip(rows, found, strict=True)
        )  # fmt: skip

    return check


def shares(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"department": chance.choice(("Press", "Sales", "Lab", "Garden")),
                   "item": f"B{at}", "budget": chance.randrange(100, 9000)}
                  for at in range(48)]  # fmt: skip
    write_table(folder / "budget.csv", rows)
    totals = sums(rows, "department", "budget")
    whole = sum(totals.values())
    wanted = {name: 100 * value / whole for name, value in totals.items()}

    def check(came: Outcome) -> bool:
        found = came.rows("shares.csv")
        return any(
            has_pairs([{key: (cell or "").strip("% ") for key, cell in row.items()}
                       for row in found], {name: round(value, digits)
                                           for name, value in wanted.items()})
            for digits in (0, 1, 9)
        )  # fmt: skip

    return check


def speakers(folder: Path, chance: random.Random) -> Check:
    names = ("ANNA", "BORIS", "CLARA", "DAVID")
    said = [chance.choices(names, (5, 3, 2, 1))[0] for _ in range(70)]
    lines = [f"{name}: {' '.join(chance.choices(WORDS, k=6)).capitalize()}." for name in said]
    (folder / "interview.txt").write_text("\n".join(lines))
    best = Counter(said).most_common(1)[0][0]
    return lambda came: (came.says(len(set(said))) or came.says("four")) and came.says(best)


def renamed(folder: Path, chance: random.Random) -> Check:
    words = [chance.choice(("Mr Smith", *WORDS)) for _ in range(160)]
    text = "\n".join(" ".join(words[at : at + 8]) for at in range(0, 160, 8))
    (folder / "letter.txt").write_text(text)
    wanted = text.replace("Mr Smith", "Mr Jones")
    return lambda came: came.text("letter_new.txt").split() == wanted.split()


def mentions(folder: Path, chance: random.Random) -> Check:
    names = [f"mail_{at:02}.txt" for at in range(1, 13)]
    wanted = set(chance.sample(names, 4))
    for name in names:
        words = chance.choices(WORDS, k=40) + ["invoice"] * (name in wanted)
        chance.shuffle(words)
        (folder / name).write_text(f"{' '.join(words).capitalize()}.")
    return lambda came: all(
        bool(re.search(name.split(".")[0], came.reply)) == (name in wanted) for name in names
    )


def headings(folder: Path, chance: random.Random) -> Check:
    lines, wanted = [], []
    for number in range(9):
        title = f"{chance.choice(WORDS).title()} {number}"
        wanted.append(title)
        lines += [
            f"{'#' * chance.randrange(1, 4)} {title}",
            "",
            f"A paragraph about the {chance.choice(WORDS)}, number #{number}.",
            "",
        ]
    (folder / "handbook.md").write_text("\n".join(lines))

    def check(came: Outcome) -> bool:
        found = [line.strip(" #-*\t") for line in came.text("outline.txt").splitlines()]
        return [line for line in found if line] == wanted

    return check


def guests(folder: Path, chance: random.Random) -> Check:
    names = [f"{first} {last}" for first in ("Uma", "Bela", "Ivo", "Mia", "Tom")
             for last in ("Novak", "Abel", "Quist", "Dorn")]  # fmt: skip
    chance.shuffle(names)
    lines = [line for name in names for line in (name, *[""] * chance.randrange(3))]
    (folder / "guests.txt").write_text("\n".join(lines))
    return lambda came: came.text("guests_sorted.txt").split("\n") in (
        sorted(names), [*sorted(names), ""]
    )  # fmt: skip


def access(folder: Path, chance: random.Random) -> Check:
    hosts = ["10.0.0.4", "10.0.0.17", "192.168.1.9", "172.16.5.2"]
    lines, asked, failed = [], Counter[str](), Counter[str]()
    for second in range(300):
        host, code = chance.choices(hosts, (6, 3, 2, 2))[0], chance.choice((200, 200, 304, 404))
        page = chance.choice(WORDS)
        lines.append(f'{host} - - [12/May/2024:10:{second // 60:02}:{second % 60:02} +0000] '
                     f'"GET /{page} HTTP/1.1" {code} {chance.randrange(200, 9000)}')  # fmt: skip
        asked[host] += 1
        failed[host] += code == 404
    (folder / "access.log").write_text("\n".join(lines))
    ((best, _),) = asked.most_common(1)
    return lambda came: (
        came.says(best) and bool(re.search(rf"(?<![\d.]){failed[best]}(?![\d]|\.\d)", came.reply))
    )


def grey(folder: Path, chance: random.Random) -> Check:
    sizes = []
    for name in ("beach", "forest", "lake", "tower"):
        size = (chance.randrange(80, 200), chance.randrange(80, 200))
        picture = Image.new("RGB", size, (200, 40, 90))
        picture.paste((10, 180, 60), (10, 10, 40, 40))
        picture.save(folder / f"{name}.jpg")
        sizes.append(size)

    def check(came: Outcome) -> bool:
        found = []
        for name, path in came.files.items():
            if name.lower().endswith(".png"):
                with Image.open(path) as picture:
                    bands = picture.convert("RGB").split()
                    if bands[0].tobytes() == bands[1].tobytes() == bands[2].tobytes():
                        found.append(picture.size)
        return sorted(found) == sorted(sizes)

    return check


def films(folder: Path, chance: random.Random) -> Check:
    years = chance.sample(range(1960, 2024), 36)
    rows: Rows = [{"title": f"Film {year}", "details": {"year": year, "minutes":
                   chance.randrange(80, 170)}} for year in years]  # fmt: skip
    (folder / "films.json").write_text(json.dumps(rows))
    wanted = [row["title"] for row in sorted(rows, key=lambda row: -row["details"]["year"])
              if row["details"]["minutes"] > 120]  # fmt: skip

    def check(came: Outcome) -> bool:
        cells = [cell or "" for row in came.rows("films.csv") for cell in row.values()]
        return [cell for cell in cells if cell.startswith("Film")] == wanted

    return check


def trips(folder: Path, chance: random.Random) -> Check:
    rows = [{"Datum": f"{date(2024, 3, 1) + timedelta(at):%d.%m.%Y}", "Ziel":
             chance.choice(("Kiel", "Bonn", "Hof")), "Kilometer":
             f"{chance.uniform(3, 900):.1f}".replace(".", ",")} for at in range(64)]  # fmt: skip
    write_table(folder / "fahrten.csv", rows, ";")
    mean = statistics.mean(float(row["Kilometer"].replace(",", ".")) for row in rows)
    return lambda came: came.says(mean) or Outcome(came.reply.replace(",", "."), {}).says(mean)


def weekdays(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"date": str(date(2024, 1, 1) + timedelta(day)),
                   "visitors": chance.randrange(20, 90) + 40 * ((day % 7) == 5)}
                  for day in range(182)]  # fmt: skip
    write_table(folder / "museum.csv", rows)
    by: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        by[f"{date.fromisoformat(row['date']):%A}"].append(row["visitors"])
    means = {day: statistics.mean(each) for day, each in by.items()}
    best = max(means, key=lambda day: means[day])
    return lambda came: _one_of(came, best, list(means))


FRESH: Sequence[GoalCase] = (
    GoalCase("How many nights were booked for August?", bookings),
    GoalCase("Which three countries have the highest population density?", density),
    GoalCase("Add a column with the price including 19 percent tax and save it as with_tax.csv",
             with_tax),
    GoalCase("How many days had more than 10 mm of rain, and which month was the wettest?", rain),
    GoalCase("Make pivot.csv with one row for each shop and one column for each product: the units "
             "sold.", pivot),
    GoalCase("How much more did I spend on groceries in April than in March?", groceries),
    GoalCase("Which customers have never ordered anything?", without_orders),
    GoalCase("Who started before 2015 and earns less than 40000? Save them as raise.csv", raises),
    GoalCase("The temperatures are in Fahrenheit. Convert them to Celsius and save the table as "
             "celsius.csv", celsius),
    GoalCase("What share of the whole budget does each department have, in percent? Write it to "
             "shares.csv", shares),
    GoalCase("How many people speak in this interview, and who speaks most often?", speakers),
    GoalCase("Replace Mr Smith with Mr Jones everywhere in the letter and save it as "
             "letter_new.txt", renamed),
    GoalCase("Which of these mails mention an invoice?", mentions),
    GoalCase("Write all the headings of the handbook to outline.txt", headings),
    GoalCase("Sort the guests by name, without the empty lines, and save them as "
             "guests_sorted.txt", guests),
    GoalCase("Which IP address sent the most requests, and how many of its requests ended with "
             "404?", access),
    GoalCase("Make these photos black and white and save them as PNG", grey),
    GoalCase("Which films are longer than two hours? List them in films.csv, newest first.", films),
    GoalCase("Wie viele Kilometer bin ich im Durchschnitt pro Fahrt gefahren?", trips),
    GoalCase("On which day of the week do we have the most visitors on average?", weekdays),
)  # fmt: skip
