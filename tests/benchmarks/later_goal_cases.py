"""Fifteen goals more over tables, folders and texts, what makes their files, and their checks."""

from __future__ import annotations

import random
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from PIL import Image

from tests.benchmarks.agent_goal_cases import Check, GoalCase, Outcome, has_pairs, write_table
from tests.benchmarks.errand_goal_cases import FIRST, NAMES, cells, same_lines, tables, tree


def phone_list(folder: Path, chance: random.Random) -> Check:
    numbers = [f"0{chance.randrange(150, 180)} {chance.randrange(10**6, 10**7)}" for _ in range(5)]
    (folder / "sports_club.txt").write_text(
        f"Training is on Tuesday at 18:30 in hall 2.\nCoach: {FIRST[0]}, {numbers[0]}\n"
        f"If it rains call {numbers[1]} or {numbers[2]}. Fee: 12.50 a month.\n"
        f"Treasurer {FIRST[3]} ({numbers[3]}), member since 2019; van: {numbers[4]}.\n", "utf-8",
    )  # fmt: skip
    return lambda came: same_lines(came.text("numbers.txt"), numbers)


def best_sellers(folder: Path, chance: random.Random) -> Check:
    rows: list[dict[str, Any]] = [
        {"title": f"Book {number}", "author": chance.choice(NAMES), "copies": copies}
        for number, copies in enumerate(chance.sample(range(100, 9000), 25))
    ]
    write_table(folder / "books.csv", rows)
    wanted = [row["title"] for row in sorted(rows, key=lambda row: -row["copies"])[:5]]
    return lambda came: [row.get("title") for row in came.rows("top5.csv")] == wanted


def late_trains(folder: Path, chance: random.Random) -> Check:
    rows = [
        {"train": f"RE {chance.randrange(10, 99)}", "line": chance.choice(("A", "B", "C")),
         "delay_min": chance.choice((0, 0, 2, 4, 7, 15))}
        for _ in range(60)
    ]  # fmt: skip
    write_table(folder / "trains.csv", rows)
    means: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        means[str(row["line"])].append(float(str(row["delay_min"])))
    wanted = {line: statistics.mean(each) for line, each in means.items()}
    return lambda came: has_pairs(came.rows("delays.csv"), wanted)


def comma_to_semicolon(folder: Path, chance: random.Random) -> Check:
    rows = [{"name": name, "points": chance.randrange(99)} for name in NAMES]
    write_table(folder / "league.csv", rows)

    def check(came: Outcome) -> bool:
        import openpyxl

        paths = [path for path in came.files.values() if path.suffix == ".xlsx"]
        if not paths:
            return False
        head, *body = openpyxl.load_workbook(paths[-1]).active.iter_rows(values_only=True)
        return list(head) == ["name", "points"] and len(body) == len(NAMES)

    return check


def holes(folder: Path, chance: random.Random) -> Check:
    rows = [
        {"plant": f"{name} rose", "height": chance.choice(("", "40", "55", "70")),
         "colour": chance.choice(("red", "white"))}
        for name in NAMES
    ]  # fmt: skip
    rows[0]["height"] = ""
    write_table(folder / "plants.csv", rows)
    wanted = [row["plant"] for row in rows if row["height"]]
    return lambda came: any(
        [row.get("plant") for row in found] == wanted for found in tables(came).values()
    )


def merge_notes(folder: Path, chance: random.Random) -> Check:
    texts = {}
    for number, day in enumerate(("mon", "tue", "wed"), 1):
        texts[day] = f"Day {number}: {chance.choice(NAMES)} came at {chance.randrange(8, 12)}."
        (folder / f"{number}_{day}.txt").write_text(texts[day] + "\n", "utf-8")
    wanted = " ".join(texts.values())
    return lambda came: " ".join(came.text("week.txt").split()) == wanted


def error_lines(folder: Path, chance: random.Random) -> Check:
    lines = [
        f"2026-03-{chance.randrange(1, 28):02} 10:00:{number:02} "
        f"{chance.choice(('INFO', 'ERROR', 'WARN'))} job {number} ended"
        for number in range(50)
    ]
    (folder / "jobs.log").write_text("\n".join(lines) + "\n", "utf-8")
    wanted = [line for line in lines if " ERROR " in line]
    return lambda came: same_lines(came.text("errors.txt"), wanted, ordered=True)


def log_table(folder: Path, chance: random.Random) -> Check:
    lines = [
        f"2026-03-02 1{number % 10}:15:00 [{chance.choice(('INFO', 'WARN'))}] user {number} came"
        for number in range(30)
    ]
    (folder / "visits.log").write_text("\n".join(lines) + "\n", "utf-8")

    def check(came: Outcome) -> bool:
        return any(
            len(found) == 30
            and all({"INFO", "WARN"} & cells(row) for row in found)
            and any("user 7 came" in cells(row) for row in found)
            for found in tables(came).values()
        )

    return check


def underscores(folder: Path, chance: random.Random) -> Check:
    contents = {}
    for name in ("my first song.txt", "my second song.txt", "plan.txt"):
        contents[name.replace(" ", "_")] = f"{chance.random()}"
        (folder / name).write_text(contents[name.replace(" ", "_")], "utf-8")

    def check(came: Outcome) -> bool:
        found = {Path(name).name: data.decode() for name, data in tree(came).items()}
        return all(found.get(name) == text for name, text in contents.items() if name != "plan.txt")

    return check


def by_year(folder: Path, chance: random.Random) -> Check:
    wanted = {}
    for number in range(8):
        day = date(2022, 1, 1) + timedelta(days=chance.randrange(1400))
        name = f"{day:%Y%m%d}_{number}.jpg"
        Image.new("RGB", (40, 30), (number * 30, 9, 9)).save(folder / name)
        wanted[name] = f"{day:%Y}"

    def check(came: Outcome) -> bool:
        return {Path(name).name: Path(name).parent.name for name in tree(came)} == wanted

    return check


def twins(folder: Path, chance: random.Random) -> Check:
    place = folder / "Pictures"
    place.mkdir()
    for number in range(5):
        Image.new("RGB", (50, 50), (number * 50, 0, 90)).save(place / f"pic{number}.png")
    (place / "again.png").write_bytes((place / "pic3.png").read_bytes())
    return lambda came: (
        all(name in came.reply for name in ("again.png", "pic3.png"))
        and not re.search(r"pic[0124]\.png", came.reply)
    )


def spent(folder: Path, chance: random.Random) -> Check:
    prices = [chance.randrange(200, 4000) / 100 for _ in range(5)]
    (folder / "shopping.txt").write_text(
        f"Bread and 2 rolls: €{prices[0]:.2f}\nShoes, size 42: €{prices[1]:.2f}\n"
        f"Bus on 12.05.2026: €{prices[2]:.2f}\nCinema for 3: €{prices[3]:.2f}\n"
        f"Flowers: €{prices[4]:.2f}\n", "utf-8",
    )  # fmt: skip
    return lambda came: came.says(round(sum(prices), 2))


def recipe_lines(folder: Path, chance: random.Random) -> Check:
    lines = [f"{chance.randrange(1, 9)} {what}" for what in ("eggs", "apples", "cups of milk")]
    lines += [lines[0], "a little salt", lines[2]]
    (folder / "list.txt").write_text("\n".join(lines) + "\n", "utf-8")
    wanted = [f"{number}. {line}" for number, line in enumerate(dict.fromkeys(lines), 1)]
    return lambda came: any(
        same_lines(data.decode("utf-8"), wanted, ordered=True) for data in tree(came).values()
    )


def haeufigkeit(folder: Path, chance: random.Random) -> Check:
    rows = [
        {"Datum": f"2026-0{chance.randrange(1, 7)}-11", "Abteilung": chance.choice(("Bau", "Amt")),
         "Stunden": chance.randrange(1, 9)}
        for _ in range(50)
    ]  # fmt: skip
    write_table(folder / "arbeit.csv", rows)
    sums: Counter[str] = Counter()
    for row in rows:
        sums[str(row["Abteilung"])] += int(str(row["Stunden"]))
    return lambda came: has_pairs(came.rows("summen.csv"), dict(sums))


def seating(folder: Path, chance: random.Random) -> Check:
    write_table(folder / "guests.csv", [
        {"guest": name, "table no": number % 3 + 1} for number, name in enumerate(NAMES)
    ])  # fmt: skip
    write_table(folder / "meals.csv", [
        {"guest": name, "meal": chance.choice(("fish", "pasta"))} for name in NAMES
    ])  # fmt: skip

    def check(came: Outcome) -> bool:
        found = came.rows("plan.csv")
        return {row.get("guest") for row in found} == set(NAMES) and all(
            {"fish", "pasta"} & cells(row) and {"1", "2", "3"} & cells(row) for row in found
        )

    return check


LATER: Sequence[GoalCase] = (
    GoalCase("Get me every phone number in this text as a list in numbers.txt", phone_list),
    GoalCase("Write the five books with the most copies sold into top5.csv", best_sellers),
    GoalCase("What is the average delay of each line? Store the answer in delays.csv", late_trains),
    GoalCase("I need this table as an Excel file", comma_to_semicolon),
    GoalCase("Leave out the plants whose height is missing and give me the cleaned table", holes),
    GoalCase("Put all my notes into one text file week.txt, Monday first", merge_notes),
    GoalCase("Filter the log so that only the lines with ERROR are left, and save it as errors.txt",
             error_lines),
    GoalCase("Turn this log file into a table", log_table),
    GoalCase("Some of these file names have spaces. Replace the spaces in the file names with "
             "underscores", underscores),
    GoalCase("Organise my pictures into folders by year", by_year),
    GoalCase("Which pictures in this folder are exact copies of each other?", twins),
    GoalCase("How much money did I spend according to my shopping list?", spent),
    GoalCase("Remove the repeated lines from the list and number the rest", recipe_lines),
    GoalCase("Summiere die Stunden pro Abteilung und speichere das Ergebnis in summen.csv",
             haeufigkeit),
    GoalCase("Combine the guests with their meals and save it as plan.csv", seating),
)  # fmt: skip
