"""Reading in what was exported: all of it comes back, and nothing that a stranger may write does
harm."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage import import_
from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import (
    INVENTORY,
    START,
    count,
    full_turn,
    small_turn,
    stored_file,
    written,
)
from tests.storage.test_agentic_turns import agentic

ROOT = Path(__file__).parents[2]


def opened(folder: Path, *, later: timedelta = timedelta()) -> SqliteHistory:
    return SqliteHistory(
        folder / "history.db",
        store_root=folder / "store",
        inventory=INVENTORY,
        now=lambda: datetime.now().astimezone() + later,
    )


@pytest.fixture
def history(tmp_path: Path) -> Iterator[SqliteHistory]:
    real = opened(tmp_path / "here")
    yield real
    real.close()


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[SqliteHistory]:
    """The history of another computer."""
    real = opened(tmp_path / "elsewhere")
    yield real
    real.close()


def in_store(folder: Path, name: str, content: bytes) -> Artifact:
    made = stored_file(folder / "store", name, content)
    assert made.path
    return replace(made, name=f"my {name}")


async def test_all_comes_back_on_another_computer_with_its_files(
    history: SqliteHistory, elsewhere: SqliteHistory, tmp_path: Path
):
    picture = in_store(tmp_path / "here", "aa1.png", b"\x89PNG\r\n\x1a\n picture")
    sound = in_store(tmp_path / "here", "bb1.wav", b"RIFF\x24\0\0\0WAVEfmt sound")
    turns = (
        replace(full_turn("t1", picture, sound), pinned=True),
        agentic(small_turn("t2", minutes=1), picture),
        small_turn("t3", "üñí\n天気 \0", minutes=2),
    )
    for turn in turns:
        history.save("c1", turn)
    history.save("c2", small_turn("t4", minutes=3))
    history.rename("c1", "My title")
    history.pin("c1", pinned=True)
    out = tmp_path / "out.json"
    done = await history.export_to(out, "json", media="folder")
    assert (done.conversations, done.files, done.missing) == (2, 2, 0)
    shutil.move(out, tmp_path / "moved.json")
    (tmp_path / "moved").mkdir()
    shutil.move(tmp_path / "moved.json", tmp_path / "moved" / "out.json")
    shutil.move(tmp_path / "out files", tmp_path / "moved" / "out files")

    got = await elsewhere.import_from(tmp_path / "moved" / "out.json")
    assert (got.conversations, got.turns, got.skipped, got.missing) == (2, 4, 0, 0)
    assert [(item.id, item.title, item.pinned) for item in elsewhere.list()] == [
        ("c1", "My title", True),
        ("c2", "hello", False),
    ]
    back = elsewhere.open_conversation("c1").turns
    kept = [item for turn in back for item in (*turn.attachments, *turn.artifacts)]
    assert {item.path.read_bytes() for item in kept if item.path} == {
        b"\x89PNG\r\n\x1a\n picture",
        b"RIFF\x24\0\0\0WAVEfmt sound",
    }
    root = tmp_path / "elsewhere" / "store"
    assert all(item.path.is_relative_to(root) for item in kept if item.path)
    assert [bare(turn) for turn in back] == [bare(turn) for turn in turns]
    assert [found.turn_id for found in elsewhere.search("fox")] == ["t1"]
    assert [found.turn_id for found in elsewhere.search("天気")] == ["t3"]


def bare(turn: Turn) -> Any:
    """What of a turn does not depend on where files lie, nor on experts that were not tried."""
    plan = None if turn.plan is None else [task.type.name for task in turn.plan]
    rounds = [replace(item, artifacts=()) for item in turn.rounds.values()]
    results = [replace(item, artifacts=()) for item in turn.results.values()]
    plain = replace(turn, plan=None, attachments=(), results={}, selections=(), rounds={})
    return plain, plan, rounds, results


async def test_what_is_there_already_stays_as_it_is(history: SqliteHistory, tmp_path: Path):
    history.save("c1", small_turn("t1", "as it was"))
    history.save("c2", small_turn("t2", minutes=1))
    out = tmp_path / "out.json"
    await history.export_to(out, "json")
    history.delete(["c2"])
    history.save("c1", small_turn("t1", "changed since"))
    history.save("c1", small_turn("t9", "new", minutes=2))
    got = await history.import_from(out)
    assert (got.conversations, got.turns, got.skipped) == (1, 1, 1)
    assert [turn.text for turn in history.open_conversation("c1").turns] == ["changed since", "new"]
    again = await history.import_from(out)
    assert (again.conversations, again.turns, again.skipped) == (0, 0, 2)


async def test_a_turn_alone_and_one_that_is_elsewhere_already(
    history: SqliteHistory, elsewhere: SqliteHistory, tmp_path: Path
):
    history.save("c1", small_turn("t1", "first"))
    history.save("c1", small_turn("t2", "second"))
    out = tmp_path / "out.json"
    await history.export_to(out, "json", ["t2"])
    got = await elsewhere.import_from(out)
    assert (got.conversations, got.turns) == (1, 1)
    [entry] = elsewhere.list()
    assert entry.title == "second"
    assert (await elsewhere.import_from(out)).skipped == 1
    assert elsewhere.size() == (1, 1)


async def test_files_of_this_computer_are_found_and_others_told_missing(
    history: SqliteHistory, elsewhere: SqliteHistory, tmp_path: Path
):
    picture = in_store(tmp_path / "here", "aa1.png", b"\x89PNG\r\n\x1a\n picture")
    outside = Artifact(Kind.IMAGE, path=written(tmp_path / "secret.png"), name="secret.png")
    history.save("c1", Turn("t1", START, "x", attachments=(picture, outside)))
    out = tmp_path / "out.json"
    await history.export_to(out, "json")
    document = json.loads(out.read_text())
    assert str(tmp_path) not in out.read_text(), "where files lie says who has them"
    document["conversations"][0]["id"] = "c2"
    document["conversations"][0]["turns"][0]["id"] = "t2"
    out.write_text(json.dumps(document))
    got = await history.import_from(out)
    assert got.missing == 1
    given = history.open_conversation("c2").turns[0].attachments
    assert given[0].path == picture.path
    assert given[1].name == "secret.png"
    assert given[1].path
    assert not given[1].path.exists(), "a file outside of the store is none of the history"
    assert (await elsewhere.import_from(out)).missing == 2


def document(**changes: Any) -> dict[str, Any]:
    """A file with one conversation of one turn."""
    turn: dict[str, Any] = {
        "id": "t1", "started": "2026-03-01T12:00:00+00:00", "text": "hello", "heard_by": "",
        "attachments": [], "plan": None, "selections": [], "results": {}, "agentic": False,
        "outline": None, "inner_outlines": {}, "rounds": {}, "notes": [], "reply": "Hi.",
        "status": "done", "finished": None, "pinned": False,
    }  # fmt: skip
    conversation = {"id": "c1", "title": "hello", "pinned": False, "turns": [turn | changes]}
    return {"format": "jarvis-desktop history", "version": 1, "conversations": [conversation]}


def artifact(path: str, **changes: Any) -> dict[str, Any]:
    plain = {"kind": "image", "text": None, "path": path, "name": "x", "made_by": None}
    return plain | changes


async def test_the_sample_is_read(history: SqliteHistory, tmp_path: Path):
    got = await history.import_from(written(tmp_path / "x.json", json.dumps(document())))
    assert got.turns == 1


RESULT = {"task_id": 1, "status": "done", "artifacts": [], "attempts": [], "reason": ""}
HOSTILE = [
    {"id": ""},
    {"id": "x" * 1000},
    {"id": "a\nb"},
    {"id": 3},
    {"id": None},
    {"started": "yesterday"},
    {"started": "9999-12-31T23:59:59-23:59"},
    {"started": 3},
    {"text": None},
    {"text": ["a"]},
    {"text": "x" * 20_000_001},
    {"reply": {}},
    {"status": "wonderful"},
    {"status": 3},
    {"finished": "x"},
    {"notes": "x"},
    {"notes": [3]},
    {"attachments": {}},
    {"attachments": [3]},
    {"attachments": [artifact("../../../etc/passwd")]},
    {"attachments": [artifact("a/../../b")]},
    {"attachments": [artifact("link/passwd")]},
    {"attachments": [artifact("a.png", kind="virus")]},
    {"attachments": [artifact("a.png", text="both")]},
    {"attachments": [artifact("a.png", made_by="me")]},
    {"attachments": [artifact("a.png", name=3)]},
    {"attachments": [artifact("a\0.png")]},
    {"results": [RESULT]},
    {"results": {"1": RESULT | {"task_id": "1"}}},
    {"results": {"1": RESULT | {"status": "x"}}},
    {"results": {"1": RESULT | {"attempts": [{}]}}},
    {"results": {"1": RESULT | {"artifacts": [artifact("../x")]}}},
    {"selections": [{}]},
    {"rounds": {"1": {"number": 1}}},
    {"rounds": {"1": {"artifacts": [artifact("../x")]}}},
    {"outline": []},
    {"inner_outlines": []},
]


@pytest.mark.parametrize("changes", HOSTILE, ids=lambda item: str(item)[:50])
async def test_a_hostile_turn_is_refused_and_leaves_nothing(
    history: SqliteHistory, tmp_path: Path, changes: dict[str, Any]
):
    (tmp_path / "link").symlink_to("/etc")
    file = written(tmp_path / "x.json", json.dumps(document(**changes)))
    with pytest.raises(InputError, match="did not export this file") as caught:
        await history.import_from(file)
    assert "\n" not in caught.value.message
    assert len(caught.value.message) < 250
    assert history.size() == (0, 0)
    assert count(history._db, "trash") == 0


def changed(**values: Any) -> str:
    return json.dumps(document() | values)


NO_HISTORIES = [
    "",
    "{",
    "[]",
    "3",
    "null",
    "\ufeff\ufffe",
    "[" * 200_000,
    '{"conversations": []}',
    changed(format="other"),
    changed(conversations=None),
    changed(conversations=[3]),
    changed(conversations=[{"id": "unkept-1", "title": "x", "turns": []}]),
    changed(conversations=[{"id": "c", "title": 3, "turns": []}]),
    changed(conversations=[{"id": "c", "title": "x", "turns": None}]),
    changed(conversations=[{"id": "x" * 300, "title": "x", "turns": []}]),
]


@pytest.mark.parametrize("text", NO_HISTORIES, ids=range(len(NO_HISTORIES)))
async def test_what_is_no_history_is_refused(history: SqliteHistory, tmp_path: Path, text: str):
    with pytest.raises(InputError, match="did not export this file"):
        await history.import_from(written(tmp_path / "x.json", text))


async def test_what_is_no_file_is_refused_at_once(
    history: SqliteHistory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    os.mkfifo(tmp_path / "pipe")
    for path, why in (
        (tmp_path / "gone.json", "no such file"),
        (tmp_path, "is not a file"),
        (tmp_path / "pipe", "is not a file"),
        (Path("/dev/zero"), "is not a file"),
        (Path("a\0b"), "not a file name"),
    ):
        with pytest.raises(InputError, match=why):
            await history.import_from(path)
    with pytest.raises(InputError, match="another version"):
        await history.import_from(written(tmp_path / "new.json", changed(version=2)))
    monkeypatch.setattr(import_, "MAX_BYTES", 10)
    with pytest.raises(InputError, match="larger than"):
        await history.import_from(written(tmp_path / "x.json", changed()))


async def test_a_plan_that_no_task_fits_and_a_file_that_is_not_there_are_no_fault(
    history: SqliteHistory, tmp_path: Path
):
    plan = [{"task": "gone", "id": 1, "args": {}}]
    given = [artifact("nowhere.png"), artifact("C:\\secret.png"), artifact("/etc/hostname")]
    whole = document(plan=plan, attachments=given)
    got = await history.import_from(written(tmp_path / "x.json", json.dumps(whole)))
    assert (got.turns, got.missing) == (1, 3)
    [turn] = history.open_conversation("c1").turns
    assert turn.plan is None
    assert [item.path.exists() for item in turn.attachments if item.path] == [False] * 3
    assert history.delete(["c1"]) == 1


async def test_two_turns_of_one_id_count_once(history: SqliteHistory, tmp_path: Path):
    whole = document()
    whole["conversations"][0]["turns"] *= 2
    whole["conversations"].append(whole["conversations"][0])
    got = await history.import_from(written(tmp_path / "x.json", json.dumps(whole)))
    assert (got.conversations, got.turns, got.skipped) == (1, 1, 1)


READER = """
import asyncio, sys
from pathlib import Path
from tests.storage.test_import import opened
history = opened(Path(sys.argv[1]))
print("go", flush=True)
asyncio.run(history.import_from(Path(sys.argv[2])))
"""


def kill_while(folder: Path, out: Path, wait: Callable[[], None]) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", READER, str(folder), str(out)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout
    process.stdout.readline()
    wait()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    return process


async def test_killed_at_any_moment_all_of_it_is_there_or_nothing(tmp_path: Path):
    source = opened(tmp_path / "source")
    for number in range(300):
        source.save(f"c{number // 100}", small_turn(f"t{number}", minutes=number))
    out = tmp_path / "out.json"
    await source.export_to(out, "json")
    source.close()
    chance = random.Random(4)
    for number in range(5):
        folder = tmp_path / str(number)
        opened(folder).close()
        kill_while(folder, out, lambda: time.sleep(chance.uniform(0, 0.4)))
        history = opened(folder, later=timedelta(minutes=1))
        assert history.size() in ((0, 0), (3, 300))
        await history.tidy()
        await history.import_from(out)
        assert history.size() == (3, 300)
        assert count(history._db, "turns") == 300
        assert history._db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        history.close()
