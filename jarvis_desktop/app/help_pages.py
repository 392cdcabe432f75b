"""The help pages of `resources/help`, for the window and for `jarvis-desktop help`.

The English pages are in that folder, the others in a folder for each language.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import language, mark, tr
from jarvis_desktop.paths import shipped


@dataclass(frozen=True, slots=True)
class HelpTopic:
    """A page; `name` is the stem of its file and what the command line calls it."""

    name: str
    title: str


TOPICS = (
    HelpTopic("requests", mark("What to ask for")),
    HelpTopic("window", mark("The window")),
    HelpTopic("talking", mark("Talking")),
    HelpTopic("goals", mark("Goals that take several steps")),
    HelpTopic("tasks", mark("What runs where")),
    HelpTopic("experts", mark("Experts")),
    HelpTopic("language-models", mark("Language models")),
    HelpTopic("machines", mark("Your other computers")),
    HelpTopic("cluster", mark("Experts for many users")),
    HelpTopic("servers", mark("Servers by their address")),
    HelpTopic("mcp", mark("MCP servers")),
    HelpTopic("server", mark("JARVIS for other programs")),
    HelpTopic("settings", mark("Settings")),
    HelpTopic("keys", mark("Keys")),
    HelpTopic("commands", mark("Commands")),
    HelpTopic("data", mark("Your data and privacy")),
    HelpTopic("trouble", mark("When something is missing")),
)


def help_page(name: str) -> str:
    """Return the Markdown of a topic in the language in use, or in English if it has no such page.

    Raises InputError, which lists the topics, if there is no such topic.
    """
    names = [topic.name for topic in TOPICS]
    if name not in names:
        near = get_close_matches(name, names, n=1)
        raise InputError(
            tr('There is no help on "{name}".', name=name),
            hint=tr('Did you mean "{name}"?', name=near[0])
            if near
            else tr("Topics: {names}.", names=", ".join(names)),
        )
    page = shipped("resources", "help", language(), f"{name}.md")
    if not page.exists():
        page = shipped("resources", "help", f"{name}.md")
    return page.read_text("utf-8")
