"""Turns of agent mode in the history: as they were, found, exported, and read where damaged."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_desktop.assistant.planning.inputs import resources_of
from jarvis_desktop.core.artifact import Artifact, text_artifact
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Outline, OutlineStep, StepState
from jarvis_desktop.core.turn import Conversation, Round, Turn
from jarvis_desktop.storage.database import writing
from jarvis_desktop.storage.export import ExportedConversation, exported
from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import INVENTORY, START, full_turn, small_turn, stored_file

OUTLINE = Outline(
    (OutlineStep(1, "Download the prices", StepState.DONE, "prices.csv"), OutlineStep(2, "Plot"))
)
BELOW = Outline((OutlineStep(1, "Write download_prices", StepState.FAILED, "no host"),))


@pytest.fixture
def history(tmp_path: Path):
    opening = SqliteHistory(
        tmp_path / "history.db",
        store_root=tmp_path / "store",
        inventory=INVENTORY,
        now=lambda: START,
    )
    yield opening
    opening.close()


def agentic(turn: Turn, *made: Artifact) -> Turn:
    """The same turn, worked on in agent mode; the last round of the assistant gave `made`."""
    first = text_artifact("a draft")
    rounds = (
        Round(1, "assistant", "coder", "Plot", status=Status.DONE, artifacts=(first,)),
        Round(
            2, "assistant/coder", "run_code", "Try it", "print(1)\n", "1\n" * 10,
            Status.FAILED, "It broke:\nünknown column", seconds=12.5,
        ),
        Round(3, "assistant", "final_answer", "Say it", status=Status.DONE, artifacts=made),
        Round(4, "assistant/coder", "run_code", "Once more"),
    )  # fmt: skip
    return replace(
        turn,
        agentic=True,
        outline=OUTLINE,
        inner_outlines={"assistant/coder": BELOW},
        rounds={item.number: item for item in rounds},
    )


@pytest.fixture
def picture(tmp_path: Path) -> Artifact:
    return replace(stored_file(tmp_path / "store", "aa1.png"), made_by=1)


def change(history: SqliteHistory, column: str, value: object) -> None:
    with writing(history._db) as db:
        db.execute(f"UPDATE turns SET {column} = ?", (value,))


def read(history: SqliteHistory) -> Turn:
    return history.open_conversation("c").turns[0]


def test_it_comes_back_as_it_was(tmp_path: Path, history: SqliteHistory, picture: Artifact):
    outside = Artifact(picture.kind, path=Path("/elsewhere/x.png"), name="x.png")
    made = stored_file(tmp_path / "store", "bb2.wav")
    turn = agentic(full_turn("t", picture, made), picture, outside, text_artifact("March"))
    bare = replace(small_turn("bare"), agentic=True)
    for item in (turn, bare):
        history.save("c", item)
    assert history.open_conversation("c").turns == (turn, bare)
    stored = history._db.execute("SELECT rounds FROM turns").fetchone()[0]
    assert str(tmp_path) not in stored


def test_its_files_are_kept_for_as_long_as_it_is(history: SqliteHistory, picture: Artifact):
    history.save("c", agentic(small_turn("t"), picture))
    assert picture.path
    assert history.files() == {picture.path}
    history.delete(["t"])
    assert not picture.path.exists()


def test_it_is_found_by_answer_plan_and_files(history: SqliteHistory, picture: Artifact):
    turn = agentic(small_turn("t", "Tell me", reply="March was the best month"), picture)
    history.save("c", turn)
    for words in ("best month", "download prices", "aa1.png", "draft"):
        assert [item.turn_id for item in history.search(words)] == ["t"]
    assert not history.search("unknown column")


def test_what_its_last_round_gave_is_what_answered(
    tmp_path: Path, history: SqliteHistory, picture: Artifact
):
    given, made = (stored_file(tmp_path / "store", name) for name in ("bb2.png", "cc3.wav"))
    turns = (agentic(full_turn("t", given, made), picture), full_turn("u", given, made))
    for turn in turns:
        history.save("c", turn)
    found = history.resources("c")
    assert [item.artifact for item in found] == [given, picture, given, made]
    assert list(found) == resources_of(turns)


def test_a_damaged_plan_or_round_hides_no_other(history: SqliteHistory, picture: Artifact):
    turn = agentic(small_turn("t"), picture)
    history.save("c", turn)
    find = "SELECT outline, rounds FROM turns"
    outlines, rounds = map(json.loads, history._db.execute(find).fetchone())
    rounds[1]["number"] = "two"
    rounds[2]["artifacts"][0]["kind"] = "dream"
    rounds[3]["status"] = "unheard of"
    rounds[0] |= {"mood": "good"}
    del rounds[0]["seconds"]  # as an older version wrote it
    change(history, "rounds", json.dumps([*rounds, None]))
    kept = read(history).rounds
    assert list(kept) == [1, 3, 4]
    assert kept[1] == turn.rounds[1]
    assert kept[3].artifacts == ()
    assert kept[4].status is Status.FAILED
    outlines["assistant/coder"]["steps"] = [{"id": 1}]
    change(history, "outline", json.dumps(outlines))
    assert read(history).outline == OUTLINE
    assert read(history).inner_outlines == {}
    for nonsense in ("?", "[" * 100_000, "3", '{"": 1}', '{"rounds": []}', b"\xff", "[[]]"):
        change(history, "outline", nonsense)
        change(history, "rounds", nonsense)
        assert replace(read(history), agentic=False) == small_turn("t")


TEXT = """\
[2026-03-01 12:00] hello
  - step 1 done: Download the prices: prices.csv
  - step 2 open: Plot
  - round 1, assistant: coder done: Plot: a draft
  - round 2, assistant/coder: run_code failed: Try it: It broke: ünknown column
  - round 3, assistant: final_answer done: Say it: x.png (/store/x.png)
  - round 4, assistant/coder: run_code cut off: Once more
Hi.
"""


def test_it_is_exported_with_plan_and_rounds(picture: Artifact):
    made = Artifact(picture.kind, path=Path("/store/x.png"))
    conversation = ExportedConversation(
        Conversation("c", (agentic(small_turn("t"), made),)), "hello"
    )
    assert exported([conversation], "text") == f"{TEXT}\n"
    marked = exported([conversation], "markdown")
    assert r"- round 2, assistant/coder: run\_code failed" in marked
    [turn] = json.loads(exported([conversation], "json"))["conversations"][0]["turns"]
    assert turn["outline"]["steps"][0]["state"] == "done"
    assert turn["rounds"]["2"]["code"] == "print(1)\n"
    assert turn["inner_outlines"]["assistant/coder"]["steps"][0]["note"] == "no host"
