"""Takes every text out of the code into the catalogues of `resources/translations`, and compiles
them: the .po files get new texts, empty ones, and the .mo files what is translated.

.venv/bin/python packaging/translations.py
"""

from __future__ import annotations

import io
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir, extract_from_file
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from jarvis_desktop.core.task import TaskType, as_words

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "resources" / "translations"
KEYWORDS = {"tr": None, "trn": (1, 2), "mark": None}
LANGUAGES = ("de", "zh")
"""Those that have a catalogue; the texts in the code are English."""
ALWAYS = datetime(2026, 1, 1, tzinfo=UTC)
"""Stands for the times of day that the format wants, so that nothing changes with the clock."""


def extracted() -> Catalog:
    """Every text that a person may read, with the modules that it comes from."""
    from jarvis_desktop.tasks.registry import DEFINITIONS
    from jarvis_desktop.text.languages import NAMES

    texts = Catalog()
    for file, _, text, comments, _ in extract_from_dir(
        ROOT / "jarvis_desktop", keywords=KEYWORDS, comment_tags=("TRANSLATORS:",)
    ):
        texts.add(text, locations=[(f"jarvis_desktop/{file}", 0)], auto_comments=comments)
    for definition in DEFINITIONS:
        for text in (*of_a_task(definition.type), definition.note):
            texts.add(text, locations=[("jarvis_desktop/tasks", 0)])
    page = ROOT / "packaging" / "help_tasks.py"
    for _, text, comments, _ in extract_from_file("python", page, keywords=KEYWORDS):
        texts.add(text, locations=[(f"packaging/{page.name}", 0)], auto_comments=comments)
    for text in (*of_the_lists(), *NAMES.values()):
        texts.add(text, locations=[("models", 0)])
    return texts


def of_a_task(task: TaskType) -> Iterator[str]:
    """What the window shows of a kind of task."""
    yield from (task.label, task.summary)
    yield from (as_words(port.name) for port in task.ports)
    for option in task.options:
        yield from (as_words(option.name), option.summary)
        yield from (as_words(choice) for choice in option.choices if choice)


def of_the_lists() -> Iterator[str]:
    """What experts and LLMs are for, as their lists say it."""
    for path in sorted((ROOT / "models").rglob("*.toml")):
        listed = tomllib.loads(path.read_text("utf-8"))
        yield from (block["summary"] for block in listed.get("expert", ()))
        yield from (block["good_at"] for block in listed.get("llm", ()))


def read(language: str) -> Catalog:
    """The catalogue of a language as it is kept."""
    path = FOLDER / f"{language}.po"
    catalog = Catalog(locale=language)
    if path.exists():
        with path.open("rb") as file:
            catalog = read_po(file, locale=language, charset="utf-8")
    catalog.header_comment = f"# JARVIS Desktop in {catalog.locale.english_name}."
    catalog.project, catalog.version = "JARVIS Desktop", "1"
    catalog.creation_date = catalog.revision_date = ALWAYS
    catalog.last_translator = catalog.language_team = catalog.msgid_bugs_address = ""
    catalog.fuzzy = False
    return catalog


def renewed(language: str, texts: Catalog) -> Catalog:
    """The catalogue with the texts as they are now; those that are gone are dropped."""
    catalog = read(language)
    catalog.update(texts, no_fuzzy_matching=True, update_creation_date=False)
    catalog.obsolete.clear()
    return catalog


def written(catalog: Catalog) -> bytes:
    """The .po file."""
    file = io.BytesIO()
    write_po(file, catalog, width=100, sort_output=True, include_lineno=False)
    return file.getvalue()


def compiled(catalog: Catalog) -> bytes:
    """The .mo file."""
    file = io.BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def missing(catalog: Catalog) -> list[str]:
    """The texts that are not translated."""
    lacking = []
    for message in catalog:
        said = message.string if isinstance(message.string, (tuple, list)) else (message.string,)
        if message.id and not all(said):
            lacking.append(message.id if isinstance(message.id, str) else message.id[0])
    return lacking


def main() -> int:
    """Renew all; 1 where a text is not translated."""
    FOLDER.mkdir(exist_ok=True)
    texts = extracted()
    lacking = 0
    for language in LANGUAGES:
        catalog = renewed(language, texts)
        (FOLDER / f"{language}.po").write_bytes(written(catalog))
        (FOLDER / f"{language}.mo").write_bytes(compiled(catalog))
        gone = missing(catalog)
        lacking += len(gone)
        print(f"{language}: {len(catalog)} texts, {len(gone)} not translated")
        for text in gone[:20]:
            print(f"  {text}")
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
