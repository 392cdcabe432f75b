"""`memory`, and the words by which the same is done."""

from __future__ import annotations

from tests.cli.conftest import Jarvis


def test_facts_are_added_listed_and_removed(jarvis: Jarvis) -> None:
    assert jarvis("memory", "list").out == "Nothing is remembered yet.\n"
    assert jarvis("memory", "add", "always answer in German").out == (
        "   1  always answer in German\n"
    )
    assert jarvis("memory", "add", "I like tea", "--json").json == {
        "number": 2,
        "text": "I like tea",
    }
    assert jarvis("memory", "list").out == "   1  always answer in German\n   2  I like tea\n"
    assert jarvis("memory", "remove", "1").out == "Number 1 is forgotten.\n"
    assert jarvis("memory", "list", "--json").json == [{"number": 2, "text": "I like tea"}]
    assert jarvis("memory", "remove", "2", "--json").json == {"removed": 2}


def test_clearing_asks_first(jarvis: Jarvis) -> None:
    jarvis("memory", "add", "I like tea")
    refused = jarvis("memory", "clear")
    assert refused.code == 1
    assert "Nothing was forgotten" in refused.err
    assert jarvis("memory", "clear", "--yes").out == "Forgot 1 thing.\n"
    assert jarvis("memory", "clear", "--yes", "--json").json == {"removed_facts": 0}


def test_what_cannot_be_remembered_or_forgotten(jarvis: Jarvis) -> None:
    assert jarvis("memory", "add", "").code == 1
    assert "too long" in jarvis("memory", "add", "x" * 400).err
    assert "number 7" in jarvis("memory", "remove", "7").err
    assert jarvis("memory", "remove", "first").code == 2
    assert jarvis("memory").code == 2


def test_what_is_said_is_remembered_in_another_conversation(jarvis: Jarvis) -> None:
    said = jarvis("ask", "Remember that my daughter is called Anna.", "--new")
    assert (said.code, said.out) == (0, "I will remember: my daughter is called Anna.\n")
    assert jarvis("ask", "what do you remember", "--new").out == (
        "I remember:\n- my daughter is called Anna\n"
    )
    assert jarvis("ask", "forget that", "--new").out == "I forgot: my daughter is called Anna.\n"
    assert jarvis("memory", "list", "--json").json == []
