"""What every Facts promises, asked of the fake and of the SQLite one alike."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.ports import Fact, Facts
from jarvis_desktop.storage.history import SqliteHistory
from tests.fakes import FakeFacts
from tests.storage.samples import INVENTORY, START


@pytest.fixture(params=["fake", "sqlite"])
def facts(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Facts]:
    if request.param == "fake":
        yield FakeFacts()
        return
    history = SqliteHistory(
        tmp_path / "history.db", store_root=tmp_path, inventory=INVENTORY, now=lambda: START
    )
    yield history.facts
    history.close()


def texts(facts: Facts) -> list[str]:
    return [fact.text for fact in facts.list()]


def test_facts_come_back_oldest_first(facts: Facts):
    tea, german = facts.add("I like  tea\n"), facts.add("always answer in German")
    assert tea == Fact(tea.number, "I like tea")
    assert tuple(facts.list()) == (tea, german)
    assert tea.number != german.number


def test_one_that_says_the_same_takes_the_place_of_the_first(facts: Facts):
    facts.add("I like tea")
    facts.add("my dog is Rex")
    facts.add("i like TEA!")
    assert texts(facts) == ["my dog is Rex", "i like TEA!"]


def test_one_is_removed_by_its_number_and_the_number_is_not_given_again(facts: Facts):
    tea = facts.add("I like tea")
    facts.remove(tea.number)
    assert texts(facts) == []
    with pytest.raises(InputError, match="number"):
        facts.remove(tea.number)
    assert facts.add("I like coffee").number != tea.number


def test_all_are_cleared(facts: Facts):
    facts.add("I like tea")
    facts.add("my dog is Rex")
    assert facts.clear() == 2
    assert facts.clear() == 0
    assert texts(facts) == []


@pytest.mark.parametrize("text", ["", " \n", "...", "x" * 301])
def test_nothing_and_too_much_are_refused(facts: Facts, text: str):
    with pytest.raises(InputError):
        facts.add(text)
    assert texts(facts) == []


def test_their_number_is_bounded(facts: Facts):
    def fill() -> None:
        for number in range(1000):
            facts.add(f"fact {number}")

    with pytest.raises(InputError):
        fill()
    many = len(texts(facts))
    facts.add("FACT 0")
    assert len(texts(facts)) == many
