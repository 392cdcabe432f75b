"""What the help says is true: its commands exist, and its settings are valid."""

from __future__ import annotations

import argparse
import re
import tomllib

import pytest

from jarvis_desktop.app.help_pages import TOPICS, help_page
from jarvis_desktop.cli.main import parser
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.paths import shipped
from jarvis_desktop.settings import Settings

NAMES = [topic.name for topic in TOPICS]


def commands(of: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = [item for item in of._actions if isinstance(item, argparse._SubParsersAction)]
    return dict(actions[0].choices) if actions else {}


def test_every_page_is_a_topic() -> None:
    assert {path.stem for path in shipped("resources", "help").glob("*.md")} == set(NAMES)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_page_begins_with_its_title(topic) -> None:
    assert help_page(topic.name).splitlines()[0] == f"# {topic.title}"


@pytest.mark.parametrize("name", NAMES)
def test_every_command_in_a_page_exists(name: str) -> None:
    top = commands(parser())
    named = re.findall(r"jarvis-desktop ([a-z]+)(?: ([a-z|]+))?", help_page(name))
    for command, action in named:
        assert command in top, command
        if actions := commands(top[command]):
            assert {item for item in action.split("|") if item} <= set(actions), (command, action)


def test_the_page_on_commands_has_them_all() -> None:
    page = help_page("commands")
    assert not [name for name in commands(parser()) if f"jarvis-desktop {name} " not in page]


def test_the_settings_in_the_help_are_the_settings() -> None:
    written = "\n".join(re.findall(r"```toml\n(.*?)```", help_page("settings"), re.DOTALL))
    Settings.model_validate(tomllib.loads(written))  # an unknown name would be refused


def test_a_misspelt_topic_is_suggested() -> None:
    with pytest.raises(InputError, match="goal") as raised:
        help_page("goal")
    assert "goals" in (raised.value.hint or "")
    with pytest.raises(InputError) as raised:
        help_page("xyzzy")
    assert "requests" in (raised.value.hint or "")
