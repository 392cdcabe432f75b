"""Thirty errands over tables, folders and texts, what makes their files, and a check of each."""

from __future__ import annotations

import csv
import json
import random
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from PIL import Image

from tests.benchmarks.agent_goal_cases import (
    Check,
    GoalCase,
    Outcome,
    has_pairs,
    sums,
    write_table,
)

NAMES = ("Abel", "Berg", "Conti", "Diaz", "Eriksen", "Fuchs", "Garcia", "Hahn", "Ito", "Jansen")
FIRST = ("Ana", "Ben", "Cleo", "Dora", "Emil", "Finn", "Greta", "Hugo", "Ida", "Jan")
REGIONS = ("North", "South", "East", "West")


def tables(came: Outcome) -> dict[str, list[dict[str, str]]]:
    """Every CSV of the outcome, by its name."""
    found = {}
    for name, path in came.files.items():
        if path.suffix == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as file:
                found[name] = list(csv.DictReader(file))
    return found


def cells(row: Mapping[str, str]) -> set[str]:
    return {(cell or "").strip() for cell in row.values()}


def tree(came: Outcome) -> dict[str, bytes]:
    """Every file of the outcome by its place: those in a folder and in a ZIP too."""
    found: dict[str, bytes] = {}
    for title, path in came.files.items():
        if path.is_dir():
            found |= {
                str(file.relative_to(path)): file.read_bytes()
                for file in path.rglob("*")
                if file.is_file()
            }
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                found |= {
                    name: archive.read(name)
                    for name in archive.namelist()
                    if not name.endswith("/")
                }
        else:
            found[title] = path.read_bytes()
    return found


def same_lines(text: str, wanted: Sequence[str], *, ordered: bool = False) -> bool:
    lines = [line.strip(" -*•\t") for line in text.splitlines() if line.strip()]
    return lines == list(wanted) if ordered else sorted(lines) == sorted(wanted)


# -- tables


def members(folder: Path, chance: random.Random) -> Check:
    rows: list[dict[str, Any]] = [
        {"first name": first, "last name": last, "city": chance.choice(("Bonn", "Lyon", "Graz")),
         "fee": chance.randrange(20, 90)}
        for first, last in zip(FIRST, chance.sample(NAMES, 10), strict=True)
    ]  # fmt: skip
    write_table(folder / "members.csv", chance.sample([*rows, *rows[2:6]], 14))
    wanted = [row["last name"] for row in sorted(rows, key=lambda row: row["last name"])]
    return lambda came: (
        [row["last name"] for row in came.rows("members_clean.csv")] == wanted
        and len(came.rows("members_clean.csv")[0]) == 4
    )


def quarter(folder: Path, chance: random.Random) -> Check:
    everything = []
    for number, month in enumerate(("january", "february", "march"), 1):
        rows = [
            {"date": f"2026-{number:02}-{day:02}", "item": chance.choice(("tea", "rice", "oil")),
             "price": round(chance.uniform(1, 9), 2)}
            for day in range(1, 28, 5)
        ]  # fmt: skip
        write_table(folder / f"{month}.csv", rows)
        everything += [(row["date"], row["item"], str(row["price"])) for row in rows]

    def check(came: Outcome) -> bool:
        found = came.rows("quarter.csv")
        return sorted(everything) == sorted(
            (row["date"][:10], row["item"], str(float(row["price"]))) for row in found
        )

    return check


def region_totals(folder: Path, chance: random.Random) -> Check:
    rows = [
        {"order": 100 + number, "region": chance.choice(REGIONS), "rep": chance.choice(FIRST),
         "amount": round(chance.uniform(10, 400), 2)}
        for number in range(60)
    ]  # fmt: skip
    write_table(folder / "orders.csv", rows)
    return lambda came: has_pairs(came.rows("totals.csv"), sums(rows, "region", "amount"))


def overdue(folder: Path, chance: random.Random) -> Check:
    rows = [
        {"invoice": f"R-{number}", "customer": chance.choice(NAMES),
         "due date": str(date(2026, 1, 5) + timedelta(days=chance.randrange(150))),
         "paid": chance.choice(("yes", "no"))}
        for number in range(200, 240)
    ]  # fmt: skip
    write_table(folder / "invoices.csv", rows)
    wanted = {
        row["invoice"] for row in rows if row["paid"] == "no" and row["due date"] < "2026-03-31"
    }
    return lambda came: (
        {row.get("invoice") for row in came.rows("overdue.csv")} == wanted
        and len(came.rows("overdue.csv")) == len(wanted)
    )


def departments(folder: Path, chance: random.Random) -> Check:
    rows = [
        {"name": f"{chance.choice(FIRST)} {chance.choice(NAMES)}",
         "department": chance.choice(("Sales", "IT", "Human Resources")),
         "salary": chance.randrange(30, 80) * 1000}
        for _ in range(30)
    ]  # fmt: skip
    write_table(folder / "staff.csv", rows)
    counts = Counter(row["department"] for row in rows)

    def check(came: Outcome) -> bool:
        parts = [each for each in tables(came).values() if each]
        found = {part[0]["department"]: len(part) for part in parts}
        return len(parts) == len(counts) and found == dict(counts)

    return check


def pivot_months(folder: Path, chance: random.Random) -> Check:
    rows: list[dict[str, Any]] = [
        {"date": str(date(2026, 1, 1) + timedelta(days=chance.randrange(120))),
         "category": chance.choice(("Food", "Rent", "Travel")),
         "amount": chance.randrange(5, 300)}
        for _ in range(90)
    ]  # fmt: skip
    write_table(folder / "spending.csv", rows)
    wanted: dict[tuple[int, str], int] = defaultdict(int)
    for row in rows:
        wanted[int(row["date"][5:7]), row["category"]] += row["amount"]

    def check(came: Outcome) -> bool:
        import openpyxl

        paths = [path for name, path in came.files.items() if name.endswith("pivot.xlsx")]
        if not paths:
            return False
        head, *body = openpyxl.load_workbook(paths[-1]).active.iter_rows(values_only=True)
        names = [str(each) for each in head]
        return len(body) == 4 and all(
            float(line[names.index(category)] or 0) == wanted[month, category]
            for month, line in enumerate(body, 1)
            for category in ("Food", "Rent", "Travel")
        )

    return check


def ticket_chart(folder: Path, chance: random.Random) -> Check:
    rows = [
        {"ticket": number, "priority": chance.choice(("low", "normal", "high", "urgent")),
         "opened": str(date(2026, 2, 1) + timedelta(days=chance.randrange(28)))}
        for number in range(70)
    ]  # fmt: skip
    write_table(folder / "tickets.csv", rows)
    return lambda came: came.draws()


def without_address(folder: Path, chance: random.Random) -> Check:
    rows = [
        {"name": f"{first} {last}", "e-mail": f"{first.lower()}@{last.lower()}.example"
         if chance.random() < 0.6 else "", "phone": f"0{chance.randrange(10**8, 10**9)}"}
        for first in FIRST[:5] for last in NAMES[:4]
    ]  # fmt: skip
    write_table(folder / "customers.csv", rows)
    wanted = {row["name"] for row in rows if row["e-mail"]}
    return lambda came: (
        {row.get("name") for row in came.rows("with_email.csv")} == wanted
        and len(came.rows("with_email.csv")) == len(wanted)
    )


def json_orders(folder: Path, chance: random.Random) -> Check:
    orders = [
        {"id": number, "customer": chance.choice(NAMES), "currency": "EUR",
         "total": round(chance.uniform(5, 900), 2), "note": "-"}
        for number in range(1, 26)
    ]  # fmt: skip
    (folder / "orders.json").write_text(json.dumps(orders), "utf-8")
    wanted = [str(row["id"]) for row in sorted(orders, key=lambda row: -float(str(row["total"])))]

    def check(came: Outcome) -> bool:
        return any(
            [row.get("id") for row in found] == wanted
            and set(found[0]) == {"id", "customer", "total"}
            for found in tables(came).values()
            if found
        )

    return check


def umsatz_pro_monat(folder: Path, chance: random.Random) -> Check:
    rows = []
    by: dict[int, float] = defaultdict(float)
    for _ in range(60):
        day = date(2025, 1, 1) + timedelta(days=chance.randrange(180))
        amount = round(chance.uniform(10, 2500), 2)
        by[day.month] += amount
        rows.append({"Datum": f"{day:%d.%m.%Y}", "Kunde": chance.choice(NAMES),
                     "Umsatz": f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))})  # fmt: skip
    write_table(folder / "verkaeufe.csv", rows, ";")

    def check(came: Outcome) -> bool:
        found = came.rows("umsatz.csv")
        numbers = []
        for row in found:
            for cell in list(row.values())[::-1]:
                try:
                    numbers.append(float((cell or "").replace(",", ".")))
                    break
                except ValueError:
                    continue
        return len(found) == 6 and all(
            abs(number - by[month]) < 0.02
            for number, month in zip(numbers, sorted(by), strict=False)
        )

    return check


def reorder(folder: Path, chance: random.Random) -> Check:
    rows = [
        {"article": f"A{number}", "name": name, "stock": chance.randrange(40), "minimum": 15}
        for number, name in enumerate(
            ("bolts", "nuts", "glue", "tape", "paint", "nails", "wire", "hooks", "files", "saws")
        )
    ]
    for row in rows:
        row["minimum"] = chance.randrange(5, 30)
    write_table(folder / "stock.csv", rows)
    wanted = {row["article"] for row in rows if int(str(row["stock"])) < int(str(row["minimum"]))}
    return lambda came: (
        {row.get("article") for row in came.rows("reorder.csv")} == wanted
        and len(came.rows("reorder.csv")) == len(wanted)
    )


# -- folders


def by_kind(folder: Path, chance: random.Random) -> Check:
    place = folder / "Downloads"
    place.mkdir()
    kinds = {".txt": 4, ".csv": 3, ".jpg": 3, ".json": 2}
    for suffix, count in kinds.items():
        for number in range(count):
            name = f"{chance.choice(FIRST).lower()}{number}{suffix}"
            if suffix == ".jpg":
                Image.new("RGB", (60, 40), (number * 40, 90, 90)).save(place / name)
            else:
                (place / name).write_text(f"[{chance.random()}]", "utf-8")
    names = {path.name for path in place.iterdir()}

    def check(came: Outcome) -> bool:
        found = [Path(name) for name in tree(came)]
        places: dict[str, set[str]] = defaultdict(set)
        for path in found:
            places[path.suffix].add(path.parent.name)
        return (
            {path.name for path in found} == names
            and all(len(each) == 1 for each in places.values())
            and not any("" in each for each in places.values())
            and places[".jpg"] != places[".csv"]
        )

    return check


def holiday(folder: Path, chance: random.Random) -> Check:
    contents = []
    for name in sorted(f"IMG_{chance.randrange(1000, 9999)}.jpg" for _ in range(6)):
        Image.new("RGB", (80, 50), (chance.randrange(255), 40, 40)).save(folder / name)
        contents.append((folder / name).read_bytes())

    def check(came: Outcome) -> bool:
        found = {Path(name).name: data for name, data in tree(came).items()}
        return [found.get(f"holiday_{each:03}.jpg") for each in range(1, 7)] == contents

    return check


def same_files(folder: Path, chance: random.Random) -> Check:
    for number in range(6):
        (folder / f"paper{number}.txt").write_text(f"{chance.random()} and more", "utf-8")
    twins = {"copy of it.txt": "paper2.txt", "old.txt": "paper4.txt"}
    for copy, original in twins.items():
        (folder / copy).write_bytes((folder / original).read_bytes())

    def check(came: Outcome) -> bool:
        text = came.text("duplicates.txt")
        return all(name in text for pair in twins.items() for name in pair) and not any(
            f"paper{number}.txt" in text for number in (0, 1, 3, 5)
        )

    return check


def largest(folder: Path, chance: random.Random) -> Check:
    sizes = chance.sample(range(2_000, 90_000, 1_700), 12)
    for number, size in enumerate(sizes):
        (folder / f"data{number}.txt").write_text("x" * size, "utf-8")
    order = sorted(range(12), key=lambda number: -sizes[number])

    def check(came: Outcome) -> bool:
        found = re.findall(r"data(\d+)\b", came.reply)
        return (
            list(dict.fromkeys(found))[:5] == [str(each) for each in order[:5]]
            and len(set(found)) == 5
        )

    return check


def narrow(folder: Path, chance: random.Random) -> Check:
    sizes = {}
    for number in range(4):
        sizes[f"pic{number}"] = chance.choice(((1600, 1200), (640, 480), (1000, 2000)))
        Image.new("RGB", sizes[f"pic{number}"], (9, 99, 200)).save(folder / f"pic{number}.jpg")

    def check(came: Outcome) -> bool:
        for stem, (wide, high) in sizes.items():
            paths = [path for name, path in came.files.items() if stem in name]
            if wide <= 800 and not paths:
                continue
            if not paths:
                return False
            with Image.open(paths[-1]) as picture:
                size = picture.size
            if size != ((wide, high) if wide <= 800 else (800, round(high * 800 / wide))):
                return False
        return True

    return check


def pdf_titles(folder: Path, chance: random.Random) -> Check:
    from fpdf import FPDF

    titles = chance.sample(
        ("The Water Report", "Noise at Night", "A Plan for Trees", "Bridges of the East"), 4
    )
    for number, title in enumerate(titles):
        pdf = FPDF()
        pdf.set_title(title)
        pdf.add_page()
        pdf.set_font("helvetica", size=22)
        pdf.cell(0, 20, title, new_x="LMARGIN", new_y="NEXT")
        pdf.set_font("helvetica", size=11)
        pdf.multi_cell(0, 6, "It was measured for a year. The outcome is in the table below.")
        pdf.output(str(folder / f"paper{number}.pdf"))
    return lambda came: (
        all(title in came.text("titles.txt") for title in titles)
        and "measured" not in came.text("titles.txt")
    )


def contents_of_folder(folder: Path, chance: random.Random) -> Check:
    place = folder / "Project"
    (place / "drafts").mkdir(parents=True)
    sizes = {}
    for name in ("readme.txt", "plan.csv", "drafts/one.txt", "drafts/two.txt"):
        text = "abc " * chance.randrange(20, 900)
        (place / name).write_text(text, "utf-8")
        sizes[Path(name).name] = len(text)

    def check(came: Outcome) -> bool:
        found = came.rows("inventory.csv")
        return len(found) == 4 and all(
            any(
                any(cell.endswith(name) for cell in cells(row)) and str(size) in cells(row)
                for row in found
            )
            for name, size in sizes.items()
        )

    return check


def by_month(folder: Path, chance: random.Random) -> Check:
    wanted: dict[str, str] = {}
    for number in range(9):
        day = date(2026, 1, 3) + timedelta(days=chance.randrange(88))
        name = f"scan_{day:%Y-%m-%d}_{number}.txt"
        (folder / name).write_text(f"page {number}", "utf-8")
        wanted[name] = f"{day:%Y-%m}"

    def check(came: Outcome) -> bool:
        found = {Path(name).name: Path(name).parent.name for name in tree(came)}
        pairs = {(wanted[name], found.get(name, "")) for name in wanted}
        months = set(wanted.values())
        return set(found) == set(wanted) and len(pairs) == len(months) and "" not in found.values()

    return check


# -- texts


def addresses(folder: Path, chance: random.Random) -> Check:
    people = [f"{first.lower()}.{last.lower()}@mail.example"
              for first, last in zip(FIRST, NAMES, strict=True)]  # fmt: skip
    for number in range(3):
        some = chance.sample(people[number * 3 : number * 3 + 4], 4)
        (folder / f"letter{number}.txt").write_text(
            f"Dear all,\n\nplease write to {some[0]} or to {some[1]}. The list is with <{some[2]}>,"
            f" and {some[3]}; @home we have none.\n\nYours, Ana\n", "utf-8",
        )  # fmt: skip
    return lambda came: same_lines(came.text("emails.txt"), people)


def todos(folder: Path, chance: random.Random) -> Check:
    jobs = ["call the plumber", "order paper", "book the room", "answer Ms Ito", "fix the door"]
    chance.shuffle(jobs)
    for number, day in enumerate(("monday", "tuesday", "friday")):
        lines = ["We met at nine.", "All were there, and nothing was decided about the roof."]
        lines[1:1] = [f"TODO: {job}" for job in jobs[number * 2 : number * 2 + 2]]
        (folder / f"{day}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return lambda came: (
        all(job in came.text("todo.txt") for job in jobs)
        and "decided" not in came.text("todo.txt")
        and "met at nine" not in came.text("todo.txt")
    )


def address_book(folder: Path, chance: random.Random) -> Check:
    people = [
        {"Name": f"{first} {last}", "Phone": f"+49 30 {chance.randrange(10**5, 10**6)}",
         "City": chance.choice(("Berlin", "Rome", "Oslo"))}
        for first, last in zip(FIRST[:7], NAMES[:7], strict=True)
    ]  # fmt: skip
    people[3].pop("Phone")
    (folder / "contacts.txt").write_text(
        "\n\n".join("\n".join(f"{key}: {value}" for key, value in one.items()) for one in people),
        "utf-8",
    )

    def check(came: Outcome) -> bool:
        found = came.rows("addressbook.csv")
        return len(found) == 7 and all(
            {key: value or "" for key, value in row.items()} == {"Phone": "", **one}
            for row, one in zip(found, people, strict=True)
        )

    return check


def levels_by_hour(folder: Path, chance: random.Random) -> Check:
    moment, lines = datetime(2026, 5, 4, 8, 2), []
    counts: dict[tuple[str, int], int] = defaultdict(int)
    for _ in range(180):
        moment += timedelta(seconds=chance.randrange(10, 120))
        level = chance.choice(("INFO", "INFO", "WARNING", "ERROR"))
        lines.append(
            f"{moment:%Y-%m-%d %H:%M:%S} {level} "
            + chance.choice(("disk is slow", "user 17 came", "no answer from 10.0.0.4"))
        )
        counts[level, moment.hour] += 1
    (folder / "app.log").write_text("\n".join(lines) + "\n", "utf-8")

    def check(came: Outcome) -> bool:
        found = came.rows("levels.csv")
        hours = sorted({hour for _, hour in counts})
        if found and {"ERROR", "WARNING"} <= {key.strip().upper() for key in found[0]}:
            wide = [{key.strip().upper(): value for key, value in row.items()} for row in found]
            return [
                (int(float(row["ERROR"] or 0)), int(float(row["WARNING"] or 0))) for row in wide
            ] == [(counts["ERROR", hour], counts["WARNING", hour]) for hour in hours]
        long = [row for row in found if cells(row) & {"ERROR", "WARNING"}]
        wanted = [
            (level, count) for (level, _), count in counts.items() if level != "INFO" and count
        ]
        return sorted(wanted) == sorted(
            (level, int(float(list(row.values())[-1])))
            for row in long
            for level in cells(row) & {"ERROR", "WARNING"}
        )

    return check


def other_company(folder: Path, chance: random.Random) -> Check:
    texts = {}
    for name in ("offer", "terms", "welcome"):
        texts[name] = "\n".join(
            f"{chance.choice(('We at', 'All goods of', 'Write to'))} Acme GmbH, "
            f"{chance.choice(NAMES)} Street {chance.randrange(90)}. Acme is old."
            for _ in range(chance.randrange(2, 6))
        )
        (folder / f"{name}.txt").write_text(texts[name], "utf-8")
    return lambda came: all(
        any(
            name in title
            and path.read_text("utf-8").strip() == text.replace("Acme GmbH", "Nova AG")
            for title, path in came.files.items()
        )
        for name, text in texts.items()
    )


def book(folder: Path, chance: random.Random) -> Check:
    texts = [
        f"Chapter {number}\n\nIt was {chance.choice(NAMES)} who came.\n" for number in (1, 2, 3)
    ]
    for number, text in enumerate(texts, 1):
        (folder / f"chapter{number}.txt").write_text(text, "utf-8")
    wanted = " ".join(" ".join(texts).split())
    return lambda came: " ".join(came.text("book.txt").split()) == wanted


def manual(folder: Path, chance: random.Random) -> Check:
    parts = {
        title: " ".join(chance.choice(("Turn it on.", "Wait.", "Press the key.")) for _ in range(9))
        for title in ("Unpacking", "First start", "Cleaning", "Repairs")
    }
    (folder / "manual.md").write_text(
        "\n\n".join(f"# {title}\n\n{text}" for title, text in parts.items()) + "\n", "utf-8"
    )

    def check(came: Outcome) -> bool:
        texts = [data.decode("utf-8") for data in tree(came).values()]
        return len(texts) == 4 and all(
            any(title in text and body in text for text in texts) for title, body in parts.items()
        )

    return check


def sorted_words(folder: Path, chance: random.Random) -> Check:
    words = ["pear", "apple", "fig", "kiwi", "plum", "lime", "quince", "date"]
    (folder / "words.txt").write_text("\n".join(chance.choices(words, k=40)) + "\n", "utf-8")
    wanted = sorted(set((folder / "words.txt").read_text("utf-8").split()))
    return lambda came: same_lines(came.text("words_sorted.txt"), wanted, ordered=True)


def euros(folder: Path, chance: random.Random) -> Check:
    amounts = [chance.randrange(500, 90_000) / 100 for _ in range(6)]
    (folder / "letter.txt").write_text(
        f"For the roof we paid €{amounts[0]:.2f} on 3 May 2024, and {amounts[1]:.2f} EUR for "
        "12 doors. "
        f"The painter asked {amounts[2]:.2f} euros, the gardener €{amounts[3]:.2f}.\n\n"
        f"Room 214 cost €{amounts[4]:.2f}; we added {amounts[5]:.2f} € for heating.\n", "utf-8",
    )  # fmt: skip
    return lambda came: came.says(round(sum(amounts), 2))


def contract_dates(folder: Path, chance: random.Random) -> Check:
    days = sorted(date(2025, 1, 1) + timedelta(days=chance.randrange(700)) for _ in range(4))
    one, two, three, four = days
    (folder / "contract.txt").write_text(
        f"This contract, signed on {one.day} {one:%B %Y}, begins on {two:%Y-%m-%d}. The first "
        f"rent of 640 is due on {three:%B} {three.day}, {three.year}, and it ends on "
        f"{four:%d.%m.%Y} after 12 notices.\n", "utf-8",
    )  # fmt: skip

    def check(came: Outcome) -> bool:
        lines = [line for line in came.text("dates.txt").splitlines() if line.strip()]
        forms = [
            (f"{day:%Y-%m-%d}", f"{day.day} {day:%B %Y}", f"{day:%B} {day.day}, {day.year}",
             f"{day:%d.%m.%Y}", f"{day:%d %B %Y}")
            for day in days
        ]  # fmt: skip
        return len(lines) == 4 and all(
            any(form in line for form in each) for line, each in zip(lines, forms, strict=True)
        )

    return check


def word_counts(folder: Path, chance: random.Random) -> Check:
    counts = {}
    for name in ("intro", "main", "end"):
        counts[name] = chance.randrange(40, 200)
        words = [chance.choice(("one", "two", "three", "four")) for _ in range(counts[name])]
        (folder / f"{name}.txt").write_text(" ".join(words) + ".\n", "utf-8")

    def check(came: Outcome) -> bool:
        found = came.rows("wordcount.csv")
        return len(found) == 3 and all(
            any(
                any(name in cell for cell in cells(row)) and str(count) in cells(row)
                for row in found
            )
            for name, count in counts.items()
        )

    return check


ERRANDS: Sequence[GoalCase] = (
    GoalCase("Remove the duplicate rows from members.csv, sort what is left by last name and save "
             "it as members_clean.csv", members),
    GoalCase("Put january.csv, february.csv and march.csv together into one table quarter.csv",
             quarter),
    GoalCase("Add up the amounts for each region and write the result to totals.csv",
             region_totals),
    GoalCase("Which invoices were due before 31 March 2026 and are not paid yet? Save them as "
             "overdue.csv", overdue),
    GoalCase("Make one file for each department out of staff.csv", departments),
    GoalCase("Make a pivot table with a row for each month, a column for each category and the sum "
             "of the amounts, and save it as pivot.xlsx", pivot_months),
    GoalCase("I need a bar chart of how many tickets there are per priority", ticket_chart),
    GoalCase("Throw out the customers that have no e-mail and save the rest as with_email.csv",
             without_address),
    GoalCase("Turn orders.json into a CSV file with only id, customer and total, the largest total "
             "first", json_orders),
    GoalCase("Rechne den Umsatz pro Monat aus und speichere ihn als umsatz.csv", umsatz_pro_monat),
    GoalCase("Which articles do we have to reorder because the stock is below the minimum? Write "
             "them to reorder.csv", reorder),
    GoalCase("Sort the files in this folder into subfolders by type", by_kind),
    GoalCase("Rename the photos to holiday_001.jpg, holiday_002.jpg and so on, in the order of "
             "their names", holiday),
    GoalCase("Are any of these files identical? List the duplicates in duplicates.txt", same_files),
    GoalCase("Which five of these files are the largest?", largest),
    GoalCase("Shrink all the photos to at most 800 pixels wide", narrow),
    GoalCase("Collect the titles of all these PDFs in titles.txt", pdf_titles),
    GoalCase("Make a table inventory.csv of everything in this folder with name, size and date",
             contents_of_folder),
    GoalCase("Put these scans into a folder for each month, going by the date in their names",
             by_month),
    GoalCase("Pull all the e-mail addresses out of these letters and save them in emails.txt, each "
             "only once", addresses),
    GoalCase("Collect all the TODOs from my notes in a file todo.txt", todos),
    GoalCase("Make a table addressbook.csv out of contacts.txt", address_book),
    GoalCase("How many errors and warnings are there in each hour of the log? Write that to "
             "levels.csv", levels_by_hour),
    GoalCase("Replace Acme GmbH with Nova AG in all of these texts", other_company),
    GoalCase("Join chapter1.txt, chapter2.txt and chapter3.txt in this order to book.txt", book),
    GoalCase("Split the manual at its headings into separate files", manual),
    GoalCase("Sort the lines of words.txt alphabetically, drop the duplicates and save it as "
             "words_sorted.txt", sorted_words),
    GoalCase("Find all the amounts in euros in this letter and add them up", euros),
    GoalCase("Write all the dates that appear in the contract to dates.txt, the earliest first",
             contract_dates),
    GoalCase("Count the words of each of these texts and write that to wordcount.csv", word_counts),
)  # fmt: skip
