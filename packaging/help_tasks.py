"""Writes the help page on tasks from the register of tasks and the catalogue of experts.

.venv/bin/python packaging/help_tasks.py
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jarvis_desktop import paths
from jarvis_desktop.backends.inference_api.tasks import API_TASKS
from jarvis_desktop.backends.llm import LLM_METHODS
from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.experts import catalogue
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.registry import DEFINITIONS

PAGE = Path(__file__).resolve().parent.parent / "resources" / "help" / "tasks.md"

HEAD = """\
# What runs where

Every task that JARVIS knows: first those that work without any download, then those that need an
expert or a language model. The expert named is the smallest one; `jarvis-desktop experts pull NAME`
downloads it. Sizes marked "about" could not be looked up. "By API" means the Hugging Face Hub's
inference providers, in the modes hybrid and lite only; "by LLM", a language model that is installed
or connected.
"""


def page() -> str:
    """The page as it should be today."""
    experts = catalogue.load(paths.shipped("models", "experts"))
    rows = sorted(DEFINITIONS, key=lambda item: item.type.name)
    parts = [HEAD]
    for title, built_in in (("Without any download", True), ("With an expert or an LLM", False)):
        parts.append(f"\n## {title}\n")
        for item in rows:
            if bool(item.method or item.skill) == built_in:
                parts.append(f"\n{_entry(item, experts)}\n")
    return "".join(parts)


def _entry(item: Definition, experts: Sequence[Expert]) -> str:
    name = item.type.name
    lines = [f"**{name}**: {item.type.summary}", f"- {item.note[:1].upper()}{item.note[1:]}."]
    ways = [smallest] if (smallest := _smallest(name, experts)) else []
    if name in API_TASKS:
        ways.append("by API")
    if name in LLM_METHODS:
        ways.append("by an LLM that sees" if LLM_METHODS[name].sees else "by LLM")
    if ways:
        also = "Also: " if item.method or item.skill else ""
        text = f"{also}{', '.join(ways)}"
        lines.append(f"- {text[:1].upper()}{text[1:]}.")
    return "\n".join([lines[0], "", *lines[1:]])


def _smallest(task: str, experts: Sequence[Expert]) -> str:
    """The smallest expert that runs a task, and how many others there are; "" if there is none."""
    here = [item for item in experts if task in (item.task, *item.also) and item.download_mb]
    able = [item for item in here if LocalBackend.can_run(replace(item, task=task))]
    if not able:
        return ""
    best = min(able, key=lambda item: item.whole_mb)
    about = "" if best.verified else "about "
    others = f" and {len(able) - 1} more" if len(able) > 1 else ""
    return f"expert `{best.id}` ({about}{readable_size(best.whole_mb)}){others}"


def main() -> int:
    """Rewrite the page."""
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
