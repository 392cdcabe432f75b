"""Texts that are tables without saying so."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.documents.structured_text import table_of_text
from jarvis_desktop.tasks.formats.conversion import CONVERT_FILE, convert_file
from tests.tasks.calls import call_of, quiet

LOG = """2026-05-04 08:02:11 INFO user 17 came
2026-05-04 08:03:40,120 [ERROR] no answer
  Traceback: line 3
[2026-05-04T09:00:00Z] WARN - disk is slow
2026-05-04 09:10:00 INFO gone
2026-05-04 09:11:00 INFO back
"""
ACCESS = """10.0.0.1 - - [04/May/2026:08:00:00 +0200] "GET /a HTTP/1.1" 200 512 "-" "curl/8"
10.0.0.2 - ida [04/May/2026:08:00:01 +0200] "POST /b" 404 - "-" "Firefox"
"""
RECORDS = """Name: Ida Berg
Phone: +49 30 1
City: Oslo,
  Norway

name: Jan: the second
City: Rome
---
Name: Cleo
Phone:
Note = none
"""


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (LOG, [["time", "level", "message"],
               ["2026-05-04 08:02:11", "INFO", "user 17 came"],
               ["2026-05-04 08:03:40,120", "ERROR", "no answer\n  Traceback: line 3"],
               ["2026-05-04T09:00:00Z", "WARN", "disk is slow"],
               ["2026-05-04 09:10:00", "INFO", "gone"],
               ["2026-05-04 09:11:00", "INFO", "back"]]),
        (ACCESS, [["address", "user", "time", "method", "path", "status", "bytes", "more"],
                  ["10.0.0.1", "-", "04/May/2026:08:00:00 +0200", "GET", "/a", "200", "512",
                   '"-" "curl/8"'],
                  ["10.0.0.2", "ida", "04/May/2026:08:00:01 +0200", "POST", "/b", "404", "-",
                   '"-" "Firefox"']]),
        ("2026-05-04 08:02:11 one\n2026-05-04 08:03:11 two\n",
         [["time", "message"], ["2026-05-04 08:02:11", "one"], ["2026-05-04 08:03:11", "two"]]),
        (RECORDS, [["Name", "Phone", "City", "Note"],
                   ["Ida Berg", "+49 30 1", "Oslo, Norway", ""],
                   ["Jan: the second", "", "Rome", ""], ["Cleo", "", "", "none"]]),
        ("Name: Ida\nAge: 3\nName: Jan\nAge: 4\n", [["Name", "Age"], ["Ida", "3"], ["Jan", "4"]]),
        ("| a | b |\n|---|:-:|\n| 1 | x, y |\n", [["a", "b"], ["1", "x, y"]]),
        ("name\tage\nIda\t3\n", [["name", "age"], ["Ida", "3"]]),
        ('name; age\n"Berg; Ida"; 3\n', [["name", "age"], ["Berg; Ida", "3"]]),
    ],
)  # fmt: skip
def test_a_text_that_is_a_table_is_read(text: str, rows: list[list[str]]) -> None:
    assert table_of_text(text) == rows


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Dear Ida,\n\nall is well: the roof is new.\n\nYours, Jan",
        "Note: buy milk",  # one record
        "Name: Ida\n\nCity: Oslo",  # nothing in common
        "To do:\n- a\n- b",
        "| a | b |\n| 1 | 2 |\n| 3 | 4 |",  # no rule below the names
        "| a | b |\n|---|---|\n| 1 |",
        "a,b\n1,2,3",
        "a,a\n1,2",
        "2026-05-04 08:02:11 INFO once",
        "  indented: first\n  and more",
        "x" * 200_000,
        ("a" * 60 + ": b\n") * 3,
    ],
)
def test_other_texts_are_none(text: str) -> None:
    assert table_of_text(text) is None


def converted(tmp_path: Path, name: str, text: str, ending: str) -> Path:
    given = tmp_path / name
    given.write_text(text, "utf-8")
    call = call_of(CONVERT_FILE.type, tmp_path / "work", file=given, format=ending)
    *_, made = convert_file(call, quiet)
    assert made.path
    assert given.read_text("utf-8") == text
    return made.path


def test_a_log_becomes_a_table(tmp_path: Path) -> None:
    made = converted(tmp_path, "app.log", LOG, "csv")
    assert made.read_text("utf-8").splitlines()[0] == "time,level,message"
    assert converted(tmp_path, "a.txt", RECORDS, "xlsx").stat().st_size > 1000
    with pytest.raises(InputError, match=r"b\.txt is not written like a table"):
        converted(tmp_path, "b.txt", "Dear Ida,\nall is well.", "csv")
