"""Writes the help page on tasks, in every language, from the register of tasks, the catalogue of
experts and the catalogues of `resources/translations`.

.venv/bin/python packaging/help_tasks.py
"""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from dataclasses import replace
from gettext import GNUTranslations, NullTranslations
from pathlib import Path

import translations

from jarvis_desktop import paths
from jarvis_desktop.backends.inference_api.tasks import API_TASKS
from jarvis_desktop.backends.llm import LLM_METHODS
from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.core import i18n
from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr, trn
from jarvis_desktop.core.placement import MB
from jarvis_desktop.experts import catalogue
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.registry import DEFINITIONS

FOLDER = translations.ROOT / "resources" / "help"


def pages() -> dict[Path, str]:
    """Return the pages as they should be today, by their files."""
    try:
        found = {FOLDER / "tasks.md": page()}
        for language in translations.LANGUAGES:
            compiled = translations.compiled(translations.read(language))
            i18n.set_catalogue(GNUTranslations(io.BytesIO(compiled)))
            found[FOLDER / language / "tasks.md"] = page()
    finally:
        i18n.set_catalogue(NullTranslations())
    return found


def page() -> str:
    """Return the page in the language in use."""
    experts = catalogue.load(paths.shipped("models", "experts"))
    rows = sorted(DEFINITIONS, key=lambda item: item.type.name)
    parts = [f"# {tr('What runs where')}\n\n{_introduction()}\n"]
    for title, built_in in (
        (tr("Without any download"), True),
        (tr("With an expert or an LLM"), False),
    ):
        parts.append(f"\n## {title}\n")
        for item in rows:
            if bool(item.method or item.skill) == built_in:
                parts.append(f"\n{_entry(item, experts)}\n")
    return "".join(parts)


def _introduction() -> str:
    return tr(
        "Every task that JARVIS knows: first those that work without any download, then those that"
        " need an expert or a language model. The expert named is the smallest one;"
        " `jarvis-desktop experts pull NAME` downloads it. Sizes marked “about” could not be looked"
        " up. “By API” means the Hugging Face Hub's inference providers, in the modes hybrid and"
        " lite only; “by LLM”, a language model that is installed or connected."
    )


def _entry(item: Definition, experts: Sequence[Expert]) -> str:
    name = item.type.name
    summary = tr("**{name}**: {summary}", name=name, summary=tr(item.type.summary))
    lines = [summary, "", _point(tr(item.note))]
    ways = [smallest] if (smallest := _smallest(name, experts)) else []
    if name in API_TASKS:
        ways.append(tr("by API"))
    if name in LLM_METHODS:
        ways.append(tr("by an LLM that sees") if LLM_METHODS[name].sees else tr("by LLM"))
    if ways:
        text = tr(", ").join(ways)
        lines.append(_point(tr("also: {ways}", ways=text) if item.method or item.skill else text))
    return "\n".join(lines)


def _point(text: str) -> str:
    """An item of a list, which is a sentence."""
    return "- " + tr("{sentence}.", sentence=f"{text[:1].upper()}{text[1:]}")


def _smallest(task: str, experts: Sequence[Expert]) -> str:
    """The smallest expert that runs a task, and how many others there are; "" if there is none."""
    here = [item for item in experts if task in (item.task, *item.also) and item.download_mb]
    able = [item for item in here if LocalBackend.can_run(replace(item, task=task))]
    if not able:
        return ""
    best = min(able, key=lambda item: item.whole_mb)
    size = readable_size(best.whole_mb * MB)
    size = size if best.verified else tr("about {size}", size=size)
    named = tr("expert `{name}` ({size})", name=best.id, size=size)
    if len(able) == 1:
        return named
    return trn(
        "{expert} and {count} more", "{expert} and {count} more", len(able) - 1, expert=named
    )


def main() -> int:
    """Rewrite the pages."""
    for file, text in pages().items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
