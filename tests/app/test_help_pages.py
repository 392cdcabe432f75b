"""What the help says is true: its commands exist, and its settings are valid. The pages in other
languages have the structure, the commands and the settings of the English ones."""

from __future__ import annotations

import argparse
import re
import tomllib
from collections.abc import Iterator
from gettext import NullTranslations

import pytest

from jarvis_desktop.app.help_pages import TOPICS, help_page
from jarvis_desktop.cli.main import parser
from jarvis_desktop.core import i18n
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.localization import LANGUAGES, load
from jarvis_desktop.paths import shipped
from jarvis_desktop.settings import Settings

NAMES = [topic.name for topic in TOPICS]
OTHERS = [language for language in LANGUAGES if language != "en"]


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    i18n.set_catalogue(NullTranslations())


class French(NullTranslations):
    """A language that has no help yet."""

    def info(self) -> dict[str, str]:
        return {"language": "fr"}


def commands(of: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    actions = [item for item in of._actions if isinstance(item, argparse._SubParsersAction)]
    return dict(actions[0].choices) if actions else {}


def code(page: str) -> tuple[object, ...]:
    """The commands, settings and other code in a page, without what explains it."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    settings = [tomllib.loads(text) for kind, text in blocks if kind == "toml"]
    lines = [
        re.sub(r'"[^"]*"', '""', re.split(r"\s{2,}", line.strip())[0])  # without a request
        for kind, text in blocks
        for line in text.splitlines()
        if not kind and re.match(r" *(\$ )?(jarvis-desktop|--)", line)
    ]
    prose = re.sub(r"^```.*?^```$", "", page, flags=re.DOTALL | re.MULTILINE)
    inline = sorted(" ".join(text.split()) for text in re.findall(r"`([^`]+)`", prose))
    return settings, lines, inline, re.findall(r"^\*\*([\w-]+)\*\*", page, re.MULTILINE)


def outline(page: str) -> list[str]:
    """The beginnings of headings, items and rows, and where a paragraph or block begins."""
    return re.findall(r"^(?:#+ |- |\||```)|(?<=\n\n)(?=\S)", page, re.MULTILINE)


@pytest.mark.parametrize("folder", ["", *OTHERS])
def test_every_page_is_a_topic(folder: str) -> None:
    assert {path.stem for path in shipped("resources", "help", folder).glob("*.md")} == set(NAMES)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_a_page_begins_with_its_title(topic, language: str) -> None:
    i18n.set_catalogue(load(language))
    assert help_page(topic.name).splitlines()[0] == f"# {tr(topic.title)}"


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.parametrize("name", NAMES)
def test_a_translated_page_has_the_code_and_outline_of_the_english_one(
    name: str, language: str
) -> None:
    english = help_page(name)
    i18n.set_catalogue(load(language))
    translated = help_page(name)
    assert translated != english
    assert code(translated) == code(english)
    assert outline(translated) == outline(english)


def test_code_is_told_from_what_explains_it() -> None:
    page = 'Run `a\nb`.\n\n```\njarvis-desktop agent "Go"  a goal\n```\n\n**timer**: rings\n'
    assert code(page) == ([], ['jarvis-desktop agent ""'], ["a b"], ["timer"])
    assert code("```toml\nmode = 1  # a mode\n```\n") == ([{"mode": 1}], [], [], [])


def test_a_language_without_a_page_has_the_english_one() -> None:
    english = help_page("goals")
    i18n.set_catalogue(French())
    assert help_page("goals") == english


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
