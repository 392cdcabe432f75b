"""Writes README.md's table of tasks from the register of tasks and the catalogue of experts.

.venv/bin/python packaging/readme_table.py
"""

from __future__ import annotations

import sys
from pathlib import Path

from jarvis_desktop import paths
from jarvis_desktop.backends.local import LocalBackend
from jarvis_desktop.catalogue import entries
from jarvis_desktop.tasks.definition import Definition
from jarvis_desktop.tasks.registry import DEFINITIONS

SERVED = ("automatic-speech-recognition",)
"""Tasks whose experts another part than the local backend runs."""

README = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- tasks:begin -->\n", "<!-- tasks:end -->"


def table() -> str:
    """First what works at once, then what needs an expert; both by name."""
    smallest: dict[str, str] = {}
    for expert in sorted(
        entries.load(paths.shipped("models", "experts")),
        key=lambda expert: expert.download_mb,
        reverse=True,
    ):
        about = "" if expert.verified else "about "
        runs = expert.task in SERVED or LocalBackend.can_run(expert)
        beyond = "" if runs else ", not run by this version yet"
        smallest[expert.task] = f"`{expert.id}`, {about}{_size(expert.download_mb)}{beyond}"
    rows = sorted(DEFINITIONS, key=lambda item: (not _built_in(item), item.type.name))
    lines = ["| Task | What it does | With no download | Smallest expert |", "|---|---|---|---|"]
    for item in rows:
        now = f"yes: {item.note}" if _built_in(item) else f"no: {item.note}"
        cells = (f"`{item.type.name}`", item.type.summary, now, smallest.get(item.type.name, "–"))
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def with_table(readme: str) -> str:
    """The text of the README with today's table between its marks."""
    before, rest = readme.split(BEGIN)
    return before + BEGIN + table() + END + rest.split(END, 1)[1]


def _built_in(item: Definition) -> bool:
    return bool(item.method or item.skill)


def _size(megabytes: int) -> str:
    return f"{megabytes} MB" if megabytes < 1000 else f"{megabytes / 1000:.1f} GB"


def main() -> int:
    """Rewrite the README."""
    README.write_text(with_table(README.read_text("utf-8")), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
