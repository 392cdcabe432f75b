"""Queries over the given files, as `jarvis.queries` runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jarvis_desktop.sandbox.inside.modules.jarvis import queries


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("my sales.csv").write_text("day;town;paid\n03.02.2024;Graz;1,5\n04.03.2024;;2,5\n")
    Path("orders.json").write_text(
        json.dumps([{"id": 1, "by": {"name": "Ann"}, "items": [1, 2]}, {"id": 2}])
    )
    Path("b.txt").write_text("The lamp, the desk.\nWARN after 35 s\n")
    Path("p.png").write_bytes(b"")
    return tmp_path


NAMES = ["my sales.csv", "orders.json", "b.txt", "p.png"]


def rows(*asked: str, names: list[str] = NAMES) -> list[object]:
    queries.query(names, asked, "found.json")
    return [
        each if isinstance(each, str) else each[1]
        for each in json.loads(Path("found.json").read_text())
    ]


def test_files_are_tables() -> None:
    assert rows(
        "SELECT sum(paid), median(paid), min(day) FROM my_sales",
        "SELECT by_name, items FROM orders",
        "SELECT number, text FROM lines WHERE text REGEXP '[0-9]'",
        "SELECT word, count(*) FROM words GROUP BY word ORDER BY 2 DESC LIMIT 1",
        "SELECT regexp_extract(text, 'after (\\d+)'), regexp_extract(text, 'WARN') FROM lines",
        "SELECT median(town) FROM my_sales",
        "SELECT strftime('%B %A %w', day), strftime('%d', town) FROM my_sales LIMIT 1",
        "SELECT id / 2, '1/2' /* half */ FROM orders -- 1/2",
    ) == [
        [[4, 2, "2024-02-03"]],
        [["Ann", "[1, 2]"], [None, None]],
        [[2, "WARN after 35 s"]],
        [["the", 2]],
        [[None, None], ["35", "WARN"]],
        [[None]],
        [["February Saturday 6", None]],
        [[0.5, "1/2"], [1.0, "1/2"]],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "asked",
    [
        "DROP TABLE lines",
        "ATTACH 'x.db' AS x",
        "SELECT nothing FROM lines",
        "SELECT 1; SELECT 2",
        "SELECT regexp_extract(text, '(') FROM lines",
        "PRAGMA table_info(lines)",
    ],
)
def test_queries_can_only_read(asked: str) -> None:
    (found,) = rows(asked)
    assert isinstance(found, str)
    assert not Path("x.db").exists()


def test_tables_of_the_same_columns_are_one_too(capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"m{at}.csv" for at in range(5)]
    for at, name in enumerate(names):
        Path(name).write_text(f"item,n\nlamp,{at}\n")
    asked = "SELECT count(DISTINCT table_name), sum(n) FROM all_tables"
    assert rows(asked, names=names) == [[[5, 10]]]
    queries.describe_tables(names)
    told = capsys.readouterr().out
    assert told.startswith('CREATE TABLE "all_tables" (\n  "table_name", -- text, one of: m0, m1')
    assert "m4" not in told.partition("\n);")[2]
    queries.describe_tables(names[:2])
    assert 'CREATE TABLE "m1"' in capsys.readouterr().out


def test_tables_are_described(capsys: pytest.CaptureFixture[str]) -> None:
    Path("b.txt").write_text("\n".join(f"line {at}" for at in range(20)))
    queries.describe_tables(NAMES)
    told = capsys.readouterr().out
    assert '"paid", -- number, 1.5 to 2.5; in all 4.0, on average 2.0' in told
    assert '"text", -- text such as "line 0", "line 1", "line 2", 20 different' in told


@pytest.mark.parametrize(
    ("asked", "bare"),
    [
        ("SELECT town, paid / SUM(paid) FROM my_sales GROUP BY town", "paid"),
        ("SELECT town, sum(paid) FROM my_sales", "town"),
        ("SELECT town AS day, sum(paid) * (1 + count(day)) FROM my_sales GROUP BY town", ""),
        ("SELECT town, max(paid) FROM my_sales", ""),
        ("SELECT town, sum(paid) FROM my_sales GROUP BY 1 ORDER BY 2", ""),
        ("SELECT 'paid', sum(paid) FROM my_sales", ""),
        ("SELECT sum(paid) / (SELECT count(*) FROM my_sales) FROM my_sales", ""),
        ("SELECT town, paid FROM my_sales", ""),
        ("SELECT substr(town, 1, 2) AS start, sum(paid) AS x FROM my_sales GROUP BY start", ""),
        ("SELECT substr(town, 1, 2) AS start, sum(paid) FROM my_sales GROUP BY paid", "town"),
    ],
)
def test_a_column_of_any_row_is_refused(asked: str, bare: str) -> None:
    (found,) = rows(asked)
    assert isinstance(found, str) == bool(bare)
    if bare:
        assert str(found).startswith(f"{bare} is neither added up nor in GROUP BY")


def test_a_query_that_names_no_table_reads_from_the_first() -> None:
    asked = ("SELECT count(*)", "SELECT count(*) WHERE town = 'Graz' LIMIT 1")
    assert rows(*asked) == [[[2]], [[1]]]


def test_lines_of_one_shape_have_columns(capsys: pytest.CaptureFixture[str]) -> None:
    said = "ANNA: Good day.\nBO: Hm.\n\nANNA: Is it: so?\nBO: No.\n(laughs)\nANNA: Oh.\n"
    Path("talk.txt").write_text(said)
    Path("a.log").write_text("".join(f"10.0.0.{at} GET /x {200 + at % 2}\n" for at in range(9)))
    assert rows(
        "SELECT before_colon, count(*) FROM lines GROUP BY before_colon ORDER BY 2 DESC LIMIT 1",
        "SELECT after_colon FROM lines WHERE number = 4",
        "SELECT before_colon FROM lines WHERE number = 6",
        names=["talk.txt"],
    ) == [[["ANNA", 3]], [["Is it: so?"]], [[None]]]  # fmt: skip
    assert rows("SELECT sum(part_4) FROM lines WHERE part_1 <> '10.0.0.1'", names=["a.log"]) == [
        [[1603]]
    ]
    capsys.readouterr()
    queries.describe_tables(["a.log"])
    assert '"part_4", -- number, 200 to 201' in capsys.readouterr().out
