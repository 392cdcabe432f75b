"""Deleting with a way back, and forgetting what is old."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.ports import Recap
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import INVENTORY, START, count, full_turn, small_turn, stored_file


class Clock:
    """What the history takes for the time."""

    now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def opened(tmp_path: Path, clock: Clock) -> SqliteHistory:
    return SqliteHistory(
        tmp_path / "history.db", store_root=tmp_path / "store", inventory=INVENTORY, now=clock
    )


@pytest.fixture
def history(tmp_path: Path, clock: Clock) -> Iterator[SqliteHistory]:
    real = opened(tmp_path, clock)
    yield real
    real.close()


def listed(history: SqliteHistory) -> list[str]:
    return [entry.id for entry in history.list()]


async def test_what_is_deleted_is_nowhere_and_comes_back_whole(
    history: SqliteHistory, tmp_path: Path
):
    given, made = (
        stored_file(tmp_path / "store", "aa1.png"),
        stored_file(tmp_path / "store", "b.wav"),
    )
    turn = full_turn("t1", given, made)
    history.save("c1", turn)
    history.save("c1", small_turn("t2", minutes=1))
    history.save("c2", small_turn("t3", minutes=2))
    history.pin("c1", pinned=True)
    history.keep_recap("c1", Recap("It began.", "t1"))
    gone = history.trash(["c1"])
    assert (gone.turns, gone.conversations) == (2, ("c1",))
    assert listed(history) == ["c2"]
    assert history.size() == (1, 1)
    assert history.search("fox") == ()
    assert history.open_conversation("c1").turns == history.since("c1", "") == ()
    assert history.resources("c1") == ()
    assert history.recap("c1") is None
    assert history.newest() == "c2"
    for prefix in ("c1", "t1"):
        with pytest.raises(InputError, match="nothing with the id"):
            history.show(prefix)
    assert given.path
    assert given.path.exists()
    assert history.restore(gone.number) == 2
    assert listed(history) == ["c1", "c2"]
    assert history.list()[0].pinned
    assert history.open_conversation("c1").turns[0] == turn
    assert [found.turn_id for found in history.search("fox")] == ["t1"]
    assert history.recap("c1") == Recap("It began.", "t1")
    assert await history.empty_trash() == 0


async def test_once_it_is_final_its_files_and_words_are_gone(
    history: SqliteHistory, tmp_path: Path
):
    given = stored_file(tmp_path / "store", "aa1.png")
    history.save("c1", Turn("t1", START, "the code word is xylophonist", attachments=(given,)))
    history.save("c2", small_turn("t2"))
    first, second = history.trash(["t1"]), history.trash(["c2"])
    assert await history.empty_trash(first.number) == 1
    assert given.path
    assert not given.path.exists()
    content = b"".join(path.read_bytes() for path in tmp_path.glob("history.db*"))
    assert b"xylophonist" not in content
    assert history.restore(first.number) == 0
    assert history.restore(second.number) == 1
    assert listed(history) == ["c2"]


async def test_one_turn_is_deleted_and_its_conversation_stays(history: SqliteHistory):
    for name in ("t1", "t2", "t3"):
        history.save("c", small_turn(name))
    gone = history.delete_turn("t3")
    assert gone.conversations == ()
    assert [turn.id for turn in history.open_conversation("c").turns] == ["t1", "t2"]
    assert history.list()[0].turns == 2
    history.save("c", small_turn("t4", minutes=4))
    assert history.restore(gone.number) == 1
    assert [turn.id for turn in history.open_conversation("c").turns] == ["t1", "t2", "t3", "t4"]


async def test_what_is_amended_while_it_is_deleted_stays_deleted(history: SqliteHistory):
    history.save("c", small_turn("t1", "first"))
    gone = history.delete_turn("t1")
    assert not history.amend("c", small_turn("t1", "changed"))
    assert history.open_conversation("c").turns == ()
    assert history.restore(gone.number) == 1
    assert [turn.text for turn in history.open_conversation("c").turns] == ["first"]


@pytest.mark.parametrize(
    ("since", "until", "left"),
    [
        (None, date(2026, 3, 2), ["c3", "c2"]),
        (date(2026, 3, 3), None, ["c1", "c0"]),
        (date(2026, 3, 2), date(2026, 3, 3), ["c3", "c0"]),
        (None, None, []),
    ],
)
async def test_a_range_of_days_is_deleted(
    history: SqliteHistory, since: date | None, until: date | None, left: list[str]
):
    for day in range(4):
        history.save(f"c{day}", small_turn(f"t{day}", minutes=day * 24 * 60))
    gone = history.trash(since=since, until=until)
    assert listed(history) == left
    assert gone.turns == 4 - len(left)
    await history.empty_trash()
    assert count(history._db, "turns") == len(left)


async def test_deleting_all_spares_what_is_said_after_it(history: SqliteHistory):
    history.save("c1", small_turn("t1"))
    history.trash()
    history.save("c1", small_turn("t2", "said since", minutes=1))
    assert await history.empty_trash() == 1
    assert [turn.id for turn in history.open_conversation("c1").turns] == ["t2"]
    assert len(history.search("since")) == 1


async def test_a_killed_run_s_deletions_become_final_at_the_next_start(
    tmp_path: Path, clock: Clock
):
    killed = opened(tmp_path, clock)
    killed.save("c1", small_turn("t1"))
    killed.trash(["c1"])
    other = opened(tmp_path, clock)
    await other.tidy()
    assert count(other._db, "turns") == 1, "the other one may still undo it"
    clock.now += timedelta(seconds=11)
    await other.tidy()
    assert count(other._db, "turns") == count(other._db, "trash") == 0
    killed._db.close()
    other.close()


def test_at_the_end_of_the_run_it_is_final(tmp_path: Path, clock: Clock):
    first = opened(tmp_path, clock)
    first.save("c1", small_turn("t1"))
    first.save("c2", small_turn("t2"))
    first.trash(["c1"])
    first.restore(first.trash(["c2"]).number)
    first.close()
    second = opened(tmp_path, clock)
    assert listed(second) == ["c2"]
    assert count(second._db, "turns") == 1
    second.close()


def test_nothing_is_put_away_where_one_id_is_wrong(history: SqliteHistory):
    history.save("c1", small_turn("t1"))
    with pytest.raises(InputError):
        history.trash(["c1", "typo"])
    assert listed(history) == ["c1"]
    assert history.restore(99) == 0


async def test_old_conversations_are_forgotten_but_for_what_is_pinned(
    history: SqliteHistory, clock: Clock
):
    for name in ("old", "pinned", "with pinned turn", "new"):
        history.save(name, small_turn(f"{name} 1"))
    history.save("new", small_turn("later", minutes=60 * 24 * 40))
    history.pin("pinned", pinned=True)
    history.pin_turn("with pinned turn 1", pinned=True)
    clock.now = START + timedelta(days=41)
    assert await history.forget(0) == 0
    assert await history.forget(42) == 0
    assert await history.forget(30) == 1
    assert sorted(listed(history)) == ["new", "pinned", "with pinned turn"]
    assert await history.forget(30) == 0


def test_a_conversation_has_its_own_title_and_place(history: SqliteHistory):
    for number in range(3):
        history.save(f"c{number}", small_turn(f"t{number}", f"about {number}", minutes=number))
    history.rename("c0", "  Of\nlong\u202e ago ")
    history.pin("c0", pinned=True)
    assert [(entry.title, entry.pinned) for entry in history.list()] == [
        ("Of long� ago", True),
        ("about 2", False),
        ("about 1", False),
    ]
    assert [entry.id for entry in history.list(2, "c0")] == ["c2", "c1"]
    history.save("c0", small_turn("t9", "again", minutes=9))
    assert history.list()[0].title == "Of long� ago"
    history.pin("c0", pinned=False)
    assert listed(history) == ["c0", "c2", "c1"]
    for wrong in (lambda: history.rename("c0", " \n"), lambda: history.rename("gone", "x")):
        with pytest.raises(InputError):
            wrong()
    for wrong in (lambda: history.pin("gone", True), lambda: history.pin_turn("gone", True)):
        with pytest.raises(InputError, match="not in the history"):
            wrong()


def test_a_pin_stays_with_its_turn(history: SqliteHistory):
    history.save("c", small_turn("t1", "first"))
    history.pin_turn("t1", pinned=True)
    [turn] = history.open_conversation("c").turns
    assert turn.pinned
    history.save("c", turn)
    assert history.open_conversation("c").turns == (turn,)
    assert history.amend("c", small_turn("t1", "changed"))
    assert history.open_conversation("c").turns[0].pinned
    history.pin_turn("t1", pinned=False)
    assert not history.open_conversation("c").turns[0].pinned


def test_the_list_agrees_with_the_turns_whatever_happens(history: SqliteHistory):
    names = [f"c{number % 3}" for number in range(30)]
    for number, name in enumerate(names):
        history.save(name, small_turn(f"t{number}", minutes=number))
    trashed = [history.trash([f"t{number}"]).number for number in range(3, 30, 4)]
    for number in trashed[::2]:
        history.restore(number)
    history.delete(["t1", "t2"])
    find = """
        SELECT conversation, count(*), max(number) FROM turns WHERE trash IS NULL
        GROUP BY conversation
    """
    right = sorted(history._db.execute(find).fetchall())
    kept = "SELECT id, kept, newest FROM conversations WHERE kept"
    assert sorted(history._db.execute(kept).fetchall()) == right
