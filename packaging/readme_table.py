"""Writes README.md's table of tasks from the register of tasks and the catalogue of experts.

.venv/bin/python packaging/readme_table.py
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jarvis_desktop import paths
from jarvis_desktop.backends.inference_api.tasks import API_TASKS
from jarvis_desktop.backends.llm import WAYS
from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.experts import catalogue
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.registry import DEFINITIONS

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- tasks:begin -->\n", "<!-- tasks:end -->"

HEAD = ("Task", "What it does", "With no download", "On this computer", "By API", "By an LLM")


def table() -> str:
    """What runs where: first what works at once, then what needs an expert; both by name."""
    experts = catalogue.load(paths.shipped("models", "experts"))
    rows = sorted(DEFINITIONS, key=lambda item: (not _built_in(item), item.type.name))
    lines = [_line(HEAD), "|" + "---|" * len(HEAD)]
    for item in rows:
        name = item.type.name
        lines.append(
            _line(
                (
                    f"`{name}`",
                    item.type.summary,
                    f"yes: {item.note}" if _built_in(item) else f"no: {item.note}",
                    _smallest(name, experts),
                    "yes" if name in API_TASKS else "–",
                    _by_llm(name),
                )
            )
        )
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _smallest(task: str, experts: Sequence[Expert]) -> str:
    """The smallest expert that is run for a task, and how many others are listed."""
    here = [item for item in experts if task in (item.task, *item.also) and item.download_mb]
    able = [item for item in here if LocalBackend.can_run(replace(item, task=task))]
    if not able:
        return "–"
    best = min(able, key=lambda item: item.whole_mb)
    about = "" if best.verified else "about "
    others = f", and {len(able) - 1} more" if len(able) > 1 else ""
    return f"`{best.id}`, {about}{readable_size(best.whole_mb)}{others}"


def _by_llm(task: str) -> str:
    if task not in WAYS:
        return "–"
    return "yes, one that sees" if WAYS[task].sees else "yes"


def with_table(readme: str) -> str:
    """The text of the README with today's table between its marks."""
    before, rest = readme.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END, 1)[1]


def _built_in(item: Definition) -> bool:
    return bool(item.method or item.skill)


def main() -> int:
    """Rewrite the README."""
    README.write_text(with_table(README.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
