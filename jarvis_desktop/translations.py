"""The languages that JARVIS can be read in; their catalogues are in `resources/translations`."""

from __future__ import annotations

import locale
import os
from collections.abc import Sequence
from gettext import GNUTranslations, NullTranslations

from jarvis_desktop.core import wording
from jarvis_desktop.paths import shipped

LANGUAGES = {"en": "English", "de": "Deutsch", "zh": "简体中文"}
"""By their codes, each in its own words."""
_SPOKEN = "JARVIS_DESKTOP_LANGUAGE"
"""The environment variable by which child processes know what their parent speaks."""
_variables = ("LC_ALL", "LC_MESSAGES", "LANG")


def chosen(wanted: str) -> str:
    """The language to speak: the wanted one, or for "" the system's, or English."""
    for code in (wanted, *([] if wanted else _of_the_system())):
        if (short := code.replace("-", "_").split("_")[0].lower()) in LANGUAGES:
            return short
    return "en"


def load(language: str) -> NullTranslations:
    """The catalogue of one of LANGUAGES; English is what stands in the code."""
    path = shipped("resources", "translations", f"{language}.mo")
    if language == "en" or not path.exists():
        return NullTranslations()
    with path.open("rb") as file:
        return GNUTranslations(file)


def speak(wanted: str) -> str:
    """Say everything in the wanted language from now on; the code of the one that is spoken."""
    language = chosen(wanted)
    wording.speak(load(language))
    os.environ[_SPOKEN] = language
    return language


def inherit() -> None:
    """In a child process: say everything in the language that its parent spoke when it began."""
    if (language := os.environ.get(_SPOKEN, "en")) in LANGUAGES:
        wording.speak(load(language))


def _of_the_system() -> Sequence[str]:
    if listed := os.environ.get("LANGUAGE"):
        return listed.split(":")
    set_ = next((value for name in _variables if (value := os.environ.get(name))), "")
    return [set_ or (locale.getlocale()[0] or "")]
