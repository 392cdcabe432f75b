"""How many questions about tables are answered right, without a language model.

.venv/bin/python -m tests.benchmarks.table_questions [--show] [--set "half 1"]

A hundred questions over twelve tables, in two halves (`table_cases.py`). An answer is right if its
text has every expected value and lists no others; "confident" means that it comes without a doubt.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.task import Call
from jarvis_desktop.tasks.documents.table_qa import TABLE_QUESTION_ANSWERING, reply
from jarvis_desktop.text.dates import MONTHS
from tests.benchmarks.fresh_table_cases import (
    asked_first,
    asked_last,
    asked_later,
    make_fresh_rows,
    write_fresh_tables,
)
from tests.benchmarks.household_table_cases import (
    asked_at_home,
    make_household_rows,
    write_household_tables,
)
from tests.benchmarks.table_cases import (
    TableCase,
    first_half,
    make_rows,
    second_half,
    write_tables,
)
from tests.benchmarks.workplace_table_cases import (
    asked_at_work,
    asked_later_at_work,
    make_workplace_rows,
    write_workplace_tables,
)

_number = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def main() -> None:
    """Print the figures of both halves."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--show", action="store_true", help="print what is wrong or doubtful")
    options.add_argument(
        "--set",
        choices=("half 1", "half 2", "fresh 1", "fresh 2", "fresh 3", "home", "work 1", "work 2"),
    )
    args = options.parse_args()
    rows, fresh, home = make_rows(), make_fresh_rows(), make_household_rows()
    work = make_workplace_rows()
    sets = {"half 1": first_half(rows), "half 2": second_half(rows)}
    sets |= {"fresh 1": asked_first(fresh), "fresh 2": asked_later(fresh)}
    sets |= {"fresh 3": asked_last(fresh), "home": asked_at_home(home)}
    sets |= {"work 1": asked_at_work(work), "work 2": asked_later_at_work(work)}
    with tempfile.TemporaryDirectory() as folder:
        write_tables(Path(folder), rows)
        write_fresh_tables(Path(folder), fresh)
        write_household_tables(Path(folder), home)
        write_workplace_tables(Path(folder), work)
        for name, cases in sets.items():
            if args.set in (None, name):
                _measure(name, cases, Path(folder), show=args.show)


def _measure(name: str, cases: list[TableCase], folder: Path, *, show: bool) -> None:
    right = surely_wrong = doubtful = declined = longest = 0
    for case in cases:
        text = _answer(case, folder)
        said, _, doubt = text.partition("\n\nI am not sure of this.")
        fine = not text if case.expected is None else bool(text) and _is_right(case.expected, said)
        right += fine
        declined += not text
        doubtful += bool(doubt)
        surely_wrong += bool(text) and not fine and not doubt
        longest = max(longest, len(text.splitlines()))
        if show and (not fine or doubt):
            print(
                f"{'right' if fine else 'WRONG'}: {case.question}\n  {text!r}\n  {case.expected!r}"
            )
    print(
        f"{name}: {right} of {len(cases)} right, {surely_wrong} wrong and sure, "
        f"{doubtful} with a doubt, {declined} declined, longest answer {longest} lines"
    )


def _answer(case: TableCase, folder: Path) -> str:
    given = tuple(
        Artifact(Kind.TABLE, path=folder / name, name=name) for name in case.tables.split()
    )
    with tempfile.TemporaryDirectory() as workdir:
        inputs = {"table": given, "question": (text_artifact(case.question),)}
        call = Call(TABLE_QUESTION_ANSWERING.type.name, inputs, {"sql": ""}, Path(workdir))
        try:
            return next(iter(reply(call, lambda *_: None))).text or ""
        except JarvisError:
            return ""


def _is_right(expected: Any, said: str) -> bool:
    lines = [line[2:] for line in said.splitlines() if line.startswith("- ")]
    if isinstance(expected, Mapping):
        return len(lines) == len(expected) and all(
            any(_names(name, line) and _has(value, line) for line in lines)
            for name, value in expected.items()
        )
    if isinstance(expected, list | set | frozenset):
        listed = lines or [said]
        return all(any(_has(item, line) for line in listed) for item in expected) and (
            len(listed) <= max(len(expected), len(listed) if isinstance(expected, set) else 0)
        )
    return len(lines) <= 6 and _has(expected, said)


def _names(name: Any, line: str) -> bool:
    if found := re.fullmatch(r"(\d{4})-(\d\d)", str(name)):
        return f"{MONTHS[int(found[2]) - 1].capitalize()} {found[1]}" in line
    return str(name) in line


def _has(value: Any, text: str) -> bool:
    if isinstance(value, date | str):
        return _names(value, text)
    numbers = [float(item.replace(",", "")) for item in _number.findall(text)]
    return any(abs(item - value) <= max(0.006, 0.0005 * abs(value)) for item in numbers)


if __name__ == "__main__":
    main()
