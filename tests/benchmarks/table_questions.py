"""How many questions about tables are answered right, without a language model.

.venv/bin/python -m tests.benchmarks.table_questions [--show] [--set "half 1"]

Sets of questions over tables of several kinds (`*_table_cases.py`). An answer is right if its text
has every expected value and lists no others; "sure" means that it comes without a doubt.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.task import Call
from jarvis_desktop.tasks.documents.table_qa import TABLE_QUESTION_ANSWERING, reply
from jarvis_desktop.text.dates import MONTHS
from tests.benchmarks import (
    club_table_cases,
    everyday_table_cases,
    fresh_table_cases,
    household_table_cases,
    table_cases,
    workplace_table_cases,
)
from tests.benchmarks.table_cases import Rows, TableCase

Asked = Callable[[Mapping[str, Rows]], list[TableCase]]
_sets: Sequence[tuple[Callable[[], dict[str, Rows]], Callable[..., None], dict[str, Asked]]] = (
    (table_cases.make_rows, table_cases.write_tables,
     {"half 1": table_cases.first_half, "half 2": table_cases.second_half}),
    (fresh_table_cases.make_fresh_rows, fresh_table_cases.write_fresh_tables,
     {"fresh 1": fresh_table_cases.asked_first, "fresh 2": fresh_table_cases.asked_later,
      "fresh 3": fresh_table_cases.asked_last}),
    (household_table_cases.make_household_rows, household_table_cases.write_household_tables,
     {"home": household_table_cases.asked_at_home}),
    (workplace_table_cases.make_workplace_rows, workplace_table_cases.write_workplace_tables,
     {"work 1": workplace_table_cases.asked_at_work,
      "work 2": workplace_table_cases.asked_later_at_work}),
    (everyday_table_cases.make_everyday_rows, everyday_table_cases.write_everyday_tables,
     {"every day 1": everyday_table_cases.asked_every_day,
      "every day 2": everyday_table_cases.asked_once_more}),
    (club_table_cases.make_club_rows, everyday_table_cases.write_everyday_tables,
     {"club": club_table_cases.asked_at_the_club}),
    (club_table_cases.make_later_club_rows, everyday_table_cases.write_everyday_tables,
     {"club later": club_table_cases.asked_later_at_the_club}),
)  # fmt: skip
_number = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def main() -> None:
    """Print the figures of each set."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--show", action="store_true", help="print what is wrong or doubtful")
    names = [name for _, _, asked in _sets for name in asked]
    options.add_argument("--set", choices=names)
    args = options.parse_args()
    for make, write, asked in _sets:
        if args.set and args.set not in asked:
            continue
        rows = make()
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), rows)
            for name, cases in asked.items():
                if args.set in (None, name):
                    _measure(name, cases(rows), Path(folder), show=args.show)


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
