from pathlib import Path

import pytest

from jarvis_desktop.tasks.everyday.help import HELP, answer, overview, show_help
from jarvis_desktop.tasks.registry import DEFINITIONS
from tests.tasks.calls import FakeServices, call_of, quiet, text_of


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("hello", "Hello"),
        ("Hi there!", "Hello"),
        ("Good morning", "Good morning"),
        ("thank you", "You're welcome"),
        ("who are you?", "I am JARVIS"),
        ("what's your name", "I am JARVIS"),
        ("are you human", "I am a program"),
        ("bye", "Goodbye"),
        ("what can you do?", "You can say or type"),
        ("help", "You can say or type"),
        ("", "You can say or type"),
    ],
)
def test_answers(said: str, begins: str):
    assert answer(said, DEFINITIONS).startswith(begins)


def test_the_overview_offers_only_what_works():
    text = overview([item for item in DEFINITIONS if item.method or item.skill])
    assert "Everyday:" in text
    assert "Set a timer" in text
    assert "Paints a picture" not in text
    only = next(item for item in DEFINITIONS if item.type.name == "timer")
    assert "Text:" not in overview([only])


def test_a_topic_is_told_about_honestly():
    assert "15 percent" in answer("help with the calculator", DEFINITIONS)
    assert "needs an expert" in answer("help with translation", DEFINITIONS)


async def test_as_a_skill(tmp_path: Path):
    call = call_of(HELP.type, tmp_path, topic="hey")
    assert text_of(await show_help(call, quiet, FakeServices().services())).startswith("Hello")
