from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.result import Status, TaskResult
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.storage.search import match_expression
from tests.storage.samples import INVENTORY, START, small_turn


@pytest.fixture
def history(tmp_path: Path) -> Iterator[SqliteHistory]:
    real = SqliteHistory(
        tmp_path / "history.db", store_root=tmp_path, inventory=INVENTORY, now=lambda: START
    )
    yield real
    real.close()


def ids(history: SqliteHistory, words: str) -> list[str]:
    return [found.turn_id for found in history.search(words)]


def test_all_words_count_in_any_order_and_case_and_the_last_may_be_a_beginning(
    history: SqliteHistory,
):
    history.save("c", small_turn("t1", "Turn the photo into a pencil sketch"))
    history.save("c", small_turn("t2", "Rotate the photo"))
    assert ids(history, "photo") == ["t2", "t1"]
    assert ids(history, "SKETCH phot") == ["t1"]
    assert ids(history, "ske photo") == []
    assert ids(history, "penc") == ["t1"]


def test_answers_results_and_file_names_are_found(history: SqliteHistory):
    given = Artifact(Kind.IMAGE, path=Path("/x/receipt-7.png"), name="receipt-7.png")
    result = TaskResult(1, Status.DONE, (text_artifact("Total: 12 guilders"),))
    turn = Turn("t1", START, "what is it", attachments=(given,), results={1: result})
    history.save("c", turn)
    history.save("c", small_turn("t2", reply="Nothing to see."))
    assert ids(history, "receipt-7.png") == ids(history, "guilders") == ["t1"]
    assert ids(history, "nothing") == ["t2"]


def test_accents_do_not_matter(history: SqliteHistory):
    history.save("c", small_turn("t1", "Übersetze das Menü"))
    assert ids(history, "ubersetze menu") == ids(history, "MENÜ") == ["t1"]


def test_scripts_without_spaces_and_emoji_are_found(history: SqliteHistory):
    history.save("c", small_turn("t1", "明日の天気を教えてください"))
    history.save("c", small_turn("t2", "party 🎉 100%_done"))
    assert ids(history, "天気") == ["t1"]
    assert ids(history, "🎉") == ["t2"]
    assert ids(history, "🎉 100%") == ["t2"]
    assert ids(history, "🎉_") == []


def test_a_snippet_shows_the_place_on_one_line(history: SqliteHistory):
    text = "filler\n" * 300 + "the needle\nis here " + "filler\n" * 300
    history.save("c1", small_turn("t1", text))
    history.save("c2", small_turn("t2", "言葉" * 200 + "針" + "言葉" * 200))
    [found] = history.search("needle")
    assert (found.turn_id, found.conversation_id, found.started) == ("t1", "c1", START)
    assert "the needle is here" in found.snippet
    assert len(found.snippet) < 400
    [other] = history.search("針")
    assert other.snippet == "…" + "言葉" * 30 + "針" + "言葉" * 30 + "…"


def test_the_limit_holds(history: SqliteHistory):
    for number in range(9):
        history.save("c", small_turn(f"t{number}", "same ö"))
    assert ids(history, "same")[:2] == ["t8", "t7"]
    assert len(history.search("same", limit=3)) == 3


HOSTILE = (
    '"', '""', '"a', "'", "AND", "OR OR", "NOT", "NEAR(", "NEAR(a b, 2)", "a AND", "*", "a*b", "^a",
    "request:x", "-x", "(", ")", "{a b}:c", "a + b", "\0", "a\0b", "\udcff", "%", "_", "\\", ";--",
    "' OR 1=1 --", "\n\t", " ", "", "a" * 100_000, "a " * 10_000, '" OR "', "²", "ß" * 3000, "。",
)  # fmt: skip


@pytest.mark.parametrize("words", HOSTILE, ids=range(len(HOSTILE)))
def test_no_words_are_syntax(history: SqliteHistory, words: str):
    history.save("c", small_turn("t1", "plain text with more"))
    assert history.search(words) == ()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.text(max_size=60) | st.text(alphabet='"*^():{}+-,ANDORNEAT \\%_', max_size=40))
def test_any_words_give_an_answer(history: SqliteHistory, words: str):
    assert isinstance(history.search(words), tuple)


def test_each_word_is_quoted():
    assert match_expression('say "hi" *') == '"say" """hi"""*'
    assert match_expression("* - (") == ""
