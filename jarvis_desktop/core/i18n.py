"""Translation of every sentence that the user reads.

The sentences in the code are English; `set_catalogue` sets the catalogue that translates them.

gettext underneath: plain files that translators know, and no Qt below the window.
`packaging/translations.py` extracts and compiles the texts. Another language rebuilds the window
(`ui/app.py`): no widget knows how to change its words.
"""

from __future__ import annotations

from collections.abc import Callable
from gettext import NullTranslations

_spoken = NullTranslations()
_rephrased: Callable[[str], str] = str


def set_catalogue(translations: NullTranslations) -> None:
    """Translate everything with this catalogue from now on."""
    global _spoken
    _spoken = translations


def language() -> str:
    """Return the code of the language in use, which the header of its catalogue names."""
    return _spoken.info().get("language", "en")


def rephrase(how: Callable[[str], str]) -> None:
    """Pass every sentence through `how`, before its values are put in, from now on."""
    global _rephrased
    _rephrased = how


def tr(text: str, /, **values: object) -> str:
    """Return the text in the user's language, with the values for its `{names}`.

    Data such as a file's name is passed as a value and never translated.
    """
    said = _rephrased(_spoken.gettext(text)) if text else ""
    return said.format(**values) if values else said


def trn(one: str, many: str, count: int, /, **values: object) -> str:
    """Return the text for a count, which is its `{count}`: trn("{count} day", "{count} days",
    3)."""
    return _spoken.ngettext(one, many, count).format(count=f"{count:,}", **values)


def both(*items: str) -> str:
    """Join several things in a sentence: "a", "a and b", "a, b and c"."""
    if len(items) < 2:
        return "".join(items)
    return tr("{items} and {last}", items=", ".join(items[:-1]), last=items[-1])


def mark(text: str, /) -> str:
    """Return the text unchanged: a constant that `tr` translates when it is shown."""
    return text
