"""How far something is, line by line on stderr."""

from __future__ import annotations

from jarvis_desktop.cli import output
from jarvis_desktop.core.call import Report


def progress() -> Report:
    """Writes a line whenever the percentage or the beginning of the words changes."""
    shown: list[str] = []

    def report(fraction: float | None, message: str) -> None:
        percent = "" if fraction is None else f"{fraction:4.0%} "
        line = f"        {percent}{message}"
        if not shown or shown[-1][:14] != line[:14]:
            output.note(line)
        shown[:] = [line]

    return report
