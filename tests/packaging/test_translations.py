"""The catalogues of the window's languages are complete and say what the code says."""

import importlib.util
import re
import string
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "packaging_translations", ROOT / "packaging" / "translations.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tool: Any = _load()
RENEW = "Run .venv/bin/python packaging/translations.py, and translate what is new."


@pytest.fixture(scope="module")
def texts() -> Any:
    return tool.extracted()


@pytest.mark.parametrize("language", tool.LANGUAGES)
def test_every_text_is_translated(texts: Any, language: str) -> None:
    assert len(texts) > 60
    assert not tool.missing(tool.renewed(language, texts)), RENEW


@pytest.mark.parametrize("language", tool.LANGUAGES)
def test_the_files_are_those_of_the_code(texts: Any, language: str) -> None:
    catalog = tool.renewed(language, texts)
    kept = tool.FOLDER / f"{language}.po"
    assert kept.read_bytes() == tool.written(catalog), RENEW
    assert kept.with_suffix(".mo").read_bytes() == tool.compiled(catalog), RENEW


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", tool.LANGUAGES)
def test_translations_take_the_values_of_the_text(language: str) -> None:
    wrong = []
    for message in tool.read(language):
        if not message.id:
            continue
        many = isinstance(message.id, tuple)
        wanted = fields(message.id[1] if many else message.id)
        said = message.string if many else (message.string,)
        # One may be said without its number: "ein Schritt".
        wrong += [
            text for text in said
            if fields(text) - wanted or (wanted - fields(text)) - ({"count"} if many else set())
        ]  # fmt: skip
    assert not wrong


PROPER_NAMES = {"engine"}
"""Translated with a name that is the same in every language: torch."""


def test_no_language_borrows_from_another() -> None:
    """A text of one catalogue that was copied into the other is complete, and wrong."""
    german = {message.id: message.string for message in tool.read("de")}
    borrowed = [
        message.id
        for message in tool.read("zh")
        if message.string == german.get(message.id)
        and message.string != message.id
        and re.search("[a-zäöüß]{3}", re.sub("{.*?}", "", str(message.string)))
        and message.id not in PROPER_NAMES
    ]
    assert not borrowed


def test_it_tells_what_is_not_translated() -> None:
    from babel.messages.catalog import Catalog

    catalog = Catalog(locale="de")
    catalog.add("Open", "Öffnen")
    catalog.add("Close")
    catalog.add(("{count} file", "{count} files"), ("{count} Datei", ""))
    assert tool.missing(catalog) == ["Close", "{count} file"]
