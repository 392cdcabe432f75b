"""Slips in the code of scripts."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.agent.script_checks import overlooked, slips


def slipped(code: str, goal: str = "How much was sold?") -> list[str]:
    words = {name.casefold(): {name} for name in ("Ulm", "Jena", "Bo", "Bonn", "City")}
    words["yes"] = {"yes", "Yes"}
    return [*slips(code, goal), *overlooked(code, goal, words, "- City: text, one of: Ulm, Jena")]


@pytest.mark.parametrize(
    ("code", "invented"),
    [
        ('if row["city"] > "A": print("Bonn")', ""),
        ('total = by_name["Bo"]', "Bo"),
        ('who = "Bo"', "Bo"),
        ('x = by_name.get("Bo")', "Bo"),
        ('line.startswith("Jena")', "Jena"),
        ('x = [r for r in rows if r["City"] == "Jena"]', "Jena"),
        ('print("Bo", len("Jena"))', ""),
        ('print(len(by_name["Bo"]))', ""),
        ('if row["day"] == "2024": pass', ""),
        ("if", ""),
    ],
)
def test_values_that_a_script_invents(code: str, invented: str) -> None:
    told = (
        [f'the goal does not name "{invented}": take all values of the rows and name none']
        if invented
        else []
    )
    assert slipped(code) == told


@pytest.mark.parametrize(
    ("goal", "code", "ignored"),
    [
        ("Count the errors per hour", "n = len(lines)", "ERROR"),
        ("Count the errors per hour", 'n = "ERROR" in line', ""),
        ("How much was sold in Ulm?", "n = sum(values)", "Ulm"),
        ("Compare Ulm with Jena", "n = sum(values)", ""),
    ],
)
def test_values_that_a_script_ignores(goal: str, code: str, ignored: str) -> None:
    words = {"error": {"ERROR"}, "ulm": {"Ulm"}, "hour": {"Hour"}}
    found = list(overlooked(code, goal, words, "- City: text, one of: Ulm, Jena"))
    told = f'the goal is about "{ignored}", but the script takes all: choose by "{ignored}"'
    assert found == ([told] if ignored else [])


def test_words_that_are_written_in_several_ways() -> None:
    goal = "How many said yes?"
    told = '"yes" is also written "Yes": compare with .lower()'
    assert slipped('n = row["a"] == "yes"', goal) == [told]
    assert not slipped('n = row["a"].lower() == "yes"', goal)
    assert not slipped('n = row["a"] in ("yes", "Yes")', goal)


def test_words_are_counted_whatever_their_case() -> None:
    goal = "Which are the three most common words?"
    assert slipped("print(Counter(text.split()).most_common(3))", goal) == [
        "a word with a capital letter is counted apart: use text.lower() first"
    ]
    assert not slipped("print(Counter(text.lower().split()).most_common(3))", goal)
    assert not slipped("print(len(text.split()))", "How many words has it?")


@pytest.mark.parametrize(
    ("code", "is_slip"),
    [
        ('x = rows[order["id"]]', True),
        ('key = order["id"]\nx = rows[key]["n"]', True),
        ("x = rows[0]", False),
        ("for i in range(3): x = rows[i]", False),
        ('x = other[order["id"]]', False),
    ],
)
def test_rows_are_not_looked_up_in_a_list(code: str, is_slip: bool) -> None:
    told = 'rows is a list, so first make a dict of it: by_id = {row["id"]: row for row in rows}'
    found = slipped(f"rows = jarvis.read_table('a.csv')\n{code}")
    assert [each.partition(", then")[0] for each in found] == ([told] if is_slip else [])


def test_totals_are_added_up_and_words_are_split() -> None:
    goal = "How many words do they have altogether?"
    assert slipped("n = len(lines)", goal) == [
        "a total is added up: total += value for each, or sum(values)",
        "words are counted with len(text.split())",
    ]
    assert not slipped("n += len(text.split())", goal)


def test_the_most_is_looked_for() -> None:
    goal = "Which is the most expensive of each kind?"
    told = "the most is found with max(values), or max(rows, key=...), for each group"
    assert slipped("best = rows[0]", goal) == [told]
    assert not slipped("best = max(rows)", goal)


@pytest.mark.parametrize(
    ("goal", "months", "wrong"),
    [
        ("Wie hoch war der Umsatz im zweiten Quartal?", '["04", "05", "06", "07"]', True),
        ("Wie hoch war der Umsatz im zweiten Quartal?", '["04", "05", "06"]', False),
        ("What was sold in Q4?", "['10', '11']", True),
        ("What was sold in Q4?", "range(10, 13)", False),
        ("Compare Q1 with Q2", '["01", "02"]', False),
    ],
)
def test_a_quarter_has_three_months(goal: str, months: str, wrong: bool) -> None:
    found = slipped(f"x = month in {months}", goal)
    assert [each.startswith("that quarter is the months") for each in found] == [True] * wrong


def test_a_share_is_divided() -> None:
    told = "a share is one value divided by the other, for each: part / whole"
    assert slipped("n = max(x)", "What percentage is it?") == [told]
    assert not slipped("n = max(x) / 4", "What percentage is it?")


def test_columns_that_a_goal_names_are_used() -> None:
    told = 'the goal is about the column "City", which the script does not use'
    assert slipped("n = len(rows)", "Which cities are there? List each city.") == [told]
    assert not slipped('n = row["city"]', "List each city.")


def test_a_median_is_not_computed_by_hand() -> None:
    told = "a median is statistics.median(values)"
    assert slipped("m = sorted(x)[len(x) // 2]", "What is the median price?") == [told]
    assert not slipped("m = statistics.median(x)", "What is the median price?")


def test_a_turned_picture_keeps_its_corners() -> None:
    told = "picture.rotate(angle, expand=True) keeps the corners"
    assert slipped("p = p.rotate(90)") == [told]
    assert not slipped("p = p.rotate(90, expand=True)")


def test_the_longest_key_is_not_the_longest_list() -> None:
    told = "max(d, key=len) takes the longest key: key=lambda key: len(d[key])"
    assert slipped("d = {}\nx = max(d, key=len)") == [told]
    assert not slipped("d = []\nx = max(d, key=len)")
    assert not slipped("d = {}\nx = max(d, key=d.get)")


def test_values_that_never_change() -> None:
    code = "total = 0\nbest = None\nlimit = 5\n{}\nprint(f'{{total}} {{best}} {{limit}}')"
    assert slipped(code.format("x = 1")) == [
        "total is printed but never changes",
        "best is printed but never changes",
    ]
    assert slipped(code.format("total += 1\nfor best in a: pass")) == []


@pytest.mark.parametrize(
    ("goal", "code", "wrong"),
    [
        ("Which customers are new?", 'print(f"New customers: {len(found)}")', True),
        ("Which customers are new?", 'print(f"{len(found)}: {found}")', False),
        ("Which customers are new?", "print(found)", False),
        ("How many are new, and who?", 'print(f"{len(found)}")', False),
    ],
)
def test_names_are_printed_where_they_are_asked_for(goal: str, code: str, wrong: bool) -> None:
    told = "the goal asks which ones: print their names, not only how many"
    assert slipped(code, goal) == ([told] if wrong else [])


_SHOPS = """units.csv: table, 90 rows. Columns:
- shop: text, one of: Ulm, Jena
- product: text, one of: tea, cocoa
- code: text, 90 different
- units: number, 1 to 29"""


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ('t[row["shop"]] = row["units"]', "t[row['shop']]"),
        ('shop = row["shop"]\n    t[shop] = row["units"] * 2', "t[shop]"),
        ('t[row["shop"]][row["product"]] = row["units"]', "t[row['shop']][row['product']]"),
        ('t[row["shop"]] = t.get(row["shop"], 0) + row["units"]', ""),
        ('t[row["shop"]] += row["units"]', ""),
        ('if row["shop"] in t:\n        t[row["shop"]] += row["units"]\n    else:\n'
         '        t[row["shop"]] = row["units"]', ""),
        ('t[row["code"]] = row["units"]', ""),
        ('t[row["shop"]] = row', ""),
        ('t[row["shop"]] = row["product"]', ""),
        ("t[len(t)] = 0", ""),
    ],
)  # fmt: skip
def test_values_of_groups_are_not_overwritten(body: str, wrong: str) -> None:
    code = f"t = {{}}\nfor row in rows:\n    {body}"

    def overwritten(goal: str) -> list[str]:
        return [each for each in overlooked(code, goal, {}, _SHOPS) if "overwrites" in each]

    found = overwritten("Units per shop")
    assert len(found) == bool(wrong)
    assert all(each.startswith(f"each row overwrites {wrong}: add up with ") for each in found)
    assert not overwritten("The latest units per shop")
