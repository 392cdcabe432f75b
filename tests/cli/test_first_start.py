"""What is said, once, in a terminal where there is no LLM."""

from __future__ import annotations

from pathlib import Path

from jarvis_desktop.settings import change
from tests.cli.conftest import Jarvis
from tests.cli.terminal import terminal
from tests.ollama import running_ollama

NOTE = "There is no LLM."
SUM = "What is 6 times 7?"


def test_the_first_request_says_it_and_the_next_one_does_not(jarvis: Jarvis) -> None:
    assert NOTE not in jarvis("ask", SUM, "--json").err
    first = jarvis("ask", SUM)
    assert first.out.strip() == "6 times 7 is 42."
    assert NOTE in first.err
    assert "Until then JARVIS plans and answers without one." in first.err
    assert "jarvis-desktop llm pull" in first.err
    assert NOTE not in jarvis("ask", SUM).err


def test_offline_it_says_that_nothing_is_fetched(jarvis: Jarvis) -> None:
    said = jarvis("ask", SUM, "--mode", "offline").err
    assert "The mode is offline, so nothing is fetched" in said
    assert "llm pull" not in said
    assert NOTE not in jarvis("ask", SUM, "--mode", "offline").err
    # Once there is a way to get one, that is said.
    assert "llm pull" in jarvis("ask", SUM).err
    assert NOTE not in jarvis("ask", SUM, "--mode", "offline").err


def test_nothing_is_said_where_there_is_one_or_none_is_wanted(jarvis: Jarvis, home: Path) -> None:
    settings = home / "jarvis" / "config" / "settings.toml"
    change(settings, "llm", {"provider": "none"})
    assert NOTE not in jarvis("ask", SUM).err
    with running_ollama() as ollama:
        change(settings, "llm", {"provider": "ollama", "address": ollama.address})
        assert NOTE not in jarvis("ask", SUM).err
    change(settings, "llm", {"provider": "auto", "address": ""})
    assert NOTE in jarvis("ask", SUM).err


def test_the_conversation_says_it_after_an_answer_once(tmp_path: Path) -> None:
    for times in (1, 0):
        with terminal(tmp_path, environment={}) as running:
            running.until("you> ")
            for _ in range(2):
                running.type(f"{SUM}\n")
                running.until("42")
                running.until("you> ")
            running.type("\x04")
            assert running.ends() == 0
            assert running.shown.count(NOTE) == times
