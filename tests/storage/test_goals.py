"""Goals in the history's database: their files, their turns, and what is damaged."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import (
    CodeTerms,
    ControllerFrame,
    Goal,
    LogEntry,
    Outline,
    OutlineStep,
    Terms,
)
from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.database import writing
from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import INVENTORY, START, count, small_turn, stored_file

FRAMES = tuple(
    ControllerFrame(role, "Plot it", Outline((OutlineStep(1, "Plot"),)), kept={"name": "plot"})
    for role in ("assistant", "coder", "librarian")
)


def opened(folder: Path) -> SqliteHistory:
    return SqliteHistory(
        folder / "history.db", store_root=folder / "store", inventory=INVENTORY, now=lambda: START
    )


@pytest.fixture
def history(tmp_path: Path):
    opening = opened(tmp_path)
    yield opening
    opening.close()


def begun(
    history: SqliteHistory, goal_id: str = "g", *artifacts: Artifact, conversation: str = "c"
) -> None:
    terms = Terms(True, CodeTerms.SANDBOXED, ("example.org",))
    goal = Goal(goal_id, conversation, "Plot the prices", terms, START)
    history.goals.begin(goal, FRAMES)
    history.goals.keep(goal_id, FRAMES, [entry(1, *artifacts), entry(2)])


def entry(number: int, *artifacts: Artifact) -> LogEntry:
    at = START + timedelta(seconds=number)
    return LogEntry(number, "assistant", "coder", "Plot", Status.DONE, "Drawn.", at, artifacts)


def change(history: SqliteHistory, table: str, column: str, value: object, where: str) -> None:
    with writing(history._db) as db:
        db.execute(f"UPDATE {table} SET {column} = ? WHERE {where}", (value,))


@pytest.mark.parametrize("seconds", [None, "long", -1, float("inf"), True])
def test_a_round_of_unknown_length_took_none(history: SqliteHistory, seconds: object):
    begun(history)
    if seconds is not None:
        change(history, "goal_log", "seconds", seconds, "number = 1")
    assert [item.seconds for item in history.goals.log("g")] == [float(seconds is True), 0.0]


def test_its_files_are_kept_until_it_is_forgotten(tmp_path: Path, history: SqliteHistory):
    store = FileStore(tmp_path / "store")
    kept, unused = (stored_file(tmp_path / "store", name) for name in ("aa1.png", "bb2.png"))
    begun(history, "g", kept)
    for item in (kept, unused):
        assert item.path
        os.utime(item.path, (0, 0))
    store.sweep(keep=history.files())
    assert [item.path and item.path.exists() for item in (kept, unused)] == [True, False]
    history.goals.remove("g")
    assert not history.files()


def test_it_goes_with_its_turn(tmp_path: Path, history: SqliteHistory):
    made = stored_file(tmp_path / "store", "aa1.png")
    for name in ("t1", "t2"):
        begun(history, name, made)
        history.save("c", small_turn(name))
    history.save("c", small_turn("t1", "said again"))
    assert history.goals.goal("t1")
    assert history.delete(["t1"]) == 1
    assert [goal.id for goal in history.goals.list()] == ["t2"]
    assert made.path
    assert made.path.exists()
    history.delete(["t2"])
    assert not history.goals.list()
    assert not made.path.exists()
    for table in ("goal_frames", "goal_log", "goal_files", "goal_search"):
        assert count(history._db, table) == 0


def test_it_goes_with_its_conversation_and_with_all(history: SqliteHistory):
    begun(history, "t", conversation="c")
    begun(history, "never kept", conversation="c")
    begun(history, "other", conversation="d")
    history.save("c", small_turn("t"))
    history.delete(["c"])
    assert [goal.id for goal in history.goals.list()] == ["other"]
    history.delete()
    assert not history.goals.list()


def test_one_that_is_under_way_stays(tmp_path: Path, history: SqliteHistory):
    other = opened(tmp_path)
    for name in ("here", "there", "cut off"):
        begun(history, name)
        owner = {"here": history, "there": other}.get(name) or opened(tmp_path)
        turn = Turn(name, START, text="Plot", agentic=True)
        owner.journal.begin(Unfinished("c", turn, goal=True))
        if name == "cut off":
            owner.close()
    history.save("c", small_turn("t"))
    history.delete(["c"])
    assert {goal.id for goal in history.goals.list()} == {"here", "there"}
    history.delete()
    assert {goal.id for goal in history.goals.list()} == {"here", "there"}
    other.close()


def test_deleted_words_are_nowhere_in_the_file(tmp_path: Path, history: SqliteHistory):
    goal = Goal("g", "c", "Plot the supercalifragilistic prices", Terms(), START)
    history.goals.begin(goal, FRAMES)
    assert b"supercalifragilistic" in everything(tmp_path)
    history.delete()
    history.close()
    assert b"supercalifragilistic" not in everything(tmp_path)


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.glob("history.db*"))


@pytest.mark.parametrize(
    "document",
    [
        "not json",
        "[" * 100_000,
        "[]",
        "null",
        b"\xff",
        json.dumps({"role": "coder"}),
        "rounds",
        "pending",
        "kept",
        "notices",
        "tainted",
        "outline",
        "outline.steps",
        "step.state",
        "no step",
    ],
)
def test_a_controller_that_cannot_be_read_is_begun_anew_by_its_caller(
    history: SqliteHistory, document: str | bytes
):
    begun(history)
    if isinstance(document, str) and " " not in document[:4] and document.isprintable():
        document = damaged(history, document)
    change(history, "goal_frames", "document", document, "depth = 1")
    assert history.goals.frames("g") == (replace(FRAMES[0], tainted=True),)
    change(history, "goal_frames", "document", "?", "depth = 0")
    assert history.goals.frames("g") == ()


def damaged(history: SqliteHistory, what: str) -> str:
    """A controller as it is written, with one thing wrong."""
    find = "SELECT document FROM goal_frames WHERE depth = 1"
    values = json.loads(history._db.execute(find).fetchone()[0])
    match what:
        case "rounds" | "notices":
            values[what] = True
        case "tainted":
            del values[what]
        case "pending":
            values[what] = {"branch": "coder", "args": [], "why": ""}
        case "kept":
            values[what] = {"name": 1}
        case "outline":
            values[what]["steps"] = []
        case "outline.steps":
            values["outline"]["steps"] = "many"
        case "step.state":
            values["outline"]["steps"][0]["state"] = "unheard of"
        case _:
            return what
    return json.dumps(values)


def test_a_controller_that_is_missing_ends_the_stack(history: SqliteHistory):
    begun(history)
    with writing(history._db) as db:
        db.execute("DELETE FROM goal_frames WHERE depth = 1")
    assert history.goals.frames("g") == (replace(FRAMES[0], tainted=True),)


def test_what_a_newer_version_writes_besides_is_passed_over(history: SqliteHistory):
    begun(history)
    find = "SELECT document FROM goal_frames WHERE depth = 1"
    values = json.loads(history._db.execute(find).fetchone()[0])
    values["mood"] = "good"
    values["outline"]["steps"][0]["colour"] = "red"
    change(history, "goal_frames", "document", json.dumps(values), "depth = 1")
    assert history.goals.frames("g") == FRAMES


def test_what_was_agreed_to_and_cannot_be_read_was_not_agreed_to(history: SqliteHistory):
    begun(history)
    for terms in ("?", "{}", '{"plan_accepted": true, "code": "always", "hosts": []}'):
        change(history, "goals", "terms", terms, "id = 'g'")
        (goal,) = history.goals.list()
        assert goal.terms == Terms(code=CodeTerms.ASK)


def test_a_damaged_goal_or_entry_hides_no_other(history: SqliteHistory):
    for name in ("g", "h"):
        begun(history, name)
    change(history, "goals", "started", "long ago", "id = 'g'")
    assert [goal.id for goal in history.goals.list()] == ["h"]
    assert history.goals.goal("g") is None
    change(history, "goal_log", "at", "never", "number = 1")
    change(history, "goal_log", "status", "unheard of", "number = 2")
    (left,) = history.goals.log("h")
    assert left == replace(entry(2), status=Status.FAILED)
    change(history, "goal_log", "artifacts", '[{"kind": "dream"}, 1]', "number = 2")
    assert history.goals.log("h")[0].artifacts == ()
    change(history, "goal_log", "artifacts", "?", "number = 2")
    assert not history.goals.log("h")
    change(history, "goals", "status", "unheard of", "id = 'h'")
    assert history.goals.list()[0].status is Status.FAILED


def test_only_what_is_another_is_written(history: SqliteHistory):
    begun(history)
    changes = history._db.total_changes
    history.goals.keep("g", FRAMES)
    assert history._db.total_changes == changes
    history.goals.keep("g", (*FRAMES[:2], replace(FRAMES[2], rounds=1)))
    assert history._db.total_changes == changes + 1


def test_the_stack_is_not_written_without_what_was_done(history: SqliteHistory):
    begun(history)
    wrong = replace(entry(3), number=None)  # type: ignore[arg-type]
    changed = replace(FRAMES[0], rounds=9)
    with pytest.raises(StorageError):
        history.goals.keep("g", [changed], [entry(4), wrong])
    assert history.goals.frames("g") == FRAMES
    assert [item.number for item in history.goals.log("g")] == [1, 2]


def test_any_text_can_be_kept(history: SqliteHistory):
    odd = "\ud800 \0 \u2028 ' \" ; --"
    history.goals.begin(
        Goal("g", "c", odd, Terms(hosts=(odd,)), START), [ControllerFrame("a", odd)]
    )
    history.goals.keep(
        "g", [ControllerFrame("a", odd)], [replace(entry(1), observation=odd, code=odd)]
    )
    (left,) = history.goals.log("g")
    assert left.observation == left.code == odd.replace("\ud800", "?")
    assert history.goals.frames("g")[0].task == left.code
    assert history.goals.list()[0].terms.hosts == (left.code,)
