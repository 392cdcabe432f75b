"""Shows a text while an expert writes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from jarvis_desktop.text.lazy_re import lazy_re

_bare_fence = lazy_re(r"`{1,2}\Z|```[\w-]*\Z|```\n")
"""The beginning of a text that may be nothing but a fence around a text."""


class TextFilter(Protocol):
    """Filters a text piece by piece."""

    def feed(self, piece: str) -> str:
        """Return what may be shown now; the rest is held back."""

    def rest(self) -> str:
        """Return what was held back at the end."""


class UnfilteredText:
    """Lets everything through."""

    def feed(self, piece: str) -> str:
        """Return the piece."""
        return piece

    def rest(self) -> str:
        """Return nothing: nothing is held back."""
        return ""


class Draft:
    """A text that is being written; what it shows is the beginning of the finished text.

    It never shows spaces around the text. A fence around all of it is not part of the finished
    text: one that names a language is shown nevertheless, because the code reads better in it, and
    a text in any other is not shown before it is finished.
    """

    def __init__(
        self,
        show: Callable[[str], None],
        filter: TextFilter | None = None,
        *,
        doubt: Callable[[str], bool] = lambda text: False,
    ) -> None:
        """Nothing is shown before there is no `doubt` about the text so far."""
        self._show = show
        self._doubt = doubt
        self._filter = filter or UnfilteredText()
        self._text = ""
        self._shown = 0

    def feed(self, piece: str) -> None:
        """Add a piece, and show what is certain."""
        self._add(self._filter.feed(piece))

    def _add(self, piece: str) -> None:
        self._text = (self._text + piece).lstrip()
        text = self._text.rstrip()
        held = not self._shown and (_bare_fence.match(text) or self._doubt(text))
        if len(text) > self._shown and not held:
            self._show(text[self._shown :])
            self._shown = len(text)

    def finished(self) -> str:
        """Return the text, without a fence around the whole of it."""
        self._add(self._filter.rest())
        text = self._text.rstrip()
        found = re.fullmatch(r"```[\w-]*\n(.*?)\n?```", text, re.DOTALL)
        text = found[1] if found and "```" not in found[1] else text
        if text and not self._shown and not self._doubt(text):
            self._show(text)
        return text
