"""The languages of the window and of speech; catalogues are in `resources/translations`.

In the window, texts that name a command of the terminal name the page with the same function.
"""

from __future__ import annotations

import locale
import os
import re
from collections.abc import Sequence
from gettext import GNUTranslations, NullTranslations

from jarvis_desktop.core import i18n
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.paths import shipped

LANGUAGES = {"en": "English", "de": "Deutsch", "zh": "简体中文"}
"""The languages by their codes, in their own words."""
SPEECH_LANGUAGES = {
    "": mark("Detect automatically"),
    "en": mark("English"), "de": mark("German"), "fr": mark("French"),
    "es": mark("Spanish"), "it": mark("Italian"), "pt": mark("Portuguese"),
    "nl": mark("Dutch"), "pl": mark("Polish"), "sv": mark("Swedish"),
    "da": mark("Danish"), "no": mark("Norwegian"), "fi": mark("Finnish"),
    "cs": mark("Czech"), "el": mark("Greek"), "hu": mark("Hungarian"),
    "ro": mark("Romanian"), "tr": mark("Turkish"), "uk": mark("Ukrainian"),
    "ru": mark("Russian"), "ar": mark("Arabic"), "he": mark("Hebrew"),
    "hi": mark("Hindi"), "id": mark("Indonesian"), "ja": mark("Japanese"),
    "ko": mark("Korean"), "zh": mark("Chinese"),
}  # fmt: skip
"""The languages that can be chosen for what is said to the program."""
_SPOKEN = "JARVIS_DESKTOP_LANGUAGE"
"""The environment variable that passes the language to child processes."""
_variables = ("LC_ALL", "LC_MESSAGES", "LANG")


def chosen(wanted: str) -> str:
    """Return the language to use: the wanted one, or for "" the system's, or English."""
    for code in (wanted, *([] if wanted else _of_the_system())):
        if (short := code.replace("-", "_").split("_")[0].lower()) in LANGUAGES:
            return short
    return "en"


def load(language: str) -> NullTranslations:
    """Return the catalogue of one of LANGUAGES; the texts in the code are English."""
    path = shipped("resources", "translations", f"{language}.mo")
    if language == "en" or not path.exists():
        return NullTranslations()
    with path.open("rb") as file:
        return GNUTranslations(file)


def set_language(wanted: str) -> str:
    """Use the wanted language from now on, and return the code of the one in use."""
    language = chosen(wanted)
    i18n.set_catalogue(load(language))
    os.environ[_SPOKEN] = language
    return language


def inherit() -> None:
    """In a child process: use the language that its parent had when it started."""
    if (language := os.environ.get(_SPOKEN, "en")) in LANGUAGES:
        i18n.set_catalogue(load(language))


def _of_the_system() -> Sequence[str]:
    if listed := os.environ.get("LANGUAGE"):
        return listed.split(":")
    set_ = next((value for name in _variables if (value := os.environ.get(name))), "")
    return [set_ or (locale.getlocale()[0] or "")]


_SHOWN = "JARVIS_DESKTOP_IN_WINDOW"
"""The environment variable that tells child processes that their texts appear in the window."""
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
    "engine list": _EXPERTS,
    "engine install": _EXPERTS,
    "experts key set": mark("Settings"),
    "experts key test": mark("Settings"),
    "licences": mark("Settings"),
    "mcp add": mark("Settings"),
    "mcp login": mark("Settings"),
    "machines pair": mark("Settings"),
    "machines list": mark("Settings"),
    "machines local on": mark("Settings"),
    "doctor": mark("Check-up"),
}
"""The title of the page for each command; other commands stay commands."""
_command = re.compile(
    rf"[`„“「]?jarvis-desktop ({'|'.join(PAGES)})\b(?! \{{\w+\}}\{{| --)"  # or a name
    r"(?: (?:\{\w+\}|[A-Z]{2,}|whisper-base))?[`“”」]?"
)


def begin() -> None:
    """Name pages instead of commands from now on, in new child processes too."""
    os.environ[_SHOWN] = "1"
    inherit_wording()


def inherit_wording() -> None:
    """In a child process: name pages if its parent does."""
    if os.environ.get(_SHOWN):
        i18n.rephrase(with_pages)


def with_pages(text: str) -> str:
    """Return the text, before its values are put in, with pages instead of commands."""
    if "jarvis-desktop " not in text:
        return text
    return _command.sub(lambda found: tr("“{page}”", page=tr(PAGES[found[1]])), text)
