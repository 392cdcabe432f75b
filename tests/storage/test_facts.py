"""What the tables of facts and recaps promise beyond their ports: they stay, or they go."""

from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.ports import Recap
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.storage.records import MAX_FACTS
from tests.storage.samples import INVENTORY, START, small_turn


def opened(tmp_path: Path) -> SqliteHistory:
    return SqliteHistory(
        tmp_path / "history.db", store_root=tmp_path, inventory=INVENTORY, now=lambda: START
    )


def with_recap(tmp_path: Path) -> SqliteHistory:
    history = opened(tmp_path)
    for name in ("t1", "t2", "t3"):
        history.save("c", small_turn(name))
    history.save("d", small_turn("other"))
    history.keep_recap("c", Recap("The blue whale sings.", "t2"))
    history.keep_recap("d", Recap("The other.", "other"))
    return history


def test_facts_and_recaps_survive_a_restart(tmp_path: Path):
    first = with_recap(tmp_path)
    fact = first.facts.add("always answer in German \udcff")
    first.close()
    second = opened(tmp_path)
    assert second.facts.list() == (fact,)
    assert fact.text == "always answer in German ?"
    assert second.recap("c") == Recap("The blue whale sings.", "t2")
    second.close()


@pytest.mark.parametrize("gone", [["t1"], ["t3"], ["c"]])
def test_a_recap_goes_with_any_turn_it_may_tell_of(tmp_path: Path, gone: list[str]):
    history = with_recap(tmp_path)
    history.delete(gone)
    assert history.recap("c") is None
    assert history.recap("d") == Recap("The other.", "other")
    history.close()
    assert b"blue whale" not in (tmp_path / "history.db").read_bytes()


def test_deleting_the_whole_history_leaves_facts_alone(tmp_path: Path):
    history = with_recap(tmp_path)
    history.facts.add("I like tea")
    history.delete()
    assert history.recap("c") is None
    assert history.recap("d") is None
    assert [fact.text for fact in history.facts.list()] == ["I like tea"]
    history.close()


def test_a_forgotten_fact_leaves_no_trace_in_the_file(tmp_path: Path):
    history = opened(tmp_path)
    history.facts.remove(history.facts.add("my secret garden").number)
    history.close()
    assert b"secret garden" not in (tmp_path / "history.db").read_bytes()


def test_a_fact_is_one_line_of_what_can_be_seen(tmp_path: Path):
    history = opened(tmp_path)
    assert history.facts.add("I like\n\n\ttea\u202e\x00").text == "I like tea��"
    history.close()


def test_the_most_facts_there_may_be(tmp_path: Path):
    history = opened(tmp_path)
    for number in range(MAX_FACTS):
        history.facts.add(f"fact {number}")
    with pytest.raises(InputError, match=f"I remember {MAX_FACTS} things already"):
        history.facts.add("one more")
    history.close()
