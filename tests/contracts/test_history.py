"""What every History promises, asked of the fake and of the SQLite one alike."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.ports import History, Recap, Resource
from jarvis_desktop.storage.history import SqliteHistory
from tests.fakes import FakeHistory
from tests.storage.samples import INVENTORY, START, full_turn, small_turn, stored_file


@pytest.fixture(params=["fake", "sqlite"])
def history(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[History]:
    if request.param == "fake":
        yield FakeHistory()
        return
    real = SqliteHistory(
        tmp_path / "history.db", store_root=tmp_path, inventory=INVENTORY, now=lambda: START
    )
    yield real
    real.close()


def test_a_new_conversation_is_empty_and_has_an_id_of_its_own(history: History):
    first, second = history.open_conversation(), history.open_conversation()
    assert first.turns == second.turns == ()
    assert first.id
    assert first.id != second.id


def test_what_is_saved_comes_back_in_order(history: History):
    conversation = history.open_conversation()
    turns = tuple(small_turn(f"t{count}", minutes=count) for count in range(5))
    for turn in turns:
        history.save(conversation.id, turn)
    assert history.open_conversation(conversation.id).turns == turns


def test_a_turn_that_was_overtaken_stays_in_the_order_of_asking(history: History):
    second, third = small_turn("second", minutes=1), small_turn("third", minutes=2)
    long = small_turn("first")
    assert third.finished
    for turn in (second, third, replace(long, finished=third.finished + timedelta(minutes=1))):
        history.save("c", turn)
        history.save("d", replace(turn, id=f"other {turn.id}", started=turn.started))
    assert [turn.id for turn in history.since("c", "")] == ["first", "second", "third"]
    assert [turn.id for turn in history.since("c", "first")] == ["second", "third"]


def test_a_clock_that_was_set_back_does_not_change_the_order(history: History):
    for turn in (small_turn("first", minutes=60), small_turn("second")):
        history.save("c", turn)
    assert [turn.id for turn in history.since("c", "")] == ["first", "second"]


def test_a_turn_keeps_plan_results_attempts_files_and_notes(history: History, tmp_path: Path):
    given, made = stored_file(tmp_path, "abc.png"), stored_file(tmp_path, "cde.wav")
    outside = Artifact(Kind.IMAGE, path=Path("/elsewhere/x.png"), name="x.png")
    turns = (full_turn("t1", given, made), full_turn("t2", outside, made, minutes=1))
    for turn in turns:
        history.save("c", turn)
    assert history.open_conversation("c").turns == turns


def test_conversations_do_not_mix(history: History):
    history.save("c1", small_turn("t1"))
    history.save("c2", small_turn("t2"))
    assert [turn.id for turn in history.open_conversation("c1").turns] == ["t1"]


def test_a_turn_saved_again_takes_the_place_of_the_first(history: History):
    for turn in (small_turn("t1"), small_turn("t2"), small_turn("t1", "changed")):
        history.save("c", turn)
    kept = history.open_conversation("c").turns
    assert [(turn.id, turn.text) for turn in kept] == [("t1", "changed"), ("t2", "hello")]


def test_only_a_turn_that_is_still_there_is_amended(history: History):
    history.save("c", small_turn("t1"))
    assert history.amend("c", small_turn("t1", "changed"))
    assert not history.amend("c", small_turn("t2"))
    assert not history.amend("gone", small_turn("t3"))
    assert [turn.text for turn in history.open_conversation("c").turns] == ["changed"]
    assert history.open_conversation("gone").turns == ()


def test_an_id_that_is_not_known_begins_a_conversation(history: History):
    assert history.open_conversation("gone").id == "gone"
    assert history.open_conversation("gone").turns == ()


def test_the_turns_since_a_turn(history: History):
    turns = tuple(small_turn(f"t{count}", minutes=count) for count in range(30))
    for turn in turns:
        history.save("c", turn)
        history.save("d", small_turn(f"other {turn.id}"))
    assert tuple(history.since("c", "t26")) == turns[27:]
    assert tuple(history.since("c", "t29")) == ()
    assert tuple(history.since("c", "")) == turns
    assert tuple(history.since("c", "other t3")) == turns
    assert tuple(history.since("gone", "t3")) == ()


def test_the_resources_of_all_turns_oldest_first(history: History, tmp_path: Path):
    given, made = stored_file(tmp_path, "abc.png"), stored_file(tmp_path, "cde.wav")
    history.save("c", full_turn("first", given, made))
    for count in range(30):
        history.save("c", small_turn(f"t{count}", minutes=count))
    history.save("d", full_turn("other", given, made))
    found = history.resources("c")
    assert tuple(found) == (
        Resource("", given, given=True),
        Resource("", made, given=False, task="speak"),
    )
    assert not history.resources("gone")


def test_only_what_answered_is_a_resource_and_what_was_wanted_besides(
    history: History, tmp_path: Path
):
    given, made = stored_file(tmp_path, "abc.png"), stored_file(tmp_path, "cde.wav")
    turn = full_turn("first", given, made)
    assert turn.plan
    read = replace(turn.plan.task(1), wanted=True)
    history.save("c", replace(turn, plan=turn.plan.replacing(read)))
    assert [item.task for item in history.resources("c")] == ["", "read", "speak"]
    history.save("d", replace(turn, id="second", plan=None))
    assert len(history.resources("d")) == 3


def test_a_recap_is_kept_and_replaced(history: History):
    assert history.recap("c") is None
    for name in ("t1", "t2", "t3"):
        history.save("c", small_turn(name))
    history.keep_recap("c", Recap("It began.", "t1"))
    history.keep_recap("c", Recap("It went on.", "t2"))
    assert history.recap("c") == Recap("It went on.", "t2")
    assert history.recap("d") is None


def test_a_recap_of_turns_that_are_gone_is_not_kept(history: History):
    history.save("c", small_turn("t1"))
    history.save("d", small_turn("t2"))
    history.keep_recap("c", Recap("Of another.", "t2"))
    history.keep_recap("gone", Recap("Of none.", "t1"))
    assert history.recap("c") is None
    assert history.recap("gone") is None
