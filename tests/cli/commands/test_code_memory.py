"""`memory`, and the words by which the same is done."""

from __future__ import annotations

import shutil
from pathlib import Path

from jarvis_desktop.paths import shipped
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


def test_what_is_asked_unkept_leaves_nothing_on_the_disk(jarvis: Jarvis, tmp_path: Path) -> None:
    letter = tmp_path / "letter.png"
    shutil.copyfile(shipped("resources", "sample", "letter.png"), letter)
    said = jarvis("ask", "What is 31 percent of 1000?", "--unkept")
    assert (said.code, said.out) == (0, "31 percent of 1000 is 310.\n")
    made = tmp_path / "made"
    assert jarvis("ask", "rotate letter.png", "--unkept", "--out", made).code == 0
    assert len(list(made.iterdir())) == 1
    assert jarvis("history", "list").out == "Nothing has been asked yet.\n"
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {path for path in files if path.suffix == ".png"} == {letter, *made.iterdir()}
    assert all(b"31 percent" not in path.read_bytes() for path in files)


def test_a_conversation_is_not_both_unkept_and_another_one(jarvis: Jarvis) -> None:
    assert jarvis("ask", "x", "--unkept", "--new").code == 2
