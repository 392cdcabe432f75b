"""In the window a page does what a command does: a text that names the command names the page."""

from __future__ import annotations

import os
import re

from jarvis_desktop.core import wording
from jarvis_desktop.core.wording import mark, tr

_SHOWN = "JARVIS_DESKTOP_IN_WINDOW"
"""The environment variable by which child processes know that their texts are read there."""
_EXPERTS = mark("Experts and LLMs")
PAGES = {
    "llm list": _EXPERTS,
    "llm pull": _EXPERTS,
    "llm use auto": _EXPERTS,
    "experts list": _EXPERTS,
    "experts search": _EXPERTS,
    "experts refresh": _EXPERTS,
    "experts pull": _EXPERTS,
    "experts remove": _EXPERTS,
    "experts key set": mark("Settings"),
    "experts key test": mark("Settings"),
    "doctor": mark("Check-up"),
}
"""The title of the page by the command; what no page does stays a command."""
_command = re.compile(
    rf"[`„“「]?jarvis-desktop ({'|'.join(PAGES)})\b(?! \{{\w+\}}\{{)"  # no more to it than a name
    r"(?: (?:\{\w+\}|[A-Z]{2,}|whisper-base))?[`“”」]?"
)


def begin() -> None:
    """From now on, here and in the child processes that are started."""
    os.environ[_SHOWN] = "1"
    inherit()


def inherit() -> None:
    """In a child process: as its parent does."""
    if os.environ.get(_SHOWN):
        wording.rephrase(with_pages)


def with_pages(text: str) -> str:
    """The text, before its values are put in, with the page in the place of the command."""
    if "jarvis-desktop " not in text:
        return text
    return _command.sub(lambda found: tr("“{page}”", page=tr(PAGES[found[1]])), text)
