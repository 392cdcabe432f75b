"""The journal in the history's database: its files, its processes, and what survives a kill."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Unfinished
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.database import writing
from jarvis_desktop.storage.history import SqliteHistory
from jarvis_desktop.storage.journal import HOUR
from tests.storage.samples import (
    INVENTORY,
    READ,
    START,
    full_turn,
    small_turn,
    stored_file,
    written,
)

ROOT = Path(__file__).parents[2]
ROUNDS = [5, pytest.param(40, marks=pytest.mark.exhaustive)]


def opened(folder: Path, inventory=INVENTORY) -> SqliteHistory:
    return SqliteHistory(
        folder / "history.db",
        store_root=folder / "store",
        inventory=inventory,
        now=lambda: START,
    )


def begun(folder: Path, turn_id: str = "t") -> tuple[Turn, Artifact, Artifact]:
    """A turn that a process, which has ended, left unfinished; its two files."""
    given, made = (stored_file(folder / "store", name) for name in ("aa11.png", "bb22.wav"))
    whole = full_turn(turn_id, given, made)
    history = opened(folder)
    history.journal.begin(Unfinished("c", replace(whole, results={})))
    history.journal.finished(turn_id, whole.results[3])
    history.close()
    return whole, given, made


def test_its_files_are_kept_when_the_store_is_tidied(tmp_path: Path):
    _, given, made = begun(tmp_path)
    store = FileStore(tmp_path / "store")
    unused = store.take_in(written(tmp_path / "unused.txt")).path
    assert given.path
    assert made.path
    assert unused
    for path in (given.path, made.path, unused):
        os.utime(path, (0, 0))
    history = opened(tmp_path)
    assert store.tidy(history.files) == 1
    assert [path.exists() for path in (given.path, made.path, unused)] == [True, True, False]
    history.close()


def test_its_files_outlive_a_deleted_turn_that_had_them_too(tmp_path: Path):
    _, given, made = begun(tmp_path)
    history = opened(tmp_path)
    history.save("d", full_turn("other", given, made))
    history.delete(["other"])
    assert given.path
    assert given.path.exists()
    history.journal.end("t")
    history.save("d", full_turn("other", given, made))
    history.delete()
    assert not given.path.exists()
    history.close()


def test_a_turn_is_in_the_history_or_in_the_journal(tmp_path: Path):
    whole, _, _ = begun(tmp_path)
    history = opened(tmp_path)
    assert history.list() == ()
    history.save("c", whole)
    assert history.journal.unfinished() == ()
    history.delete(["t"])
    assert history.journal.unfinished() == ()
    history.close()


def test_a_result_whose_file_is_gone_must_be_made_again(tmp_path: Path):
    _, _, made = begun(tmp_path)
    assert made.path
    made.path.unlink()
    history = opened(tmp_path)
    assert history.journal.unfinished()[0].turn.results == {}
    history.close()


def test_a_plan_that_no_task_of_today_fits_is_none(tmp_path: Path):
    begun(tmp_path)
    history = opened(tmp_path, {"read": READ})
    (left,) = history.journal.unfinished()
    assert left.turn.plan is None
    assert list(left.turn.results) == [3]
    history.close()


def test_odd_texts_and_an_empty_plan_are_written(tmp_path: Path):
    history = opened(tmp_path)
    turn = Turn("t\udcff", START, text="words \udcff", plan=Plan(()))
    history.journal.begin(Unfinished("c", turn))
    history.journal.finished("t\udcff", TaskResult(1, Status.DONE))
    history.close()
    history = opened(tmp_path)
    (left,) = history.journal.unfinished()
    assert (left.turn.text, left.turn.plan) == ("words ?", Plan(()))
    assert history.journal.take_over("t\udcff") == left
    history.close()


def test_nothing_is_left_behind_by_a_process_that_ended_as_it_should(tmp_path: Path):
    history = opened(tmp_path)
    assert not (tmp_path / "running").exists()
    history.journal.begin(Unfinished("c", Turn("t", START, plan=Plan(()))))
    (lock,) = (tmp_path / "running").iterdir()
    assert lock.stat().st_mode & 0o777 == 0o600
    history.journal.end("t")
    history.close()
    assert list((tmp_path / "running").iterdir()) == []


def test_what_killed_processes_left_is_swept_but_not_what_is_asked_for(tmp_path: Path):
    begun(tmp_path)
    history = opened(tmp_path)
    (owner,) = history._db.execute("SELECT owner FROM journal").fetchone()
    old, named, young = (tmp_path / "running" / name for name in ("old", owner, "young"))
    for path in (old, named, young):
        path.touch()
    for path in (old, named):
        moment = time.time() - HOUR - 60
        os.utime(path, (moment, moment))
    history.journal.begin(Unfinished("c", Turn("u", START, plan=Plan(()))))
    assert [path.exists() for path in (old, named, young)] == [False, True, True]
    assert [item.turn.id for item in history.journal.unfinished()] == ["t"]
    history.close()


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path):
    history = opened(tmp_path)
    (tmp_path / "running").touch()
    with pytest.raises(StorageError, match="running cannot be used: File exists") as caught:
        history.journal.begin(Unfinished("c", Turn("t", START, plan=Plan(()))))
    assert caught.value.hint
    assert history.journal.unfinished() == ()
    history.close()


def test_a_process_of_which_nothing_can_be_told_counts_as_running(tmp_path: Path):
    begun(tmp_path)
    history = opened(tmp_path)
    (owner,) = history._db.execute("SELECT owner FROM journal").fetchone()
    (tmp_path / "running" / owner).mkdir()
    assert history.journal.unfinished() == ()
    assert history.journal.take_over("t") is None
    history.close()


def started(folder: Path, number: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.storage.journal_writer", str(folder), f"w{number}"]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )


def killed_after(run: subprocess.Popen[str], count: int, spin: int) -> list[str]:
    """What the writer told when it was killed, in the middle of its work."""
    assert run.stdin is not None
    assert run.stdout is not None
    run.stdin.write("go\n")
    run.stdin.flush()
    told = [run.stdout.readline() for _ in range(count)]
    for _ in range(spin):
        pass  # the writer works on; a wait would end at the system's moments, not at any
    run.kill()
    told += run.stdout.readlines()
    run.wait()
    run.stdin.close()
    run.stdout.close()
    # A last line cut by the kill was not told.
    return [line.strip() for line in told if line.endswith("\n")]


@pytest.mark.parametrize("rounds", ROUNDS)
def test_a_process_killed_at_any_moment_loses_nothing_that_it_told(tmp_path: Path, rounds: int):
    chance = random.Random(11)
    store = tmp_path / "store"
    for name in ("aa11.png", "bb22.wav"):
        stored_file(store, name)
    runs = [started(tmp_path, 0)]
    for number in range(rounds):
        if number + 1 < rounds:
            runs.append(started(tmp_path, number + 1))  # gets ready meanwhile
        told = killed_after(runs[number], chance.randint(1, 30), chance.randint(0, 200_000))
        history = opened(tmp_path)
        (turn,) = history.journal.unfinished() or (None,)
        last = told[-1].split()
        saved = [item.turns for item in history.list(limit=100) if item.id == f"w{number}"]
        match last:
            case ["saved", place]:
                # The next one may have begun, and not be told of yet.
                assert saved == [int(place)]
                assert turn is None or turn.turn.id == f"w{number}-{int(place) + 1}"
            case [what, place, *done]:
                assert saved in ([], [int(place) - 1], [int(place)])
                if turn is None:  # it was saved, and that not told
                    assert (saved, what, len(done)) == ([int(place)], "done", 3)
                else:
                    assert turn.turn.id == f"w{number}-{place}"
                    kept = [str(task_id) for task_id in turn.turn.results]
                    assert kept[: len(done)] == done
                    assert len(kept) <= len(done) + 1
        if turn:
            assert history.journal.take_over(turn.turn.id)
            history.journal.end(turn.turn.id)
        assert history._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert history._db.execute("PRAGMA foreign_key_check").fetchall() == []
        history.close()


def test_deleting_a_conversation_forgets_what_was_cut_off_of_it_but_nothing_under_way(
    tmp_path: Path,
):
    _, given, made = begun(tmp_path)
    history, other = opened(tmp_path), opened(tmp_path)
    elsewhere, runs = (Turn(name, START, plan=Plan(())) for name in ("elsewhere", "runs"))
    other.journal.begin(Unfinished("d", elsewhere))
    other.close()
    other = opened(tmp_path)
    other.journal.begin(Unfinished("c", runs))
    for conversation in ("c", "d"):
        history.save(conversation, small_turn(f"saved-{conversation}"))
    history.delete(["saved-d"])
    assert {item.turn.id for item in history.journal.unfinished()} == {"t", "elsewhere"}
    assert history.delete(["c"]) == 1
    assert [item.turn.id for item in history.journal.unfinished()] == ["elsewhere"]
    assert [item.path.exists() for item in (given, made) if item.path] == [False, False]
    other.close()
    left = {item.turn.id for item in history.journal.unfinished()}
    assert left == {"elsewhere", "runs"}
    history.close()


def test_deleting_everything_forgets_what_was_cut_off_but_nothing_under_way(tmp_path: Path):
    begun(tmp_path)
    history, other = opened(tmp_path), opened(tmp_path)
    whole, given, made = begun(tmp_path, "cut")
    running = replace(whole, id="running", attachments=(given,), plan=None, results={})
    other.journal.begin(Unfinished("c", running))
    assert {item.turn.id for item in history.journal.unfinished()} == {"t", "cut"}
    history.delete()
    assert history.journal.unfinished() == ()
    assert [item.path.exists() for item in (given, made) if item.path] == [True, False]
    other.close()
    assert [item.turn.id for item in history.journal.unfinished()] == ["running"]


def test_a_turn_written_down_before_there_was_agent_mode_is_no_goal(tmp_path: Path):
    begun(tmp_path)
    history = opened(tmp_path)
    with writing(history._db) as db:
        db.execute("UPDATE journal SET document = json_remove(document, '$.goal')")
    (left,) = history.journal.unfinished()
    assert not left.goal
    assert not left.turn.agentic
    history.close()


def test_a_turn_of_an_older_version_says_by_its_words_whether_its_plan_was_given(tmp_path: Path):
    for turn_id, words in (("asked", "Read it"), ("given", "")):
        whole, _, _ = begun(tmp_path, turn_id)
        history = opened(tmp_path)
        history.journal.begin(Unfinished("c", replace(whole, id=turn_id, text=words, results={})))
        with writing(history._db) as db:
            db.execute("UPDATE journal SET document = json_remove(document, '$.fixed')")
        history.close()
    history = opened(tmp_path)
    left = {item.turn.id: item.fixed for item in history.journal.unfinished()}
    assert left == {"asked": False, "given": True}
    history.close()
