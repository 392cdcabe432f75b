"""Texts that name a command, as the window shows them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from gettext import GNUTranslations

import pytest

from jarvis_desktop import localization
from jarvis_desktop.assistant.planning.embedded_planner import NO_LLM
from jarvis_desktop.core import i18n
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.localization import LANGUAGES, load
from jarvis_desktop.process.child import Child
from jarvis_desktop.ui.navigation import PLACES

NO_PAGE = re.compile(
    r"jarvis-desktop (?:talk|memory|code|history|experts import|llm use ID|\{command\}|--|run|"
    r"serve|experts pull \{name\}\{source\} --pickle|engine install --build cpu)"
)


@pytest.fixture
def in_the_window(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("JARVIS_DESKTOP_IN_WINDOW", "")
    localization.begin()
    yield
    i18n.rephrase(str)


def handler() -> object:
    return lambda report, text: tr(text)


@pytest.mark.usefixtures("in_the_window")
async def test_a_command_is_named_by_its_page_here_and_in_child_processes() -> None:
    assert tr(NO_LLM).endswith("To see why, and which fits: “Experts and LLMs”.")
    pull = "Fetch it with: jarvis-desktop llm pull {name}."
    assert tr(pull, name="a") == "Fetch it with: “Experts and LLMs”."
    assert tr("`jarvis-desktop doctor` says why.") == "“Check-up” says why."
    child = Child("tests.test_localization_in_window:handler", name="test")
    try:
        assert await child.call("jarvis-desktop doctor says why.", timeout=100) == (
            "“Check-up” says why."
        )
    finally:
        await child.close()


def test_in_a_terminal_a_command_stays_one() -> None:
    assert tr(NO_LLM).endswith("which fits: jarvis-desktop llm list.")


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - {"en"}))
def test_each_command_of_a_text_has_its_page_or_none(language: str) -> None:
    catalogue = load(language)
    assert isinstance(catalogue, GNUTranslations)
    texts = [text for pair in catalogue._catalog.items() for text in pair if isinstance(text, str)]  # type: ignore[attr-defined]
    naming = [text for text in texts if "jarvis-desktop " in text]
    assert len(naming) > 50
    shown = [localization.with_pages(text) for text in naming]
    left = [text for text in shown if "jarvis-desktop " in NO_PAGE.sub("", text)]
    assert left == []


def test_the_pages_are_those_of_the_window() -> None:
    assert set(localization.PAGES.values()) <= {place.title for place in PLACES}


def test_a_command_with_more_to_it_stays() -> None:
    text = "If you trust {repo}: jarvis-desktop experts pull {name}{source} --pickle."
    assert localization.with_pages(text) == text
    assert localization.with_pages("jarvis-desktop talk toggle") == "jarvis-desktop talk toggle"
