"""The search index is put together once that is worth it, and searching finds the same after it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from jarvis_desktop.storage import search
from jarvis_desktop.storage.database import writing
from jarvis_desktop.storage.history import SqliteHistory
from tests.storage.samples import INVENTORY, START, small_turn


@pytest.fixture
def history(tmp_path: Path) -> Iterator[SqliteHistory]:
    real = SqliteHistory(
        tmp_path / "history.db", store_root=tmp_path, inventory=INVENTORY, now=lambda: START
    )
    with writing(real._db) as db:
        db.execute("INSERT INTO search (search, rank) VALUES ('automerge', 0)")
    for number in range(9):
        real.save("c", small_turn(f"t{number}", f"pear number{number}"))
    yield real
    real.close()


def pieces(history: SqliteHistory) -> int:
    return len(history._db.execute(search._PIECES).fetchall())


def found(history: SqliteHistory) -> list[str]:
    return [item.turn_id for item in history.search("pear")]


def test_tidying_puts_the_index_together(history: SqliteHistory) -> None:
    before = found(history)
    assert pieces(history) == 9
    asyncio.run(history.tidy())
    assert pieces(history) == 1
    assert found(history) == before
    assert len(before) == 9


def test_an_index_with_little_added_to_it_is_left(
    history: SqliteHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(history.tidy())
    history.save("c", small_turn("t9", "another pear"))
    monkeypatch.setattr(search, "MERGE_SHARE", 1)
    asyncio.run(history.tidy())
    assert pieces(history) == 2
    monkeypatch.setattr(search, "MERGE_SHARE", 8)
    asyncio.run(history.tidy())
    assert pieces(history) == 1


def test_it_is_done_bit_by_bit_and_goes_on_later(
    history: SqliteHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MERGE_PAGES", 1)
    steps = search.merge_segments(history._db)
    assert next(steps)
    assert len(found(history)) == 9
    del steps
    asyncio.run(history.tidy())
    assert pieces(history) == 1
    assert len(found(history)) == 9


def test_one_that_is_stopped_leaves_everything_as_it_is(
    history: SqliteHistory, tmp_path: Path
) -> None:
    stopped = Event()
    stopped.set()
    search.optimize_index(tmp_path / "history.db", stopped)
    assert pieces(history) == 9
