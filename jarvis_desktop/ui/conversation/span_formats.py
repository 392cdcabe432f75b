"""The looks of words in Qt's terms, and words counted as Qt counts them."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile, zip_longest

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFont, QTextCharFormat, QTextFormat

from jarvis_desktop.core.shown import encodable
from jarvis_desktop.ui.conversation.code_text import monospaced
from jarvis_desktop.ui.conversation.spans import Span
from jarvis_desktop.ui.look import theme

SIZES = {1: 2, 2: 1}
"""By how many of Qt's steps the type of a heading is larger."""
CONTINUED = "\u2028"
"""Ends a line within a paragraph."""

# What Qt takes for the end of a paragraph, for a frame or for a picture.
_foreign = str.maketrans(
    {"\n": CONTINUED, "\r": CONTINUED, "\u2029": CONTINUED}
    | dict.fromkeys("\x00\ufdd0\ufdd1\ufffc", "\ufffd")
)


def direction(spans: Sequence[Span]) -> Qt.LayoutDirection:
    """Which way words run: as the first letter does that runs in one."""
    for span in spans:
        for letter in span.text[:500]:
            kind = unicodedata.bidirectional(letter)
            if kind in ("R", "AL"):
                return Qt.LayoutDirection.RightToLeft
            if kind == "L":
                return Qt.LayoutDirection.LeftToRight
    return Qt.LayoutDirection.LeftToRight


def look(span: Span, level: int, *, quoted: bool) -> QTextCharFormat:
    """How words look in a heading of that level, 0 for none, or in a quote."""
    made = QTextCharFormat()
    if level:
        made.setProperty(QTextFormat.Property.FontSizeAdjustment, SIZES.get(level, 0))
    if level or span.bold:
        made.setFontWeight(QFont.Weight.DemiBold)
    made.setFontItalic(span.italic)
    made.setFontStrikeOut(span.struck)
    colour: QColor | None = theme.colour("muted") if quoted or level > 4 else None
    if span.code:
        made.setFontFamilies(monospaced().families())
        made.setFontFixedPitch(True)
        made.setBackground(theme.colour("sunken"))
    if span.link:
        made.setAnchor(True)
        made.setAnchorHref(span.link)
        made.setFontUnderline(True)
        colour = theme.colour("accent")
    if colour:
        made.setForeground(colour)
    return made


def fit(spans: Sequence[Span]) -> tuple[Span, ...]:
    """The spans with nothing in them that Qt's documents take for more than a letter."""
    return tuple(replace(span, text=encodable(span.text).translate(_foreign)) for span in spans)


def common(before: Sequence[Span], now: Sequence[Span]) -> int:
    """How many of Qt's characters at the beginning are the same and look the same."""
    kept = ""
    for old, new in zip_longest(before, fit(now), fillvalue=Span("")):
        if replace(old, text="") != replace(new, text=""):
            break
        same = takewhile(lambda pair: pair[0] == pair[1], zip(old.text, new.text, strict=False))
        kept += "".join(letter for letter, _ in same)
        if old.text != new.text:
            break
    return _length(kept)


def after(spans: Sequence[Span], kept: int) -> list[Span]:
    """What is left of the spans after so many of Qt's characters."""
    left: list[Span] = []
    for span in spans:
        long = _length(span.text)
        if kept < long:
            left.append(replace(span, text=units(span.text, kept, long)))
        kept = max(0, kept - long)
    return left


def _length(text: str) -> int:
    """How many characters Qt counts: those beyond the first 65,536 are two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def units(text: str, begin: int, end: int) -> str:
    """A part of a text by Qt's count."""
    if text.isascii():
        return text[begin:end]
    return text.encode("utf-16-le")[2 * begin : 2 * end].decode("utf-16-le", "replace")
