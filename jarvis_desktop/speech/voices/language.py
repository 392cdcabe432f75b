"""In which language a text is, where it clearly is not English: for the choice of a voice."""

from __future__ import annotations

import functools
import re
from typing import Any

LANGUAGES = (
    "ar", "bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "fa", "fi", "fr", "he", "hi", "hr",
    "hu", "id", "it", "ja", "ko", "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sv",
    "ta", "tr", "uk", "vi", "zh",
)  # fmt: skip
SURE = 0.9
FEWEST_LETTERS = 14
"""Shorter texts in Latin letters are mostly names and single words, which say little."""

COMMON_ENGLISH = frozenset(
    "the a an of and is it to in for on are was with that this from by not there be has have "
    "what i you your my or at as which will can".split()
)
ENGLISH_SHARE = 0.2


def plainly_english(text: str) -> bool:
    """Whether no identifier is needed: small English words all over, or nothing to go by."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    letters = "".join(words)
    if any(letter >= "\u0250" for letter in letters):
        return False
    if len(letters) < FEWEST_LETTERS:
        return True
    return sum(word in COMMON_ENGLISH for word in words) / len(words) >= ENGLISH_SHARE


def foreign_language(text: str) -> str | None:
    """The two-letter code of a text's language; None where it is English or not clear.

    Loads py3langid the first time, which takes a second: ask plainly_english first.
    """
    language, sureness = _identifier().classify(text)
    if language == "en":
        return None
    # In another script any of its languages is better than spelling it out in English.
    latin = not re.search(r"[^\W\d_\u0000-\u024f]", text)
    return str(language) if sureness >= SURE or not latin else None


@functools.cache
def _identifier() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(LANGUAGES))
    return identifier
