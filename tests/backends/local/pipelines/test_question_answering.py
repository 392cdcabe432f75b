"""Questions about texts and tables, by tiny experts that are really run."""

from __future__ import annotations

import pytest

from jarvis_desktop.backends.local.pipelines.question_answering import evidence
from jarvis_desktop.core.errors import ExpertError, InputError

TEXT, TABLE = "question-answering", "table-question-answering"


@pytest.fixture
def table(tmp_path):
    def write(text: str):
        path = tmp_path / "table.csv"
        path.write_text(text, "utf-8")
        return path

    return write


@pytest.mark.parametrize("before", [0, 1, 60], ids=["short", "some", "long"])
def test_the_answer_and_its_sentence_are_given(bench, before):
    text = (
        "The cat sat . " * before + "Ada met Bo in Paris . A dog ran home . " + "It is . " * before
    )
    asked = {"question": "Ada met Bo in ?", "context": text}
    assert bench.text(TEXT, "tiny_words:reader", asked) == "Paris\n\n“Ada met Bo in Paris .”"


def test_where_no_answer_stands_it_says_so(bench):
    asked = {"question": "who ?", "context": "the cat sat on the mat . " * 60}
    with pytest.raises(ExpertError, match="does not seem to answer"):
        bench.run(TEXT, "tiny_words:reader", asked)


def test_a_question_needs_words_and_a_text(bench):
    for asked in ({"question": " ", "context": "a"}, {"question": "who ?", "context": " "}):
        with pytest.raises(InputError):
            bench.run(TEXT, "tiny_words:reader", asked)
    with pytest.raises(ExpertError, match="question is too long"):
        bench.run(TEXT, "tiny_words:reader", {"question": "who " * 99, "context": "a cat"})


@pytest.mark.parametrize(
    ("text", "found", "sentence"),
    [
        ("One. Two here. Three.", "Two", "Two here."),
        ("One. Two", "Two", "Two"),
        ("Title\n\nOne two\nthree. Four.", "two", "One two three."),
        ("東京にいる。猫もいる。", "猫", "猫もいる。"),
        ("It cost 3.50 euros. Yes.", "3.50", "It cost 3.50 euros."),
    ],
)
def test_the_sentence_around_an_answer_is_found(text, found, sentence):
    start = text.index(found)
    assert evidence(text, start, start + len(found)) == sentence


def test_cells_are_pointed_to_and_reckoned_with(bench, table):
    path = table("name,count\na,7\nb,3\nc,7\n")
    asked = {"table": path, "question": "how many in all"}
    assert bench.text(TABLE, "tiny_words:table_pointer", asked) == "14\n\nThe sum of: 7, 7."


def test_a_table_of_one_row_and_empty_cells_is_read(bench, table):
    asked = {"table": table("a,b,c\n,7,\n"), "question": "b"}
    assert bench.text(TABLE, "tiny_words:table_pointer", asked) == "7"


def test_rows_that_do_not_fit_are_told(bench, table):
    path = table("name,count\n" + "a,7\n" * 400)
    said = bench.text(TABLE, "tiny_words:table_pointer", {"table": path, "question": "sum"})
    assert "rows fitted into the expert" in said
    assert "of 400 rows" in said
    rows = int(said.split("Only the first ")[1].split()[0])
    assert said.startswith(f"{7 * rows}\n\nThe sum of: 7, 7, ")
    assert f"and {rows - 20} more" in said


def test_where_no_cell_answers_it_says_so(bench, table):
    asked = {"table": table("name,count\na,1\n"), "question": "how many"}
    with pytest.raises(ExpertError, match="does not seem to answer"):
        bench.run(TABLE, "tiny_words:table_pointer", asked)


def test_a_table_wider_than_the_expert_is_refused(bench, table):
    wide = ",".join("word" * 9 for _ in range(30))
    asked = {"table": table(f"{wide}\n{wide}\n"), "question": "how many"}
    with pytest.raises(ExpertError, match="too long"):
        bench.run(TABLE, "tiny_words:table_pointer", asked)
    with pytest.raises(ExpertError, match="too wide"):
        bench.run(TABLE, "tiny_words:table_writer", asked)


def test_an_expert_that_writes_answers_reads_the_table_as_a_line(bench, table):
    path = table("name,count\na,7\nb,3\n")
    said = bench.text(TABLE, "tiny_words:table_writer", {"table": path, "question": "which"})
    assert set(said.replace("home", " home ").split()) == {"home"}
    path = table("name,count\n" + "a,7\n" * 99)
    said = bench.text(TABLE, "tiny_words:table_writer", {"table": path, "question": "which"})
    assert "of 99 rows fitted" in said


def test_a_question_about_a_table_needs_words(bench, table):
    with pytest.raises(InputError, match="no question"):
        bench.run(
            TABLE, "tiny_words:table_pointer", {"table": table("a,b\nc,d\n"), "question": " "}
        )
