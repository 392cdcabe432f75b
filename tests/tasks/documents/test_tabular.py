from __future__ import annotations

import csv

import numpy as np
import pytest

from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.documents.tabular import TABULAR_CLASSIFICATION, fill_column
from tests.tasks.calls import call_of


def nothing(fraction: float | None, words: str) -> None:
    pass


@pytest.fixture
def run(tmp_path):
    """Fills a table in: the rows of the new one, and what is said about it."""

    def do(text: str, column: str = "", examples: str = ""):
        files = {}
        for name, content in (("table", text), ("examples", examples)):
            if content:
                files[name] = tmp_path / f"{name}.csv"
                files[name].write_text(content, "utf-8")
        table, said = fill_column(
            call_of(TABULAR_CLASSIFICATION.type, tmp_path / "work", column=column, **files), nothing
        )
        assert table.kind is Kind.TABLE
        assert table.path
        with table.path.open(encoding="utf-8", newline="") as file:
            return list(csv.reader(file)), said.text

    return do


def flowers(count: int, *, unknown: int, seed: int = 1) -> str:
    """Two kinds of flowers that differ in size and colour; the last ones have no name."""
    chance = np.random.default_rng(seed)
    lines = ["id,size,colour,kind"]
    for at in range(count):
        rose = at % 2 == 0
        size = chance.normal(5.0 if rose else 9.0, 0.7)
        colour = "red" if chance.random() < (0.9 if rose else 0.1) else "blue"
        kind = "" if at >= count - unknown else "rose" if rose else "lily"
        lines.append(f"{at},{size:.2f},{colour},{kind}")
    return "\n".join(lines) + "\n"


def test_empty_cells_are_filled_in_from_what_the_other_rows_say(run):
    rows, said = run(flowers(40, unknown=10))
    assert rows[0] == ["id", "size", "colour", "kind", "kind (how sure)"]
    assert [row[3] for row in rows[31:]] == ["rose", "lily"] * 5
    assert all(row[4] == "" for row in rows[1:31])
    assert all(int(row[4].rstrip("%")) > 50 for row in rows[31:])
    assert "kind is filled in for 10 rows, learnt from 30 others by " in said
    assert "right in 100%" in said or "right in 97%" in said
    assert "do not rely" not in said


def test_a_measure_is_told_as_a_number(run):
    chance = np.random.default_rng(1)
    sizes = chance.uniform(20, 100, 60)
    lines = [f"{size:.0f},{size * 10:.0f}" for size in sizes] + ["50,", "90,"]
    rows, said = run("square metres,rent\n" + "\n".join(lines))
    assert 400 < float(rows[-2][1]) < 600
    assert 800 < float(rows[-1][1]) < 1000
    assert rows[0] == ["square metres", "rent"]
    assert "the mean alone, by" in said


def test_chance_is_not_sold_as_knowledge(run):
    chance = np.random.default_rng(3)
    lines = [f"{chance.random():.3f},{'yes' if chance.random() < 0.7 else 'no'}" for _ in range(60)]
    _, said = run("noise,answer\n" + "\n".join(lines) + "\n0.5,\n")
    assert "no better than guessing: do not rely on it" in said


def test_a_second_table_may_hold_the_examples(run):
    asked = "size,colour\n5.1,red\n9.2,blue\n"
    for first, second in ((asked, flowers(30, unknown=0)), (flowers(30, unknown=0), asked)):
        rows, _ = run(first, "predict the kind", examples=second)
        assert rows[0] == ["size", "colour", "kind", "kind (how sure)"]
        assert [row[2] for row in rows[1:]] == ["rose", "lily"]


def test_words_and_missing_values_are_learnt_from_too(run):
    texts = [("the film was wonderful", "good"), ("a boring film", "bad")] * 25
    lines = [f"{text} {at},{'' if at % 5 else at},{kind}" for at, (text, kind) in enumerate(texts)]
    rows, said = run(
        "review,note,mood\n" + "\n".join(lines) + "\nso boring,,\nwonderful,,\n", "mood"
    )
    assert [row[2] for row in rows[-2:]] == ["bad", "good"]
    assert "mood is filled in for 2 rows" in said


@pytest.mark.parametrize(
    "words", ["kind", "KIND", "predict the kind of each flower", "fill in the column kind, please"]
)
def test_the_column_is_found_in_what_was_said(run, words):
    text = flowers(30, unknown=2).replace(",red,", ",,", 3)
    rows, _ = run(text, words)
    assert rows[-1][3]


def test_where_it_is_open_which_column_is_meant_it_asks(run):
    with pytest.raises(InputError, match="not clear which column") as caught:
        run("a,b\n1,\n,2\n3,4\n", "predict it")
    assert "a, b" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n" + "1,x\n2,y\n" * 5, "nothing to predict"),
        ("a,b\n1,x\n2,y\n3,\n", "known in 2 rows only"),
        ("a,b\n" + "1,x\n2,x\n" * 5 + "3,\n", "b is x in every row"),
        ("b\n" + "x\ny\n" * 5, "nothing to predict|no other column"),
        ("a,b\n" + "".join(f"1,x{at}\n" for at in range(60)) + "3,\n", "too many to predict"),
        ("a,b\n" + "1,x\n1,y\n" * 5 + "1,\n", "nothing to learn from"),
    ],
)
def test_what_cannot_be_learnt_is_said(run, text, message):
    with pytest.raises(InputError, match=message):
        run(text, "b")


def test_one_row_is_too_little(run):
    with pytest.raises(InputError, match="known in 0 rows only"):
        run("a,b\n1,\n", "b")


def test_many_rows_take_no_long_time_and_the_same_comes_out(run):
    text = flowers(3_000, unknown=300)
    rows, _ = run(text)
    assert rows == run(text)[0]
    right = sum(row[3] == ("rose" if int(row[0]) % 2 == 0 else "lily") for row in rows[-300:])
    assert right > 290
