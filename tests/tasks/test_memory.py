"""The skills that remember and forget what the person says."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.everyday import memory
from tests.tasks.calls import FakeServices, call_of, quiet, text_of


class Person:
    """Says things to the two skills."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.services = FakeServices()

    async def tells(self, fact: str, action: str = "keep") -> str:
        call = call_of(memory.REMEMBER.type, self.folder, fact=fact, action=action)
        return text_of(await memory.remember(call, quiet, self.services.services()))

    async def takes_back(self, fact: str) -> str:
        call = call_of(memory.FORGET.type, self.folder, fact=fact)
        return text_of(await memory.forget(call, quiet, self.services.services()))

    @property
    def facts(self) -> list[str]:
        return [fact.text for fact in self.services.facts.list()]


@pytest.fixture
def person(tmp_path: Path) -> Person:
    return Person(tmp_path)


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Remember that my daughter is called Anna.", "my daughter is called Anna"),
        ("Remember this: my dog is called Rex!", "my dog is called Rex"),
        ("please remember I like tea", "I like tea"),
        ("Keep in mind that I am vegetarian", "I am vegetarian"),
        ("don't forget that I'm vegetarian", "I'm vegetarian"),
        ("make a note of this: the code is 7", "the code is 7"),
        ("Always answer in German.", "Always answer in German"),
        ("From now on, call me Alex", "From now on, call me Alex"),
        ("rememberable things", "rememberable things"),
    ],
)
async def test_what_is_kept_of_a_sentence(person: Person, said: str, kept: str) -> None:
    assert await person.tells(said) == f"I will remember: {kept}."
    assert person.facts == [kept]


async def test_nothing_cannot_be_remembered(person: Person) -> None:
    with pytest.raises(InputError):
        await person.tells("Remember that.")


async def test_what_is_remembered_is_listed(person: Person) -> None:
    assert await person.tells("", "list") == "You have not asked me to remember anything yet."
    await person.tells("remember I like tea")
    await person.tells("always answer in German")
    assert await person.tells("", "list") == "I remember:\n- I like tea\n- always answer in German"


@pytest.mark.parametrize(
    ("said", "gone"),
    [
        ("forget that", "my dog is called Rex"),
        ("Forget it.", "my dog is called Rex"),
        ("forget what I told you about tea", "I like tea"),
        ("forget that I like tea", "I like tea"),
        ("please forget about the dog", "my dog is called Rex"),
        ("forget that I want answers in German", "always answer in German"),
        ("don't remember my dog", "my dog is called Rex"),
        ("forget everything about tea", "I like tea"),
    ],
)
async def test_what_is_forgotten(person: Person, said: str, gone: str) -> None:
    for fact in ("always answer in German", "I like tea", "my dog is called Rex"):
        await person.tells(fact)
    assert await person.takes_back(said) == f"I forgot: {gone}."
    assert gone not in person.facts
    assert len(person.facts) == 2


@pytest.mark.parametrize(
    "said",
    [
        "forget everything",
        "Forget everything you know about me.",
        "forget all of it",
        "forget everything I told you",
        "clear your memory",
        "please forget all facts",
    ],
)
async def test_everything_is_forgotten_after_a_question(person: Person, said: str) -> None:
    await person.tells("I like tea")
    await person.tells("always answer in German")
    call = call_of(memory.FORGET.type, person.folder, fact=said)
    assert memory.question(call) == "Forget everything you have asked me to remember?"
    assert await person.takes_back(said) == "I forgot all 2 things."
    assert person.facts == []
    assert await person.takes_back(said) == "There is nothing to forget: I remember nothing."


async def test_the_only_thing_is_forgotten_with_everything(person: Person) -> None:
    await person.tells("I like tea")
    assert await person.takes_back("forget everything") == "I forgot it."


async def test_only_everything_is_asked_about(person: Person) -> None:
    for said in ("forget that", "forget everything about tea", "forget that I like all teas"):
        assert not memory.question(call_of(memory.FORGET.type, person.folder, fact=said))


async def test_what_is_not_clear_is_not_forgotten(person: Person) -> None:
    await person.tells("I like green tea")
    await person.tells("Ben likes green tea")
    with pytest.raises(InputError, match="not sure which you mean: “I like green tea” or “Ben"):
        await person.takes_back("forget that green tea")
    with pytest.raises(InputError, match="nothing like “my cat is called Tom”"):
        await person.takes_back("forget that my cat is called Tom")
    with pytest.raises(InputError, match="nothing like"):
        await person.takes_back("forget that I like green cheese from Wales")
    assert len(person.facts) == 2
