"""In which language a text is: for the choice of a voice."""

from __future__ import annotations

import functools
import re
from typing import Any

from jarvis_desktop.core.language import ENGLISH, FIRST_OTHER, FOREIGN, tongue

LANGUAGES = (
    "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr",
    "hu", "id", "it", "ja", "ko", "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sv",
    "ta", "tr", "uk", "vi", "zh",
)  # fmt: skip
SURE = 0.9
FEWEST_LETTERS = 14
"""Shorter texts in Latin letters are mostly names and single words, which say little."""

ENGLISH_SHARE = 0.2


def plain_language(text: str) -> str | None:
    """The language where no identifier is needed: "en" with small English words all over, None
    where there is nothing to go by, else "?"."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    letters = "".join(words)
    if any(letter >= FIRST_OTHER for letter in letters):
        return "?"
    known = tongue(text)
    if known == "english" and sum(map(ENGLISH.__contains__, words)) >= ENGLISH_SHARE * len(words):
        return "en"
    says_much = len(letters) >= FEWEST_LETTERS or not FOREIGN.isdisjoint(words)
    return "?" if says_much else None


def language_of(text: str) -> str | None:
    """The two-letter code of a text's language; None where it is not clear.

    Loads py3langid the first time, which takes a second: ask plain_language first.
    """
    language, sureness = _identifier().classify(text)
    # In another script any of its languages is better than spelling it out in English.
    latin = not re.search(r"[^\W\d_\u0000-\u024f]", text)
    return str(language) if sureness >= SURE or not latin else None


@functools.cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(LANGUAGES))
    return identifier
