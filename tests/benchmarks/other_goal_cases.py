"""A fourth set of goals, of other shapes and subjects, on whose words nothing is tuned."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path

from PIL import Image, ImageDraw

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


def _named(came: Outcome, names: Collection[str]) -> list[str]:
    """Those of the names that the answer has as whole words, in its order."""
    found = {name: re.search(rf"(?<!\w){re.escape(name)}(?!\w)", came.reply, re.IGNORECASE)
             for name in names}  # fmt: skip
    places = {name: match.start() for name, match in found.items() if match}
    return sorted(places, key=lambda name: places[name])


def _picks(came: Outcome, best: str, names: Collection[str]) -> bool:
    """Whether the answer names the best one alone, or first or last of several."""
    named = _named(came, names)
    return bool(named) and best in (named[0], named[-1])


def _cells(came: Outcome, name: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.values() if isinstance(cell, str)]
            for row in came.rows(name)]  # fmt: skip


def quiz(folder: Path, chance: random.Random) -> Check:
    names = ("Owls Foxes Herons Badgers Otters Lynxes Ravens Beavers Hornets Pandas Geckos "
             "Walruses Moles Storks").split()  # fmt: skip
    totals = dict(zip(names, chance.sample(range(32, 60), len(names)), strict=True))
    rows: Rows = []
    for name, total in totals.items():
        first, second = chance.randrange(5, 16), chance.randrange(5, 16)
        rows.append({"team": name, "round 1": first, "round 2": second,
                     "round 3": total - first - second})  # fmt: skip
    write_table(folder / "quiz.csv", rows)
    wanted = sorted(names, key=lambda name: -totals[name])[:5]
    return lambda came: (
        [cell for row in _cells(came, "winners.csv") for cell in row if cell in names] == wanted
    )


def meter(folder: Path, chance: random.Random) -> Check:
    used = chance.sample(range(180, 420, 6), 13)
    reading, rows = chance.randrange(20_000, 30_000), Rows()
    for month in range(14):
        day = date(2023 + (month + 11) // 12, (month + 11) % 12 + 1, 1)
        rows.append({"read_on": str(day), "kwh": reading})
        reading += used[month] if month < 13 else 0
    write_table(folder / "electricity.csv", rows[::-1])
    at = [row["read_on"] for row in rows].index("2024-07-01")
    return lambda came: came.says(rows[at + 1]["kwh"] - rows[at]["kwh"])


def timesheet(folder: Path, chance: random.Random) -> Check:
    rows, whole = Rows(), 0
    for day in range(21):
        start, spent = chance.randrange(420, 600, 5), chance.randrange(300, 560, 5)
        pause = chance.choice((0, 15, 30, 45))
        whole += spent - pause
        clock = [f"{minute // 60:02}:{minute % 60:02}" for minute in (start, start + spent)]
        rows.append({"date": str(date(2025, 3, 3) + timedelta(day)), "start": clock[0],
                     "end": clock[1], "break_minutes": pause})  # fmt: skip
    write_table(folder / "timesheet.csv", rows)
    hours, minutes = divmod(whole, 60)

    parts = re.compile(rf"\b{hours}[^\d.]{{1,16}}0?{minutes}(?!\d)")
    return lambda came: (
        bool(parts.search(came.reply))
        or any(
            number == str(round(whole / 60)) or round(float(number), 1) == round(whole / 60, 1)
            for number in re.findall(r"\d+(?:\.\d+)?", came.reply)
        )
    )


def sheets(folder: Path, chance: random.Random) -> Check:
    from openpyxl import Workbook

    book, rows = Workbook(), Rows()
    for week in range(1, 5):
        sheet = book.active if week == 1 else book.create_sheet()
        assert sheet is not None
        sheet.title = f"Week {week}"
        sheet.append(["Person", "Job", "Hours"])
        for person in chance.choices(("Nadia", "Oskar", "Priya", "Rasmus", "Selma"), k=11):
            spent = chance.randrange(2, 32) / 4
            sheet.append([person, chance.choice(("kitchen", "bar", "door")), spent])
            rows.append({"person": person, "hours": spent})
    book.save(folder / "helpers.xlsx")
    wanted = sums(rows, "person", "hours")
    return lambda came: has_pairs(came.rows("totals.csv"), wanted)


def recipes(folder: Path, chance: random.Random) -> Check:
    names = ("Goulash Ratatouille Risotto Moussaka Lasagne Paella Chowder Frittata Tagine Polenta "
             "Borscht Strudel").split()  # fmt: skip
    wanted = set(chance.sample(names, 4))
    others = "flour rice onions carrots eggplant butter lentils tomatoes leek beans".split()
    found = []
    for name in names:
        needed = chance.sample(others, 4)
        if name not in wanted:
            needed += chance.choice((["eggs"], ["milk"], ["eggs", "milk"]))
        chance.shuffle(needed)
        found.append({"name": name, "minutes": chance.randrange(15, 120), "ingredients":
                      [{"item": item, "grams": chance.randrange(5, 90) * 10}
                       for item in needed]})  # fmt: skip
    (folder / "recipes.json").write_text(json.dumps({"recipes": found}, indent=1))
    return lambda came: set(_named(came, names)) == wanted


def rents(folder: Path, chance: random.Random) -> Check:
    names = "Albrecht Böhm Czerny Dietz Ehlers Fuchs Gruber Hinz Jahn Opitz".split()
    odd = chance.sample(names, 5)
    less = {name: chance.randrange(4000, 20_000) for name in odd[:3]}
    more = {name: chance.randrange(3000, 9000) for name in odd[3:]}
    rows: Rows = []
    for name in names:
        due = chance.randrange(60_000, 160_000)
        paid = due - less.get(name, 0) + more.get(name, 0)
        due_text, paid_text = (
            f"{cents / 100:,.2f}".translate(str.maketrans(",.", ".,")) for cents in (due, paid)
        )
        rows.append({"Mieter": name, "Miete": due_text, "Gezahlt": paid_text})
    write_table(folder / "mieten.csv", rows, ";")
    whole = sum(less.values()) / 100

    def check(came: Outcome) -> bool:
        german = Outcome(came.reply.replace(".", "").replace(",", "."), {})
        return set(_named(came, names)) == set(less) and (came.says(whole) or german.says(whole))

    return check


def wedding(folder: Path, chance: random.Random) -> Check:
    names = ("Flowers", "Music", "Food", "Clothes", "Rings", "Travel", "Cards")
    receipts: Rows = [{"date": str(date(2025, 4, 1) + timedelta(chance.randrange(90))),
                       "category": names[at % 7], "amount": round(chance.uniform(20, 400), 2)}
                      for at in range(49)]  # fmt: skip
    chance.shuffle(receipts)
    spent = sums(receipts, "category", "amount")
    over = set(chance.sample(names, 3))
    planned = {name: round(value * (0.8 if name in over else 1.2)) for name, value in spent.items()}
    write_table(folder / "planned.csv",
                [{"category": name, "planned": planned[name]} for name in names])  # fmt: skip
    write_table(folder / "receipts.csv", receipts)
    wanted = {name: spent[name] - planned[name] for name in over}

    def check(came: Outcome) -> bool:
        found = came.rows("over.csv")
        whole = {name: float(round(value)) for name, value in wanted.items()}
        return any(has_pairs(found, {name: sign * value for name, value in each.items()})
                   for each in (wanted, whole) for sign in (1, -1))  # fmt: skip

    return check


def cities(folder: Path, chance: random.Random) -> Check:
    counts: Counter[str] = Counter()
    rows: Rows = []
    for number in range(110):
        city = chance.choices(("Vienna", "Prague", "Zagreb", "Trieste"), (5, 4, 3, 2))[0]
        written = chance.choice((city, city.upper(), city.lower(), f" {city}", f"{city}  "))
        rows.append({"ticket": 5000 + number, "city": written})
        counts[city] += 1
    write_table(folder / "visitors.csv", rows)
    wanted = {name: float(count) for name, count in counts.items()}
    return lambda came: has_pairs(came.rows("cities.csv"), wanted)


def newest(folder: Path, chance: random.Random) -> Check:
    rows, latest = Rows(), []
    for person in chance.sample(range(100, 1000), 30):
        days = sorted(chance.sample(range(700), chance.choice((1, 1, 2, 3))))
        for day in days:
            rows.append({"email": f"member{person}@club.test",
                         "phone": f"0664 {person} {len(rows) + 1000}",
                         "changed": str(date(2023, 1, 1) + timedelta(day))})  # fmt: skip
        latest.append(rows[-1]["phone"])
    chance.shuffle(rows)
    write_table(folder / "members.csv", rows)
    phones = {row["phone"] for row in rows}
    return lambda came: (
        sorted(cell for row in _cells(came, "newest.csv") for cell in row if cell in phones)
        == sorted(latest)
    )


def cars(folder: Path, chance: random.Random) -> Check:
    prices = chance.sample(range(1500, 20_000, 50), 40)
    rows: Rows = [{"offer": f"F{at}", "price": price, "mileage":
                   round(210_000 - price * 10 + chance.gauss(0, 30_000))}
                  for at, price in enumerate(prices, 101)]  # fmt: skip
    for row in rows:
        row["mileage"] = max(row["mileage"], chance.randrange(4000, 9000))
    chance.choice(rows)["mileage"] = 50_000
    write_table(folder / "cars.csv", rows)
    best = min((row for row in rows if row["mileage"] < 50_000), key=lambda row: row["price"])

    def check(came: Outcome) -> bool:
        named = _named(came, [row["offer"] for row in rows])
        right = named == [best["offer"]] if named else came.says(best["price"], best["mileage"])
        return right and came.draws("cars.png")

    return check


def trains(folder: Path, chance: random.Random) -> Check:
    counts = {"Coast": (90, 27), "Valley": (41, 18), "Hill": (63, 24), "Lake": (36, 11)}
    rows: Rows = []
    for line, (runs, late) in counts.items():
        delays = [chance.randrange(6, 50) for _ in range(late)]
        delays += [chance.choice((0, 0, 1, 2, 3, 5, 5)) for _ in range(runs - late)]
        rows += [{"line": line, "delay_minutes": delay} for delay in delays]
    chance.shuffle(rows)
    write_table(folder / "trains.csv", [{"train": at, **row} for at, row in enumerate(rows, 700)])
    shares = ((43.9,), (44,), (0.439,), (18, 41))
    return lambda came: (
        _picks(came, "Valley", counts) and any(came.says(*numbers) for numbers in shares)
    )


def questions(folder: Path, chance: random.Random) -> Check:
    asked = [chance.random() < 0.3 for _ in range(70)]
    sentences = [" ".join(chance.choices(WORDS, k=chance.randrange(4, 9))).capitalize()
                 + ("?" if each else chance.choice("..!")) for each in asked]  # fmt: skip
    text = [" ".join(sentences[at : at + 5]) for at in range(0, 70, 5)]
    (folder / "story.txt").write_text("\n\n".join(text))
    return lambda came: came.says(sum(asked))


def receipts(folder: Path, chance: random.Random) -> Check:
    wanted = []
    for number in range(1, 10):
        shop = chance.choice(("Corner Bakery", "Book Nook", "Garden Centre", "Bike Works"))
        day = str(date(2025, 5, 1) + timedelta(chance.randrange(90)))
        prices = [round(chance.uniform(1, 40), 2) for _ in range(chance.randrange(2, 6))]
        lines = [shop, f"Date: {day}", "", *(f"{chance.choice(WORDS)} {price:.2f}"
                                              for price in prices)]  # fmt: skip
        lines += [f"Total: {sum(prices):.2f} €", f"Paid: {sum(prices) + 5:.2f} €", "Back: 5.00 €"]
        (folder / f"receipt_{number}.txt").write_text("\n".join(lines), "utf-8")
        wanted.append((shop, day, sum(prices)))

    def check(came: Outcome) -> bool:
        rows = _cells(came, "receipts.csv")
        return len(rows) == len(wanted) and all(
            any(shop in row and any(cell.startswith(day) for cell in row)
                and any(near_text(cell, total) for cell in row) for row in rows)
            for shop, day, total in wanted
        )  # fmt: skip

    return check


def iso_dates(folder: Path, chance: random.Random) -> Check:
    old, new = [], []
    for number in range(24):
        day = date(2023, 1, 1) + timedelta(chance.randrange(700))
        start = f"{number + 1}. The {chance.choice(WORDS)} arrived on"
        end = f"with {chance.randrange(2, 12)}/12 boxes in room {chance.randrange(1, 40)}."
        old.append(f"{start} {day.month}/{day.day}/{day.year} {end}")
        new.append(f"{start} {day} {end}")
    (folder / "report.txt").write_text("\n".join(old))
    wanted = "\n".join(new).split()
    return lambda came: came.text("report_new.txt").split() == wanted


def chapters(folder: Path, chance: random.Random) -> Check:
    parts = []
    for number in range(1, 7):
        words = [" ".join(chance.choices(WORDS, k=8)) for _ in range(chance.randrange(4, 9))]
        words[2] += f" as in Chapter {chance.randrange(1, 7)} before"
        parts.append([f"Chapter {number}: {chance.choice(WORDS).title()}", *words])
    (folder / "book.txt").write_text("\n".join(line for part in parts for line in (*part, "")))

    def check(came: Outcome) -> bool:
        texts = [path.read_text("utf-8").split() for name, path in came.files.items()
                 if name.endswith((".txt", ".md"))]  # fmt: skip
        return len(texts) == len(parts) and all(
            any(text in (" ".join(part).split(), " ".join(part[1:]).split()) for text in texts)
            for part in parts
        )

    return check


def backups(folder: Path, chance: random.Random) -> Check:
    names = "photos music mail films papers letters maps scans".split()
    spent = dict(zip(names, chance.sample(range(8, 58), len(names)), strict=True))
    events = []
    for name, minutes in spent.items():
        start = datetime(2025, 2, 9, 1) + timedelta(minutes=chance.randrange(150))
        events.append((start, f"backup of {name} started"))
        events.append((start + timedelta(minutes=minutes), f"backup of {name} finished, "
                       f"{chance.randrange(100, 9000)} files"))  # fmt: skip
    (folder / "backup.log").write_text(
        "\n".join(f"{when:%Y-%m-%d %H:%M:%S} {what}" for when, what in sorted(events))
    )
    best = max(spent, key=lambda name: spent[name])
    return lambda came: _picks(came, best, names) and came.says(spent[best])


def for_the_web(folder: Path, chance: random.Random) -> Check:
    sizes = []
    for at, name in enumerate(("castle", "bridge", "harvest", "snow", "cat")):
        long, short = chance.randrange(250, 400) * 4, chance.randrange(110, 240) * 4
        size = (long, short) if at % 2 else (short, long)
        picture = Image.new("RGB", size, "orange")
        picture.paste("blue", (size[0] // 2, size[1] // 2, *size))
        picture.save(folder / f"{name}.png")
        sizes.append((400, 400 * short / long) if at % 2 else (400 * short / long, 400))

    def check(came: Outcome) -> bool:
        found = []
        for name, path in came.files.items():
            if name.lower().endswith((".jpg", ".jpeg")):
                with Image.open(path) as picture:
                    wide, high = picture.size
                    first, last = (
                        picture.convert("RGB").resize((1, 1), box=(x, y, x + 9, y + 9)).tobytes()
                        for x, y in ((3, 3), (wide - 12, high - 12))
                    )
                    whole = first[0] > 200 > first[2] and last[2] > 200 > last[0]
                    found.append((wide, high) if picture.format == "JPEG" and whole else (0, 0))
        return len(found) == len(sizes) and all(
            any(abs(wide - size[0]) <= 1 and abs(high - size[1]) <= 1 for wide, high in found)
            for size in sizes
        )

    return check


def square(folder: Path, chance: random.Random) -> Check:
    picture = Image.new("RGB", (640, 420), "white")
    draw = ImageDraw.Draw(picture)
    for _ in range(60):
        left, top = chance.randrange(600), chance.randrange(400)
        colour = (chance.randrange(256), chance.randrange(256), chance.randrange(256))
        draw.rectangle((left, top, left + 70, top + 50), colour)
    picture.save(folder / "portrait.png")
    wanted = picture.crop((110, 0, 530, 420)).tobytes()

    def check(came: Outcome) -> bool:
        for title, path in came.files.items():
            if title.endswith("square.png"):
                with Image.open(path) as found:
                    return found.size == (420, 420) and found.convert("RGB").tobytes() == wanted
        return False

    return check


def one_pdf(folder: Path, chance: random.Random) -> Check:
    import pypdfium2

    colours = [(200, 30, 30), (30, 160, 40), (40, 60, 210), (230, 190, 20)]
    chance.shuffle(colours)
    for number, colour in enumerate(colours, 1):
        size = (chance.randrange(250, 400), chance.randrange(300, 500))
        Image.new("RGB", size, colour).save(folder / f"page_{number}.png")

    def check(came: Outcome) -> bool:
        found = [path for title, path in came.files.items() if title.endswith("pages.pdf")]
        shown = []
        try:
            pages = [*pypdfium2.PdfDocument(found[-1].read_bytes())] if found else []
        except pypdfium2.PdfiumError:
            return False
        for page in pages:
            seen = page.render().to_pil().convert("RGB").getcolors(1 << 24) or []
            shown.append([colour for colour in colours if any(
                all(abs(one - other) < 25 for one, other in zip(colour, each, strict=True))
                for _, each in seen)])  # fmt: skip
        return shown == [[colour] for colour in colours]

    return check


def twins(folder: Path, chance: random.Random) -> Check:
    names = [f"file_{number:02}" for number in range(1, 13)]
    chance.shuffle(names)
    kinds = {".txt": names[:5], ".csv": names[5:9], ".png": names[9:]}
    for suffix, each in kinds.items():
        for name in each:
            path = folder / f"{name}{suffix}"
            if suffix == ".txt":
                path.write_text(" ".join(chance.choices(WORDS, k=30)))
            elif suffix == ".csv":
                write_table(path, [{"item": word, "count": chance.randrange(90)} for word in WORDS])
            else:
                Image.new("RGB", (40, 30), (chance.randrange(256), 80, 90)).save(path)
    suffix = chance.choice(list(kinds))
    one, other = chance.sample(kinds[suffix], 2)
    (folder / f"{other}{suffix}").write_bytes((folder / f"{one}{suffix}").read_bytes())
    return lambda came: set(_named(came, names)) == {one, other}


OTHERS: Sequence[GoalCase] = (
    GoalCase("Add up the three rounds of our quiz and save the five best teams, best first, as "
             "winners.csv", quiz),
    GoalCase("The meter was read on the first day of each month. How much electricity did we use "
             "in July 2024?", meter),
    GoalCase("The breaks do not count. How many hours have I worked altogether?", timesheet),
    GoalCase("Each sheet of this workbook is one week. Write totals.csv with the hours of each "
             "person over all weeks.", sheets),
    GoalCase("Which of my recipes need neither eggs nor milk?", recipes),
    GoalCase("Welche Mieter haben zu wenig gezahlt, und wie viel schulden sie zusammen?", rents),
    GoalCase("Compare the receipts of the wedding with the plan: in which categories did we spend "
             "too much, and by how much? Write only those to over.csv", wedding),
    GoalCase("The cities are written in different ways, with capitals and spaces. Tidy them up and "
             "write the number of visitors from each city to cities.csv", cities),
    GoalCase("Some members are in the list several times. Keep only the newest entry for each "
             "e-mail address and save the list as newest.csv", newest),
    GoalCase("Draw a scatter plot of price and mileage as cars.png, and tell me the cheapest offer "
             "with a mileage below 50000.", cars),
    GoalCase("Which line has the largest share of trains that were more than five minutes late, "
             "and how large is this share?", trains),
    GoalCase("How many questions are asked in this story?", questions),
    GoalCase("Make a table receipts.csv with the shop, the date and the total of each receipt",
             receipts),
    GoalCase("The dates in this report are written month/day/year. Change them to the form "
             "2024-03-09 and save it as report_new.txt", iso_dates),
    GoalCase("Cut this book into one text file for each chapter", chapters),
    GoalCase("Which backup took the longest, and how many minutes?", backups),
    GoalCase("Shrink these photos for my web page, so that the longer side of each has 400 pixels, "
             "and save them as JPEG", for_the_web),
    GoalCase("Cut the largest possible square out of the middle of the picture and save it as "
             "square.png", square),
    GoalCase("Put these pictures into one PDF, pages.pdf, a page for each, in the order of their "
             "names.", one_pdf),
    GoalCase("Two of these files have exactly the same content. Which ones?", twins),
)  # fmt: skip
