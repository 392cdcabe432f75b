import errno
import json
import os
import re
import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Task
from jarvis_desktop.core.turn import Conversation, Turn
from jarvis_desktop.storage.artifacts import FileStore
from jarvis_desktop.storage.conversations import RECENT_TURNS
from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import (
    INVENTORY,
    READ,
    START,
    count,
    full_turn,
    in_store,
    small_turn,
    stored_file,
    within_turn,
    written,
)


def opened(tmp_path: Path, *, inventory=INVENTORY, now: datetime = START) -> SqliteHistory:
    return SqliteHistory(
        tmp_path / "history.db",
        store_root=tmp_path / "store",
        inventory=inventory,
        now=lambda: now,
    )


@pytest.fixture
def history(tmp_path: Path) -> Iterator[SqliteHistory]:
    real = opened(tmp_path)
    yield real
    real.close()


def test_it_is_there_after_a_restart(tmp_path: Path):
    turn = full_turn(
        "t1", stored_file(tmp_path / "store", "abc.png"), stored_file(tmp_path / "store", "cd.wav")
    )
    first = opened(tmp_path)
    first.save("c", turn)
    first.close()
    second = opened(tmp_path)
    assert second.open_conversation("c").turns == (turn,)
    assert second.notice == ""
    second.close()


def test_the_store_may_move(tmp_path: Path):
    given = stored_file(tmp_path / "store", "abc.png")
    first = opened(tmp_path)
    first.save("c", full_turn("t1", given, given))
    first.close()
    assert given.path is not None
    (tmp_path / "moved").mkdir()
    (tmp_path / "store").rename(tmp_path / "moved" / "store")
    (tmp_path / "history.db").rename(tmp_path / "moved" / "history.db")
    second = opened(tmp_path / "moved")
    [turn] = second.open_conversation("c").turns
    second.close()
    there = tmp_path / "moved" / "store" / "ab" / "abc.png"
    assert turn.attachments[0].path == there
    assert turn.plan is not None
    read = turn.plan.task(1).args["image"]
    assert isinstance(read, Artifact)
    assert read.path == there


def test_a_plan_that_no_task_type_fits_today_is_gone_but_its_results_are_not(tmp_path: Path):
    given = stored_file(tmp_path / "store", "abc.png")
    first = opened(tmp_path)
    first.save("c", full_turn("t1", given, given))
    first.close()
    second = opened(tmp_path, inventory={"read": READ})
    [turn] = second.open_conversation("c").turns
    second.close()
    assert turn.plan is None
    assert len(turn.results) == 3


def test_a_turn_that_never_ended_and_one_in_another_time_zone(history: SqliteHistory):
    running = Turn("t1", START)
    local = Turn("t2", datetime.fromisoformat("2026-03-01T14:00:00.123456+05:30"), text="x")
    for turn in (running, local):
        history.save("c", turn)
    assert history.open_conversation("c").turns == (running, local)


def test_text_that_utf8_cannot_hold_is_kept_as_far_as_it_goes(history: SqliteHistory):
    path = Path("/elsewhere/a\udcff.png")
    bad = Artifact(Kind.IMAGE, path=path, name="a\udcff.png")
    plan = Plan((Task(1, READ, {"image": bad}),))
    history.save("c\udcff", Turn("t\udcff", START, "say \ud800 \0", attachments=(bad,), plan=plan))
    [turn] = history.open_conversation("c\udcff").turns
    assert turn.text == "say ? \0"
    assert turn.attachments[0].path == Path("/elsewhere/a?.png")
    assert turn.plan is not None


def test_only_recent_turns_come_with_a_conversation(history: SqliteHistory):
    for number in range(RECENT_TURNS + 5):
        history.save("c", small_turn(f"t{number}"))
    turns = history.open_conversation("c").turns
    assert [turn.id for turn in turns] == [f"t{count}" for count in range(5, RECENT_TURNS + 5)]
    shown = history.show("c")
    assert isinstance(shown, Conversation)
    assert len(shown.turns) == RECENT_TURNS + 5


def test_a_new_conversation_is_written_with_its_first_turn(history: SqliteHistory):
    conversation = history.open_conversation()
    assert history.list() == ()
    history.save(conversation.id, small_turn("t"))
    assert [entry.id for entry in history.list()] == [conversation.id]


def test_what_cannot_be_written_leaves_nothing_and_can_be_tried_again(
    history: SqliteHistory, tmp_path: Path
):
    history.save("c", small_turn("t1"))
    good = TaskResult(1, Status.DONE)
    bad = TaskResult(2, Status.DONE, (text_artifact("x" * 100_000),))
    turn = Turn("t2", START, results={1: good, 2: bad})
    limit = history._db.execute("PRAGMA page_count").fetchone()[0] + 5
    history._db.execute(f"PRAGMA max_page_count = {limit}").fetchone()
    with pytest.raises(StorageError, match="disk is full") as caught:
        history.save("c", turn)
    assert caught.value.hint
    assert [kept.id for kept in history.open_conversation("c").turns] == ["t1"]
    history._db.execute("PRAGMA max_page_count = 1000000").fetchone()
    history.save("c", turn)
    assert [kept.id for kept in history.open_conversation("c").turns] == ["t1", "t2"]


def test_a_damaged_history_is_told_about(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    (tmp_path / "history.db").write_text("no database" * 900)
    history = opened(tmp_path)
    history.save("c", small_turn("t"))
    history.close()
    [record] = caplog.records
    assert record.getMessage() == history.notice
    [moved] = tmp_path.glob("history.db.corrupt-*")
    assert str(moved) in history.notice
    caplog.clear()


@pytest.mark.parametrize(("minutes", "found"), [(0, "c2"), (9, "c2"), (11, None)])
def test_the_latest_conversation_is_found_while_it_is_recent(
    tmp_path: Path, minutes: int, found: str | None
):
    history = opened(tmp_path, now=START + timedelta(minutes=minutes))
    assert history.latest(timedelta(minutes=10)) is None
    history.save("c1", small_turn("t1"))
    history.save("c2", small_turn("t2"))
    assert history.latest(timedelta(minutes=10)) == found
    history.close()


def test_a_clock_without_time_zone_will_do(tmp_path: Path):
    history = opened(tmp_path, now=START.astimezone().replace(tzinfo=None))
    history.save("c", small_turn("t"))
    assert history.latest(timedelta(minutes=1)) == "c"
    history.close()


def test_the_list_is_newest_first_and_comes_in_pages(history: SqliteHistory):
    for number in range(5):
        history.save(f"c{number}", small_turn(f"a{number}", f"about {number}", minutes=number))
    history.save("c1", small_turn("b1", "more", minutes=9))
    first = history.list(limit=2)
    assert [entry.id for entry in first] == ["c1", "c4"]
    assert (first[0].title, first[0].turns) == ("about 1", 2)
    assert (first[0].started, first[0].last) == (
        START + timedelta(minutes=1),
        START + timedelta(minutes=9),
    )
    assert [entry.id for entry in history.list(limit=2, before="c4")] == ["c3", "c2"]
    assert [entry.id for entry in history.list(limit=9, before="c2")] == ["c0"]
    assert history.list(before="unknown") == ()


@pytest.mark.parametrize("renamed", [False, True])
def test_a_conversation_is_called_after_what_was_asked_first(history: SqliteHistory, renamed: bool):
    history.save("c", small_turn("t2", "what time is it", minutes=1))  # it was quicker
    if renamed:
        history.rename("c", "about time")
    history.save("c", small_turn("t1", "write a long story", minutes=0))
    history.save("c", small_turn("t3", "and now?", minutes=2))
    (entry,) = history.list()
    assert entry.title == ("about time" if renamed else "write a long story")
    assert entry.started == (START + timedelta(minutes=1) if renamed else START)


def test_a_title_is_one_short_line(history: SqliteHistory):
    history.save("c1", small_turn("t1", "line\nbreak " * 50))
    history.save("c2", small_turn("t2", ""))
    assert [entry.title for entry in history.list()] == [
        "(spoken request)",
        ("line break " * 50)[:79] + "…",
    ]


def test_show_takes_the_beginning_of_an_id(history: SqliteHistory):
    for conversation, turn in (("abc1", "x1"), ("abd2", "x2"), ("x", "y%")):
        history.save(conversation, small_turn(turn))
    assert history.show("abc") == Conversation("abc1", (small_turn("x1"),))
    assert history.show("x2") == small_turn("x2")
    assert isinstance(history.show("x"), Conversation)  # the whole id counts before a beginning
    for prefix, message in (("ab", "several"), ("q", "nothing"), ("", "nothing"), ("%", "nothing")):
        with pytest.raises(InputError, match=message):
            history.show(prefix)


def test_delete_removes_rows_index_and_files(history: SqliteHistory, tmp_path: Path):
    store = tmp_path / "store"
    shared, own = stored_file(store, "aa11.png"), stored_file(store, "bb22.png")
    sound, outside = stored_file(store, "cc33.wav"), stored_file(tmp_path / "mine", "dd44.png")
    history.save("c1", full_turn("t1", shared, sound))
    history.save("c1", full_turn("t2", own, sound))
    history.save("c2", full_turn("t3", shared, outside))
    paths = [item.path for item in (shared, own, sound, outside)]
    assert history.files() == frozenset(paths[:3])

    assert history.delete(["t2"]) == 1
    assert [path.exists() for path in paths if path] == [True, False, True, True]
    assert history.delete(["c1"]) == 1
    assert [path.exists() for path in paths if path] == [True, False, False, True]
    assert [found.turn_id for found in history.search("fox")] == ["t3"]
    assert [entry.id for entry in history.list()] == ["c2"]
    assert history.delete() == 1
    assert [path.exists() for path in paths if path] == [False, False, False, True]
    assert history.search("fox") == ()
    for table in ("conversations", "turns", "tasks", "attempts", "artifacts", "files", "search"):
        assert count(history._db, table) == 0


def test_a_file_that_only_a_plan_names_stays_until_that_turn_goes(
    history: SqliteHistory, tmp_path: Path
):
    made = stored_file(tmp_path / "store", "aa11.png")
    assert made.path is not None
    history.save("c1", Turn("t1", START, attachments=(made,)))
    history.save("c2", Turn("t2", START, plan=Plan((Task(1, READ, {"image": made}),))))
    history.delete(["c1"])
    assert made.path.exists()
    history.delete(["c2"])
    assert not made.path.exists()


def test_what_was_asked_a_second_ago_is_gone_from_the_disk_at_once(
    history: SqliteHistory, tmp_path: Path
):
    note = written(tmp_path / "n.txt", "secret")
    store = FileStore(tmp_path / "store")
    with within_turn("t0"):
        store.take_in(note)
    history.save("c0", Turn("t0", START))  # one that came to nothing
    with within_turn("t1"):
        given = (store.take_in(note), store.take_in(note))
    history.save("c1", Turn("t1", START, attachments=given))
    history.delete(["c1"])
    assert in_store(tmp_path) == []


def test_a_file_that_a_turn_under_way_was_given_again_outlives_the_first_turn(
    history: SqliteHistory, tmp_path: Path
):
    note = written(tmp_path / "n.txt", "words")
    store = FileStore(tmp_path / "store")
    with within_turn("t1"):
        first = store.take_in(note)
    with within_turn("t2"):
        second = store.take_in(note)
    assert first.path == second.path
    assert second.path is not None
    history.save("c1", Turn("t1", START, attachments=(first,)))
    history.delete(["c1"])
    assert second.path.read_text() == "words"
    history.save("c2", Turn("t2", START, attachments=(second,)))
    assert second.path.read_text() == "words"
    history.delete(["c2"])
    assert not second.path.exists()


def test_a_turn_that_could_not_be_saved_keeps_nobodys_file(history: SqliteHistory, tmp_path: Path):
    note = written(tmp_path / "n.txt", "words")
    store = FileStore(tmp_path / "store")
    with within_turn("t1"):
        given = store.take_in(note)
    history._db.execute("PRAGMA query_only = 1").fetchall()
    with pytest.raises(StorageError):
        history.save("c1", Turn("t1", START, attachments=(given,)))
    assert given.path is not None
    assert not store.claimed(given.path)


@pytest.mark.parametrize("store", ["store", "file/store"])
def test_a_home_where_a_file_lies_is_told_in_one_sentence(tmp_path: Path, store: str):
    (tmp_path / "file").touch()
    with pytest.raises(StorageError) as caught:
        SqliteHistory(
            tmp_path / "file" / "history.db",
            store_root=tmp_path / store,
            inventory=INVENTORY,
            now=lambda: START,
        )
    assert re.fullmatch(r"The [^\n]+ cannot be (opened|used): [a-z ]+\.", caught.value.message)
    assert caught.value.hint


def test_a_read_only_disk_is_told_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refused(path: Path, flags: int, mode: int = 0o777) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(StorageError) as caught:
        opened(tmp_path)
    where = tmp_path / "history.db"
    assert (
        caught.value.message == f"The history at {where} cannot be opened: read-only file system."
    )
    assert caught.value.hint


def test_nothing_is_deleted_where_one_id_is_wrong(history: SqliteHistory):
    history.save("c1", small_turn("t1"))
    with pytest.raises(InputError):
        history.delete(["c1", "typo"])
    assert history.delete([]) == 0
    assert len(history.list()) == 1


def test_what_was_deleted_is_nowhere_on_the_disk(history: SqliteHistory, tmp_path: Path):
    for number in range(50):
        history.save("c1", small_turn(f"t{number}", f"the code word is xylophonist {number}"))
    history.save("c2", small_turn("u", "something else"))
    content = b"".join(path.read_bytes() for path in tmp_path.glob("history.db*"))
    assert b"xylophonist" in content
    history.delete(["c1"])
    content = b"".join(path.read_bytes() for path in tmp_path.glob("history.db*"))
    assert b"xylophonist" not in content
    assert b"something else" in content


def test_the_index_agrees_with_the_tables(history: SqliteHistory):
    for text in ("one", "two"):
        history.save("c", small_turn("t", text))
    history.save("c", small_turn("u", "three"))
    history.delete(["u"])
    history._db.execute("INSERT INTO search(search) VALUES ('integrity-check')")
    assert history.search("one") == history.search("three") == ()
    assert len(history.search("two")) == 1


def test_export_of_all_or_some(history: SqliteHistory):
    history.save("c1", small_turn("t1", "first"))
    history.save("c2", small_turn("t2", "second"))
    history.save("c2", small_turn("t3", "third"))

    def texts(exported: str) -> list[list[str]]:
        conversations = json.loads(exported)["conversations"]
        return [[turn["text"] for turn in entry["turns"]] for entry in conversations]

    assert texts(history.export("json")) == [["first"], ["second", "third"]]
    assert texts(history.export("json", ["t3", "c1"])) == [["third"], ["first"]]
    assert texts(history.export("json", [])) == []
    with pytest.raises(InputError):
        history.export("json", ["typo"])


def test_it_belongs_to_its_thread(history: SqliteHistory):
    import threading

    errors: list[BaseException] = []

    def use() -> None:
        try:
            history.list()
        except sqlite3.ProgrammingError as error:
            errors.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert len(errors) == 1
