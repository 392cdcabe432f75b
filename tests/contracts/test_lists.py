"""What every Lists promises, asked of the fake and of the SQLite one alike."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.ports import Lists
from jarvis_desktop.storage.history import SqliteHistory
from tests.fakes import FakeLists
from tests.storage.samples import INVENTORY, START


@pytest.fixture(params=["fake", "sqlite"])
def lists(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lists]:
    if request.param == "fake":
        yield FakeLists()
        return
    history = SqliteHistory(
        tmp_path / "history.db", store_root=tmp_path, inventory=INVENTORY, now=lambda: START
    )
    yield history.lists
    history.close()


def test_entries_come_back_oldest_first(lists: Lists):
    assert list(lists.add("shopping", ["milk", "Eggs"])) == ["milk", "Eggs"]
    assert list(lists.add("shopping", ["bread"])) == ["bread"]
    assert list(lists.items("shopping")) == ["milk", "Eggs", "bread"]
    assert list(lists.items("to-do")) == []


def test_what_is_there_in_any_letters_is_not_added_again(lists: Lists):
    lists.add("shopping", ["Milk"])
    assert list(lists.add("shopping", ["milk", "eggs", "eggs"])) == ["eggs"]


def test_entries_are_removed_in_any_letters(lists: Lists):
    lists.add("shopping", ["Milk", "eggs"])
    assert list(lists.remove("shopping", ["milk", "tea"])) == ["Milk"]
    assert list(lists.items("shopping")) == ["eggs"]
    assert list(lists.remove("to-do", ["eggs"])) == []


def test_lists_with_entries_are_named(lists: Lists):
    lists.add("to-do", ["call Ann"])
    lists.add("shopping", ["milk"])
    assert list(lists.names()) == ["shopping", "to-do"]
    assert lists.clear("shopping") == 1
    assert lists.clear("shopping") == 0
    assert list(lists.names()) == ["to-do"]


def test_nothing_and_too_much_are_refused(lists: Lists):
    with pytest.raises(InputError):
        lists.add("notes", [])
    with pytest.raises(InputError):
        lists.add("notes", ["x" * 501])
    lists.add("notes", [f"note {number}" for number in range(500)])
    with pytest.raises(InputError):
        lists.add("notes", ["one more"])
    assert len(lists.items("notes")) == 500
