"""Every sentence that a person reads goes through here, so that it can be said in their language.

The sentences in the code are English; `speak` sets the catalogue that translates them from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from gettext import NullTranslations

_spoken = NullTranslations()
_rephrased: Callable[[str], str] = str


def speak(translations: NullTranslations) -> None:
    """Say everything in that language from now on."""
    global _spoken
    _spoken = translations


def rephrase(how: Callable[[str], str]) -> None:
    """Say every sentence, before its values are put in, as `how` has it from now on."""
    global _rephrased
    _rephrased = how


def tr(text: str, /, **values: object) -> str:
    """The text in the person's language, with the values for its `{names}`.

    Text that is data, such as a file's name, comes in as a value and is never looked at.
    """
    said = _rephrased(_spoken.gettext(text)) if text else ""
    return said.format(**values) if values else said


def trn(one: str, many: str, count: int, /, **values: object) -> str:
    """The text for that count, which is `{count}` in it: trn("{count} day", "{count} days", 3)."""
    return _spoken.ngettext(one, many, count).format(count=f"{count:,}", **values)


def both(*items: str) -> str:
    """Several things as one part of a sentence: "a", "a and b", "a, b and c"."""
    if len(items) < 2:
        return "".join(items)
    return tr("{items} and {last}", items=", ".join(items[:-1]), last=items[-1])


def mark(text: str, /) -> str:
    """The text as it is, for a constant that `tr` translates where it is shown."""
    return text
