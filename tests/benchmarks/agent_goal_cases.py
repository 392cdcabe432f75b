"""Goals over files, what makes their files, and a check of each outcome."""

from __future__ import annotations

import csv
import json
import random
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

Rows = list[dict[str, Any]]


@dataclass
class Outcome:
    """What a goal ended with."""

    reply: str
    files: dict[str, Path]

    def says(self, *values: str | float) -> bool:
        """Whether the answer has all of these words and numbers."""
        numbers = [
            float(found.replace(",", "")) for found in re.findall(r"-?\d[\d,]*\.?\d*", self.reply)
        ]
        return all(
            value.casefold() in self.reply.casefold()
            if isinstance(value, str)
            else any(abs(number - value) <= max(0.006 * abs(value), 0.006) for number in numbers)
            for value in values
        )

    def rows(self, name: str) -> list[dict[str, str]]:
        """The rows of a table, by name or by the only suffix; [] if there is none."""
        found = [path for title, path in self.files.items() if title.endswith(name)]
        if not found:
            return []
        with found[-1].open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def text(self, name: str) -> str:
        found = [path for title, path in self.files.items() if title.endswith(name)]
        return found[-1].read_text("utf-8") if found else ""

    def draws(self, name: str = "") -> bool:
        """Whether there is a picture with something drawn in it."""
        for title, path in self.files.items():
            if title.endswith(name or (".png", ".jpg", ".jpeg")):
                with Image.open(path) as picture:
                    colours = picture.convert("RGB").getcolors(1 << 24) or []
                    pixels = picture.width * picture.height
                    return len(colours) > 3 and max(count for count, _ in colours) < 0.995 * pixels
        return False


Check = Callable[[Outcome], bool]
Make = Callable[[Path, random.Random], Check]


@dataclass(frozen=True)
class GoalCase:
    """A goal, and what makes its files and its check."""

    goal: str
    make: Make


def write_table(path: Path, rows: Rows, delimiter: str = ",") -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def sums(rows: Rows, by: str, value: str) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for row in rows:
        found[row[by]] += row[value]
    return dict(found)


def near_text(text: str, value: float) -> bool:
    try:
        return abs(float(text.replace(",", "").strip("$€ %")) - value) <= max(
            0.006 * abs(value), 0.006
        )
    except ValueError:
        return False


def has_pairs(rows: Sequence[dict[str, str]], wanted: dict[str, float]) -> bool:
    """Whether each key is in a row beside its value, and there is no other row."""
    return len(rows) == len(wanted) and all(
        any(
            any(key.casefold() == cell.strip().casefold() for cell in row.values())
            and any(near_text(cell or "", value) for cell in row.values())
            for row in rows
        )
        for key, value in wanted.items()
    )


def stocks(folder: Path, chance: random.Random) -> Check:
    rows: Rows = []
    for symbol in ("MSFT", "AAPL", "IBM"):
        price = chance.uniform(40, 120)
        for month in range(48):
            price *= chance.uniform(0.9, 1.12)
            day = date(2000 + month // 12, month % 12 + 1, 1)
            rows.append({"symbol": symbol, "date": f"{day:%b} {day.day} {day.year}",
                         "price": round(price, 2)})  # fmt: skip
    write_table(folder / "stocks.csv", rows)
    best = max((row for row in rows if row["symbol"] == "AAPL"), key=lambda row: row["price"])
    year = best["date"][-4:]
    return lambda came: came.says(best["price"], year)


def sales(folder: Path, chance: random.Random) -> Check:
    rows = [
        {"day": str(date(2025, 1, 1) + timedelta(chance.randrange(365))),
         "region": chance.choice(("North", "South", "East", "West")),
         "product": chance.choice(("tea", "coffee", "cocoa")),
         "amount": round(chance.uniform(5, 500), 2)}
        for _ in range(300)
    ]  # fmt: skip
    write_table(folder / "sales.csv", rows)
    totals = sums(rows, "region", "amount")
    best = max(totals, key=lambda name: totals[name])
    others = [name for name in totals if name != best]
    return lambda came: came.draws() and came.says(best) and (
        came.says(totals[best]) or not any(came.says(name) for name in others)
    )  # fmt: skip


def customers(folder: Path, chance: random.Random) -> Check:
    rows = [
        {"customer": f"C{number:03}", "city": chance.choice(("Lyon", "Nice", "Paris")),
         "amount": chance.choice(("${:,.2f}", "{:,.2f} USD", "{:.2f}")).format(
             chance.uniform(900, 5000))}
        for number in range(60)
    ]  # fmt: skip
    mixed = rows + chance.sample(rows, 9)
    chance.shuffle(mixed)
    write_table(folder / "customers.csv", mixed)
    whole = sum(float(re.sub(r"[^\d.]", "", row["amount"])) for row in rows)

    def check(came: Outcome) -> bool:
        found = came.rows("customers_clean.csv")
        try:
            amounts = [float(row["amount"]) for row in found]
        except (KeyError, ValueError):
            return False
        return len(found) == 60 and abs(sum(amounts) - whole) < 1

    return check


WORDS = "river stone garden winter letter market window harbour morning silver yellow quiet".split()


def notes(folder: Path, chance: random.Random) -> Check:
    counts = {}
    for name in ("monday", "tuesday", "wednesday", "thursday", "friday", "weekend"):
        words = [chance.choice(WORDS) for _ in range(chance.randrange(60, 200))]
        lines = [" ".join(words[at : at + 9]) for at in range(0, len(words), 9)]
        (folder / f"{name}.txt").write_text("\n".join(lines))
        counts[name] = len(words)
    longest = max(counts, key=lambda name: counts[name])
    return lambda came: came.says(sum(counts.values()), longest)


def expenses(folder: Path, chance: random.Random) -> Check:
    rows = []
    for _ in range(150):
        day = date(2025, 1, 1) + timedelta(chance.randrange(180))
        category = chance.choice(("Food", "Rent", "Fun", "Travel"))
        spent = round(chance.uniform(3, 200), 2)
        rows.append({"Datum": f"{day:%d.%m.%Y}", "Category": category, "Amount": spent})
    write_table(folder / "expenses.csv", rows, ";")
    return lambda came: came.draws()


def server_log(folder: Path, chance: random.Random) -> Check:
    lines, counts = [], Counter[str]()
    for minute in sorted(chance.sample(range(600), 250)):
        hour = f"{8 + minute // 60:02}"
        level = chance.choice(("INFO", "INFO", "WARN", "ERROR"))
        lines.append(f"2025-03-04 {hour}:{minute % 60:02}:00 {level} worker={minute % 4} request "
                     f"took {chance.randrange(10, 900)} ms")  # fmt: skip
        counts[hour] += level == "ERROR"
    (folder / "server.log").write_text("\n".join(lines))

    def check(came: Outcome) -> bool:
        rows = came.rows("errors_per_hour.csv")
        found = {}
        for row in rows:
            cells = list(row.values())
            if hour := re.search(r"(?:^|\D)(\d?\d)(?::|$|h)", cells[0]):
                found[f"{int(hour[1]):02}"] = cells[-1]
        wanted = {hour: count for hour, count in counts.items() if count}
        return all(near_text(found.get(hour, "x"), count) for hour, count in wanted.items())

    return check


def pictures(folder: Path, chance: random.Random) -> Check:
    sizes = []
    for name in ("dog", "tree", "house", "sea", "road"):
        size = (chance.randrange(100, 300) * 2, chance.randrange(100, 200) * 2)
        picture = Image.new("RGB", size, (chance.randrange(256), 90, 120))
        ImageDraw.Draw(picture).ellipse((20, 20, 90, 90), "white")
        picture.save(folder / f"{name}.png")
        sizes.append((size[0] // 2, size[1] // 2))

    def check(came: Outcome) -> bool:
        found = []
        for name, path in came.files.items():
            if name.lower().endswith((".jpg", ".jpeg")):
                with Image.open(path) as picture:
                    found.append(picture.size if picture.format == "JPEG" else (0, 0))
        return sorted(found) == sorted(sizes)

    return check


def orders(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [
        {"id": number, "customer": {"name": chance.choice(("Ann", "Bo", "Cem")),
                                    "city": chance.choice(("Berlin", "Bonn", "Kiel"))},
         "value": round(chance.uniform(10, 300), 2)}
        for number in range(80)
    ]  # fmt: skip
    (folder / "orders.json").write_text(json.dumps({"orders": rows}, indent=1))
    mean = statistics.mean(row["value"] for row in rows if row["customer"]["city"] == "Berlin")
    return lambda came: came.says(mean)


def _sensors(folder: Path, chance: random.Random) -> dict[str, list[float]]:
    rows, by_day = [], defaultdict(list)
    for hour in range(24 * 14):
        day = date(2025, 7, 1) + timedelta(hour // 24)
        warm = round(chance.gauss(20, 4), 1)
        empty = chance.random() < 0.08
        reading = {"temperature": "" if empty else warm, "humidity": chance.randrange(30, 90)}
        rows.append({"timestamp": f"{day} {hour % 24:02}:00:00", "sensor": "roof", **reading})
        if not empty:
            by_day[str(day)].append(warm)
    write_table(folder / "sensors.csv", rows)
    return by_day


def warmest(folder: Path, chance: random.Random) -> Check:
    means = {day: statistics.mean(each) for day, each in _sensors(folder, chance).items()}
    best = max(means, key=lambda day: means[day])
    number = int(best[-2:])
    return lambda came: bool(
        re.search(rf"{best}|\bJuly {number}\b|\b{number}\.? July\b", came.reply)
    )


def contacts(folder: Path, chance: random.Random) -> Check:
    names = ["ann.lee", "bo", "cem.oz", "dora-x", "eva", "fritz", "gina.k", "hugo"]
    mails = [f"{name}@{chance.choice(('example.org', 'mail.test', 'firm.example.com'))}"
             for name in names]  # fmt: skip
    lines = [f"Met {mail.split('@')[0].title()} at the fair, write to {mail}, call 0{number}55."
             for number, mail in enumerate(mails)]  # fmt: skip
    (folder / "contacts.txt").write_text("Contacts of this week\n\n" + "\n".join(lines))

    def check(came: Outcome) -> bool:
        cells = {
            cell.strip() for line in came.text(".csv").splitlines() for cell in line.split(",")
        }
        return {cell for cell in cells if "@" in cell} == set(mails)

    return check


def revenue(folder: Path, chance: random.Random) -> Check:
    prices = {f"P{number}": round(chance.uniform(2, 90), 2) for number in range(1, 7)}
    names = dict(zip(prices, ("lamp", "chair", "desk", "shelf", "rug", "clock"), strict=True))
    products = [{"product_id": key, "name": names[key], "price": prices[key]} for key in prices]
    write_table(folder / "products.csv", products)
    bought: Rows = [{"order": number, "product_id": chance.choice(list(prices)),
               "quantity": chance.randrange(1, 6)} for number in range(90)]  # fmt: skip
    write_table(folder / "orders.csv", bought)
    totals: dict[str, float] = defaultdict(float)
    for row in bought:
        totals[row["product_id"]] += row["quantity"] * prices[row["product_id"]]

    def check(came: Outcome) -> bool:
        rows = came.rows("revenue.csv")
        by_name = {names[key]: value for key, value in totals.items()}
        ids = [row for row in rows if any(near_text(cell or "", max(totals.values()))
                                          for cell in row.values())]  # fmt: skip
        right = has_pairs(rows, by_name) or has_pairs(rows, dict(totals))
        return right and bool(ids) and rows.index(ids[0]) == 0

    return check


def grades(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [
        {"student": name, **{subject: chance.randrange(40, 100) for subject in
                             ("maths", "physics", "history", "art")}}
        for name in ("Amira", "Ben", "Chloe", "Dev", "Elif", "Finn", "Grace")
    ]  # fmt: skip
    write_table(folder / "grades.csv", rows)
    means = {row["student"]: statistics.mean(list(row.values())[1:]) for row in rows}
    best = max(means, key=lambda name: means[name])
    return lambda came: (
        came.says(best) and not any(came.says(name) for name in means if name != best)
    )


def minutes(folder: Path, chance: random.Random) -> Check:
    todos = [f"TODO {who}: {what}" for who, what in
             (("Ann", "send the offer"), ("Bo", "book a room"), ("Cem", "check the budget"),
              ("Dora", "call the printer"), ("Eva", "draft the poster"))]  # fmt: skip
    talk = [f"We talked about the {chance.choice(WORDS)} and the {chance.choice(WORDS)}."
            for _ in range(25)]  # fmt: skip
    lines = [*todos, *talk]
    chance.shuffle(lines)
    (folder / "minutes.txt").write_text("\n".join(lines))

    def check(came: Outcome) -> bool:
        text = came.text("todo.md")
        return all(todo.split(": ")[1] in text for todo in todos) and "We talked" not in text

    return check


def temperature_line(folder: Path, chance: random.Random) -> Check:
    _sensors(folder, chance)
    return lambda came: came.draws("temp.png")


def umsatz(folder: Path, chance: random.Random) -> Check:
    rows, whole = [], 0.0
    for _ in range(120):
        day = date(2025, 1, 1) + timedelta(chance.randrange(365))
        value = round(chance.uniform(50, 4000), 2)
        whole += value if 4 <= day.month <= 6 else 0
        text = f"{value:,.2f}".replace(",", "_").replace(".", ",").replace("_", ".")
        rows.append({"Datum": f"{day:%d.%m.%Y}", "Filiale": chance.choice(("Ulm", "Jena")),
                     "Umsatz": text})  # fmt: skip
    write_table(folder / "umsatz.csv", rows, ";")

    def check(came: Outcome) -> bool:
        german = came.reply.replace(".", "").replace(",", ".")
        return came.says(whole) or Outcome(german, {}).says(whole)

    return check


def monthly(folder: Path, chance: random.Random) -> Check:
    whole, count = 0.0, 0
    for month in ("january", "february", "march", "april"):
        rows: Rows = [{"item": chance.choice(WORDS), "amount": round(chance.uniform(1, 90), 2)}
                for _ in range(chance.randrange(15, 30))]  # fmt: skip
        write_table(folder / f"{month}.csv", rows)
        whole += sum(float(row["amount"]) for row in rows)
        count += len(rows)
    return lambda came: came.says(whole) and len(came.rows("year.csv")) == count


def inventory(folder: Path, chance: random.Random) -> Check:
    from openpyxl import Workbook

    book, short = Workbook(), []
    sheet = book.active
    assert sheet is not None
    sheet.append(["Item", "In stock", "Minimum"])
    for name in WORDS:
        stock, least = chance.randrange(0, 40), chance.randrange(5, 30)
        sheet.append([name, stock, least])
        short += [name] if stock < least else []
    book.save(folder / "inventory.xlsx")

    def check(came: Outcome) -> bool:
        rows = came.rows("reorder.csv")
        return sorted(next(iter(row.values())) for row in rows) == sorted(short)

    return check


def common_words(folder: Path, chance: random.Random) -> Check:
    words = [chance.choices([*WORDS, "the", "and", "of"], range(1, 16))[0] for _ in range(700)]
    (folder / "story.txt").write_text(
        ". ".join(" ".join(words[at : at + 11]).capitalize() for at in range(0, 700, 11))
    )
    counts = Counter(word for word in words if len(word) > 3).most_common(5)

    def check(came: Outcome) -> bool:
        text = came.text("words.txt").casefold()
        return all(re.search(rf"{word}\W+{count}\b|\b{count}\W+{word}", text)
                   for word, count in counts)  # fmt: skip

    return check


def medians(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"name": f"E{number}", "department": chance.choice(("IT", "Sales", "Law", "HR")),
             "salary": chance.randrange(30, 90) * 1000} for number in range(70)]  # fmt: skip
    write_table(folder / "employees.csv", rows)
    by: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        by[str(row["department"])].append(float(row["salary"]))
    wanted = {name: statistics.median(each) for name, each in by.items()}
    return lambda came: has_pairs(came.rows("medians.csv"), wanted) and came.draws()


def survey(folder: Path, chance: random.Random) -> Check:
    rows = [{"person": number, "age": chance.randrange(18, 80),
             **{f"Q{at}": chance.choice(("yes", "Yes", "no", "no", "")) for at in (1, 2, 3)}}
            for number in range(140)]  # fmt: skip
    write_table(folder / "survey.csv", rows)
    yes = sum(str(row["Q2"]).lower() == "yes" for row in rows)
    answered = sum(bool(row["Q2"]) for row in rows)
    return lambda came: (
        came.says(round(100 * yes / answered, 1)) or came.says(round(100 * yes / len(rows), 1))
    )


GOALS: Sequence[GoalCase] = (
    GoalCase("When was the Apple share (AAPL) worth the most, and how much was it then?", stocks),
    GoalCase("Make a bar chart of the total sales by region and tell me which region sold most.",
             sales),
    GoalCase("There are duplicate lines in this file. Take them out, turn the amounts into plain "
             "numbers and save everything as customers_clean.csv", customers),
    GoalCase("How many words do my notes have altogether, and which note is the longest?", notes),
    GoalCase("draw me a pie of what I spent per category in march", expenses),
    GoalCase("Count the errors in this log for each hour and write them to errors_per_hour.csv.",
             server_log),
    GoalCase("Shrink every picture to half its width and height and save them as JPEG.", pictures),
    GoalCase("What is the average value of the orders from Berlin?", orders),
    GoalCase("On which day was it warmest on average?", warmest),
    GoalCase("Pull all e-mail addresses out of this text into a CSV.", contacts),
    GoalCase("Join the two tables and write revenue.csv with the revenue of each product, highest "
             "first.", revenue),
    GoalCase("Who has the best average over all subjects?", grades),
    GoalCase("Collect all the TODO items of the meeting in a markdown file called todo.md",
             minutes),
    GoalCase("Plot the temperature over time as a line and save it as temp.png", temperature_line),
    GoalCase("Wie hoch war der Umsatz im zweiten Quartal insgesamt?", umsatz),
    GoalCase("Put these monthly files together in one table year.csv, then tell me the total "
             "amount.", monthly),
    GoalCase("Which items have less in stock than the minimum? List them in reorder.csv.",
             inventory),
    GoalCase("Find the five most frequent words with more than three letters and write them with "
             "their counts to words.txt.", common_words),
    GoalCase("I need the median salary by department: as a table medians.csv and as a chart.",
             medians),
    GoalCase("What percentage of those who answered question 2 said yes?", survey),
)  # fmt: skip


def books(folder: Path, chance: random.Random) -> Check:
    authors = ("Le Guin", "Calvino", "Woolf", "Achebe", "Borges")
    rows: Rows = [{"title": f"Book {number}", "author": chance.choice(authors),
                   "year": chance.randrange(1930, 2000), "pages": chance.randrange(90, 600)}
                  for number in range(83)]  # fmt: skip
    write_table(folder / "books.csv", rows)
    ((best, count),) = Counter(row["author"] for row in rows).most_common(1)
    return lambda came: came.says(best, count)


def without_mail(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"name": f"Person {number}", "email": chance.choice(("", f"p{number}@mail.test")),
                   "town": chance.choice(("Graz", "Linz"))} for number in range(50)]  # fmt: skip
    write_table(folder / "people.csv", rows)
    wanted = [row["name"] for row in rows if row["email"]]
    return lambda came: [next(iter(row.values())) for row in came.rows("with_email.csv")] == wanted


def dearer(folder: Path, chance: random.Random) -> Check:
    old = {word: round(chance.uniform(2, 50), 2) for word in WORDS}
    new = {word: round(price * chance.choice((0.9, 1.0, 1.2)), 2) for word, price in old.items()}
    for name, prices in (("old", old), ("new", new)):
        write_table(folder / f"{name}.csv", [{"item": key, "price": prices[key]} for key in prices])
    wanted = sorted(word for word in WORDS if new[word] > old[word])

    def check(came: Outcome) -> bool:
        rows = came.rows("dearer.csv")
        return sorted(cell for row in rows for cell in row.values() if cell in WORDS) == wanted

    return check


def response_time(folder: Path, chance: random.Random) -> Check:
    lines, times = [], []
    for second in range(220):
        worker, spent = chance.randrange(4), chance.randrange(10, 900)
        moment = f"2025-03-04 08:{second // 60:02}:{second % 60:02}"
        lines.append(f"{moment} INFO worker={worker} request took {spent} ms")
        times += [spent] if worker == 2 else []
    (folder / "server.log").write_text("\n".join(lines))
    return lambda came: came.says(statistics.mean(times))


def climate(folder: Path, chance: random.Random) -> Check:
    rows, by = [], defaultdict(list)
    for day in range(180):
        for city in ("Oslo", "Rome"):
            when, warm = date(2024, 1, 1) + timedelta(day), round(chance.gauss(12, 6), 1)
            rows.append({"date": str(when), "city": city, "temperature": warm})
            by[city, when.month].append(warm)
    write_table(folder / "weather.csv", rows)
    means = [statistics.mean(each) for each in by.values()]

    def check(came: Outcome) -> bool:
        found = came.rows("climate.csv")
        cells = [cell or "" for row in found for cell in row.values()]
        return len(found) == len(means) and all(
            any(near_text(cell, mean) or near_text(cell, round(mean, 1)) for cell in cells)
            for mean in means
        )

    return check


def english_columns(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"Name": f"Person {number}", "Alter": chance.randrange(9, 90),
                   "Stadt": chance.choice(("Graz", "Linz"))} for number in range(30)]  # fmt: skip
    write_table(folder / "leute.csv", rows)
    wanted = [[row["Name"], str(row["Alter"]), row["Stadt"]] for row in rows]

    def check(came: Outcome) -> bool:
        found = came.rows("english.csv")
        names = [name.casefold() for name in found[0]] if found else []
        return names == ["name", "age", "city"] and [list(row.values()) for row in found] == wanted

    return check


def lines_with_date(folder: Path, chance: random.Random) -> Check:
    lines, count = [], 0
    for number in range(60):
        dated = chance.random() < 0.4
        count += dated
        lines.append(
            f"We met {f'on 2024-0{number % 9 + 1}-11' if dated else 'again'} in room {number}."
        )
    (folder / "diary.txt").write_text("\n".join(lines))
    return lambda came: came.says(count)


def turned(folder: Path, chance: random.Random) -> Check:
    sizes = []
    for name in ("one", "two", "three", "four"):
        size = (chance.randrange(100, 200), chance.randrange(201, 300))
        Image.new("RGB", size, "red").save(folder / f"{name}.jpg")
        sizes.append(size[::-1])

    def check(came: Outcome) -> bool:
        found = []
        for name, path in came.files.items():
            if name.lower().endswith(".png"):
                with Image.open(path) as picture:
                    found.append(picture.size)
        return sorted(found) == sorted(sizes)

    return check


def songs(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"song": f"Song {number}", "seconds": seconds}
                  for number, seconds in enumerate(chance.sample(range(90, 500), 40))]  # fmt: skip
    write_table(folder / "songs.csv", rows)
    wanted = [row["song"] for row in sorted(rows, key=lambda row: -row["seconds"])]

    def check(came: Outcome) -> bool:
        return [row.get("song") for row in came.rows("sorted.csv")] == wanted and came.says(
            wanted[0]
        )

    return check


def share_of_returns(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"product": name, "sold": chance.randrange(200, 900),
                   "returned": chance.randrange(5, 90)} for name in WORDS]  # fmt: skip
    write_table(folder / "returns.csv", rows)
    best = max(rows, key=lambda row: row["returned"] / row["sold"])["product"]
    others = [name for name in WORDS if name != best]
    return lambda came: came.says(best) and not any(came.says(name) for name in others)


def shared_words(folder: Path, chance: random.Random) -> Check:
    one, two = chance.sample(WORDS, 7), chance.sample(WORDS, 7)
    for name, words in (("one", one), ("two", two)):
        (folder / f"{name}.txt").write_text(" ".join(chance.choices(words, k=60) + words))
    both = set(one) & set(two)
    return lambda came: all((word in came.reply) == (word in both) for word in WORDS)


def filled(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"item": f"I{number}", "price": chance.choice(("", chance.randrange(5, 90)))}
                  for number in range(40)]  # fmt: skip
    write_table(folder / "prices.csv", rows)
    mean = statistics.mean(row["price"] for row in rows if row["price"] != "")

    def check(came: Outcome) -> bool:
        found = came.rows("filled.csv")
        return len(found) == 40 and all(
            near_text(new["price"], mean if old["price"] == "" else old["price"])
            for old, new in zip(rows, found, strict=True)
        )

    return check


def split_by_country(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"name": f"N{number}", "country": chance.choice(("Peru", "Chile", "Cuba"))}
                  for number in range(45)]  # fmt: skip
    write_table(folder / "members.csv", rows)
    wanted = sorted(Counter(row["country"] for row in rows).values())

    def check(came: Outcome) -> bool:
        tables = [came.rows(name) for name in came.files if name.endswith(".csv")]
        return sorted(map(len, tables)) == wanted and all(
            len({row["country"] for row in table}) == 1 for table in tables
        )

    return check


def days_between(folder: Path, chance: random.Random) -> Check:
    days = sorted(chance.sample(range(400), 30))
    rows: Rows = [{"date": str(date(2023, 2, 1) + timedelta(day)), "km": chance.randrange(3, 30)}
                  for day in days]  # fmt: skip
    chance.shuffle(rows)
    write_table(folder / "runs.csv", rows)
    return lambda came: came.says(days[-1] - days[0])


def over_sixty(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"person": number, "age": chance.randrange(15, 95)} for number in range(120)]
    write_table(folder / "people.csv", rows)
    count = sum(row["age"] > 60 for row in rows)
    return lambda came: came.draws("ages.png") and came.says(count)


def users(folder: Path, chance: random.Random) -> Check:
    rows: Rows = [{"id": number, "name": f"User {number}", "score": chance.randrange(100)}
                  for number in range(25)]  # fmt: skip
    (folder / "users.json").write_text(json.dumps(rows))
    wanted = [{key: str(value) for key, value in row.items()} for row in rows]
    return lambda came: came.rows("users.csv") == wanted


def best_of_each(folder: Path, chance: random.Random) -> Check:
    prices = chance.sample(range(5, 500), 48)
    rows: Rows = [{"product": f"P{number}", "category": ("tools", "toys", "tea")[number % 3],
                   "price": price} for number, price in enumerate(prices)]  # fmt: skip
    write_table(folder / "shop.csv", rows)
    best = {}
    for row in sorted(rows, key=lambda row: row["price"]):
        best[row["category"]] = row["product"]
    wanted = sorted(best.values())

    def check(came: Outcome) -> bool:
        cells = [cell for row in came.rows("best.csv") for cell in row.values()]
        return sorted(cell for cell in cells if re.fullmatch(r"P\d+", cell or "")) == wanted

    return check


def numbered(folder: Path, chance: random.Random) -> Check:
    lines = [" ".join(chance.choices(WORDS, k=5)) for _ in range(14)]
    (folder / "poem.txt").write_text("\n".join(lines))

    def check(came: Outcome) -> bool:
        found = came.text("numbered.txt").strip().splitlines()
        return len(found) == 14 and all(
            re.fullmatch(rf"\W*0*{number}\W+{line}", new)
            for number, (line, new) in enumerate(zip(lines, found, strict=True), 1)
        )

    return check


def improved(folder: Path, chance: random.Random) -> Check:
    names = ("Amira", "Ben", "Chloe", "Dev", "Elif", "Finn", "Grace")
    gains = dict(zip(names, chance.sample(range(-20, 30), len(names)), strict=True))
    rows: Rows = [{"student": name, "test 1": first, "test 2": first + gains[name]}
                  for name in names for first in [chance.randrange(40, 70)]]  # fmt: skip
    write_table(folder / "tests.csv", rows)
    best = max(gains, key=lambda name: gains[name])
    return lambda came: (
        came.says(best) and not any(came.says(name) for name in names if name != best)
    )


def small_picture(folder: Path, chance: random.Random) -> Check:
    Image.new("RGB", (800, 600), "green").save(folder / "garden.jpg")

    def check(came: Outcome) -> bool:
        found = [path for name, path in came.files.items() if name.endswith("small.png")]
        return bool(found) and Image.open(found[0]).size == (200, 150)

    return check


UNSEEN: Sequence[GoalCase] = (
    GoalCase("Which author has the most books in this list, and how many?", books),
    GoalCase("Remove everyone without an e-mail address and save the rest as with_email.csv",
             without_mail),
    GoalCase("Compare the old and the new prices and list the items that became more expensive in "
             "dearer.csv", dearer),
    GoalCase("What was the average response time of worker 2?", response_time),
    GoalCase("Make a table climate.csv with the average temperature of each city in each month.",
             climate),
    GoalCase("Translate the column names to English (name, age, city) and save it as english.csv",
             english_columns),
    GoalCase("How many lines of my diary have a date in them?", lines_with_date),
    GoalCase("Turn all photos by 90 degrees and save them as PNG files", turned),
    GoalCase("Sort my songs from the longest to the shortest into sorted.csv. Which one is the "
             "longest?", songs),
    GoalCase("Which product is returned most often compared with how often it is sold?",
             share_of_returns),
    GoalCase("Which words are in both of these texts?", shared_words),
    GoalCase("Fill the empty prices with the average price and save it as filled.csv", filled),
    GoalCase("Split this list into one file for each country", split_by_country),
    GoalCase("How many days are between the first and the last entry?", days_between),
    GoalCase("Draw a histogram of the ages as ages.png and tell me how many people are over 60.",
             over_sixty),
    GoalCase("Turn this JSON into a CSV called users.csv", users),
    GoalCase("What is the most expensive product of each category? Save them as best.csv",
             best_of_each),
    GoalCase("Number the lines of my poem and save it as numbered.txt", numbered),
    GoalCase("Who improved the most from test 1 to test 2?", improved),
    GoalCase("Make a small version of the picture, 200 pixels wide, and save it as small.png",
             small_picture),
)  # fmt: skip
"""Goals on which little was tuned (the advice about turned pictures was): run them rarely."""
