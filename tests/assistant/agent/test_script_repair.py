"""Scripts are mended before they run, and their errors are explained."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.agent.script_repair import explain_error, repaired


@pytest.mark.parametrize(
    ("code", "first"),
    [
        ("re.sub('a', 'b', text)", "import re"),
        ("print(Counter('a'))", "from collections import Counter"),
        ("datetime.datetime.now()", "import datetime"),
        ("print(datetime.now())", "from datetime import datetime"),
        ("import re\nre.sub()", "import re"),
        ("time = 3\nprint(time.real)", "time = 3"),
        ("def re(a): return a.b\nre.c", "def re(a): return a.b"),
        ("if", "if"),
    ],
)
def test_forgotten_imports_are_added(code: str, first: str) -> None:
    assert repaired(code).splitlines()[0] == first


def test_modules_of_a_package_are_imported() -> None:
    code = "import PIL\nx = PIL.Image.open('a')\ny = PIL.Image.new('L', (1, 1))"
    assert repaired(code) == f"import PIL.Image\n{code}"


@pytest.mark.parametrize(
    ("loop", "mended"),
    [
        ("x = [a for a, b in rows]", "x = [a for a, b in [row.values() for row in rows]]"),
        (
            "é = 1; x = {a for é, a in rows}",
            "é = 1; x = {a for é, a in [row.values() for row in rows]}",
        ),
        ("for a, b in rows: pass", "for a, b in [row.values() for row in rows]: pass"),
        ("for a in rows: pass", "for a in rows: pass"),
        ("for a, b in other: pass", "for a, b in other: pass"),
    ],
)
def test_rows_are_taken_apart_as_tuples(loop: str, mended: str) -> None:
    head = 'import jarvis\nrows = jarvis.read_table("a.csv")\n'
    assert repaired(head + loop) == head + mended


@pytest.mark.parametrize(
    ("last", "code", "hint"),
    [
        ("FileNotFoundError: x.csv", "", "The files are: a.csv."),
        ("ModuleNotFoundError: No module named 'pandas'", "", "pandas, numpy"),
        ("TypeError: unsupported operand 'NoneType'", "", "Empty cells of x are None"),
        ("TypeError: 'NoneType'", 'sum(row["km"])', 'if row["km"] is not None'),
        ("TypeError: expected string, got 'list'", "", "go through it with for"),
        ("TypeError: list indices must be integers", "", "A table is a list of dicts"),
        ("TypeError: 'int' and 'str'", "sum(row.values())", "columns of numbers: km."),
        ("ValueError: too many values to unpack", "", 'row["km"] for the km'),
        ("IndexError: list index out of range", "line.split()[4]", "Use re.findall"),
        ("NameError: name 'row' is not defined", "for row in rows:", "Its loop found nothing"),
        ("NameError: name 'row' is not defined", "print(row)", "Give it a value"),
        ("ValueError: could not convert string to float: 'a'", "", "numbers already"),
        ("AttributeError: 'str' object has no attribute 'month'", "", 'row["date"][:7]'),
        ("TypeError: a.txt is the name of a file: read it first", "", "Keep the largest count"),
        ("AttributeError: jarvis has no group_by", "", "Use a dict"),
        ("AttributeError: jarvis has no parse_date; it has", "", "fromisoformat"),
        ("AttributeError: module 'PIL.Image' has no attribute 'ANTIALIAS'", "", "without it"),
        ("ZeroDivisionError: division by zero", "", "ZeroDivisionError: division by zero"),
        ("", "", ""),
    ],
)
def test_errors_are_explained(last: str, code: str, hint: str) -> None:
    brief = "- km: number, 1 to 2; 3 cells are empty\n- name: text, one of: A"
    assert hint in explain_error(last, code, ["a.csv"], brief)


def test_a_search_that_finds_nothing_is_explained() -> None:
    code = "value = re.search('x', line)[1]"
    trace = f"File \"script-1\", line 3, in <module>\n    {code}\nTypeError: 'NoneType' object"
    assert "go on only if found" in explain_error(trace, code, ["a.log"], "")
