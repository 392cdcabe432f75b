"""Texts that are tables without saying so: logs, records of "name: value" lines, tables of signs.

A text counts as one of them only if nearly all of its lines fit. Lines that do not, such as those
of a traceback in a log, belong to the row before them: nothing is left out.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence

from jarvis_desktop.text.lazy_re import lazy_re

Rows = list[list[str]]
"""The cells of a table, the names of its columns first."""

MIN_SHARE = 0.8
"""Of the lines that must have the form of an entry in a log; the rest continue the one before."""
MAX_KEY_CHARS = 40
MAX_COLUMNS = 200

_moment = (
    r"\[?(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
    r"|\d{4}/\d\d/\d\d \d\d:\d\d:\d\d|\d\d\.\d\d\.\d{4} \d\d:\d\d(?::\d\d)?)\]?"
)
_level = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|ERR|FATAL|CRITICAL|ALERT)"
_logs: Sequence[tuple[re.Pattern[str], tuple[str, ...]]] = (
    (
        lazy_re(
            rf"{_moment}\s*[|:,-]?\s*\[?(?P<level>{_level})\]?\s*[|:,-]?\s+(?P<message>\S.*)",
            re.IGNORECASE,
        ),
        ("time", "level", "message"),
    ),
    (
        lazy_re(
            r'(?P<address>\S+) \S+ (?P<user>\S+) \[(?P<time>[^\]]+)\] "(?P<method>[A-Z]+) '
            r'(?P<path>\S+)(?: [^"]*)?" (?P<status>\d{3}) (?P<bytes>\d+|-)(?P<more>.*)'
        ),
        ("address", "user", "time", "method", "path", "status", "bytes", "more"),
    ),
    (lazy_re(rf"{_moment}\s*[|:,-]?\s+(?P<message>\S.*)"), ("time", "message")),
)
"""Forms of the entries of logs, with their columns."""
_key_and_value = lazy_re(
    rf"(?P<key>[^\W\d_][^:=\n]{{0,{MAX_KEY_CHARS - 1}}}?)\s*[:=]\s*(?P<value>.*)"
)
_rule = lazy_re(r"[-=*_#\s]*")
_markdown_rule = lazy_re(r"\|?(?:\s*:?-+:?\s*\|)*\s*:?-+:?\s*\|?")


def table_of_text(text: str) -> Rows | None:
    """Return the rows of a text that is a table, records or a log; None for other texts."""
    lines = [line.rstrip() for line in text.lstrip("\ufeff").splitlines()]
    for way in (_markdown, _delimited, _log, _records):
        if rows := way(lines):
            return rows
    return None


def _markdown(lines: Sequence[str]) -> Rows | None:
    """Read a table of "| a | b |" that is the whole text."""
    filled = [line.strip() for line in lines if line.strip()]
    if len(filled) < 3 or not all("|" in line for line in filled):
        return None
    if not _markdown_rule.fullmatch(filled[1]) or "-" not in filled[1]:
        return None
    cells = (line.strip("|").split("|") for line in (filled[0], *filled[2:]))
    return _same_width([[cell.strip() for cell in row] for row in cells])


def _delimited(lines: Sequence[str]) -> Rows | None:
    """Read lines with the same number of tabs, semicolons or commas."""
    filled = [line for line in lines if line.strip()]
    for sign in "\t;,":
        if len(filled) > 1 and all(sign in line for line in filled):
            rows = list(csv.reader(filled, delimiter=sign, skipinitialspace=True))
            header = rows[0]
            named = all(cell.strip() and len(cell) <= MAX_KEY_CHARS for cell in header)
            if named and len({*header}) == len(header):
                return _same_width(rows)
    return None


def _same_width(rows: Rows) -> Rows | None:
    return rows if len({len(row) for row in rows}) == 1 and len(rows[0]) > 1 else None


def _log(lines: Sequence[str]) -> Rows | None:
    """Read the entries of a log; a line without a time continues the one before it."""
    filled = [line for line in lines if line.strip()]
    for form, columns in _logs:
        matches = [form.match(line.strip()) for line in filled]
        found = sum(match is not None for match in matches)
        if found < 2 or not matches[0] or found < MIN_SHARE * len(filled):
            continue
        rows: Rows = []
        for line, match in zip(filled, matches, strict=True):
            if match:
                rows.append([match[name].strip() for name in columns])
            else:
                rows[-1][-1] += f"\n{line}"
        used = [at for at in range(len(columns)) if any(row[at].strip("-") for row in rows)]
        return [[columns[at] for at in used], *([row[at] for at in used] for row in rows)]
    return None


def _records(lines: Sequence[str]) -> Rows | None:
    """Read records of "name: value" lines: a record ends at an empty line, at a rule, or when a
    name comes again."""
    records: list[dict[str, str]] = [{}]
    names: dict[str, str] = {}
    last = ""
    for line in lines:
        if _rule.fullmatch(line):
            records.append({})
            continue
        found = None if line[:1].isspace() and last else _key_and_value.fullmatch(line.strip())
        if found is None:
            if not line[:1].isspace() or not records[-1]:
                return None
            records[-1][last] = f"{records[-1][last]} {line.strip()}".strip()
            continue
        last = found["key"].strip(" -*").casefold()
        names.setdefault(last, found["key"].strip(" -*"))
        if last in records[-1]:
            records.append({})
        records[-1][last] = found["value"].strip()
    records = [record for record in records if record]
    shared = records and set.intersection(*(set(record) for record in records))
    if len(records) < 2 or not shared or len(names) > MAX_COLUMNS:
        return None
    return [[*names.values()], *([record.get(name, "") for name in names] for record in records)]
